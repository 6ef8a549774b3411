#!/bin/sh
# Text import in MB/s of text, and how much faster that is than NumPy's loadtxt, pandas' read_csv and
# pyarrow's csv.read_csv, where PYTHON has them; also by processor time, for a machine that is busy.
#     tests/bench/import.sh BUILD
# sc-import runs as a whole process (start, reading, digests, classes, writing to /dev/null) from the
# page cache; of the others only the call is timed, not the start of Python (import.py).
set -eu
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."
# shellcheck source=tests/bench/support/time.sh
. tests/bench/support/time.sh
PATH="$build/bin:$PATH"
python=$(python_with_numpy)

# measure NAME FILE [SEPARATOR]: with a separator, the others can read the file, too.
measure() {
    time=$(best sc-import -q "$2" -o /dev/null)
    single=$(best sc-import -q --threads 1 "$2" -o /dev/null)
    printf '%-34s %4s MB  %5s MB/s  %5s MB/s on one thread\n' "$1" \
        "$(($(wc -c <"$2") / 1000000))" "$(rate "$2" "$time")" "$(rate "$2" "$single")"
    [ $# -gt 2 ] && [ -n "$python" ] || return 0
    processor=$(processor sc-import -q "$2" -o /dev/null)
    "$python" tests/bench/import.py "$2" "$3" >"$scratch/others"
    while read -r name other other_processor; do
        printf '    %-39s  %5s MB/s  sc-import is %s times as fast; by processor time %s\n' "$name" \
            "$(rate "$2" "$other")" "$(ratio "$other" "$time")" "$(ratio "$other_processor" "$processor")"
    done <"$scratch/others"
}

sc-gen two-patterns -n 20000 -o "$scratch/set.npy"
sc-export "$scratch/set.npy" -o "$scratch/set.tsv"
sc-export "$scratch/set.npy" -o "$scratch/set.ts"
# Class names are words; the others want numbers.
awk -F '\t' -v OFS='\t' '{ $1 = NR % 4; print }' "$scratch/set.tsv" >"$scratch/numbers.tsv"
head -n 5000 "$scratch/numbers.tsv" |
    awk -F '\t' '{ for (i = 1; i <= NF; i++) printf("%s%.18e", (i > 1 ? " " : ""), $i); print "" }' \
        >"$scratch/long.txt"

[ -n "$python" ] || echo 'No Python with NumPy here, so no comparison.'
measure 'UCR .tsv, generated' "$scratch/numbers.tsv" '	'
measure '.ts, generated' "$scratch/set.ts"
measure '.txt as numpy.savetxt writes it' "$scratch/long.txt" ' '
real=../shared/data/ElectricDevices/ElectricDevices_TEST.tsv
if [ -e "$real" ]; then
    measure 'UCR .tsv, ElectricDevices' "$real" '	'
else
    echo "No $real here."
fi
