#!/bin/sh
# Makes the root of a Debian release: root.sh DEBIAN FILE.tar MMDEBSTRAP-OPTION...
# Packages come from where apt on this machine gets its own (BARE_MIRROR=URI names another place); the
# root keeps that configuration, so that apt works in it, too.
set -eu
debian=$1 tar=$2
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

fail() {
    echo "The root of Debian $debian could not be built: $1" >&2
    exit 1
}
command -v mmdebstrap >/dev/null || fail 'no mmdebstrap'

# The sources of this machine, if it is a Debian, with the name of its release replaced.
sources() {
    # shellcheck source=/dev/null
    codename=$(. /etc/os-release && echo "${ID-}:${VERSION_CODENAME-}")
    case $codename in debian:?*) codename=${codename#debian:} ;; *) return 0 ;; esac
    apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT) $(SIGNED_BY)' 'Created-By: Packages' 2>/dev/null |
        awk -v from="$codename" -v to="$debian" '
            $3 == "main" && ($2 == from || $2 == from "-updates" || $2 == from "-security") && !seen[$1, $2]++ {
                sub(from, to, $2)
                print "deb " ($4 ~ /^\// ? "[signed-by=" $4 "] " : "") $1, $2, $3
            }'
}
if [ -n "${BARE_MIRROR-}" ]; then
    echo "deb $BARE_MIRROR $debian main" >"$work/sources"
else
    sources >"$work/sources"
fi

# How this machine's apt reaches them: proxies, retries, dates of snapshots.
apt-config dump 2>/dev/null | awk '
    /^Acquire::(http|https|ftp)::/ || /^Acquire::(Retries|Check-Valid-Until|Check-Date|ForceIPv4|ForceIPv6) / {
        if ($2 != "\"\";") print
    }' >"$work/options"
while read -r option; do set -- "$@" --aptopt="$option"; done <"$work/options"

# Empty sources: mmdebstrap knows where Debian is.
from=
if [ -s "$work/sources" ]; then from=-; fi
mkdir -p "$(dirname "$tar")"
echo "  ROOT    $tar"
mmdebstrap "$@" "$debian" "$tar.new.tar" $from <"$work/sources" 2>"$work/log" || {
    cat "$work/log" >&2
    rm -f "$tar.new.tar"
    fail 'mmdebstrap failed, see above'
}
mv "$tar.new.tar" "$tar"
