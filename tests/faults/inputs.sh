#!/bin/sh
# Small inputs for the commands of tests/faults/commands: inputs.sh PROGRAMS FOLDER
set -eu
PATH=$1:$PATH
mkdir -p "$2"
cd "$2"

sc-gen cbf -n 12 -L 16 -o train.npy
sc-gen cbf -n 9 -L 16 --first 12 -o test.npy
sc-gen planted -n 12 -L 24 -C 2 -V 2 --pattern 6 --jitter 2 -o planted.npy
sc-gen cbf -n 13 -L 16 --imbalance 0.3 -o uneven.npy
sc-export -q train.npy -o train.tsv
sc-export -q train.npy -o train.ts
sc-scale -q train.npy --save statistics.npy -o scaled.npy
sc-shapelets -q -k 3 -l 4,6 train.npy -o pool.slp
sc-teacher -q -n 'cnn depth=1 width=2' --epochs 2 --log curve.tsv train.npy -o plain.tch
sc-teacher -q -n 'cnn depth=1 width=2' --steps 2 --shapelets pool.slp train.npy -o shapelets.tch
sc-experts -q -n 'cnn depth=1 width=2' -c 2 -e 2 train.npy -o experts.npy
sc-experts -q -n 'cnn depth=1 width=2' -c 2 -e 2 --two-tower train.npy -o towers.npy
sc-synth -q -t plain.tch -n 1 --steps 1 train.npy -o condensed.npy
sc-views -q -t plain.tch -m 4 condensed.npy -o views.npy
sc-eval -q -n 'cnn depth=1 width=2' --seeds 2 --steps 2 train.npy test.npy -o scores.tsv
# For the teacher that tests/unit/test_guide_command.c serves.
sc-gen planted -n 12 -L 20 -C 2 -V 3 --pattern 6 --jitter 2 -o served.npy
sc-shapelets -q -k 1 -l 4 served.npy -o served.slp
sc-teacher -q -n 'cnn depth=1 width=2' --steps 2 --shapelets served.slp served.npy -o served.tch
# The series and the labels of a dataset, each as a file: arrays stand one after another.
head -c $((128 + 12 * 16 * 4)) train.npy >x.npy
tail -c +$((1 + 128 + 12 * 16 * 4)) train.npy | head -c $((128 + 12 * 4)) >y.npy
printf '%s\n' '@relation r' '@attribute a numeric' '@attribute b numeric' '@attribute class {x,y}' \
    '@data' '1,2,x' '3,?,y' >small.arff
printf '%s\n' 'class,t0,t1' '"a b",1,2' 'c,,4' >small.csv
printf '%s\n' 'who,when,value,kind' 'a,0,1,x' 'a,1,2,x' 'b,0,3,y' 'b,1,5,y' >long.csv
sc-export -q train.npy -o train.npz
sc-quantise -q train.npy -o quantised.npy
sc-quantise -q --step 0.5 train.npy -o packed.npy
printf 'seed\taccuracy\n0\t50\nmean\t50\n' >accuracy.tsv
