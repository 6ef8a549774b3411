#!/bin/sh
# The programs write the bytes that they wrote before: digests of what a fixed set of commands writes,
# without the notes, against tests/golden/same-bytes.txt, whose lines are
#     WHAT-COMPUTED PROGRAM/CASE DIGEST
# Floating-point results depend on instructions, libraries and compiler, which the notes of sc-synth
# name; a machine with others than those on record skips the test.  A change that is meant to change
# results records new ones:
#     RECORD=1 tests/tools/same-bytes.sh      replaces the lines of what computes here
. "$(dirname "$0")/lib.sh"

golden=$SC_ROOT/tests/golden/same-bytes.txt

# computer: what computed, in one word, from the notes of a ridge regression.
computer() {
    sc-teacher -q --steps 1 -n "cnn depth=1 width=1" train.npy -o any.tch
    sc-synth -q -t any.tch -n 1 --steps 0 train.npy | sc-info - | sed -n 's/.*\[\(.*\)\]$/\1/p' |
        tail -n 1 | tr -d , | tr ' ' _
}

# digest FILE [PART]: of its content without the notes.  The notes of a dataset are its last array; those
# of a text stand in lines of their own; what experts were trained on and how is their first array.
digest() {
    digest_end=$(LC_ALL=C grep -abo NUMPY "$1" | tail -n 1 | cut -d: -f1)
    case ${2-$1} in
    *.npy) head -c $((digest_end - 1)) "$1" ;;
    experts) tail -c +"$digest_end" "$1" ;;
    *) grep -av '^note ' "$1" ;;
    esac | b2sum -l 128 | cut -d' ' -f1
}
# keep CASE FILE [PART]: notes the digest.
keep() { echo "$program/$1 $(digest "$2" ${3:+"$3"})" >>"$level.digests"; }

# The networks: every normalisation, activation and pooling, with names for the cases.
networks='default:cnn
instance:cnn depth=2 width=12 norm=instance act=leaky pool=mean
layer:cnn depth=2 width=9 kernel=5 norm=layer act=sigmoid pool=none
none:cnn depth=1 width=40 kernel=1 norm=none act=relu pool=max
wide:cnn depth=2 width=64 norm=batch act=sigmoid pool=mean'
small='cnn depth=2 width=8'

