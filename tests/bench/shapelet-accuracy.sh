#!/bin/sh
# How good the shapelets are: make bench-shapelet-accuracy.  Logistic regression on the shapelet
# transform of the training set, scored on the test set, for each way to choose the pool; beside the
# "real data" column of the paper's validation table.  Sets are split class by class at random with
# the paper's numbers of training series; shapelets come from a pruned part of the training set.
set -eu
build=$1
case $build in /*) ;; *) build=$PWD/$build ;; esac
data=$PWD/../shared/data
PATH="$build/bin:$build/bench:$PATH"
if [ ! -d "$data" ]; then
    echo "No real data in $data: nothing to measure"
    exit
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

echo "Test accuracy in % of logistic regression on 20 shapelets per channel"
echo
echo "set                      gain   top  class  diverse  paper"

# row NAME TRAIN TEST PRUNE PAPER OPTIONS...: of set.npy
row() {
    name=$1 train=$2 test=$3 prune=$4 paper=$5
    shift 5
    sc-split -q --seed 1 --train "$train" --test "$test" set.npy -o set
    sc-scale -q --save statistics.npy set-train.npy -o train.npy
    sc-scale -q --with statistics.npy set-test.npy -o test.npy
    sc-prune --seed 1 -p "$prune" train.npy -o pruned.npy
    for gain in all one; do
        printf '%-24s %4s' "$name" "$gain"
        for select in top class diverse; do
            sc-shapelets -q -k 20 --gain "$gain" --select "$select" "$@" pruned.npy -o pool.slp
            sc-strans pool.slp train.npy -o train-features.npy
            sc-strans pool.slp test.npy -o test-features.npy
            printf ' %5s ' "$(logistic train-features.npy test-features.npy)"
        done
        printf '    %s\n' "$paper"
    done
}
sc-import -q "$data"/FacesUCR/*.tsv -o set.npy
row FacesUCR 1344 rest 0.5 67.0 -l 13,26,39 --step 2 -w 20
sc-import -q "$data"/TwoPatterns/*.tsv -o set.npy
row TwoPatterns 1249 rest 0.5 76.5 -l 10,20,30 --step 2 -w 20
sc-import -q "$data"/ElectricDevices/*.tsv -o set.npy
row "ElectricDevices (89 %)" 7807 rest 0.8 55.6 -l 14,18,22,26 --step 2 -w 20
sc-import -q --labels "$data"/HAR/HAR_y.npy "$data"/HAR/HAR_X.npy -o set.npy
row HAR 5878 rest 0.85 93.1 -l 10-30:5 --step 4 -w 20
