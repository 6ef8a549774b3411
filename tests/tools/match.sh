#!/bin/sh
# sc-match and sc-experts
. "$(dirname "$0")/lib.sh"

classes_with() { sc-info --json "$2" | grep -c "\"class\": .*\"count\": $1\b" || true; }
# The series alone, without the notes, which hold the options: as many bytes as 2 x 3 x 128 floats.
series() { head -c 3200 "$1" | cksum; }
small='cnn depth=2 width=8'

# match METHOD OPTIONS...: a quick run of that method.
match() {
    match_method=$1
    shift
    case $match_method in
    mtt) sc-match -q -m mtt -n 2 -x experts.npy --steps 6 "$@" train.npy ;;
    condtsc) sc-match -q -m condtsc -n 2 -x two.npy --steps 3 --student-steps 3 "$@" train.npy ;;
    unroll) sc-match -q -m unroll -n 2 --steps 6 --network "$small" -b 16 --student-steps 40 \
        --unroll-steps 5 "$@" train.npy ;;
    *) sc-match -q -m "$match_method" -n 2 --steps 6 --network "$small" -b 16 "$@" train.npy ;;
    esac
}

test_that 'the examples of the manual pages run' '
    run_examples sc-experts
    run_examples sc-match
    for made in dsa dm mtt condtsc unrolled; do test "$(classes_with 2 $made.npy)" = 3; done
    sc-info mtt.npy | grep "sc-match .* --method=mtt --spc=2 --steps=20 .*<.* <"
    sc-info --json dm.npy | grep "\"name\": \"cylinder\""
'
test_that 'the loss falls with every method' '
    sc-experts -q -c 3 -e 12 -b 32 -n "$small" train.npy -o experts.npy
    sc-experts -q -c 2 -e 6 -b 32 -n "$small" --two-tower train.npy -o two.npy
    for method in dc dsa dm mtt condtsc unroll; do
        steps=60
        case $method in
        mtt) more="-x experts.npy --expert-epochs 4" ;;
        condtsc) more="-x two.npy --expert-epochs 4" steps=30 ;;
        unroll) more="--student-steps 60" ;;
        *) more="--rate 0.1" ;;
        esac
        sc-match -m $method -n 2 --steps $steps $more train.npy -o a 2>said
        sed -n "s/.*loss \([0-9.]*\) -> \([0-9.]*\) .*/\1 \2/p" said | { read -r first last
            awk "BEGIN { exit !($last < 0.95 * $first) }"; }
    done
'
test_that 'step sizes of students are learned: small ones grow, large ones shrink' '
    for rate in 0.001 0.1; do
        sc-match -m mtt -n 2 -x experts.npy --steps 10 --rate 0 --student-rate $rate train.npy -o a 2>said
        sed -n "s/.*step size of the students .* -> //p" said
    done | { read -r small && read -r large
        awk "BEGIN { exit !($small > 0.0011 && $large < 0.09) }"; }
'
test_that 'the result is the same for any number of threads, of every method' '
    for method in dc dsa dm mtt condtsc unroll; do
        match $method --threads 1 -o one.npy
        for threads in 2 7; do match $method --threads $threads | cmp - one.npy; done
    done
    for towers in "" --two-tower; do
        sc-experts -q -c 5 -e 2 -b 50 -n "$small" $towers --threads 1 train.npy -o one.npy
        for threads in 2 7; do
            sc-experts -q -c 5 -e 2 -b 50 -n "$small" $towers --threads $threads train.npy | cmp - one.npy
        done
    done
'
test_that 'every option changes the series' '
    for method in dc dsa dm; do
        match $method -o base.npy
        for options in "--seed 1" "--init real" "--init noise" "--steps 7" "--rate 0.1" \
            "--optimiser sgd" "-b 17" "--network-steps 3"; do
            match $method $options -o other.npy
            refute test "$(series base.npy)" = "$(series other.npy)"
        done
    done
    match dm --network-steps 1 -o base.npy
    match dm -o other.npy
    test "$(series base.npy)" = "$(series other.npy)"
    match dc -o base.npy
    for options in "--training-steps 3" "--training-rate 0.1"; do
        match dc $options -o other.npy
        refute test "$(series base.npy)" = "$(series other.npy)"
    done
    for method in mtt condtsc; do
        match $method --expert-epochs 3 -o base.npy
        for options in "--seed 1" "--init real" "--init noise" "--steps 4" "--rate 0.1" \
            "--optimiser sgd" "--student-steps 2" "--expert-epochs 1" \
            "--student-rate 0.1" "--rate-rate 0.2" "--label-rate 0.1" "--batch 4"; do
            match $method --expert-epochs 3 $options -o other.npy
            refute test "$(series base.npy)" = "$(series other.npy)"
        done
    done
    match mtt -o base.npy
    match mtt --latest-start 1 -o other.npy
    refute test "$(series base.npy)" = "$(series other.npy)"
    match condtsc -o base.npy
    match condtsc --weight-embedding 3 -o other.npy
    refute test "$(series base.npy)" = "$(series other.npy)"
