#!/bin/sh
# What networks of several kinds learn from what `shapecond` makes by default: by-network.sh RUN SEED DATASET...
# Needs train.npy, val.npy and test.npy of each dataset in RUN/SEED/DATASET, which `make main-table` makes (pipelines/README).
# A row for each network: bytes, and test accuracy in % after training on random series in as many bytes (ten per class), on
# the condensed dataset, and on all data.  One student each, by the last epoch: test data chooses nothing, and held-out data (val.npy) only
# what shapecond chooses with it.  Files stay in RUN/SEED/DATASET/by-network, and what is there is not made again.
set -eu
run=$1 seed=$2
shift 2

# accuracy NAME SERIES TEST OPTION...
accuracy() {
    table=$1 train=$2 test=$3
    shift 3
    [ -s "$table" ] || sc-eval -q --seed "$seed" --seeds 1 --choose last "$@" "$train" "$test" -o "$table"
    awk '/^mean/ { print $2 }' "$table"
}

for dataset; do
    in=$run/$seed/$dataset out=$run/$seed/$dataset/by-network
    mkdir -p "$out"
    [ -s "$out/tiny.npy" ] || shapecond -q --no-score --seed "$seed" --validate "$in/val.npy" "$in/train.npy" -o "$out/tiny.npy"
    [ -s "$out/random.npy" ] || sc-select -q --seed "$seed" --spc 10 "$in/train.npy" -o "$out/random.npy"
    bytes=$(wc -c <"$out/tiny.npy")
    while IFS=: read -r name network; do
        random=$(accuracy "$out/random-$name.tsv" "$out/random.npy" "$in/test.npy" -n "$network" --steps 1000)
        ours=$(accuracy "$out/tiny-$name.tsv" "$out/tiny.npy" "$in/test.npy" -n "$network" --steps 2000)
        all=$(accuracy "$out/all-$name.tsv" "$in/train.npy" "$in/test.npy" -n "$network" --steps 2000 --batch 64)
        printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$dataset" "$seed" "$name" "$bytes" "$random" "$ours" "$all"
    done <<END
cnn:cnn
pooled:cnn end=mean
fcn:fcn width=32
transformer:transformer heads=4 layers=2 patch=4 norm=layer act=gelu positions=learned end=mean
END
done
