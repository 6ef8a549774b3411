#!/bin/sh
# sc-eval
. "$(dirname "$0")/lib.sh"

# field ROW COLUMN <table: one number of it.
field() { awk -F "\t" -v row="$1" -v column="$2" '
    NR == 1 { for (i = 1; i <= NF; i++) if ($i == column) n = i }
    $1 == row { print $n; exit }'; }

test_that 'the examples of the manual page run' '
    run_examples sc-eval >out
    grep -q "^mean" full.tsv
'
# Small datasets and a small network, for the sake of the sanitizers.
sc-gen cbf -n 45 -L 32 --seed 3 -o train.npy
sc-gen cbf -n 30 -L 32 --seed 4 -o val.npy
sc-gen cbf -n 150 -L 32 --seed 5 -o test.npy
sc-shapelets -q -k 5 train.npy -o pool.slp
sc-teacher -q -n "cnn depth=2 width=8" --rate 0.02 --steps 40 train.npy -o teacher.tch
evaluate() { sc-eval -n "cnn depth=2 width=8" --rate 0.02 "$@"; }
sc-select -n 4 --seed 1 --teacher teacher.tch --soft train.npy -o few.npy

test_that 'the rate that is not said is that of the manual page' '
    # rated FILE RATE OPTIONS...: the same table without a rate and with that one.
    rated() {
        file=$1 rate=$2
        shift 2
        sc-eval -q -n "cnn depth=2 width=8" --seeds 1 --steps 20 "$@" "$file" test.npy >unsaid
        sc-eval -q -n "cnn depth=2 width=8" --seeds 1 --steps 20 "$@" --rate "$rate" "$file" test.npy | cmp - unsaid
    }
    sc-select -n 10 --seed 1 --teacher teacher.tch --soft train.npy -o more.npy
    rated few.npy 0.001
    rated few.npy 0.001 --hard
    rated few.npy 0.003 --shapelets pool.slp
    rated more.npy 0.01 --shapelets pool.slp
    rated few.npy 0.01 --shapelets pool.slp --hard
    sc-eval -q -n "cnn depth=2 width=8" --seeds 1 --steps 20 --rate 0.1 more.npy test.npy >other
    sc-eval -q -n "cnn depth=2 width=8" --seeds 1 --steps 20 more.npy test.npy >unsaid
    refute cmp other unsaid
'
program="$SC_BUILD/tests/test_guide_command teach"
test_that 'a program is scored as the network that it serves' '
    sc-eval -q --teacher teacher.tch test.npy >network
    sc-eval -q --teacher-command "$program well teacher.tch" test.npy | cmp - network
    fails 2 "exclude each other" sc-eval --teacher teacher.tch --teacher-command cat test.npy
    fails 2 "scored on one dataset" sc-eval --teacher-command cat few.npy test.npy
    fails 1 "teacher command: exited with status 1" sc-eval --teacher-command false test.npy
'
test_that 'students learn from few series, and the table says how well' '
    evaluate few.npy test.npy --hard --seeds 3 --steps 40 >table
    test "$(wc -l <table)" = 6
    test "$(cut -f 1 table | tr "\n" " ")" = "seed 0 1 2 mean deviation "
    test "$(head -n 1 table | cut -f 7-)" = "recall:cylinder	recall:bell	recall:funnel"
    awk -F "\t" "\$1 == \"mean\" && \$2 > 70 { ok = 1 } END { exit !ok }" table
    # mean of the accuracies of the three seeds
    awk -F "\t" "NR > 1 && NR < 5 { sum += \$2 } NR == 5 { d = \$2 - sum / 3; exit d * d > 1e-4 }" table
    test "$(field mean ratio <table) $(field mean validation <table)" = "- -"
'
test_that 'the same bytes come from 1, 2 and 7 threads' '
    for kind in --hard "--soft -s pool.slp -v val.npy"; do
        evaluate few.npy test.npy $kind --steps 20 --threads 1 >one
        for threads in 2 7; do
            evaluate few.npy test.npy $kind --steps 20 --threads $threads | cmp - one
        done
    done
'
test_that 'a student is the same alone and among others' '
    evaluate few.npy test.npy --seeds 1 --seed 2 --steps 20 | grep "^2" >alone
    evaluate few.npy test.npy --seeds 3 --steps 20 | grep "^2" | cmp - alone
'
test_that 'soft labels are learned where there are some, unless hard ones are asked for' '
    evaluate few.npy test.npy --seeds 2 --steps 20 >by-default
    evaluate few.npy test.npy --seeds 2 --steps 20 --soft | cmp - by-default
    evaluate few.npy test.npy --seeds 2 --steps 20 --hard >hard
    evaluate few.npy test.npy --seeds 2 --steps 20 -T 1 >cold
    refute cmp -s hard by-default
    refute cmp -s cold by-default
    fails 1 "train.npy: has no soft labels" sc-eval train.npy test.npy --soft
    fails 2 "--soft and --hard exclude each other" sc-eval few.npy test.npy --soft --hard
'
test_that 'the ratio is to the accuracy with full data, a number or a table' '
    sc-eval --teacher teacher.tch test.npy -o full.tsv
    full=$(field mean accuracy <full.tsv)
    evaluate few.npy test.npy --seeds 2 --steps 20 --full $full >by-number
    evaluate few.npy test.npy --seeds 2 --steps 20 --full full.tsv | cmp - by-number
    awk -F "\t" -v full=$full "\$1 == \"mean\" { d = \$3 - 100 * \$2 / full; exit d * d > 1e-3 }" by-number
    fails 1 "not a table of sc-eval" sc-eval few.npy test.npy --full train.npy
    fails 1 "none.tsv: No such file" sc-eval few.npy test.npy --full none.tsv
    fails 1 "is not between 0 and 100" sc-eval few.npy test.npy --full 120
'
test_that 'rows of the confusion matrix are the series of the class, for all students' '
    evaluate few.npy test.npy --seeds 2 --steps 20 --confusion >table
    sed "1,/^\$/d" table >matrix
    test "$(head -n 1 matrix)" = "true	as:cylinder	as:bell	as:funnel"
    test "$(awk -F "\t" "NR > 1 { print \$2 + \$3 + \$4 }" matrix | tr "\n" " ")" = "100 100 100 "
'
test_that 'JSON holds the same facts' '
    evaluate few.npy test.npy --seeds 2 --steps 20 --full 99 >table
    evaluate few.npy test.npy --seeds 2 --steps 20 --full 99 --json >json
    test "$(json full <json)" = 99
    test "$(grep -c "\"seed\":" json)" = 2
    mean=$(field mean accuracy <table)
    sed -n "/\"mean\"/,/}/p" json | json accuracy | awk -v mean=$mean "{ exit (\$1 - mean) ^ 2 > 1e-4 }"
    grep -q "\"classes\": \[\"cylinder\", \"bell\", \"funnel\"\]" json
