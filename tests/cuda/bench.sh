#!/bin/sh
# bench.sh BUILD: seconds of typical work on the processor and on a GPU (make bench-cuda).
# Without a GPU nothing is run, and the exit status is 77.
set -u
cd "$(dirname "$0")/../.." || exit 1
case $1 in /*) build=$1 ;; *) build=$PWD/$1 ;; esac

if ! reason=$("$build/bench/cuda" --probe 2>&1); then
    echo "no GPU, not run: $reason"
    exit 77
fi
exec "$build/bench/cuda"
