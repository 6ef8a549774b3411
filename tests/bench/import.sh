#!/bin/sh
# Text import in MB/s of text, and how much faster that is than NumPy's loadtxt.
#     tests/bench/import.sh BUILD
# sc-import runs as a whole process (reading, digest, classes, writing to /dev/null) from the page
# cache; of NumPy only the call of loadtxt is timed, not the start of Python.
set -eu
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."
# shellcheck source=tests/bench/support/time.sh
. tests/bench/support/time.sh
PATH="$build/bin:$PATH"
python=$(python_with_numpy)

# loadtxt FILE SEPARATOR: nanoseconds of the fastest of three.
loadtxt() {
    "$python" -c '
import sys, time, numpy
path, separator = sys.argv[1:]
spent = []
for _ in range(3):
    start = time.perf_counter_ns()
    numpy.loadtxt(path, dtype=numpy.float32, delimiter=separator or None)
    spent.append(time.perf_counter_ns() - start)
print(min(spent))' "$@"
}

# measure NAME FILE [SEPARATOR]: with a separator, NumPy can read the file too.
measure() {
    time=$(best sc-import "$2" -o /dev/null)
    single=$(best sc-import --threads 1 "$2" -o /dev/null)
    printf '%-34s %4s MB  %5s MB/s  %5s MB/s on one thread' "$1" \
        "$(($(wc -c <"$2") / 1000000))" "$(rate "$2" "$time")" "$(rate "$2" "$single")"
    if [ $# -gt 2 ] && [ -n "$python" ]; then
        numpy=$(loadtxt "$2" "$3")
        printf '  loadtxt %3s MB/s: %s times as fast' "$(rate "$2" "$numpy")" "$(ratio "$numpy" "$time")"
    fi
    echo
}

sc-gen two-patterns -n 20000 -o "$scratch/set.npy"
sc-export "$scratch/set.npy" -o "$scratch/set.tsv"
sc-export "$scratch/set.npy" -o "$scratch/set.ts"
# Class names are words; loadtxt wants numbers.
awk -F '\t' -v OFS='\t' '{ $1 = NR % 4; print }' "$scratch/set.tsv" >"$scratch/numbers.tsv"
head -n 5000 "$scratch/numbers.tsv" |
    awk -F '\t' '{ for (i = 1; i <= NF; i++) printf("%s%.18e", (i > 1 ? " " : ""), $i); print "" }' \
        >"$scratch/long.txt"

[ -n "$python" ] || echo 'No Python with NumPy here, so no comparison with loadtxt.'
measure 'UCR .tsv, generated' "$scratch/numbers.tsv" '	'
measure '.ts, generated' "$scratch/set.ts"
measure '.txt as numpy.savetxt writes it' "$scratch/long.txt" ' '
real=../shared/data/ElectricDevices/ElectricDevices_TEST.tsv
if [ -e "$real" ]; then
    measure 'UCR .tsv, ElectricDevices' "$real" '	'
else
    echo "No $real here."
fi
