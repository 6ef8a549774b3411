#!/bin/sh
# sc-prune
. "$(dirname "$0")/lib.sh"

count() { sc-info --json "$1" | json count; }

test_that 'the examples of the manual page run' '
    run_examples sc-prune
    test "$(sc-info --json pruned.npy | grep -c "\"count\": 20")" = 4
'
sc-gen two-patterns -n 203 -o set.npy
test_that 'a pruned dataset has the share asked for, rounded for each class' '
    sc-prune -p 0.7 set.npy -o kept.npy
    test "$(count kept.npy)" = 60
    sc-prune -p 0.7 --overall set.npy -o kept.npy
    test "$(count kept.npy)" = 61
    sc-prune -p 0.999 set.npy -o kept.npy
    test "$(count kept.npy)" = 4
    sc-prune set.npy -o kept.npy
    test "$(count kept.npy)" = 203
'
test_that 'the seed decides, not the threads' '
    sc-prune -p 0.5 --seed 3 --threads 1 set.npy -o a
    sc-prune -p 0.5 --seed 3 --threads 7 set.npy | cmp - a
    sc-prune -p 0.5 --seed 4 set.npy -o b
    content a >a.txt
    content b >b.txt
    refute cmp -s a.txt b.txt
'
test_that 'bad input is refused with the reason and leaves no file' '
    fails 2 "1 is out of range" sc-prune -p 1 set.npy -o none
    fails 2 "-0.1 is out of range" sc-prune -p -0.1 set.npy -o none
    fails 1 "missing.npy" sc-prune missing.npy -o none
    test ! -e none
'
finish
