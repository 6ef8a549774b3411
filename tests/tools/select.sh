#!/bin/sh
# sc-select
. "$(dirname "$0")/lib.sh"

classes() { sc-info --json "$1" | grep -o '"class": [0-9]*, .*"count": [0-9]*'; }

test_that 'the examples of the manual page run' '
    run_examples sc-select
    test "$(classes few.npy | grep -c "\"count\": 5")" = 3
'
test_that 'every method gives the number asked for of each class, whatever the threads' '
    for method in random herding kcenter kmeans; do
        sc-select -m $method -n 7 --threads 1 train.npy -o one.npy
        test "$(classes one.npy | grep -c "\"count\": 7")" = 3
        for threads in 2 7; do
            sc-select -m $method -n 7 --threads $threads train.npy | cmp - one.npy
        done
    done
'
test_that 'the seed changes a random choice' '
    sc-select --seed 1 train.npy -o a
    sc-select --seed 2 train.npy -o b
    refute cmp -s a b
'
test_that 'a teacher compares series by its embedding and labels them' '
    sc-shapelets -q -k 2 train.npy -o pool.slp
    sc-teacher -q -n "cnn depth=1 width=8" train.npy -s pool.slp --steps 5 -o with.tch
    for method in herding kcenter kmeans; do
        sc-select -m $method -n 3 train.npy -o raw.npy
        sc-select -m $method -n 3 -t with.tch -s pool.slp --soft --threads 1 train.npy -o soft.npy
        sc-select -m $method -n 3 -t with.tch -s pool.slp --soft --threads 7 train.npy | cmp - soft.npy
        test "$(sc-info --json soft.npy | json soft)" = true
        # Other series, not only labels: 9 x 128 floats after the header.
        for set in raw soft; do head -c 4736 $set.npy >$set.series; done
        refute cmp -s raw.series soft.series
    done
    for file in train.npy with.tch pool.slp; do
        sc-info soft.npy | grep "sc-select .*<$(sc-info --json $file | json digest)"
    done
    # The stored labels are what the teacher says: the same share is right.
    agrees=$(sc-info --json soft.npy | sed -n "s/.*\"agreement\": \([0-9.]*\).*/\1/p")
    sc-eval --teacher with.tch -s pool.slp soft.npy |
        awk -v agrees=$agrees "\$1 == \"mean\" { exit (\$2 - 100 * agrees) ^ 2 > 1e-4 }"
    fails 2 "--soft needs --teacher" sc-select --soft train.npy -o none
    fails 1 "with.tch: needs the 2 shapelets" sc-select -t with.tch train.npy -o none
    sc-shapelets -q -k 2 --step 3 train.npy -o other.slp
    sc-select -n 1 -t with.tch -s other.slp train.npy -o a 2>said
    grep "with.tch was trained with other shapelets" said
    sc-select -n 1 -t with.tch -s pool.slp train.npy -o a 2>said
    refute grep "other shapelets" said
    # A teacher of more classes can choose, but its labels are not those of this dataset.
    sc-gen planted -V 4 -n 40 -o four.npy
    sc-teacher -q -n "cnn depth=1 width=8" four.npy --steps 5 -o four.tch
    sc-select -n 1 -t four.tch train.npy -o a
    fails 1 "four.tch: 4 classes, but train.npy has 3" sc-select -n 1 --soft -t four.tch train.npy -o none
    test ! -e none
'
test_that 'a sample is what sc-prune keeps, and the choice is among it' '
    sc-prune -n 20 --seed 3 train.npy | sc-select -m herding -n 4 --seed 3 | sc-export --format ucr -o pruned.tsv
    sc-select -m herding -n 4 --sample 20 --seed 3 train.npy | sc-export --format ucr -o sampled.tsv
    cmp pruned.tsv sampled.tsv
    sc-select -m herding -n 4 --seed 3 train.npy | sc-export --format ucr -o all.tsv
    refute cmp -s all.tsv sampled.tsv
    sc-select -m herding -n 4 --sample 100000 --seed 3 train.npy | sc-export --format ucr -o same.tsv
    cmp all.tsv same.tsv
    fails 2 "but --spc=4 are to be chosen" sc-select -n 4 --sample 3 train.npy -o none
'
test_that 'bad input is refused with the reason and leaves no file' '
    fails 1 "train.npy: class 0 has 100 series, 101 are wanted" sc-select -n 101 train.npy -o none
    sc-select -n 1 train.npy -o one.npy
    for method in random herding kcenter kmeans; do
        sc-select -m $method -n 1 one.npy -o again.npy
        test "$(classes again.npy | grep -c "\"count\": 1")" = 3
        fails 1 "one.npy: class 0 has 1 series, 2 are wanted" sc-select -m $method -n 2 one.npy -o none
    done
    fails 2 "is too small" sc-select -n 0 train.npy -o none
    fails 2 "is not one of: random, herding, kcenter, kmeans" sc-select -m best train.npy -o none
    test ! -e none
'
finish
