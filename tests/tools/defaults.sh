#!/bin/sh
# Options: what programs do without one is what the manual says, and with one something else.
. "$(dirname "$0")/lib.sh"

small='cnn depth=1 width=4'
sc-gen cbf -n 45 -L 40 -o train.npy
sc-gen cbf -n 30 -L 40 --first 100 -o val.npy
sc-shapelets -q -k 3 -w 4 train.npy -o pool.slp
sc-teacher -q --steps 20 -n "$small" train.npy -o plain.tch
sc-teacher -q --steps 20 -n "$small" -s pool.slp -w 2 train.npy -o with.tch
sc-experts -q -c 2 -e 7 -n "$small" train.npy -o experts.npy
sc-select -q -n 2 -m herding -t plain.tch --soft train.npy -o soft.npy

# same COMMAND OPTIONS: the command writes the same with and without the options.
same() {
    same_options=$(echo "$2" | tr "\n" " ")
    sh -c "$1 -o without"
    content without >content-without
    sh -c "$1 $same_options -o with"
    content with >content-with
    cmp -s content-with content-without || {
        echo "$1: another result with $same_options"
        return 1
    }
}

# others COMMAND OPTIONS...: each of these options makes a difference.
others() {
    others_command=$1
    shift
    sh -c "$others_command -o without"
    content without >content-without
    for others_option; do
        sh -c "$others_command $others_option -o with"
        content with >content-with
        if cmp -s content-with content-without; then
            echo "$others_command: the same result with $others_option"
            return 1
        fi
    done
}

test_that 'pools are searched for by default as the manual says' '
    sc-gen cbf -n 30 -L 60 -o set.npy
    same "sc-shapelets -q set.npy" "-k 20 -l 6,9,12,15,18 -w 9 --step 1 --quality gain --gain all
        --select top"
    sc-gen planted -n 10 -L 501 -C 2 -o long.npy
    same "sc-shapelets -q -k 2 -l 50 long.npy" "-w 50 --step 2"
    others "sc-shapelets -q -k 9 set.npy" "-k 8" "-l 9" "-w 3" "-w full" "--step 2" "--gain one" \
        "--quality f" "--quality kruskal-wallis" "--quality mood" \
        "--select class" "--select diverse" "--normalise"
'
test_that 'teachers are trained by default as the manual says' '
    same "sc-teacher -q -v val.npy train.npy" "--steps 2000 --batch 256 --rate 0.001 --schedule cosine
        --optimiser adamw --decay 0.0001 --choose loss --patience 0 --validate-every 1
        --network \"cnn depth=3 width=32 kernel=3 norm=batch act=relu pool=max\""
    others "sc-teacher -q --steps 60 -n \"$small\" -v val.npy train.npy" "--steps 61" "--epochs 59" "--batch 20" \
        "--rate 0.002" "--schedule constant" "--optimiser sgd" "--optimiser adam" "--decay 0.1" \
        "--choose last" "--seed 1" "-n cnn" "-s pool.slp"
    others "sc-teacher -q --steps 60 -n \"$small\" --optimiser sgd train.npy" "--momentum 0.5" "--decay 0.1"
    # Validated less often where most of the time would go there.
    sc-gen cbf -n 900 -L 40 --first 200 -o large.npy
    sc-teacher -q --epochs 40 -n "$small" -v large.npy --log log.tsv train.npy -o a
    awk "NR > 1 && \$3 != \"-\" { print \$1 }" log.tsv >validated
    # 900 / 3 / (45 / 2 + 1) = 13
    test "$(tr "\n" " " <validated)" = "13 26 39 40 "
