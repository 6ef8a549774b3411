#!/bin/sh
# Failing calls and kills in every program of BUILD (driver.c): run.sh BUILD [--quick] [OPTION]...
# The list of commands is tests/faults/commands; options go to the driver.  --quick takes the first
# command of each program with one thread and a few places only.  The defects are on lines of
# BUILD/faults/defects.tsv; `run.sh BUILD --only NAME --at WHAT` repeats one and shows what it says.
# Exit status: 0 without defects, 1 with, 77 if this machine cannot run them.
set -eu
cd "$(dirname "$0")/../.."
build=$1
shift
case $build in /*) ;; *) build=$PWD/$build ;; esac
if [ "${1:-}" = --quick ]; then
    shift
    set -- --first --threads 1 --most 12 "$@"
fi

# Sanitizers have an allocator of their own, and coverage writes files at the end of every run.
if grep -qE '__(asan|tsan|msan)_init|__gcov_' "$build/bin/sc-gen"; then
    echo "faults: the programs are instrumented" >&2
    exit 77
fi

# In memory where that can be: every run writes files.
mkdir -p "$build/faults"
if [ -d /dev/shm ] && [ -w /dev/shm ]; then base=/dev/shm; else base=$build/faults; fi
scratch=$(mktemp -d "$base/shapecond-faults-XXXXXX")
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM

rm -f "$build/faults/defects.tsv"
tests/faults/inputs.sh "$build/bin" "$scratch/inputs"
mkdir "$scratch/work"
status=0
"$build/tests/faults/driver" --jobs "$(nproc)" --work "$scratch/work" --log "$build/faults/defects.tsv" \
    "$@" "$build/bin" "$build/tests/faults/preload.so" "$build/tests" "$scratch/inputs" \
    tests/faults/commands || status=$?
exit "$status"
