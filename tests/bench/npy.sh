#!/bin/sh
# Loading an NPY file, every page of it touched, against `cat FILE >/dev/null`; and reading it as the
# tools do, which adds a digest of all bytes and a check that all values are finite.
#     tests/bench/npy.sh BUILD
# Whole processes, from the page cache.
set -eu
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."
# shellcheck source=tests/bench/support/time.sh
. tests/bench/support/time.sh
PATH="$build/bin:$build/bench:$PATH"

read_all() { cat "$1" >/dev/null; }

sc-gen planted -n 100000 --length 500 -o "$scratch/set.npy"
set_file=$scratch/set.npy
cat_time=$(best read_all "$set_file")
array_time=$(best npy_load array "$set_file")
dataset_time=$(best npy_load dataset "$set_file")
printf '%-28s %5s MB/s  (%s MB)\n' 'cat FILE >/dev/null' "$(rate "$set_file" "$cat_time")" \
    "$(($(wc -c <"$set_file") / 1000000))"
printf '%-28s %5s MB/s  %s times the time of cat\n' 'libnpy-c, all values added' \
    "$(rate "$set_file" "$array_time")" "$(ratio "$array_time" "$cat_time")"
printf '%-28s %5s MB/s  %s times the time of cat\n' 'dataset_read' \
    "$(rate "$set_file" "$dataset_time")" "$(ratio "$dataset_time" "$cat_time")"
if command -v b2sum >/dev/null; then
    digest() { b2sum -l 128 "$1" >/dev/null; }
    digest_time=$(best digest "$set_file")
    printf '%-28s %5s MB/s  %s times the time of cat\n' 'b2sum, for comparison' \
        "$(rate "$set_file" "$digest_time")" "$(ratio "$digest_time" "$cat_time")"
fi
