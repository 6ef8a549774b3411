#!/bin/sh
# Two builds of the suite in turn, so that a change that should cost nothing can be seen to:
#     make bench-compare OLD=FOLDER [ROUNDS=3]
# FOLDER is the build folder of another commit, with bench/engine in it (make all build/bench/engine).
# Training, synthesis, products and few series (tests/bench/engine.c), and the shapelet search and the
# teacher of generated series, all on one thread in processor time.  Of each the best of the rounds counts.
set -eu
new=$1 old=${OLD-}
if [ -z "$old" ]; then
    echo "bench-compare: OLD=FOLDER names the build folder to compare with"
    exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
"$new/bin/sc-gen" two-patterns -n 400 -o "$work/search.npy"
"$new/bin/sc-gen" two-patterns -n 1000 -o "$work/train.npy"

# used COMMAND...: processor seconds of the user.
used() {
    /usr/bin/time -f %U -o "$work/seconds" "$@" 2>/dev/null
    tail -n 1 "$work/seconds"
}
# measure LABEL BUILD: rows of LABEL JOB SHAPE VALUE, more being better.
measure() {
    for job in small train synthesis product; do
        "$2/bench/engine" 1 "$job"
    done | awk -v label="$1" '
        $1 == "small" || $1 == "small-product" { print label, $1, $2, 1e6 / $4 }
        $1 == "train" || $1 == "synthesis" || $1 == "product" { print label, $1, $2, $4 }'
    echo "$1 search 400 $(used "$2/bin/sc-shapelets" -q --threads 1 "$work/search.npy" -o "$work/$1.slp")" |
        awk '{ print $1, $2, $3, 1 / $4 }'
    echo "$1 teacher 1000 $(used "$2/bin/sc-teacher" -q --threads 1 --steps 200 "$work/train.npy" -o "$work/$1.tch")" |
        awk '{ print $1, $2, $3, 1 / $4 }'
}
for _ in $(seq "${ROUNDS:-3}"); do
    measure old "$old"
    measure new "$new"
done >"$work/rows"
awk '
    $4 > best[$1, $2, $3] { best[$1, $2, $3] = $4 }
    !($2 SUBSEP $3 in seen) { seen[$2, $3]; job[++count] = $2; shape[count] = $3 }
    END {
        printf "%-14s %-16s %12s %12s %9s\n", "per second", "", "old", "new", "new / old"
        for (i = 1; i <= count; i++) {
            a = best["old", job[i], shape[i]]; b = best["new", job[i], shape[i]]
            printf "%-14s %-16s %12.4g %12.4g %9.2f\n", job[i], shape[i], a, b, b / a
            sum += log(b / a)
        }
        printf "%-14s %-16s %12s %12s %9.2f\n", "mean", "", "", "", exp(sum / count)
    }' "$work/rows"
