#!/bin/sh
# Networks of every family in all programs that take one.
. "$(dirname "$0")/lib.sh"

networks='cnn depth=2 width=6 end=mean
cnn depth=2 width=6 norm=instance end=max
fcn width=4
resnet blocks=2 width=3
inception depth=3 width=3 kernel1=8 kernel2=4 kernel3=2 bottleneck=2
tcn depth=3 width=4 kernel=3
mlp depth=2 width=9
transformer width=6 heads=2 ff=8
transformer width=8 heads=2 layers=2 ff=8 patch=4 norm=layer act=gelu positions=learned end=mean
gru hidden=6 layers=2'

# each COMMAND: runs it for every network, which is $network.
each() {
    echo "$networks" | while read -r network; do
        eval "$1"
    done
}
# same COMMAND...: writes the same with 1, 2 and 7 threads.
same() {
    "$@" --threads 1 -o one
    for threads in 2 7; do
        "$@" --threads "$threads" -o other
        cmp one other
    done
}

sc-gen -q cbf -n 60 -L 40 -o train.npy
sc-gen -q cbf -n 60 -L 40 --first 60 -o test.npy
sc-gen -q cbf -n 60 -L 39 -o short.npy
sc-shapelets -q -k 3 train.npy -o pool.slp

test_that 'teachers of every family are trained, with any number of threads alike' '
    each "same sc-teacher -q --steps 20 -n \"\$network\" train.npy
        same sc-teacher -q --steps 8 -n \"\$network\" -s pool.slp -v test.npy train.npy"
    sc-teacher -q --steps 4 -n fcn train.npy -o fcn.tch
    head -n 2 fcn.tch | grep -a "^network fcn width=128 kernel1=8 kernel2=5 kernel3=3 norm=batch act=relu end=mean channels=1 length=40 classes=3$"
    sc-teacher -q --steps 4 -n "resnet width=4" train.npy -o resnet.tch
    grep -a "^tensor blocks.2.shortcut.0.running_mean$" resnet.tch
    sc-teacher -q --steps 4 -n transformer train.npy -o transformer.tch
    head -n 2 transformer.tch | grep -a "^network transformer width=64 heads=1 layers=1 ff=128 patch=1 norm=batch act=relu dropout=0.1 positions=none end=max channels=1 length=40 classes=3$"
    for name in embedding.weight encoder.layers.0.self_attn.in_proj_weight \
        encoder.layers.0.self_attn.out_proj.bias encoder.layers.0.linear2.weight \
        encoder.layers.0.norm1.running_mean encoder.norm.bias; do
        grep -a "^tensor $name$" transformer.tch
    done
    sc-teacher -q --steps 4 -n gru train.npy -o gru.tch
    grep -a "^tensor rnn.weight_hh_l0$" gru.tch
'
test_that 'they learn' '
    sc-gen -q planted -V 2 -n 100 -L 40 -o easy.npy
    sc-gen -q planted -V 2 -n 100 -L 40 --first 100 -o held.npy
    for network in "cnn width=8 end=mean" "cnn width=8 end=max" "fcn width=8" "resnet width=4" \
        "inception depth=3 width=4" "tcn depth=3 width=8" "mlp width=40" \
        "gru hidden=16" \
        "transformer width=16 heads=2 ff=32 positions=learned" \
        "transformer width=16 heads=2 ff=32 patch=2 norm=layer act=gelu positions=learned"; do
        sc-teacher -q --steps 150 -r 0.005 -b 25 -n "$network" easy.npy -o easy.tch
        sc-eval -q --teacher easy.tch --json held.npy | json accuracy | head -n 1 |
            awk "{ print \"$network\", \$1; exit !(\$1 > 80) }"
    done
'
test_that 'they are inverted, with their statistics where there are some' '
    each "sc-teacher -q --steps 20 -n \"\$network\" train.npy -o teacher.tch
        same sc-synth -q -t teacher.tch -n 2 --steps 10 train.npy
        sc-select -q -m herding -n 2 -t teacher.tch --soft train.npy -o chosen.npy
        sc-eval -q --teacher teacher.tch test.npy -o score"
    for network in "resnet blocks=2 width=3" "inception depth=1 width=3" "fcn width=4 norm=none" "mlp width=9" "gru hidden=4" \
        "transformer width=4 ff=4" "transformer width=4 ff=4 norm=layer"; do
        sc-teacher -q --steps 20 -n "$network" train.npy -o teacher.tch
        sc-synth -q -t teacher.tch -n 2 --steps 10 train.npy -o with.npy
        sc-synth -q -t teacher.tch -n 2 --steps 10 --weight-bn 0 train.npy -o without.npy
        head -c 1100 with.npy >a
        head -c 1100 without.npy >b
        case $network in
        resnet* | inception* | "transformer width=4 ff=4") refute cmp -s a b ;;
        *) cmp a b ;;
        esac
    done
