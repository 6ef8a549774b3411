#!/bin/sh
# The dense algebra of the suite by OpenBLAS beside plain loops in C: how many times as fast, at the
# sizes of the suite, on one thread.  A loop of our own is worth keeping only where that is below 1.
#     tests/bench/dense.sh BUILD
set -eu
"$1/bench/dense" "${BENCH_REPEATS:-9}"