'
test_that 'unrolled training can start from a dataset and have shapelets' '
    sc-shapelets -q -k 4 train.npy -o pool.slp
    sc-shapelets -q -k 4 --gain one train.npy -o other.slp
    match unroll -o base.npy
    for options in "--seed 1" "--init real" "--steps 4" "--rate 0.1" "-b 17" "--student-steps 20" \
        "--unroll-steps 4" "--student-rate 0.1" "--label-rate 0.5" "-s pool.slp" "-s other.slp" \
        "-s pool.slp -w 3" "--from base.npy"; do
        match unroll $options -o other.npy
        refute test "$(series base.npy)" = "$(series other.npy)"
        test "$(sc-info --json other.npy | json soft)" = true
    done
    sc-info other.npy | grep "sc-match .* --method=unroll .* <.* <"
    sc-select -q -m random -n 1 train.npy -o one.npy
    fails 1 "one.npy: has 1 series of class 0, which --spc=2 cannot change" \
        match unroll --from one.npy -o none
    match unroll -n 1 --from one.npy -o more.npy
    test "$(classes_with 1 more.npy)" = 3
    sc-match -q -m unroll --steps 6 --network "$small" -b 16 --student-steps 40 --unroll-steps 5 \
        --from one.npy train.npy -o unsaid.npy
    cmp -n 1500 more.npy unsaid.npy
    test "$(classes_with 1 unsaid.npy)" = 3
    match unroll --label-rate 0 --from base.npy --rate 0 -o same.npy
    test "$(series base.npy)" = "$(series same.npy)"
    sc-gen cbf -n 30 -L 64 -o short.npy
    fails 1 "short.npy" match unroll --from short.npy -o none
    sc-gen planted -V 2 -n 20 -L "$(sc-info --json train.npy | json length)" -o pair.npy
    sc-match -q -m unroll -n 1 --steps 1 --network "$small" -b 16 --student-steps 20 --unroll-steps 5 \
        pair.npy -o pair-tiny.npy
    fails 1 "pair-tiny.npy: class 0 is" \
        match unroll --from pair-tiny.npy -o none
    sc-shapelets -q -k 2 pair.npy -o pair.slp
    fails 1 "pair.slp: found in series of 128 steps and 2 classes" match unroll -s pair.slp -o none
    fails 1 "a training of 40 steps has no window of 50" match unroll --unroll-steps 50 -o none
    fails 1 "the loss is no longer a number; a smaller --student-rate" \
        match unroll --student-rate 1e6 -o none
    fails 2 "does not apply to dc" match dc --from base.npy -o none
    fails 2 "does not apply to dm" match dm -s pool.slp -o none
    fails 2 "exclude each other" match unroll --from base.npy --init real -o none
    test ! -e none
'
test_that '0 is a number like others where it makes sense, and else refused' '
    for method in dc mtt condtsc unroll; do
        match $method --steps 0 --init real -o start.npy
        match $method --rate 0 --init real -o kept.npy
        test "$(series start.npy)" = "$(series kept.npy)"
    done
    match unroll --steps 0 --from kept.npy -o start.npy
    test "$(series start.npy)" = "$(series kept.npy)"
    match dc --training-steps 0 -o other.npy
    match dc -o base.npy
    refute test "$(series base.npy)" = "$(series other.npy)"
    match mtt --latest-start 0 -o other.npy
    match mtt -o base.npy
    refute test "$(series base.npy)" = "$(series other.npy)"
    for option in spc batch network-steps student-steps unroll-steps expert-epochs checkpoint-every; do
        fails 2 "--$option: 0 is too small (at least 1)" sc-match --$option 0 train.npy -o none
    done
    test ! -e none
'
test_that 'soft labels are learned when asked for' '
    match mtt --label-rate 0.1 -o soft.npy
    test "$(sc-info --json soft.npy | json soft)" = true
    match mtt -o hard.npy
    test "$(sc-info --json hard.npy | json soft)" = false
