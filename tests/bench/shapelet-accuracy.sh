#!/bin/sh
# How good the shapelets are: make bench-shapelet-accuracy.  Logistic regression on the shapelet
# transform of the training set, scored on the test set, for each way to choose the pool; beside the
# "real data" column of the paper's validation table.  Datasets are split class by class at random with
# the paper's numbers of training series, once for each of SEEDS (mean and deviation over them are
# printed); shapelets come from a pruned part of the training set.  The way `diverse` chooses was
# settled with the split of seed 1, which therefore takes no part unless asked for.
set -eu
build=$1
case $build in /*) ;; *) build=$PWD/$build ;; esac
data=$PWD/../shared/data
: "${SEEDS:=2 3 4}"
PATH="$build/bin:$build/bench:$PATH"
if [ ! -d "$data" ]; then
    echo "No real data in $data: nothing to measure"
    exit
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

echo "Test accuracy in % of logistic regression on 20 shapelets per channel; splits of seeds $SEEDS"
echo
echo "dataset                  gain          top        class      diverse  paper"

# scores SEED TRAIN TEST PRUNE OPTIONS...: of dataset.npy, one split; appends to a file for each column.
scores() {
    seed=$1 train=$2 test=$3 prune=$4
    shift 4
    sc-split -q --seed "$seed" --train "$train" --test "$test" dataset.npy -o set
    sc-scale -q --save statistics.npy set-train.npy -o train.npy
    sc-scale -q --with statistics.npy set-test.npy -o test.npy
    sc-prune --seed "$seed" -p "$prune" train.npy -o pruned.npy
    for gain in all one; do
        for select in top class diverse; do
            sc-shapelets -q -k 20 --gain "$gain" --select "$select" "$@" pruned.npy -o pool.slp
            sc-strans pool.slp train.npy -o train-features.npy
            sc-strans pool.slp test.npy -o test-features.npy
            logistic train-features.npy test-features.npy >>"$gain-$select"
        done
    done
}
# row NAME PAPER TRAIN TEST PRUNE OPTIONS...: of dataset.npy
row() {
    name=$1 paper=$2
    shift 2
    rm -f all-* one-*
    for number in $SEEDS; do scores "$number" "$@"; done
    for gain in all one; do
        printf '%-24s %4s' "$name" "$gain"
        for select in top class diverse; do
            awk '{ sum += $1; squares += $1 * $1 }
                END {
                    rest = NR > 1 ? squares - sum * sum / NR : 0
                    printf "  %5.1f ± %3.1f", sum / NR, (rest > 0 ? sqrt(rest / (NR - 1)) : 0)
                }' "$gain-$select"
        done
        printf '   %s\n' "$paper"
    done
}
sc-import -q "$data"/FacesUCR/*.tsv -o dataset.npy
row FacesUCR 67.0 1344 rest 0.5 -l 13,26,39 --step 2 -w 20
sc-import -q "$data"/TwoPatterns/*.tsv -o dataset.npy
row TwoPatterns 76.5 1249 rest 0.5 -l 10,20,30 --step 2 -w 20
sc-import -q "$data"/ElectricDevices/*.tsv -o dataset.npy
row "ElectricDevices (89 %)" 55.6 7807 rest 0.8 -l 14,18,22,26 --step 2 -w 20
sc-import -q --labels "$data"/HAR/HAR_y.npy "$data"/HAR/HAR_X.npy -o dataset.npy
row HAR 93.1 5878 rest 0.85 -l 10-30:5 --step 4 -w 20