'
test_that 'students are trained by default as the manual says' '
    same "sc-eval -q -n \"$small\" train.npy val.npy" "--seeds 5 --steps 1000 --batch 256 --rate 0.001 --schedule cosine
        --optimiser adamw --decay 0.0001"
    same "sc-eval -q -n \"$small\" -v val.npy train.npy val.npy" "--choose accuracy"
    same "sc-eval -q -n \"$small\" soft.npy val.npy" "--soft --temperature 4 --optimiser adamw --rate 0.001"
    same "sc-eval -q -n \"$small\" -s pool.slp soft.npy val.npy" "--soft --optimiser sgd --momentum 0.9 --rate 0.003"
    same "sc-eval -q -n \"$small\" -s pool.slp train.npy val.npy" "--optimiser sgd --rate 0.01"
    same "sc-eval -q -n \"$small\" -s pool.slp -b 44 train.npy val.npy" "--optimiser adamw --rate 0.001"
    # Soft labels of a dataset that students are only judged by do not matter.
    same "sc-eval -q --seeds 2 --steps 50 -n \"$small\" -v soft.npy soft.npy val.npy" "--soft"
    cut -f 5 with >judged
    sc-export -f ucr soft.npy -o soft.tsv
    sc-import -q --classes-from soft.npy soft.tsv -o hard.npy
    sc-eval -q --seeds 2 --steps 50 -n "$small" -v hard.npy soft.npy val.npy | cut -f 5 | cmp - judged
'
test_that 'a teacher is inverted by default as the manual says' '
    same "sc-synth -q -t with.tch -s pool.slp train.npy" "--spc 10 --init ridge --steps 200 --rate 0.02 --weight-ce 0.99
        --weight-bn 0.01 --first-layer 10 --norm plain --statistics all -w 2"
    same "sc-synth -q -t plain.tch -n 1 train.npy" "--init real --steps 2000 --rate 0.05"
    same "sc-synth -q -t with.tch -s pool.slp --init kmeans -n 1 train.npy" "--steps 2000 --rate 0.05"
    fails 1 "with.tch was trained with --window=2" sc-synth -q -t with.tch -s pool.slp -w 3 train.npy -o a
'
test_that 'experts are trained by default as the manual says' '
    same "sc-experts -q -n \"$small\" train.npy" "-c 20 -e 6 -b 16 -r 0.02 --momentum 0 --decay 0"
    others "sc-experts -q -c 2 -e 3 -n \"$small\" train.npy" "-e 2" "-b 17" "-r 0.03" "--momentum 0.1" "--decay 0.1" \
        "--two-tower" "--seed 1"
    sc-gen cbf -n 400 -L 40 -o many.npy
    same "sc-experts -q -c 1 -e 1 -n \"$small\" many.npy" "-b 20"
'
test_that 'datasets are matched by default as the manual says' '
    same "sc-match -q --network \"$small\" train.npy" "-m dc -n 10 --init kmeans --steps 100 --rate 0.01
        --optimiser scaled -b 64 --network-steps 10 --training-steps 10"
    same "sc-match -q -m mtt -n 2 -x experts.npy --steps 3 train.npy" "--rate 0.02 -b 100 --student-steps 10
        --expert-epochs 2 --latest-start 4 --student-rate 0.02 --rate-rate 0.05 --label-rate 0"
    same "sc-match -q -m unroll -n 2 --network \"$small\" --steps 3 train.npy" "--rate 0.02 --optimiser adam -b 256
        --student-steps 400 --unroll-steps 20 --student-rate 0.003 --label-rate 0.05"
'
test_that 'datasets are made, pruned, balanced and chosen by default as the manual says' '
    for kind in two-patterns cbf planted; do
        same "sc-gen $kind" "-n 1000 -L 128 --noise 1 --correlation 0 --imbalance 1 --first 0 --seed 0"
    done
    same "sc-gen planted" "--channels 1 --classes 2 --shapelets 1 --pattern 16 --jitter 4 --amplitude 2"
    same "sc-gen walks --like train.npy" "--spc 10 --seed 0"
    same "sc-prune train.npy" "-p 0 -n 0"
    sc-gen cbf -n 60 --imbalance 0.2 -o unequal.npy
    same "sc-balance unequal.npy" "--method copy --to 0"
    same "sc-balance --method smote unequal.npy" "-k 5"
    others "sc-balance unequal.npy" "--method smote" "--to 40" "--seed 1"
    same "sc-select train.npy" "-m random -n 10"
    same "sc-export -f ts train.npy" "--name shapecond"
    same "sc-import soft.tsv" "--label first --lengths error --missing error"
'
finish
