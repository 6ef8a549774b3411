#!/bin/sh
# What the defaults of sc-synth and sc-eval were chosen by: accuracy on VALIDATION data, in percent, of
# students with shapelets, for ways to choose or make the series and ways to train the students.
#     pipelines/compare-defaults.sh FOLDER SPC...
# FOLDER holds train.npy, val.npy, pool.slp and teacher.tch, as those that main-table.mk makes.  Mean
# and deviation over SEEDS (1 2 3) condensations, one student each, whose last epoch counts; STUDENT
# adds options for all of them.
set -eu
export LC_ALL=C
folder=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# NAME OPTIONS-OF-SYNTHESIS OPTIONS-OF-STUDENTS
row() {
    for seed in ${SEEDS:-1 2 3}; do
        # shellcheck disable=SC2086 # options are words
        sc-synth -q -t "$folder/teacher.tch" -s "$folder/pool.slp" -n "$spc" --seed "$seed" $2 \
            "$folder/train.npy" -o "$work/tiny.npy"
        # shellcheck disable=SC2086
        sc-eval -q -s "$folder/pool.slp" --seeds 1 --seed "$seed" ${STUDENT:-} $3 \
            "$work/tiny.npy" "$folder/val.npy" |
            awk '$1 == "mean" { print $2 }'
    done | awk -v name="$1" -v spc="$spc" '
        { n++; sum += $1; squares += $1 * $1 }
        END { mean = sum / n; variance = n > 1 ? (squares - n * mean * mean) / (n - 1) : 0
              printf "%s\t%s\t%.1f\t%.1f\n", spc, name, mean, sqrt(variance > 0 ? variance : 0) }'
}

printf 'spc\tway\taccuracy\tdeviation\n'
for spc; do
    row 'random, hard labels' '--init real --steps 0' '--hard'
    row 'random, soft labels, adamw' '--init real --steps 0' '--optimiser adamw'
    row 'random, soft labels' '--init real --steps 0' ''
    row 'random, inverted' '--init real' ''
    row 'explain' '--steps 0' ''
    row 'explain, inverted a little' '' ''
    row 'explain, inverted' '--steps 2000 --rate 0.05' ''
done
