#!/bin/sh
# Builds a Debian package of what make has built:
#     tools/packaging/deb.sh BUILD VERSION
# leaves BUILD/shapecond_VERSION_ARCHITECTURE.deb.  The programs, their pages, completion and the Python
# module; not the NPY library and not the plug-in for GPUs.  The same build gives the same bytes.
set -eu
build=$(realpath "$1") version=$2
cd "$(dirname "$0")/../.."
architecture=$(dpkg --print-architecture)
: "${SOURCE_DATE_EPOCH:=$(git log -1 --format=%ct 2>/dev/null || stat -c %Y Makefile)}"
export SOURCE_DATE_EPOCH
# Who makes the package, as Debian's own tools are told.
maintainer="${DEBFULLNAME:-shapecond} <${DEBEMAIL:-shapecond@example.org}>"
work=$build/deb
root=$work/root
rm -rf "$work"
mkdir -p "$root/DEBIAN" "$work/debian"

make --no-print-directory install BUILD="$build" DESTDIR="$root" PREFIX=/usr CUDA=0 PACKAGES= V=1 >/dev/null
rm -rf "$root/usr/lib" "$root/usr/include" "$root/usr/share/man/man3" "$root/usr/share/doc/shapecond"
mv "$root/usr/share/zsh/site-functions" "$root/usr/share/zsh/vendor-completions"
strip --strip-unneeded --remove-section=.comment --remove-section=.note "$root"/usr/bin/*
find "$root/usr/share/man" -type f -exec gzip -9n {} +

doc=$root/usr/share/doc/shapecond
mkdir -p "$doc"
cp tools/packaging/copyright "$doc/copyright"
cp README.md "$doc/README.md"
cp CHANGELOG.md "$doc/NEWS.md"
gzip -9n "$doc/NEWS.md" "$doc/README.md"
printf 'shapecond (%s) unstable; urgency=medium\n\n  * See NEWS.md.\n\n -- %s  %s\n' "$version" "$maintainer" \
    "$(LC_ALL=C date -R -u -d "@$SOURCE_DATE_EPOCH")" | gzip -9n >"$doc/changelog.gz"
cat >"$root/DEBIAN/control.in" <<END
Source: shapecond
Section: science
Priority: optional
Maintainer: $maintainer

Package: shapecond
Architecture: any
Description: condense labelled time-series datasets
END
mv "$root/DEBIAN/control.in" "$work/debian/control"
depends=$(cd "$work" && dpkg-shlibdeps -O root/usr/bin/* 2>/dev/null | sed 's/^shlibs:Depends=//')
cat >"$root/DEBIAN/control" <<END
Package: shapecond
Version: $version
Architecture: $architecture
Maintainer: $maintainer
Installed-Size: $(du -sk --apparent-size "$root/usr" | cut -f 1)
Depends: $depends, libopenblas0
Suggests: python3-numpy
Section: science
Priority: optional
Description: condense labelled time-series datasets
 Turns a large labelled time-series dataset into a tiny one, some real series
 of each class and labelled views of them, that trains a classifier nearly as
 well as all data.
 .
 The package has the one-command program shapecond and a program for each
 stage: import, splitting, scaling, shapelet search, training of teachers,
 choice and synthesis of series, labelled views, evaluation, plots, reports.
END
(cd "$root" && find usr -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum) >"$root/DEBIAN/md5sums"
find "$root" -newermt "@$SOURCE_DATE_EPOCH" -exec touch -hd "@$SOURCE_DATE_EPOCH" {} +
chmod -R u+w,go-w,a+rX "$root"
dpkg-deb --root-owner-group -Zxz --build "$root" "$build/shapecond_${version}_$architecture.deb" >/dev/null
echo "$build/shapecond_${version}_$architecture.deb"
