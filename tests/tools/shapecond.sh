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
    shapecond train.npy --spc 2 --steps 100 --students shapelets --refine 10 --no-score --keep again -o first.npy 2>said
    cmp first.slp again/pool.slp
    grep -q "^+ sc-synth.* --steps 0 " said
    for stage in synth:chosen match:condensed; do
        grep "^+ sc-${stage%:*}" said | sed "s/^+ //; s|-o again/${stage#*:}.npy|-o by-hand.npy|" >command
        sh -e command
        cmp by-hand.npy "again/${stage#*:}.npy"
    done
    shapecond train.npy --spc 2 --steps 100 --students shapelets --refine 0 --no-score --keep without -o other.npy 2>said
    ! grep -q "^+ sc-synth.* --steps" said # what is not refined is inverted
'
test_that 'by default the set carries views for any model, and it is said how good it is' '
    shapecond train.npy --spc 1 --steps 100 --views 300 --keep any -o any.npy 2>said
    test "$(sc-info --json any.npy | json views)" = 300
    sc-expand -q any.npy | sc-info --json | grep -q "\"count\": 303,"
    grep -E "accuracy on held-out series: plain students of the result [0-9.]+ %, students of as many random series [0-9.]+ %, teacher of all data [0-9.]+ %" said
    grep "for any program: sc-expand any.npy | sc-export -o any-expanded.npz" said
    grep -E "^\+ sc-eval .*  # ([0-9]+) of \1\$" said # the last one
    test ! -e any.slp
    # The views fit the series in the scale of the set as they did when the teacher saw them.
    sc-expand -q any/condensed.npy | sc-scale -q --undo --with any/scale.npy | sc-info --json | json max >a
    sc-expand -q any.npy | sc-info --json | json max >b
    awk "NR == FNR { a = \$1; next } { exit !(a - \$1 < 1e-3 && \$1 - a < 1e-3) }" a b
    shapecond train.npy --spc 1 --steps 100 --views 300 --threads 3 --no-score -q -o other.npy
    cmp any.npy other.npy
    shapecond train.npy --spc 1 --steps 20 --plain --views 0 --no-score -q -o unviewed.npy
    test "$(sc-info --json unviewed.npy | json views)" = 0
    fails 2 "for --students=shapelets" shapecond train.npy --refine 3 -o none
    fails 2 "for --students=any" shapecond train.npy --students shapelets --views 3 -o none
    fails 2 "no shapelets" shapecond train.npy --students shapelets --plain -o none
'
test_that 'bytes do not depend on the number of threads, and no files stay without --keep' '
    mkdir tmp
    TMPDIR=$PWD/tmp shapecond train.npy --spc 2 --steps 100 --students shapelets --refine 10 --no-score --threads 1 --quiet -o one.npy
    cmp one.npy first.npy
    cmp one.slp first.slp
    test -z "$(ls -A tmp)"
'
test_that 'the condensed series are in the scale of the set' '
    sc-info --json train.npy >all.json
    sc-info --json tiny.npy >tiny.json
    awk -v a="$(json max <all.json)" -v b="$(json max <tiny.json)" "BEGIN { exit !(b > a / 3 && b < 3 * a) }"
'
test_that 'a stage that fails ends the run with its message and leaves nothing' '
    fails 1 "none.npy: No such file" shapecond none.npy -o none
    fails 2 "missing argument" shapecond -o none
    fails 2 "needs -o FILE" shapecond train.npy --test train.npy
    TMPDIR=$PWD/tmp fails 1 "sc-teacher failed" shapecond train.npy --network "cnn features=7" -o none
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
    fails 2 "it must be a file" shapecond train.npy --validate - -o none
    for network in "" "rnn" "cnn depth=99" "cnn depth=16" "cnn channels=7"; do
        fails 2 "--network: " shapecond train.npy --network "$network" -o none
        refute grep "^+" .stderr
    done
    test ! -e none