'
test_that 'soft labels start as logits of 16 for the class of the series and 0 for all others' '
    match unroll --steps 0 -o first.npy
    match mtt --steps 0 --label-rate 0.1 -o followed.npy
    for made in first followed; do
        sc-info --json $made.npy | grep "\"soft_labels\": {\"min\": 0, \"max\": 16, \"mean\": 5.33333333, .*\"agreement\": 1}"
    done
    match unroll --steps 0 --from soft.npy -n 2 -o kept.npy
    sc-info --json soft.npy | grep "\"soft_labels\"" >before
    sc-info --json kept.npy | grep "\"soft_labels\"" | cmp - before
'
test_that 'a run that was killed resumes from its checkpoint and ends with the same bytes' '
    for method in dsa mtt condtsc unroll; do
        case $method in
        dsa) set -- --network "$small" -b 16 --steps 400 ;;
        mtt) set -- -x experts.npy --label-rate 0.1 --steps 400 ;;
        condtsc) set -- -x two.npy --student-steps 4 --steps 80 ;;
        unroll) set -- --network "$small" -b 16 --student-steps 40 --unroll-steps 5 --steps 200 ;;
        esac
        rm -f state
        killed state sc-match -q -m $method -n 3 "$@" --checkpoint state --checkpoint-every 7 \
            train.npy -o none
        test ! -e none
        sc-match -q -m $method -n 3 "$@" --checkpoint state train.npy -o resumed.npy
        test ! -e state
        sc-match -q -m $method -n 3 "$@" train.npy -o whole.npy
        cmp resumed.npy whole.npy
    done
'
test_that 'experts that were interrupted resume and end with the same bytes' '
    set -- -q -c 12 -e 12 -b 16 -n "$small" train.npy
    rm -f state
    killed state sc-experts "$@" --threads 1 --checkpoint state -o none
    test ! -e none
    fails 1 "state: belongs to a training of experts with other data or options" \
        sc-experts -q -c 12 -e 11 -b 16 -n "$small" --checkpoint state train.npy -o none
    damages_are_refused state sc-experts "$@" --checkpoint state -o none
    test ! -e none
    sc-experts "$@" -o whole.npy
    cp state kept
    sc-experts "$@" --checkpoint state -o resumed.npy
    test ! -e state
    cmp resumed.npy whole.npy
    # Half an expert was being written.
    cp kept state
    head -c 100 train.npy >>state
    shift
    sc-experts "$@" --checkpoint state -o resumed.npy 2>said
    grep "state: expert [0-9]* is incomplete and trained again" said
    test ! -e state
    cmp resumed.npy whole.npy
'
# Rows of --help such as
#     --batch=N   dc: real series; mtt: condensed series [dc: 64; mtt: 100]
# against the paragraph of the option in the manual: the methods and every number of the default.
test_that 'the manual gives every parameter of a method with its methods and defaults' '
    sed "s/\\\\-/-/g" "$SC_ROOT/man/sc-match.1" >page
    methods=$(sc-match --help | sed -n "/^Methods/,/^$/s/^  \([a-z]*\) .*/\1/p")
    test "$(echo "$methods" | wc -l)" -ge 6
    for method in $methods; do grep -qx "\.It Cm $method" page; done
    # Rows that were wrapped are joined again.
    sc-match --help | awk "/^ *(-., )?--/ || !/^    / { if (row) print row; row = \$0; next }
        { sub(/^ */, \" \"); row = row \$0 } END { print row }" |
        sed -n "/^ .*--steps=/,/^ .*--checkpoint=/p" | grep -v -e "--checkpoint=" |
        while IFS= read -r row; do
            name=$(echo "$row" | sed "s/[^=]*--\([a-z-]*\)=.*/\1/")
            awk -v tag="Fl -$name " "/^\.(It|El)/ { inside = 0 } /^\.It/ && index(\$0, tag) { inside = 1 } inside" \
                page >paragraph
            test -s paragraph || { echo "--$name is not in the manual"; exit 1; }
            for word in $(echo "$row" | sed "s/.*\[\(.*\)\]/\1/; s/--[a-z]*=[a-z0-9]*//g" | grep -oE "[0-9]+(\.[0-9]+)?"); do
                grep -qE "(^|[^0-9.])$word([^0-9]|$)" paragraph || { echo "--$name: no default of $word"; exit 1; }
            done
            for method in $methods; do
                case $row in *" $method:"* | *" $method,"* | *"[$method:"* | *"[$method,"*) ;; *) continue ;; esac
                grep -qE "(Cm|,) (.*, )?$method( |$)" paragraph || grep -q "else" paragraph ||
                    { echo "--$name: nothing about $method"; exit 1; }
            done
        done