'
test_that 'they are students' '
    sc-select -q -n 4 train.npy -o few.npy
    each "same sc-eval -q --seeds 2 --steps 20 -n \"\$network\" few.npy test.npy
        same sc-eval -q --seeds 1 --steps 20 -n \"\$network\" -s pool.slp few.npy test.npy"
'
test_that 'they are matched by every method' '
    for method in dc dsa dm unroll; do
        more=
        [ $method != unroll ] || more="--student-steps 12 --unroll-steps 4"
        each "same sc-match -q -m $method -n 2 --steps 2 -b 8 $more --network \"\$network\" train.npy"
    done
    each "same sc-match -q -m unroll -s pool.slp -n 1 --steps 2 -b 8 --student-steps 12 \
        --unroll-steps 4 --network \"\$network\" train.npy"
    each "same sc-experts -q -c 2 -e 2 -b 16 -n \"\$network\" train.npy
        mv one experts.npy
        same sc-match -q -m mtt -n 2 -x experts.npy --expert-epochs 1 --steps 2 train.npy"
    for network in "resnet blocks=2 width=3" "inception depth=3 width=3" "tcn depth=2 width=4" "mlp width=9"; do
        sc-experts -q -c 2 -e 2 -b 16 --two-tower -n "$network" train.npy -o two.npy
        sc-match -q -m condtsc -n 2 -x two.npy --expert-epochs 1 --steps 2 --student-steps 2 train.npy -o tiny.npy
    done
'
test_that 'what does not fit is refused with the word' '
    fails 1 "got \"lstm\"" sc-teacher -n lstm train.npy -o none
    fails 1 "unknown word \"depth\"" sc-teacher -n "fcn depth=2" train.npy -o none
    fails 1 "end=last: expected one of flatten, max, mean" sc-teacher -n "cnn end=last" train.npy -o none
    fails 1 "blocks=0: expected a whole number from 1 to 16" sc-eval -n "resnet blocks=0" train.npy test.npy
    sc-teacher -q --steps 2 -n "fcn width=4" train.npy -o small.tch
    sed "s/^network fcn width=4/network fcn width=5/" small.tch >wide.tch
    fails 1 "tensor features.0.weight: expected shape (5, 1, 8), got (4, 1, 8)" \
        sc-eval --teacher wide.tch test.npy
    sed "s/^network fcn width=4.*/network cnn width=4 channels=1 length=40 classes=3/" small.tch >other.tch
    fails 1 "other.tch: tensor features.0.weight: expected shape (4, 1, 3), got (4, 1, 8)" \
        sc-eval --teacher other.tch test.npy
    fails 1 "kernel1=0: expected a whole number from 1 to 255" sc-teacher -n "inception kernel1=0" train.npy -o none
    fails 1 "end=first: expected one of flatten, max, mean, last" sc-teacher -n "tcn end=first" train.npy -o none
    fails 1 "norm=layer: expected one of none, batch" sc-teacher -n "mlp norm=layer" train.npy -o none
    fails 1 "unknown word \"kernel\"" sc-eval -n "mlp kernel=3" train.npy test.npy
    for network in "inception depth=3 width=3" "tcn depth=2 width=4" "mlp width=9"; do
        sc-teacher -q --steps 2 -n "$network" train.npy -o good.tch
        fails 1 "39 steps, but good.tch is for 1 and 40" sc-eval --teacher good.tch short.npy
        sed "s/^network .*/network fcn width=4 channels=1 length=40 classes=3/" good.tch >other.tch
        fails 1 "other.tch: " sc-eval --teacher other.tch test.npy
        head -c 3000 good.tch >half.tch
        fails 1 "half.tch: " sc-eval --teacher half.tch test.npy
    done
    fails 1 "heads=5 must divide width=64" sc-teacher -n "transformer heads=5" train.npy -o none
    fails 1 "series of 40 steps are shorter than patch=41" \
        sc-eval -n "transformer patch=41" train.npy test.npy
    fails 1 "dropout=2: expected a number from 0 to 0.9" sc-experts -n "transformer dropout=2" train.npy -o none
    sc-teacher -q --steps 2 -n "gru hidden=4" train.npy -o gru.tch
    sed "s/^network gru hidden=4/network gru hidden=5/" gru.tch >wide.tch
    fails 1 "wide.tch: tensor rnn.weight_ih_l0: expected shape (15, 1), got (12, 1)" \
        sc-eval --teacher wide.tch test.npy
    sed "s/^network gru.*/network transformer width=4 channels=1 length=40 classes=3/" gru.tch >other.tch
    fails 1 "other.tch: tensor embedding.weight is missing" sc-eval --teacher other.tch test.npy
    test ! -e none
'
finish