'
test_that 'a set of one series per class is condensed without any held out' '
    for classes in 3 20; do
        sc-gen planted -V $classes -n $((classes * 8)) -L 40 -o some.npy
        sc-select -q -n 1 some.npy -o single.npy
        shapecond single.npy --force --spc 1 --steps 5 --views 20 --no-score --test some.npy -o single-tiny.npy >scores 2>said
        grep "too few series to hold any out" said
        refute grep -e "--val" said
        test "$(sc-info --json single-tiny.npy | json count)" = $classes
        grep "^mean" scores
    done
'
test_that 'a folder that is there is used, and commands can be run whatever the names hold' '
    mkdir "it is" && cp train.npy "it is/john'"'"'s train.npy"
    shapecond "it is/john'"'"'s train.npy" --spc 2 --steps 100 --views 500 --no-score --keep "it is" -o odd.npy 2>said
    content odd.npy >odd.content
    content tiny.npy | cmp - odd.content
    grep "^+ sc-split" said | sed "s/^+ //" >command
    rm "it is/raw-train.npy"
    sh -e command
    test -s "it is/raw-train.npy"
'
test_that 'classes of very unequal size are balanced for the teacher, others are not' '
    sc-gen planted -V 3 -L 40 -n 90 --imbalance 0.1 -o unequal.npy
    shapecond unequal.npy --spc 1 --steps 5 --views 20 --no-score --keep balanced -o a.npy 2>said
    grep "^+ sc-teacher .* balanced/balanced.npy " said
    largest=$(sc-info --json balanced/train.npy | sed -n "s/.*\"count\": \([0-9]*\)}.*/\1/p" | sort -n | tail -n 1)
    test "$(sc-info --json balanced/balanced.npy | grep -c "\"class\": .*\"count\": $largest}")" = 3
    sc-gen planted -V 3 -L 40 -n 90 -o equal.npy
    shapecond equal.npy --spc 1 --steps 5 --views 20 --no-score --keep plain -o a.npy 2>said
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
between() { TMPDIR=$PWD/tmp SENT=$1 between/shapecond -q train.npy --spc 2 --steps 10 --views 20 --no-score -o none; }
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
# A run that is in the middle of a long stage; its number is in $job, that of the stage in $stage.
# A shell has some signals ignored in the background, and so may whoever started it: env(1) is told.
long_run() {
    TMPDIR=$PWD/tmp env "$@" shapecond -q --plain train.npy --steps 10000000 -o none &
    job=$!
    stage=
    until stage_runs; do
        sleep 0.05
        kill -0 "$job"
        stage=$(grep -lsE "^PPid:[[:space:]]*$job\$" /proc/[0-9]*/status | tr -dc "0-9")
    done
}
stage_runs() { test "$(cat "/proc/$stage/comm" 2>/dev/null)" = sc-teacher; }
# It is gone within two seconds.
stage_ends() {
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        stage_runs || return 0
        sleep 0.1
    done
    return 1
}
test_that 'every signal that can be caught ends stage and run, and leaves nothing' '
    ulimit -c 0
    for signal in QUIT:3 USR1:10 USR2:12 ALRM:14 XCPU:24; do
        long_run --default-signal
        kill -s ${signal%:*} $job
        got=0
        wait $job || got=$?
        test $got = $((128 + ${signal#*:}))
        refute stage_runs
        test -z "$(ls -A tmp)"
        test ! -e none
    done
'
test_that 'a stage dies with shapecond, and the next run removes what it left' '
    long_run --default-signal
    kill -s KILL $job
    wait $job || true
    stage_ends
    test ! -e none
    test "$(ls tmp | wc -l)" = 1
    # Nobody listens to TERM, which a stage would get otherwise.
    long_run --ignore-signal=TERM
    kill -s KILL $job
    wait $job || true
    stage_ends
    # What does not belong to a dead run stays: a folder in use, and files of others.
    mkdir tmp/shapecond-run-mine tmp/shapecond-abcdef
    touch tmp/shapecond-run-mine/file tmp/shapecond-abcdef/file
    long_run --default-signal
    test "$(ls tmp | wc -l)" = 3
    cp -r tmp held
    TMPDIR=$PWD/tmp shapecond -q train.npy --spc 1 --steps 1 --views 2 --no-score --plain -o quick.npy
    test -s quick.npy
    test "$(ls -R tmp)" = "$(ls -R held | sed "s/^held/tmp/")"
    stage_runs
    kill $job
    wait $job || true
    test "$(ls tmp | wc -l)" = 2
    rm -r tmp/* held
'
test_that 'names that look like options are files' '
    mkdir -p dash/-tmp
    cp train.npy dash/-oevil
    (
        cd dash
        TMPDIR=-tmp shapecond -q --plain --spc 1 --steps 2 --views 20 --no-score --validate -oevil --test -oevil -o -out \
            -- -oevil <../short.npy >scores
        grep "^mean" scores
        shapecond -q --plain --spc 1 --steps 2 --views 20 --no-score --keep -stages -o out -- -oevil
    )
    test -s dash/-out
    test -s dash/out
    test -s dash/-stages/teacher.tch
    test "$(ls -A dash)" = "$(printf "%s\n" -oevil -out -stages -tmp out scores)"
    test -z "$(ls -A dash/-tmp)"
'
quoted="\$'odd\\x1b[2J\\'name.npy'"
test_that 'a name that is not printable is said so that a shell can read it back' '
    name=$(printf "odd\033[2J\047name.npy")
    cp train.npy "$name"
    shapecond --spc 1 --steps 2 --views 2 --no-score --plain --keep odd -o quick.npy "$name" 2>said
    test -z "$(tr -d "\n" <said | LC_ALL=C tr -d "[:print:]")"
    cat said
    grep -qF "$quoted" said
'
test_that 'series of a few steps get a network that they do not vanish in' '
    for length in 1 2 4 7; do
        awk -v n=$length "BEGIN { for (i = 0; i < 40; i++) { printf i % 2; for (t = 0; t < n; t++) printf \",%g\", (i % 2) + (i * 7 + t * 3) % 10 / 10; print \"\" } }" >short.csv
        sc-import short.csv -o short.npy
        shapecond short.npy --spc 2 --steps 10 --views 20 --no-score --quiet -o short-tiny.npy
        test "$(sc-info --json short-tiny.npy | json count)" = 4
    done
'
test_that 'with --keep a run continues where it was stopped, and repeats only what options change' '
    shapecond train.npy --spc 1 --steps 60 --views 50 --keep whole -o whole.npy 2>said
    refute grep "done before" said
    grep -c "^+" said >commands
    shapecond train.npy --spc 1 --steps 60 --views 50 --keep whole --threads 3 -o whole.npy 2>said
    test "$(grep -c "done before" said)" = "$(cat commands)"
    shapecond train.npy --spc 1 --steps 60 --views 60 --no-score --keep whole -o more.npy 2>said
    grep "^+ sc-teacher.*done before" said
    refute grep "^+ sc-views.*done before" said
    # A file that was changed is made again, and all that is made from it.
    cp whole/condensed.npy before.npy
    printf x >>whole/plain.tch
    shapecond train.npy --spc 1 --steps 60 --views 60 --no-score --keep whole -o more.npy 2>said
    grep "^+ sc-teacher.*teacher.tch.*done before" said
    refute grep "^+ sc-teacher.*plain.tch.*done before" said
    cmp whole/condensed.npy before.npy
    # Stopped at any moment: the same bytes, and no checkpoint stays behind.
    for wait in 0.05 0.1 0.2 0.4; do
        rm -rf part
        shapecond -q train.npy --spc 1 --steps 60 --views 50 --no-score --keep part -o part.npy &
        job=$!
        sleep $wait
        kill $job 2>/dev/null || true
        wait $job || true
        shapecond -q train.npy --spc 1 --steps 60 --views 50 --no-score --keep part -o part.npy
        cmp part.npy whole.npy
        test -z "$(ls part | grep ckpt)"
    done
    printf "nonsense\n" >whole/commands.tsv
    shapecond -q train.npy --spc 1 --steps 60 --views 50 --no-score --keep whole -o again.npy
    cmp again.npy whole.npy
'
test_that 'a long training continues from its checkpoint' '
    shapecond -q --plain train.npy --spc 1 --steps 3000 --views 20 --no-score --keep slow -o slow.npy &
    job=$!
    until ls slow/*.ckpt >/dev/null 2>&1; do sleep 0.05; kill -0 $job; done
    kill $job
    wait $job || true
    ls slow/*.ckpt
    # It is read: one that is damaged is refused.
    cp slow/*.ckpt kept.ckpt
    printf x >>"$(echo slow/*.ckpt)"
    fails 1 "sc-teacher failed" shapecond -q --plain train.npy --spc 1 --steps 3000 --views 20 --no-score --keep slow -o slow.npy
    cp kept.ckpt "$(echo slow/*.ckpt)"
    shapecond -q --plain train.npy --spc 1 --steps 3000 --views 20 --no-score --keep slow -o slow.npy
    test -z "$(ls slow | grep ckpt)"
    shapecond -q --plain train.npy --spc 1 --steps 3000 --views 20 --no-score -o fast.npy
    cmp slow.npy fast.npy
'
test_that 'a folder is used by one run at a time, and what is read counts, however it is named' '
    flock whole sleep 2 &
    sleep 0.3
    fails 1 "another run of shapecond uses this folder" shapecond train.npy --spc 1 --steps 2 --plain --keep whole -o none
    wait
    sc-gen -q cbf -n 30 -L 32 -o labelled.npy
    head -c 3968 labelled.npy >x.npy
    tail -c +3969 labelled.npy | head -c 248 >y.npy
    shapecond x.npy --import "--labels=y.npy" --spc 1 --steps 2 --views 5 --no-score --plain --keep eq -o eq.npy 2>said
    shapecond x.npy --import "--labels=y.npy" --spc 1 --steps 2 --views 5 --no-score --plain --keep eq -o eq.npy 2>said
    grep "^+ sc-import.*done before" said
    { head -c 128 y.npy; tail -c 4 y.npy; tail -c +129 y.npy | head -c 116; } >z.npy
    mv z.npy y.npy
    shapecond x.npy --import "--labels=y.npy" --spc 1 --steps 2 --views 5 --no-score --plain --keep eq -o eq.npy 2>said
    refute grep "^+ sc-import.*done before" said
    for word in --help "-o evil" --output=evil --version; do
        fails 2 "cannot pass on" shapecond x.npy --import "$word" --keep eq -o none
    done
    # Standard output is written each time.
    for i in 1 2; do
        shapecond -q train.npy --spc 1 --steps 2 --views 5 --no-score --plain --keep out -o - >out.$i
    done
    test -s out.2
    cmp out.1 out.2
'
test_that 'files that are no datasets are imported' '
    sc-export -q train.npy -o own.tsv
    shapecond own.tsv --spc 1 --steps 20 --views 50 --no-score --plain --keep own -o own.npy 2>said
    grep "^+ sc-import -o own/data.npy own.tsv" said
    awk "BEGIN { srand(1); for (i = 0; i < 40; i++) { for (t = 0; t < 16; t++) printf \"%g,\", rand() + i % 2; print i % 2 ? \"on\" : \"off\" } }" >own.csv
    shapecond own.csv --import "--label last" --spc 1 --steps 20 --views 50 --no-score --plain -q -o own-csv.npy
    sc-info own-csv.npy | grep -q " on$"
    fails 1 "sc-import failed" shapecond own.csv --spc 1 -o none
    test ! -e none
'
test_that 'a budget of bytes is kept' '
    for budget in 12k 20000 0.05M; do
        shapecond train.npy --bytes $budget --steps 20 --plain --no-score -q -o budget.npy
        size=$(stat -c %s budget.npy)
        echo "$budget: $size"
        awk -v size=$size -v text=$budget "BEGIN { b = text + 0; if (text ~ /k/) b *= 1e3; if (text ~ /M/) b *= 1e6; exit !(size <= b && size > 0.6 * b) }"
    done
    fails 1 "300 views take" shapecond train.npy --bytes 2k -o none
    fails 2 "not a size" shapecond train.npy --bytes many -o none
    fails 2 "chooses --spc" shapecond train.npy --bytes 20k --spc 1 -o none
'
test_that 'a result that is not smaller than the data needs --force' '
    fails 1 "as many bytes as the 90 series of train.npy" shapecond train.npy --spc 30 -o none
    shapecond train.npy --spc 28 --views 5000 --force --steps 5 --plain --no-score -q -o large.npy
    test -s large.npy
'
finish
