#!/bin/sh
# shapecond: all stages with one command
. "$(dirname "$0")/lib.sh"

test_that 'the examples of the manual page run' '
    run_examples shapecond
    test "$(sc-info --json tiny.npy | json count)" = 6
    sc-info tiny.npy | grep -q "^soft"
    test -s stages/pool.slp
    test -s stages/teacher.tch
'
test_that 'the commands that it says give the same set when they are run by hand' '
    shapecond train.npy --spc 2 --steps 100 --refine 10 --keep again -o first.npy 2>said
    cmp first.npy tiny.npy
    for stage in synth:inverted match:condensed; do
        grep "^+ sc-${stage%:*}" said | sed "s/^+ //; s|-o again/${stage#*:}.npy|-o by-hand.npy|" >command
        sh -e command
        cmp by-hand.npy "again/${stage#*:}.npy"
    done
    shapecond train.npy --spc 2 --steps 100 --refine 0 --quiet --keep without -o other.npy
    cmp without/condensed.npy again/inverted.npy
'
test_that 'bytes do not depend on the number of threads, and no files stay without --keep' '
    mkdir tmp
    TMPDIR=$PWD/tmp shapecond train.npy --spc 2 --steps 100 --refine 10 --threads 1 --quiet -o one.npy
    cmp one.npy tiny.npy
    test -z "$(ls -A tmp)"
'
test_that 'the condensed series are in the scale of the set' '
    sc-info --json train.npy >all.json
    sc-info --json tiny.npy >tiny.json
    awk -v a="$(json max <all.json)" -v b="$(json max <tiny.json)" "BEGIN { exit !(b > a / 3 && b < 3 * a) }"
'
test_that 'a stage that fails ends the run with its message and leaves nothing' '
    fails 1 "none.npy: No such file" shapecond none.npy -o none
    fails 2 "which set" shapecond -o none
    fails 2 "needs -o FILE" shapecond train.npy --test train.npy
    TMPDIR=$PWD/tmp fails 1 "sc-teacher failed" shapecond train.npy --network "cnn depth=99" -o none
    test ! -e none
    test -z "$(ls -A tmp)"
'
test_that 'series of a few steps get a network that they do not vanish in' '
    for length in 1 2 4 7; do
        awk -v n=$length "BEGIN { for (i = 0; i < 40; i++) { printf i % 2; for (t = 0; t < n; t++) printf \",%g\", (i % 2) + (i * 7 + t * 3) % 10 / 10; print \"\" } }" >short.csv
        sc-import short.csv -o short.npy
        shapecond short.npy --spc 2 --steps 10 --refine 2 --quiet -o short-tiny.npy
        test "$(sc-info --json short-tiny.npy | json count)" = 4
    done
'
finish
