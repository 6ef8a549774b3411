#!/bin/sh
# make.sh TREE TARGET...: make in a copy of the tree, compiled quickly and with shared libraries; what
# it says is in TREE/make.log.
tree=$1
shift
cd "$tree" || exit 1
exec make -s CUDA=0 BUILD=build WARNINGS=-w CFLAGS='-O1 -fPIC' AR=tests/mutants/share.sh \
    LDFLAGS="-Wl,-rpath,$tree/build/lib" "$@" >make.log 2>&1