data() {
    sc-gen -q cbf -n 90 -o train.npy
    sc-gen -q cbf -n 60 --first 90 -o test.npy
    sc-gen -q planted -C 3 -V 4 -n 80 -L 50 -o many.npy
    sc-shapelets -q -k 4 train.npy -o pool.slp
}
sc_teacher() {
    echo "$networks" | while IFS=: read -r name text; do
        sc-teacher -q --steps 12 -b 32 -n "$text" train.npy -o "$name.tch"
        keep "$name" "$name.tch"
        sc-teacher -q --steps 12 -b 32 -n "$text" -s pool.slp -v test.npy -l log train.npy -o features.tch
        keep "$name-shapelets" features.tch
        keep "$name-log" log
        sc-teacher -q --steps 6 -n "$text" --optimiser sgd --schedule constant many.npy -o many.tch
        keep "$name-channels" many.tch
    done
    sc-teacher -q --steps 12 -s pool.slp train.npy -o shapelets.tch
    keep shapelets shapelets.tch
}
sc_synth() {
    for teacher in default instance layer none wide; do
        sc-synth -q -t "$teacher.tch" -n 2 --steps 12 train.npy -o out.npy
        keep "$teacher" out.npy
    done
    sc-synth -q -t shapelets.tch -s pool.slp -n 3 --steps 12 train.npy -o tiny.npy
    keep shapelets tiny.npy
    for options in "--init kmeans" "--init noise" "--init real" "--norm squared" "--statistics round"; do
        # shellcheck disable=SC2086 # one option per word
        sc-synth -q -t default.tch -n 2 --steps 12 $options train.npy -o out.npy
        keep "$(echo "$options" | tr -d ' ')" out.npy
    done
    for options in "--init real" "--init kmeans" "-n 40"; do
        # shellcheck disable=SC2086 # one option per word
        sc-synth -q -t shapelets.tch -s pool.slp -n 4 --steps 3 $options train.npy -o out.npy
        keep "shapelets$(echo "$options" | tr -d ' ')" out.npy
    done
}
sc_experts() {
    sc-experts -q -c 2 -e 3 -b 32 -n "$small" train.npy -o experts.npy
    keep one-tower experts.npy experts
    sc-experts -q -c 2 -e 3 -b 32 -n "$small" --two-tower train.npy -o towers.npy
    keep two-towers towers.npy experts
    sc-experts -q -c 1 -e 2 -b 32 -n "cnn depth=1 width=9 norm=layer act=sigmoid pool=mean" \
        --momentum 0.9 many.npy -o others.npy
    keep momentum others.npy experts
}
sc_match() {
    for method in dc dsa dm; do
        for norm in batch instance none layer; do
            sc-match -q -m "$method" -n 2 --steps 4 --network "$small norm=$norm" -b 16 train.npy -o out.npy
            keep "$method-$norm" out.npy
        done
    done
    sc-match -q -m mtt -n 2 -x experts.npy --expert-epochs 2 --steps 4 --label-rate 0.1 train.npy -o out.npy
    keep mtt out.npy
    sc-match -q -m condtsc -n 2 -x towers.npy --expert-epochs 2 --steps 3 --student-steps 3 train.npy -o out.npy
    keep condtsc out.npy
    set -- -q -m unroll -n 2 --steps 4 -b 16 --student-steps 20 --unroll-steps 5
    for options in "pool=max" "pool=none" "norm=instance" "norm=layer act=sigmoid" "norm=none pool=mean"; do
        sc-match "$@" --network "$small $options" train.npy -o out.npy
        keep "unroll-$(echo "$options" | tr ' ' -)" out.npy
    done
    sc-match "$@" --network "$small" -s pool.slp train.npy -o out.npy
    keep unroll-shapelets out.npy
    sc-match "$@" --network "$small" --from tiny.npy -n 3 train.npy -o out.npy
    keep unroll-from out.npy
    for options in "-m dc" "-m dsa -n 3 --training-steps 2" "-m dm --network-steps 3" \
        "-m dc --init real -n 40 -b 8" "-m dm --init noise --optimiser adam" "-m dm --optimiser sgd --rate 0.5" \
        "-m mtt -x experts.npy --expert-epochs 1 --init real -n 3 -b 4 --student-rate 0.05 --rate-rate 0.2" \
        "-m mtt -x experts.npy --expert-epochs 1 -n 1 --latest-start 0" \
        "-m condtsc -x towers.npy --expert-epochs 1 -n 3 --weight-embedding 0.5 --label-rate 0.2" \
        "-m unroll --student-steps 30 --label-rate 0 --student-rate 0.02 --init real" \
        "-m unroll --student-steps 30 -n 40 -b 32"; do
        case $options in
        *--experts* | *-x*) ;;
        *) options="$options --network cnn\ depth=1\ width=6" ;;
        esac
        eval "sc-match -q -n 2 --steps 3 $options train.npy -o out.npy"
        keep "$(echo "$options" | tr -d '[:space:][:punct:]')" out.npy
    done
}
sc_eval() {
    sc-eval -q --seeds 2 --steps 20 --json train.npy test.npy -o out
    keep hard out
    sc-eval -q --seeds 2 --steps 20 --json -s pool.slp tiny.npy test.npy -o out
    keep soft-shapelets out
    sc-eval -q --seeds 2 --steps 20 --json -v train.npy -n "$small norm=instance" tiny.npy test.npy -o out
    keep validated out
    sc-eval -q --teacher default.tch --json test.npy -o out
    keep teacher out
}
sc_select() {
    for method in herding kcenter kmeans; do
        sc-select -q -m "$method" -n 2 -t default.tch --soft train.npy -o out.npy
        keep "$method" out.npy
        sc-select -q -m "$method" -n 3 many.npy -o out.npy
        keep "$method-series" out.npy
    done
    sc-select -q -m random -n 5 --seed 3 train.npy -o out.npy
    keep random out.npy
}
# cases OPTIONS...: the program with each of these option sets, one word of options per case.
cases() {
    for case; do
        eval "\"$program\" -q $case -o out.npy"
        keep "$(echo "$case" | tr -d ' ')" out.npy
    done
}
sc_shapelets() {
    for options in "-k 4" "-k 3 --gain one" "-k 3 --select class" "-k 5 --select diverse" "-w full -l 10,20" \
        "--normalise --step 3 -k 6" "--measure-all -k 6 --raw" "--gain one --select class -k 6"; do
        for set in train many; do
            # shellcheck disable=SC2086 # one option per word
            sc-shapelets -q $options $set.npy -o out.slp
            keep "$set$(echo "$options" | tr -d ' ')" out.slp
        done
    done
}
sc_balance() {
    cases "--to 40 train.npy" "--to 45 --method smote -k 3 train.npy" "--to 25 --method smote --seed 2 many.npy"
}
sc_prune() { cases "-p 0.3 train.npy" "-p 0.5 --overall --seed 2 many.npy" "-n 4 train.npy"; }
sc_split() {
    for options in "--train 0.6 --val 0.2 --test rest" "--train 30 --val 6 --test 12 --in-order"; do
        for part in train val test; do
            cases "$options --only $part train.npy"
        done
    done
}
sc_scale() { cases "many.npy" "--per-series many.npy"; }
sc_gen() { cases "cbf -n 20" "planted -C 2 -V 3 -n 12 -L 40" "cbf -n 9 --seed 4"; }
sc_plot() { cases "train.npy" "pool.slp" "--shapelets pool.slp --over test.npy train.npy"; }
sc_strans() {
    sc-strans -q pool.slp train.npy -o out.npy
    keep found out.npy
    sc-strans -q --raw -w full pool.slp train.npy -o out.npy
    keep full-raw out.npy
}

