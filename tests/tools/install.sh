#!/bin/sh
# What make install puts where, as others use it: programs, pages, and libnpy-c by pkg-config.
. "$(dirname "$0")/lib.sh"

: "${CC:=cc}"
stage=$scratch/stage

# run_make TARGET: with the build under test as it is, for a prefix that it was not built for.
run_make() {
    MAKEFLAGS='' make -s -o all -C "$SC_ROOT" "$1" BUILD="$SC_BUILD" CFLAGS="${CFLAGS:--O2}" \
        DESTDIR="$stage" PREFIX=/opt/elsewhere
}

test_that 'programs, pages, library, header, licence and pkg-config file are installed below PREFIX' '
    run_make install
    for tool in "$SC_BUILD"/bin/*; do
        test -x "$stage/opt/elsewhere/bin/$(basename "$tool")"
    done
    for page in "$SC_ROOT"/man/*.[1-9]; do
        cmp "$page" "$stage/opt/elsewhere/share/man/man${page##*.}/$(basename "$page")"
    done
    for tool in "$SC_BUILD"/bin/*; do
        name=$(basename "$tool")
        grep -q "complete -F _$name $name" "$stage/opt/elsewhere/share/bash-completion/completions/$name"
        grep -q "^#compdef $name" "$stage/opt/elsewhere/share/zsh/site-functions/_$name"
        grep -q "^complete -c $name " "$stage/opt/elsewhere/share/fish/vendor_completions.d/$name.fish"
    done
    cmp "$SC_ROOT/LICENSE" "$stage/opt/elsewhere/share/doc/shapecond/LICENSE"
    grep -q "^/\* SPDX-License-Identifier: MIT$" "$stage/opt/elsewhere/include/npy-c.h"
    grep -qx "prefix=/opt/elsewhere" "$stage/opt/elsewhere/lib/pkgconfig/npy-c.pc"
'

test_that 'the shared library exports what its header declares, and nothing else' '
    nm -D --defined-only "$stage/opt/elsewhere/lib/libnpy-c.so" | grep -o "\bnpy_.*" | sort >exported
    grep -o "\bnpy_[a-z_]*(" "$SC_ROOT/formats/npy-c/npy-c.h" | tr -d "(" | sort -u >declared
    test -s exported
    test -z "$(comm -23 exported declared)"
'

if command -v pkg-config >/dev/null; then
    # shellcheck disable=SC2016 # for test_that
    test_that 'the example of npy-c(3) compiles against what was installed, and runs' '
        sed -n "/^#include <npy-c.h>/,/^\.Ed/p" "$SC_ROOT/man/npy-c.3" | sed "/^\.Ed/d; s/\\\\e/\\\\/g" >mean.c
        # By a relative name, since that of the scratch folder may have spaces.
        export PKG_CONFIG_PATH=stage/opt/elsewhere/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=stage
        $CC ${CFLAGS-} -Wall -Werror mean.c $(pkg-config --cflags --libs npy-c) -o mean
        printf "1\t1\t2\n2\t3\t6\n" | sc-import -f ucr >small.npy
        head -c 144 small.npy | LD_LIBRARY_PATH="$stage/opt/elsewhere/lib" ./mean >means
        test "$(cat means)" = 3
    '
else
    skip_that 'the example of npy-c(3) compiles against what was installed, and runs' 'no pkg-config'
fi

test_that 'uninstall removes all of it' '
    run_make uninstall
    test -z "$(find "$stage" -type f -o -type l)"
'

finish