'
test_that 'validation chooses the epoch and is shown' '
    evaluate few.npy test.npy -v val.npy --seeds 2 --steps 20 --validate-every 5 >table
    awk -F "\t" "\$1 == \"0\" { exit !(\$5 > 0 && \$6 % 5 == 0) }" table
    evaluate few.npy test.npy -v val.npy --seeds 2 --steps 20 --choose last >table
    test "$(field 0 epoch <table)" = 20
'
test_that 'the shapelet classifier is trained on one dataset and scored on another' '
    sc-eval --classifier shapelets -s pool.slp train.npy test.npy >table
    awk -F "\t" "\$1 == \"mean\" { exit !(\$2 > 50) }" table
    test "$(wc -l <table)" = 4
    fails 2 "needs --shapelets" sc-eval --classifier shapelets train.npy test.npy
'
test_that 'a full dataset is evaluated like a condensed one' '
    evaluate train.npy test.npy --seeds 1 --steps 40 --batch 256 >table
    awk -F "\t" "\$1 == \"mean\" { exit !(\$2 > 80) }" table
'
test_that 'datasets that do not go together are refused with the reason' '
    sc-gen cbf -n 30 -L 24 -o short.npy
    sc-gen planted -n 40 -V 4 -C 1 -L 32 -o four.npy
    fails 1 "short.npy: series of 1 channels and 24 steps, but few.npy is for 1 and 32" \
        evaluate few.npy short.npy -o none
    fails 1 "four.npy: series " sc-eval few.npy four.npy -o none
    fails 1 "short.npy: series of 1 channels and 24 steps, but teacher.tch is for 1 and 32" \
        sc-eval --teacher teacher.tch short.npy -o none
    fails 1 "teacher.tch: was trained with 0 shapelets, not with 5" \
        sc-eval --teacher teacher.tch -s pool.slp test.npy -o none
    sc-teacher -q train.npy -s pool.slp --steps 5 -o with.tch
    fails 1 "with.tch: needs the 5 shapelets that it was trained with" \
        sc-eval --teacher with.tch test.npy -o none
    sc-shapelets -q -k 5 -w 1 train.npy -o other.slp
    sc-eval --teacher with.tch -s pool.slp test.npy 2>said >table
    refute grep -q "other shapelets" said
    sc-eval --teacher with.tch -s other.slp test.npy 2>said >table
    grep -q "with.tch was trained with other shapelets" said
    fails 1 "pool.slp: " sc-eval --teacher pool.slp test.npy -o none
    fails 1 "training: the loss is not a number" \
        evaluate few.npy test.npy -n "cnn norm=none" --optimiser sgd --rate 1000 --hard -o none
    fails 1 "/nowhere" sc-eval few.npy test.npy --steps 1000000 -o /nowhere/at.all
    fails 2 "missing arguments: sc-eval TRAIN TEST" sc-eval few.npy -o none
    fails 2 "is scored on one dataset" sc-eval --teacher teacher.tch few.npy test.npy -o none
    test ! -e none
'
test_that 'a class that the training set does not have is no obstacle, but is said' '
    sc-select -n 2 train.npy -o six.npy
    { head -c 128 six.npy | sed "s/(6, 1, 32)/(4, 1, 32)/"
      tail -c +129 six.npy | head -c 256
      tail -c +129 six.npy | head -c 768 | tail -c 256; } >gap.npy
    { printf "\223NUMPY\001\000\166\000"
      printf "%-117s\n" "{\"descr\": \"<i4\", \"fortran_order\": False, \"shape\": (4,), }" | tr "\"" "\047"
      printf "\000\000\000\000\000\000\000\000\002\000\000\000\002\000\000\000"; } >gap-y.npy
    evaluate gap.npy --labels gap-y.npy test.npy --steps 20 --seeds 2 >table 2>said
    grep -q "gap.npy: class 1 has no series" said
    test "$(field mean recall:bell <table)" = 0.00
'
test_that 'classes that are numbered otherwise are refused, not scored' '
    for i in 1 2 3 4 5 6; do printf "%s\n" "a,1,2,$i,4" "b,$i,2,1,0" "c,4,4,4,$i"; done >three.csv
    grep -v ^a three.csv >two.csv
    sc-import -q three.csv -o three.npy
    sc-import -q two.csv -o two.npy
    fails 1 "in three.npy; sc-import --classes-from" \
        sc-eval -n "cnn depth=1" --steps 2 three.npy two.npy
    sc-import -q two.csv --classes-from three.npy -o two.npy
    sc-eval -q -n "cnn depth=1" --steps 2 --seeds 1 three.npy two.npy | grep "^mean"
'
finish