sc_quantise() {
    cases "--bits 8 many.npy" "--bits 4 train.npy" "--step 0.1 many.npy" "--step 0.5 train.npy" \
        "--step 0.002 train.npy"
}
sc_views() {
    sc-views -q -t any.tch -m 50 train.npy | sc-expand -q -o out.npy
    keep any out.npy
    sc-select -q --spc 3 many.npy | sc-views -q --augment -m 30 --seed 4 | sc-expand -q -o out.npy
    keep augment out.npy
}

# compare: every digest of the program is the one on record.
compare() {
    grep "^$program/" "$level.digests" >new
    grep -F "$computer $program/" "$golden" | cut -d' ' -f2- >old
    test -s new
    diff old new
}
levels=generic
! grep -q '\bavx2\b.*\bfma\b\|\bfma\b.*\bavx2\b' /proc/cpuinfo || levels='generic avx2'
programs='sc-teacher sc-synth sc-experts sc-match sc-eval sc-select sc-strans
          sc-shapelets sc-balance sc-prune sc-split sc-scale sc-gen sc-plot sc-quantise sc-views'
for level in $levels; do
    export SHAPECOND_CPU="$level"
    mkdir "$level"
    cd "$level" || exit 1
    data
    computer=$(computer)
    if [ -z "${RECORD-}" ] && ! grep -qF "$computer " "$golden"; then
        skip_that "every program writes the bytes that it wrote before ($level)" \
            "no digests for ${computer:-this build}"
        cd ..
        continue
    fi
    for program in $programs; do
        run=$(echo "$program" | tr - _)
        if [ -n "${RECORD-}" ]; then
            (
                set -e
                "$run"
            )
            # shellcheck disable=SC2181 # inside a condition the shell would ignore set -e
            [ $? -eq 0 ] || exit 1
        else
            test_that "$program writes the bytes that it wrote before ($level)" '$run && compare'
        fi
    done
    cd ..
    if [ -n "${RECORD-}" ]; then
        touch "$golden"
        grep -vF "$computer " "$golden" >kept
        { cat kept; sed "s/^/$computer /" "$level/$level.digests"; } >"$golden"
    fi
done
finish
