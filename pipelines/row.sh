#!/bin/sh
# A row of the ledger: row.sh SCORES DATA MADE POOL WORD...
# SCORES is a table of sc-eval, DATA what the students were trained on, MADE the file whose making counts (DATA, or
# a teacher), POOL the shapelets that students see, or -.  The words are the first columns of the row, up to kind;
# the others come from the files (ledger.sh has their names).
set -eu
scores=$1 data=$2 made=$3 pool=$4
shift 4
words=$(printf '%s\t' "$@")

# origins FILE: the file, what it was made from, and so on, but not the data.
origins() {
    echo "$1"
    for file in $(sed -n 's/^# from: //p' "$1.command" 2>/dev/null || :); do
        case $file in
        */data/*.npy | */train.npy | */val.npy | */test.npy | */balanced.npy) ;;
        *) origins "$file" ;;
        esac
    done
}
{
    sc-info --tsv "$data" | sed -n '2s/^/data	/p'
    if [ "$pool" != - ]; then sc-info --tsv "$pool" | sed -n '2s/^/pool	/p'; fi
    sed 's/^/score	/' "$scores"
    if [ -f "$scores.time" ]; then sed 's/^/training	/' "$scores.time"; fi
    sed -n 's/^ran_.* --steps \([0-9]*\).*/steps	\1/p' "$made.command" 2>/dev/null || :
    # Condensed datasets that others start from and the networks of a search count as made, all else as prepared.
    origins "$made" | sort -u | while read -r file; do
        if [ ! -f "$file.time" ]; then continue; fi
        case $file in
        "$made" | *.npy | *.try) sed 's/^/made	/; s/ /	/g' "$file.time" ;;
        *) sed 's/^/prepared	/; s/ /	/g' "$file.time" ;;
        esac
    done
} | awk -F '\t' -v words="$words" '
    function known(x, form) { return x == "" ? "-" : sprintf(form, x) }
    $1 == "data" { labels = $9; bytes = $11 }
    $1 == "pool" { bytes += $4 }
    $1 == "score" && $2 ~ /^([0-9]+|-)$/ { students++ }
    $1 == "score" && $2 == "mean" { accuracy = $3 }
    $1 == "score" && $2 == "deviation" { deviation = $3 }
    $1 == "training" { training = $2 / students }
    $1 == "steps" { steps = $2 }
    $1 == "made" { seconds += $2; if ($3 != "-" && $3 > memory) memory = $3 }
    $1 == "prepared" { preparation += $2 }
    END {
        print words labels "\t" students "\t" accuracy "\t" deviation "\t" known(steps, "%d") "\t" \
            known(seconds, "%.3f") "\t" known(memory == "" ? "" : memory / 1024, "%.1f") "\t" bytes "\t" \
            known(preparation, "%.3f") "\t" known(training, "%.3f")
    }'
