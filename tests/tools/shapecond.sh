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
    grep -q "^+ sc-synth.* --steps 0 " said
    for stage in synth:chosen match:condensed; do
        grep "^+ sc-${stage%:*}" said | sed "s/^+ //; s|-o again/${stage#*:}.npy|-o by-hand.npy|" >command
        sh -e command
        cmp by-hand.npy "again/${stage#*:}.npy"
    done
    shapecond train.npy --spc 2 --steps 100 --refine 0 --keep without -o other.npy 2>said
    ! grep -q "^+ sc-synth.* --steps" said # what is not refined is inverted
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
test_that 'what a stage would fail on is said before the work, of the file that it is about' '
    sc-gen cbf -n 30 -L 64 -o short.npy
    fails 1 "short.npy: series of 1 channels and 64 steps, but train.npy is for 1 and 128" \
        shapecond train.npy --validate short.npy -o none
    fails 1 "short.npy: series of 1 channels and 64 steps, but train.npy is for 1 and 128" \
        shapecond train.npy --test short.npy -o none
    sc-gen planted -V 1 -n 10 -o same.npy
    fails 1 "same.npy: shapelets tell classes apart, but there is only one" shapecond same.npy -o none
    sc-gen planted -V 40 -n 30 -o holes.npy
    fails 1 "of 40 has no series" shapecond holes.npy -o none
    grep -q "^shapecond: holes.npy: class" .stderr
    fails 2 "it must be a file" shapecond - -o none
    test ! -e none
'
test_that 'a set of one series per class is condensed without any held out' '
    for classes in 3 20; do
        sc-gen planted -V $classes -n $((classes * 8)) -L 40 -o some.npy
        sc-select -q -n 1 some.npy -o single.npy
        shapecond single.npy --spc 1 --steps 5 --refine 2 --test some.npy -o single-tiny.npy >scores 2>said
        grep "too few series to hold any out" said
        refute grep -e "--val" said
        test "$(sc-info --json single-tiny.npy | json count)" = $classes
        grep "^mean" scores
    done
'
test_that 'classes of very unequal size are balanced for the teacher, others are not' '
    sc-gen planted -V 3 -L 40 -n 90 --imbalance 0.1 -o unequal.npy
    shapecond unequal.npy --spc 1 --steps 5 --refine 2 --keep balanced -o a.npy 2>said
    grep "^+ sc-teacher .* balanced/balanced.npy " said
    largest=$(sc-info --json balanced/train.npy | sed -n "s/.*\"count\": \([0-9]*\)}.*/\1/p" | sort -n | tail -n 1)
    test "$(sc-info --json balanced/balanced.npy | grep -c "\"class\": .*\"count\": $largest}")" = 3
    sc-gen planted -V 3 -L 40 -n 90 -o equal.npy
    shapecond equal.npy --spc 1 --steps 5 --refine 2 --keep plain -o a.npy 2>said
    grep "^+ sc-teacher .* plain/train.npy " said
    test ! -e plain/balanced.npy
'
# Programs as they are, but the first stage sends its parent the signal and does not mind it itself:
# as if it came between two stages.
mkdir between
cp "$(command -v shapecond)" between/
ln -s "$(dirname "$(command -v shapecond)")"/sc-* between/
rm between/sc-split
cat >between/sc-split <<END
#!/bin/sh
trap "" "\$SENT"
kill -s "\$SENT" "\$PPID"
exec "$(command -v sc-split)" "\$@"
END
chmod +x between/sc-split
between() { TMPDIR=$PWD/tmp SENT=$1 between/shapecond -q train.npy --spc 2 --steps 10 --refine 2 -o none; }
test_that 'a signal between two stages ends the run by that signal and leaves nothing' '
    for signal in TERM:15 HUP:1 PIPE:13; do
        got=0
        between ${signal%:*} || got=$?
        test $got = $((128 + ${signal#*:}))
        test ! -e none
        test -z "$(ls -A tmp)"
    done
    (trap "" HUP && between HUP)
    test -s none
    rm none
'
test_that 'a signal within a stage ends it and the run' '
    for wait in 0.3 0.6 1.2; do
        TMPDIR=$PWD/tmp shapecond -q train.npy --spc 2 --steps 10000000 -o none &
        job=$!
        sleep $wait
        kill -s TERM $job
        got=0
        wait $job || got=$?
        test $got = 143
        test ! -e none
        test -z "$(ls -A tmp)"
        refute grep -l "$PWD/[t]mp/shapecond-" /proc/[0-9]*/cmdline
    done
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