'
test_that 'what does not fit is refused with the reason and leaves no file' '
    sc-gen cbf -n 30 -L 64 -o short.npy
    sc-gen two-patterns -n 40 -o four.npy
    fails 2 "mtt needs --experts=FILE" sc-match -m mtt train.npy -o none
    fails 2 "--experts does not apply to dc" sc-match -m dc -x experts.npy train.npy -o none
    fails 2 "--network does not apply to mtt" \
        sc-match -m mtt -x experts.npy --network cnn train.npy -o none
    for option in student-steps student-rate label-rate unroll-steps expert-epochs latest-start \
        rate-rate weight-embedding; do
        fails 2 "--$option does not apply to dm" sc-match -m dm --$option 1 train.npy -o none
    done
    for option in network-steps training-steps unroll-steps weight-embedding; do
        fails 2 "--$option does not apply to mtt" sc-match -m mtt -x experts.npy --$option 1 train.npy -o none
    done
    fails 2 "--rate-rate does not apply to unroll" sc-match -m unroll --rate-rate 1 train.npy -o none
    fails 2 "is not one of: dc, dsa, dm, mtt, condtsc" sc-match -m best train.npy -o none
    fails 2 "is too small" sc-match -n 0 train.npy -o none
    fails 1 "sc-match: condtsc needs experts of two towers" \
        sc-match -m condtsc -x experts.npy train.npy -o none
    fails 1 "experts of 12 epochs are too short to look 13 epochs ahead" \
        sc-match -m mtt -x experts.npy --expert-epochs 13 train.npy -o none
    fails 1 "experts.npy: experts of series with 1 channels, 128 steps and 3 classes, these have 1, 64 and 3" \
        sc-match -m mtt -x experts.npy short.npy -o none
    fails 1 "1, 128 and 4" sc-match -m mtt -x experts.npy four.npy -o none
    fails 1 "train.npy: not a file of experts" sc-match -m mtt -x train.npy train.npy -o none
    fails 1 "No such file" sc-match -m mtt -x missing.npy train.npy -o none
    head -c 2000 experts.npy >cut.npy
    fails 1 "cut.npy: " sc-match -m mtt -x cut.npy train.npy -o none
    fails 1 "the loss is no longer a number; a smaller --rate than 1e+30" \
        sc-match -m dc --network "cnn norm=none" --rate 1e30 --steps 20 train.npy -o none
    fails 1 "is no longer a number" sc-match -m mtt -x experts.npy --student-rate 1e6 train.npy -o none
    fails 1 "smaller rate than 1000 may help" sc-experts -r 1000 -e 40 -b 8 \
        -n "cnn norm=none" train.npy -o none
    fails 1 "unknown word" sc-experts -n "cnn size=3" train.npy -o none
    echo nonsense >state
    fails 1 "state: " sc-match -m dc --checkpoint state train.npy -o none
    fails 1 "state: not a checkpoint" sc-experts --checkpoint state train.npy -o none
    mkfifo pipe
    ln -s /dev/full full
    for state in pipe full . -; do
        fails 1 "$state: a checkpoint is a regular file" \
            timeout 60 sc-match -m dc --checkpoint $state train.npy -o none
        fails 1 "$state: a checkpoint is a regular file" \
            timeout 60 sc-experts --checkpoint $state train.npy -o none
    done
    test -p pipe
    test -c full
    test ! -e none
'
test_that 'experts of another dataset of the same shape are remarked on' '
    sc-gen cbf -n 120 --seed 5 -o fifth.npy
    sc-match -m mtt -x experts.npy -n 1 --steps 1 fifth.npy -o a 2>said
    grep "experts.npy: the experts were trained on another dataset than fifth.npy" said
    sc-match -m mtt -x experts.npy -n 1 --steps 1 train.npy -o a 2>said
    refute grep "another dataset" said
'
test_that 'a checkpoint of another run is refused' '
    rm -f state
    killed state sc-match -q -n 2 --steps 100000 --checkpoint state --checkpoint-every 5 train.npy -o none
    fails 1 "state: belongs to a matching with other data or options" \
        sc-match -n 2 --steps 99999 --checkpoint state train.npy -o none
    fails 1 "state: a checkpoint of a matching, not of a training of experts" \
        sc-experts --checkpoint state train.npy -o none
    damages_are_refused state sc-match -n 2 --steps 100000 --checkpoint state train.npy -o none
    test ! -e none
'
finish
