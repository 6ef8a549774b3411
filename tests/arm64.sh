#!/bin/sh
# Builds for arm64 with the libraries of BUILD/arm64/root.tar and runs the unit tests under qemu:
#     arm64.sh BUILD
set -eu
cd "$(dirname "$0")/.."
build=$1/arm64
case $build in /*) ;; *) build=$PWD/$build ;; esac
root=$build/root
triplet=aarch64-linux-gnu

if [ ! -e "$root/.unpacked" ] || [ -n "$(find "$build/root.tar" -newer "$root/.unpacked")" ]; then
    rm -rf "$root"
    mkdir -p "$root"
    # Device files are for root, and of no use here.
    tar -C "$root" --exclude='./dev/*' -xf "$build/root.tar"
    # What scripts of the packages would have done.
    if [ ! -e "$root/lib" ]; then ln -s usr/lib "$root/lib"; fi
    touch "$root/.unpacked"
fi

# OpenBLAS is in a folder that only its scripts would make known.
blas=/usr/lib/$triplet/openblas-pthread
units=$(find tests/unit -maxdepth 1 -name 'test_*.c' -exec basename '{}' .c ';' | sort | tr '\n' ' ')
export SC_RUNNER="qemu-aarch64 -L $root -E LD_LIBRARY_PATH=$blas:/usr/lib/$triplet:/lib/$triplet"
"${MAKE:-make}" --no-print-directory check BUILD="$build" PACKAGES= CUDA=0 WERROR=1 TESTS="${TESTS:-$units}" \
    CC="${CCACHE-} $triplet-gcc --sysroot=$root" CXX="${CCACHE-} $triplet-g++ --sysroot=$root" AR=$triplet-ar \
    CPPFLAGS="-isystem $root/usr/include/$triplet/openblas-pthread" \
    LDFLAGS="-L$root$blas -Wl,-rpath-link,$root$blas"
