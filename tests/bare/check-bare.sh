#!/bin/bash
# Runs `make demo` and `make check` of a fresh clone in minimal roots of Debian (git, gcc, make,
# libc6-dev), as they are before anything was installed: check-bare.sh BUILD
#
#   BARE_DEBIANS  the releases: bookworm trixie
#   BARE_REV      what is cloned: HEAD
#   BARE_RUNS     root-j2 root user-j2 user: as whom, and with which -j.  Each has a root of its own.
#                 try: only whether the root can be entered and reaches its packages.
#
# An ordinary user must be told the one command to run as root; after it, make must do without root.
# What was printed is kept in BUILD/bare/logs.  Ends with a table and "N passed, N failed".
set -eu
cd "$(dirname "$0")/../.."
build=$1
case $build in /*) ;; *) build=$PWD/$build ;; esac
: "${BARE_DEBIANS:=bookworm trixie}" "${BARE_REV:=HEAD}" "${BARE_RUNS:=root-j2 root user-j2 user}"
bare=$build/bare
logs=$bare/logs
mkdir -p "$bare" "$logs"
rm -rf "${logs:?}"/*
rev=$(git rev-parse --short "$BARE_REV^{commit}")
if [ "$BARE_REV" = HEAD ] && [ -n "$(git status --porcelain)" ]; then
    echo "check-bare: what is not committed is not in the clone ($rev)"
fi

# A user who is not root becomes root of a namespace, where the roots belong to others.
namespace=(unshare --mount --pid --fork --kill-child)
if [ "$(id -u)" != 0 ]; then namespace=(unshare --user --map-root-user --map-auto --mount --pid --fork --kill-child); fi

root=$bare/root
remove_root() { "${namespace[@]}" rm -rf --one-file-system "$root"; }
trap remove_root EXIT
trap 'exit 1' HUP INT TERM

# make_root DEBIAN: a fresh one, with a clone in a folder of the user's and in one of root's.
make_root() {
    remove_root
    mkdir -p "$root"
    "${namespace[@]}" tar -C "$root" -xf "$bare/$1.tar"
    rm -rf "$bare/clone"
    git clone --quiet --no-hardlinks . "$bare/clone"
    git -C "$bare/clone" checkout --quiet --detach "$rev"
    "${namespace[@]}" sh -eu -c '
        cp -L /etc/resolv.conf /etc/hosts "$1/etc/" 2>/dev/null || true
        # Sources may be https, and certificates are a package of their own.
        if [ -e /etc/ssl/certs/ca-certificates.crt ]; then
            mkdir -p "$1/etc/ssl/certs"
            cp -L /etc/ssl/certs/ca-certificates.crt "$1/etc/ssl/certs/"
        fi
        echo "tester:x:1000:1000::/home/tester:/bin/sh" >>"$1/etc/passwd"
        echo "tester:x:1000:" >>"$1/etc/group"
        mkdir -p "$1/home/tester"
        cp -R "$2" "$1/root/shapecond"
        cp -R "$2" "$1/home/tester/shapecond"
        chown -R 1000:1000 "$1/home/tester"
        chmod 700 "$1/root"
    ' sh "$root" "$bare/clone"
    rm -rf "$bare/clone"
}

# in_root WHO LOCALE COMMAND...: in the clone of root or user, with /proc, /dev and /dev/pts, and an
# environment with nothing in it but a proxy, if there is one.
in_root() {
    local who=$1 locale=$2 home=/root
    local -a become=() environment=()
    shift 2
    if [ "$who" = user ]; then
        home=/home/tester
        become=(setpriv --reuid=1000 --regid=1000 --clear-groups)
    fi
    if [ -n "$locale" ]; then environment+=("LC_ALL=$locale"); fi
    local name
    for name in http_proxy https_proxy no_proxy; do
        if [ -n "${!name-}" ]; then environment+=("$name=${!name}"); fi
    done
    "${namespace[@]}" sh -eu -c '
        root=$1 home=$2
        shift 2
        mount --make-rprivate /
        mount -t proc proc "$root/proc"
        mount -t tmpfs -o mode=755 tmpfs "$root/dev"
        for device in null zero full random urandom tty; do
            : >"$root/dev/$device"
            mount --bind "/dev/$device" "$root/dev/$device"
        done
        mkdir "$root/dev/pts" "$root/dev/shm"
        mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts "$root/dev/pts"
        mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
        ln -s pts/ptmx "$root/dev/ptmx"
        ln -s /proc/self/fd "$root/dev/fd"
        ln -s fd/0 "$root/dev/stdin"
        ln -s fd/1 "$root/dev/stdout"
        ln -s fd/2 "$root/dev/stderr"
        exec chroot "$root" sh -c "cd \"\$1\" && shift && exec \"\$@\"" sh "$home/shapecond" "$@"
    ' sh "$root" "$home" "${become[@]}" env -i HOME="$home" \
        PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "${environment[@]}" "$@" </dev/null
}

passed=0 failed=0 table=
# record DEBIAN RUN WHAT STATUS SECONDS LOG: a line of the table; shows the end of the log of a failure.
record() {
    local result=ok counts
    counts=$(tail -n 1 "$6")
    case $counts in *' passed, '*' failed'*) ;; *) counts= ;; esac
    if [ "$4" -eq 0 ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1)) result=FAIL
        tail -n 40 "$6" | sed 's/^/    /'
    fi
    printf -v table '%s%-9s %-8s %-46s %-5s %5s s  %s\n' "$table" "$1" "$2" "$3" "$result" "$5" "$counts"
    printf '%-4s %s, %s: %s (%s s) %s\n' "$result" "$1" "$2" "$3" "$5" "$counts"
}
# step DEBIAN RUN WHAT COMMAND...: runs and records it.
step() {
    local debian=$1 run=$2 what=$3 begun=$SECONDS status=0
    shift 3
    local log=$logs/$debian-$run-${what//[ :,]/-}.log
    "$@" >"$log" 2>&1 || status=$?
    record "$debian" "$run" "$what" "$status" $((SECONDS - begun)) "$log"
}

# told COMMAND...: as the user it fails and says nothing but the command to run (kept in $command) and
# make's own "*** Error".
told() {
    local said=$bare/said
    command=
    if in_root user '' "$@" >"$said" 2>&1; then
        cat "$said"
        echo "succeeded without the packages"
        return 1
    fi
    cat "$said"
    command=$(sed -n 's/^Missing Debian packages\. As root, run: //p' "$said")
    if [ "$(printf '%s\n' "$command" | grep -c '^apt-get update && apt-get install -y ')" != 1 ]; then
        echo "not told one command"
        return 1
    fi
    if grep -v -e '^Missing Debian packages\. As root, run: ' -e '^make: \*\*\* ' "$said"; then
        echo "told more than the command"
        return 1
    fi
}
# run_in DEBIAN RUN: both commands in a fresh root.
run_in() {
    local debian=$1 run=$2 who=${2%%-*} goal
    local -a jobs=()
    local -A commands=()
    make_root "$debian"
    if [ "$run" = try ]; then
        step "$debian" "$run" 'root: apt-get update' in_root root '' apt-get --error-on=any update
        return
    fi
    case $run in *-j*) jobs=("-j${run#*-j}") ;; esac

    # Nothing is installed yet.
    for goal in demo check; do
        step "$debian" "$run" "user: make ${jobs[*]} $goal, told what to install" told make "${jobs[@]}" "$goal"
        commands[$goal]=$command
    done
    # Each is the first in some of the runs, with a locale or without.
    local goals='demo check' locale=
    if [ "${#jobs[@]}" -gt 0 ]; then goals='check demo'; fi
    for goal in $goals; do
        if [ "$who" = user ]; then
            step "$debian" "$run" "root: what $goal was told" \
                in_root root '' env DEBIAN_FRONTEND=noninteractive sh -c "${commands[$goal]:-false}"
        fi
        case $run-$goal in root-j2-check | root-demo | user-check | user-j2-demo) locale=C.UTF-8 ;; *) locale= ;; esac
        step "$debian" "$run" "$who: ${locale:+LC_ALL=$locale }make ${jobs[*]} $goal" \
            in_root "$who" "$locale" make "${jobs[@]}" "$goal"
    done
}

for debian in $BARE_DEBIANS; do
    for run in $BARE_RUNS; do run_in "$debian" "$run"; done
done
echo
echo "Commit $rev in minimal roots:"
printf '%s' "$table"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
