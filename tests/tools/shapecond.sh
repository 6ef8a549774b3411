#!/bin/sh
# shapecond: all stages with one command
. "$(dirname "$0")/lib.sh"

test_that 'the examples of the manual page run' '
    run_examples shapecond
    test "$(sc-info --json tiny.npy | json count)" = 6
    sc-info tiny.npy | grep -q "^soft"
    test -s stages/stored.npy
    test -s stages/teacher.tch
'
test_that 'the commands that it prints give the same dataset when they are run by hand' '
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
test_that 'by default the dataset carries views for any model, and it is said how good it is' '
    shapecond train.npy --spc 1 --steps 100 --views 300 --keep any -o any.npy 2>said
    cp said said-any
    test "$(sc-info --json any.npy | json views)" = 300
    sc-expand -q any.npy | sc-info --json | grep -q "\"count\": 303,"
    grep -E "accuracy on held-out series: plain students of the result [0-9.]+ %, students of as many random series [0-9.]+ %, teacher of all data [0-9.]+ %" said
    # The class with the lowest recall, of the confusion matrix of both students.
    awk -F "\t" "/^true/ { inside = 1; row = 1; next }
        inside && NF > 1 { row++; n = 0; for (i = 2; i <= NF; i++) n += \$i; all += n
            if (least == \"\" || \$row / n < least) { least = \$row / n; class = \$1; of = n } }
        END { printf \"the least recognised class: %s, %.1f %% (%d held-out series of it, %d in all)\\n\", class, 100 * least, of / 2, all / 2 }" \
        any/condensed.tsv >least
    grep -F "$(cat least)" said
    grep -E "3 series \(1 per class\) and 300 labelled views in [0-9.]+ kB, [0-9.]+ times less than the training data \([0-9.]+ kB\)" said
    tail -n 1 said | grep "for any program: sc-expand any.npy | sc-export -o any-expanded.npz"
    grep -E "^\+ sc-eval .*  # ([0-9]+) of \1\$" said # the last one
    test ! -e any.slp
    # The views fit the series in the scale of the dataset as they did when the teacher saw them.
    sc-expand -q any/condensed.npy | sc-scale -q --undo --with any/scale.npy | sc-info --json | json max >a
    sc-expand -q any.npy | sc-info --json | json max >b
    awk "NR == FNR { a = \$1; next } { exit !(a - \$1 < 1e-3 && \$1 - a < 1e-3) }" a b
    shapecond train.npy --spc 1 --steps 100 --views 300 --threads 3 --no-score -q -o other.npy
    cmp any.npy other.npy
    shapecond train.npy --spc 1 --steps 20 --views 0 --no-score -q -o unviewed.npy
    test "$(sc-info --json unviewed.npy | json views)" = 0
    fails 2 "for --students=shapelets" shapecond train.npy --refine 3 -o none
    fails 2 "for --students=any" shapecond train.npy --students shapelets --views 3 -o none
'
test_that 'views are labelled by two teachers, one of which pools over time, or by the one that is named' '
    grep "^+ sc-teacher .*--network .cnn end=mean. .*-o any/pooled.tch" said-any
    grep "^+ sc-views --teacher any/teacher.tch --teacher any/pooled.tch " said-any
    refute grep "^+ sc-select .*--soft" said-any
    shapecond train.npy --spc 1 --steps 20 --views 20 --network "cnn depth=2" --no-score --keep named -o none.npy 2>said
    grep "^+ sc-views --teacher named/teacher.tch --views" said
    shapecond train.npy --spc 1 --steps 20 --views 0 --no-score --keep unviewed -o none.npy 2>said
    test ! -e unviewed/pooled.tch
    grep "^+ sc-select .*--soft" said
    rm none.npy
'
# Trials 6 to 9 are of labels; the one before them, of the labels of both teachers as they are, is 5 with --spc.
test_that 'students choose which epochs of which teachers label, and with which margin' '
    for seed in 1 6 7; do
        sc-gen cbf -n 60 -L 32 --noise 1.5 --seed $seed -o labels.npy
        shapecond labels.npy --spc 2 --steps 30 --views 100 --no-score --seed $seed --keep labels-$seed -o labelled.npy 2>said
        for trial in 5 6 7 8 9; do
            awk "\$1 == \"mean\" { sum += \$2 } END { print sum / 2 }" labels-$seed/budget-$trial.tsv labels-$seed/budget-$trial-pooled.tsv
        done | tr "\n" " " >reached
        # What the trials before have found, and what each of them tries: teachers and margin.
        awk "{ best = \$1; end = \"\"; margin = \"\"
            print \"6 teacher-last pooled-last\"; if (\$2 > best) { best = \$2; end = \"-last\" }
            print 7, \"teacher\" end, \"pooled\" end, 8; if (\$3 > best) { best = \$3; margin = \" 8\" }
            print 8, \"teacher\" end margin; both = \"teacher\" end \" pooled\" end; if (\$4 > best + 2) { best = \$4; both = \"teacher\" end }
            print 9, \"pooled\" end margin; if (\$5 > best + 2) both = \"pooled\" end
            print \"result\", both margin }" reached >expected
        for trial in 6 7 8 9 result; do
            case $trial in result) file=condensed ;; *) file=budget-$trial ;; esac
            echo "$trial" "$(sed -n "s/^+ sc-views \(.* -o labels-$seed.$file.npy .*\)/\1/p" said | tr " " "\n" |
                sed -n "s/^labels-$seed.\(.*\)\.tch$/\1/p; s/^--margin=//p" | tr "\n" " " | sed "s/ $//")"
        done >found
        diff expected found
        cat expected >>all-expected
    done
    # Not always the same; which they are depends on the last bits of the arithmetic.
    test "$(grep "^result" all-expected | sort -u | wc -l)" -ge 2
    # Trials take no more steps than the teachers.
    test "$(grep -c "^+ sc-eval .*--steps 30 " said)" = 10
    grep -q "^+ sc-views .*--validate .*--steps=30 " said
    # Labels that are there already stay, and compressed series have the gentle recipe.
    sc-select -q -n 8 labels.npy | sc-views -q -t labels-1/teacher.tch -m 1 | sc-expand -q -o soft.npy
    shapecond soft.npy --spc 2 --steps 30 --views 100 --no-score -o labelled.npy 2>said
    refute grep -e "--last" said
    test "$(grep -c "^+ sc-views" said)" = 1
    sc-gen two-patterns -n 400 -L 64 --seed 1 -o patterns.npy
    shapecond patterns.npy --bytes 16k --steps 100 --no-score --keep compressed -o labelled.npy 2>said
    grep "^+ sc-views .*-o compressed/condensed.npy" said >last-views
    # As here with AVX2; what students choose may differ elsewhere.
    if grep "^+ sc-quantise --step .* -o compressed/stored.npy" said; then refute grep -e --validate last-views; else grep -e --validate last-views; fi
'
test_that 'bytes do not depend on the number of threads, and no files stay without --keep' '
    mkdir tmp
    TMPDIR=$PWD/tmp shapecond train.npy --spc 2 --steps 100 --students shapelets --refine 10 --no-score --threads 1 --quiet -o one.npy
    cmp one.npy first.npy
    cmp one.slp first.slp
    test -z "$(ls -A tmp)"
'
test_that 'the condensed series are in the scale of the dataset' '
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
    fails 1 "same.npy: there is only one class, so nothing to tell apart" shapecond same.npy -o none
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
test_that 'series of the shape (N, L) are one channel' '
    sc-strans -q again/pool.slp train.npy -o flat.npy
    sc-info flat.npy | grep -q "series *<f4 *(90, [0-9]*)"
    shapecond flat.npy --spc 2 --steps 5 --views 20 --no-score -q -o flat-tiny.npy
    sc-info flat-tiny.npy | grep -q "series *|u1 *(6, 1, "
'
test_that 'a dataset of one series per class is condensed without any held out' '
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
    TMPDIR=$PWD/tmp env "$@" shapecond -q train.npy --steps 10000000 -o none &
    job=$!
    stage=
    until stage_runs; do
        sleep 0.05
        kill -0 "$job"
        stage=$(grep -lsE "^PPid:[[:space:]]*$job\$" /proc/[0-9]*/status | tr -dc "0-9")
    done
}
stage_runs() { test "$(cat "/proc/$stage/comm" 2>/dev/null)" = sc-teacher; }
# It is gone soon: within 20 seconds, for a machine that is busy.
stage_ends() {
    left=200
    while stage_runs; do
        left=$((left - 1))
        test "$left" -gt 0
        sleep 0.1
    done
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
    # The run in use may write further files (a checkpoint) meanwhile: what was there must stay.
    find tmp -type f ! -name ".*" | sort >held
    TMPDIR=$PWD/tmp shapecond -q train.npy --spc 1 --steps 1 --views 2 --no-score -o quick.npy
    test -s quick.npy
    find tmp -type f ! -name ".*" | sort | comm -23 held - >lost
    test ! -s lost
    test "$(ls tmp | wc -l)" = 3
    stage_runs
    kill $job
    wait $job || true
    test "$(ls tmp | wc -l)" = 2
    rm -r tmp/* held lost
'
test_that 'names that look like options are files' '
    mkdir -p dash/-tmp
    cp train.npy dash/-oevil
    (
        cd dash
        TMPDIR=-tmp shapecond -q --spc 1 --steps 2 --views 20 --no-score --validate -oevil --test -oevil \
            --report -page.html -o -out -- -oevil <../short.npy >scores
        grep "^mean" scores
        shapecond -q --spc 1 --steps 2 --views 20 --no-score --keep -stages -o out -- -oevil
    )
    test -s dash/-out
    test -s dash/out
    test -s dash/-stages/teacher.tch
    test "$(ls -A dash)" = "$(printf "%s\n" -oevil -out -page.html -stages -tmp out scores)"
    test -z "$(ls -A dash/-tmp)"
'
quoted="\$'odd\\x1b[2J\\'name.npy'"
test_that 'a name that is not printable is said so that a shell can read it back' '
    name=$(printf "odd\033[2J\047name.npy")
    cp train.npy "$name"
    shapecond --spc 1 --steps 2 --views 2 --no-score --keep odd -o quick.npy "$name" 2>said
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
    printf x >>whole/teacher.tch
    shapecond train.npy --spc 1 --steps 60 --views 60 --no-score --keep whole -o more.npy 2>said
    grep "^+ sc-scale.*train.npy.*done before" said
    refute grep "^+ sc-teacher.*teacher.tch.*done before" said
    grep "^+ sc-teacher.*pooled.tch.*done before" said
    cmp whole/condensed.npy before.npy
    # Stopped at any moment: the same bytes, and no checkpoint is left.
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
test_that 'the log of a kept folder has one command for each file, and a report is made once' '
    for run in 1 2; do
        shapecond train.npy --spc 1 --steps 2 --views 5 --no-score --keep page --report page.html -o paged.npy 2>said
        cut -f 4 page/commands.tsv | sort >page-$run
        cp page.html page-$run.html
    done
    grep "^+ sc-report.*done before" said
    cmp page-1 page-2
    cmp page-1.html page-2.html
    # Other options: their commands take the place of those before.
    shapecond -q train.npy --spc 1 --steps 3 --views 5 --no-score --keep page --report page.html -o paged.npy
    test "$(wc -l <page/commands.tsv)" = "$(wc -l <page-1)"
    test "$(grep -c "	sc-teacher --steps 3 " page/commands.tsv)" = 2
    refute grep "	sc-teacher --steps 2 " page/commands.tsv
'
test_that 'a long training continues from its checkpoint' '
    shapecond -q train.npy --spc 1 --steps 3000 --views 20 --no-score --keep slow -o slow.npy &
    job=$!
    until ls slow/*.ckpt >/dev/null 2>&1; do sleep 0.05; kill -0 $job; done
    kill $job
    wait $job || true
    ls slow/*.ckpt
    # It is read: one of another training is refused.
    cp slow/*.ckpt kept.ckpt
    sc-teacher -q --seed 9 --steps 3000 --checkpoint other.ckpt -o none slow/train.npy &
    job=$!
    until ls other.ckpt >/dev/null 2>&1; do sleep 0.05; kill -0 $job; done
    kill $job
    wait $job || true
    cp other.ckpt "$(echo slow/*.ckpt)"
    fails 1 "sc-teacher failed" shapecond -q train.npy --spc 1 --steps 3000 --views 20 --no-score --keep slow -o slow.npy
    cp kept.ckpt "$(echo slow/*.ckpt)"
    shapecond -q train.npy --spc 1 --steps 3000 --views 20 --no-score --keep slow -o slow.npy
    test -z "$(ls slow | grep ckpt)"
    shapecond -q train.npy --spc 1 --steps 3000 --views 20 --no-score -o fast.npy
    cmp slow.npy fast.npy
'
test_that 'a damaged checkpoint costs no more than the work that it stood for' '
    shapecond -q train.npy --spc 1 --steps 1000 --views 20 --no-score --keep torn -o torn.npy &
    job=$!
    until ls torn/*.ckpt >/dev/null 2>&1; do sleep 0.05; kill -0 $job; done
    kill $job
    wait $job || true
    checkpoint=$(echo torn/*.ckpt)
    printf x >>"$checkpoint"
    shapecond train.npy --spc 1 --steps 1000 --views 20 --no-score --keep torn -o torn.npy 2>said
    grep -qxF "shapecond: $checkpoint: damaged; this stage starts from the beginning" said
    refute ls "$checkpoint"
    shapecond -q train.npy --spc 1 --steps 1000 --views 20 --no-score -o fresh.npy
    cmp torn.npy fresh.npy
'
test_that 'a folder that cannot be written to is refused at once' '
    echo x >file
    mkdir closed
    chmod a-w closed
    fails 1 "shapecond: file: Not a directory" shapecond -q train.npy --spc 1 --keep file -o none
    fails 1 "shapecond: no/such: No such file" shapecond -q train.npy --spc 1 --keep no/such -o none
    if [ "$(id -u)" != 0 ]; then
        fails 1 "shapecond: closed: Permission denied" shapecond -q train.npy --spc 1 --keep closed -o none
    fi
    refute ls none
'
test_that 'a folder is used by one run at a time, and what is read counts, however it is named' '
    flock whole sleep 2 &
    sleep 0.3
    fails 1 "another run of shapecond uses this folder" shapecond train.npy --spc 1 --steps 2 --keep whole -o none
    wait
    sc-gen -q cbf -n 30 -L 32 -o labelled.npy
    head -c 3968 labelled.npy >x.npy
    tail -c +3969 labelled.npy | head -c 248 >y.npy
    shapecond x.npy --import "--labels=y.npy" --spc 1 --steps 2 --views 5 --no-score --keep eq -o eq.npy 2>said
    shapecond x.npy --import "--labels=y.npy" --spc 1 --steps 2 --views 5 --no-score --keep eq -o eq.npy 2>said
    grep "^+ sc-import.*done before" said
    { head -c 128 y.npy; tail -c 4 y.npy; tail -c +129 y.npy | head -c 116; } >z.npy
    mv z.npy y.npy
    shapecond x.npy --import "--labels=y.npy" --spc 1 --steps 2 --views 5 --no-score --keep eq -o eq.npy 2>said
    refute grep "^+ sc-import.*done before" said
    for word in --help "-o evil" --output=evil --version; do
        fails 2 "cannot pass on" shapecond x.npy --import "$word" --keep eq -o none
    done
    # Standard output is written each time.
    for i in 1 2; do
        shapecond -q train.npy --spc 1 --steps 2 --views 5 --no-score --keep out -o - >out.$i
    done
    test -s out.2
    cmp out.1 out.2
'
test_that 'files that are no datasets are imported' '
    sc-export -q train.npy -o own.tsv
    shapecond own.tsv --spc 1 --steps 20 --views 50 --no-score --keep own -o own.npy 2>said
    grep "^+ sc-import -o own/data.npy own.tsv" said
    awk "BEGIN { srand(1); for (i = 0; i < 40; i++) { for (t = 0; t < 16; t++) printf \"%g,\", rand() + i % 2; print i % 2 ? \"on\" : \"off\" } }" >own.csv
    shapecond own.csv --import "--label last" --spc 1 --steps 20 --views 50 --no-score -q -o own-csv.npy
    sc-info own-csv.npy | grep -q " on$"
    fails 1 "sc-import failed" shapecond own.csv --spc 1 -o none
    test ! -e none
'
# A teacher program: see tests/unit/test_guide_command.c.
program="$SC_BUILD/tests/test_guide_command teach"
sc-teacher -q --steps 60 train.npy -o mine.tch
test_that 'the end of the name says how the result is written, with views as series' '
    shapecond train.npy --spc 1 --steps 20 --views 50 --no-score -q -o form.npy
    sc-expand -q form.npy -o form-expanded.npy
    for end in npz ts tsv txt csv; do
        shapecond train.npy --spc 1 --steps 20 --views 50 --no-score -o form.$end 2>said
        grep "form.$end has the views written out as series (.* kB); a result named .npy keeps them as a recipe (.* kB)" said
        sc-import -q form.$end --classes-from train.npy -o back.npy
        content form-expanded.npy >expected
        content back.npy | cmp - expected
    done
    shapecond train.npy --spc 1 --steps 20 --views 0 --no-score -o bare.csv 2>said
    refute grep "written out" said
    test "$(wc -l <bare.csv)" = 4
    shapecond train.npy --spc 1 --steps 20 --students shapelets --refine 2 --no-score -q -o seen.npz
    test -s seen.slp
    # What the format cannot hold is said before the work.
    sc-gen planted -n 40 --channels 2 -L 40 -o two.npy
    fails 1 "none.csv: CSV files hold one channel, this dataset has 2" shapecond two.npy -o none.csv
    refute grep "^+" .stderr
    test ! -e none.csv
'
test_that 'a report shows the result with the name of its file' '
    shapecond train.npy --spc 1 --steps 20 --views 50 --keep reported --report page.html -o reported.npy 2>said
    grep -q "^+ sc-report .* -o page.html reported.npy" said
    for part in Accuracy Confusion "Learning curves" Stages "Training on it"; do grep -qF "<h2>$part</h2>" page.html || { echo "no $part"; exit 1; }; done
    grep -qF "shapecond.load(&quot;reported.npy&quot;)" page.html
    # Its stages, with their bytes, and no others: not what the folder has from before.
    test "$(cut -f 3 reported/stages.tsv | cut -d " " -f 1 | tr "\n" " ")" = \
        "sc-split sc-scale sc-scale sc-teacher sc-teacher sc-select sc-quantise $(for trial in 1 2 3 4 5; do printf "sc-views sc-eval sc-eval "; done)sc-views sc-scale sc-select sc-eval sc-eval sc-eval "
    test "$(grep -F "o reported/teacher.tch" reported/stages.tsv | cut -f 2)" = \
        "$(cat reported/teacher.tch reported/teacher-last.tch reported/teacher-epochs.tsv | wc -c)"
    shapecond train.npy --spc 1 --steps 20 --views 50 --keep reported --report page.html -o reported.npy 2>said
    test "$(grep -c "^+.*done before" said)" = 29
    shapecond train.npy --spc 1 --steps 20 --views 60 --keep reported --report page.html -o reported.npy 2>said
    test "$(wc -l <reported/stages.tsv)" = 28
    ! grep -qF -- "--views=50" reported/stages.tsv
    # Without a folder to keep, the file of the stages is not there for who repeats the commands.
    shapecond train.npy --spc 1 --steps 20 --views 50 --report page.html -o reported.npy 2>said
    grep -qF "<h2>Stages</h2>" page.html
    grep -F "+ sc-report" said >command
    ! grep -qF -- --times command
    grep -qF "eval '"'as many random series='"'\"\$STAGES\"/random.tsv" command
    shapecond train.npy --teacher mine.tch --spc 1 --views 20 --no-score --report page.html -q -o other.npz
    grep -qF "np.load(&quot;other.npz&quot;)" page.html
    shapecond train.npy --teacher mine.tch --spc 1 --views 20 --steps 20 --no-score --report page.html -q -o other.csv
    grep -qF "sc-import other.csv -o imported.npy" page.html
    fails 2 "the result needs -o FILE" shapecond train.npy --report page.html
    fails 1 "nowhere/page.html" shapecond train.npy --report nowhere/page.html -o none
    test ! -e none
'
# The page is larger than the limit, everything else smaller.
test_that 'an old report does not stay beside a new result' '
    sc-gen cbf -n 12 -L 16 -o tiny-data.npy
    echo old >page.html
    (
        ulimit -f 20
        fails 1 "page.html: File too large" shapecond -q -n 1 --steps 2 --views 3 --no-score --force \
            --network "cnn depth=1 width=2" tiny-data.npy --report page.html -o tiny-result.npy
    )
    test -e tiny-result.npy
    test ! -e page.html
    rm tiny-data.npy tiny-result.npy
'
test_that 'groups are held out where the dataset has some' '
    awk "BEGIN { srand(2); for (i = 0; i < 60; i++) { printf \"%s,p%d\", i % 2 ? \"on\" : \"off\", i / 6; for (t = 0; t < 16; t++) printf \",%g\", rand() + i % 2; print \"\" } }" >persons.csv
    sc-import -q persons.csv --group 2 -o persons.npy
    shapecond persons.npy --spc 1 --steps 20 --views 20 --no-score --keep persons -o none.npy 2>said
    grep "the dataset has groups: series of some groups are held out" said
    grep "^+ sc-split .*--by=group" said
    # Where each class has a group of its own, holding one out would lose the class.
    awk "BEGIN { srand(2); for (i = 0; i < 60; i++) { printf \"%s,m%d\", i % 2 ? \"on\" : \"off\", i % 2; for (t = 0; t < 16; t++) printf \",%g\", rand() + i % 2; print \"\" } }" >machines.csv
    sc-import -q machines.csv --group 2 -o machines.npy
    shapecond machines.npy --spc 1 --steps 20 --views 20 --no-score --keep machines -o none.npy 2>said
    grep "groups cannot be held out without losing a class" said
    refute grep "by=group" said
    rm none.npy
'
test_that 'the stages and their time are said before the work' '
    shapecond train.npy --spc 1 --steps 20 --views 20 --no-score -o none.npy 2>said
    grep -E "^shapecond: [0-9]+ stages, .+ with [0-9]+ threads?\$" said
    test "$(sed -n "s/^shapecond: \([0-9]*\) stages.*/\1/p" said)" = "$(grep -c "^+ sc-" said)"
    rm none.npy
'
test_that 'the commands of a run without --keep can be run as they stand' '
    shapecond train.npy --spc 1 --steps 20 --views 20 -o stands.npy 2>said
    mv stands.npy first-stands.npy
    sed -n "s/^+ //p" said >commands.sh
    grep -q "^STAGES=" commands.sh
    sh -e commands.sh
    cmp stands.npy first-stands.npy
'
test_that 'a teacher of the user takes part as a file and as a program, and sees the series as they are' '
    shapecond train.npy --teacher mine.tch --spc 2 --views 100 --keep own-file -o file.npy 2>said
    refute grep "^+ sc-scale" said
    refute grep "^+ sc-teacher" said
    grep "^+ sc-views --teacher mine.tch" said
    grep "your teacher [0-9.]* %" said
    test "$(sc-info --json file.npy | json views)" = 100
    cmp file.npy own-file/condensed.npy
    shapecond train.npy --teacher-command "$program well mine.tch" --spc 2 --views 100 --test train.npy --keep own -o program.npy >scores 2>said
    grep "^mean" scores
    cmp own/teacher.tsv own-file/teacher.tsv
    test "$(sc-info --json program.npy | json views)" = 100
    # Also without views its logits are the soft labels.
    shapecond train.npy --teacher-command "$program well mine.tch" --spc 2 --views 0 --no-score -q -o unviewed.npy
    sc-info unviewed.npy | grep -q "^ *soft"
    # Its files count: with others nothing is taken from before.
    shapecond train.npy --teacher-command "$program well mine.tch" --spc 2 --views 100 --no-score --keep own -o program.npy 2>said
    grep "^+ sc-views.*done before" said
    sc-teacher -q --steps 61 train.npy -o mine.tch
    shapecond train.npy --teacher-command "$program well mine.tch" --spc 2 --views 100 --no-score --keep own -o program.npy 2>said
    refute grep "^+ sc-views.*done before" said
    # Series that are refined start with its logits.
    shapecond train.npy --teacher mine.tch --students shapelets --refine 3 --spc 1 --no-score -o refined.npy 2>said
    grep "^+ sc-match" said
    test -s refined.slp
'
test_that 'a teacher of the user that does not fit is refused before the work' '
    fails 1 "but mine.tch is for 1 and 128" shapecond short.npy --teacher mine.tch -o none
    refute grep "^+" .stderr
    fails 1 "sees shapelets" shapecond train.npy --teacher again/teacher.tch -o none
    fails 2 "exclude each other" shapecond train.npy --teacher mine.tch --teacher-command cat -o none
    fails 2 "network describes the teacher to train" shapecond train.npy --teacher mine.tch --network cnn -o none
    fails 1 "teacher command: exited with status 1" shapecond train.npy --teacher-command false --spc 1 -o none
    test ! -e none
'
test_that 'a folder that nothing can be written to is refused before the work' '
    touch a-file
    fails 1 "a-file: " shapecond train.npy --keep a-file -o none
    refute grep "^+" .stderr
    fails 1 "nowhere/sub" shapecond train.npy --keep nowhere/sub -o none
    refute grep "^+" .stderr
    mkdir -p taken/commands.tsv
    fails 1 "taken/commands.tsv" shapecond train.npy --keep taken -o none
    refute grep "^+" .stderr
'
test_that 'a budget of bytes is kept' '
    sc-gen cbf -n 500 -L 32 -o brief.npy
    for budget in 12k 20000 0.025M; do
        shapecond brief.npy --bytes $budget --steps 20 --no-score -q -o budget.npy
        size=$(stat -c %s budget.npy)
        echo "$budget: $size"
        bytes=$(echo $budget | sed "s/k/000/;s/0.025M/25000/")
        test $size -le $bytes
        # All of it is used, unless there are as many series and views as make sense.
        test $((100 * size)) -gt $((85 * bytes)) || sc-info budget.npy | grep "^views *20000,"
    done
    # Groups and a long history are part of the result.
    sc-gen cbf -n 4000 -L 20 | sc-export -q -o many.csv
    awk -F, -v OFS=, "NR > 1 { print \$0, NR % 20 }" many.csv >grouped.csv
    sc-import -q grouped.csv --label 1 --group 22 -o grouped.npy
    shapecond grouped.npy --bytes 40k --bits 4 --steps 5 --no-score -q -o budget.npy
    sc-info budget.npy | grep -q "groups *<u4"
    test "$(stat -c %s budget.npy)" -le 40000
    cp brief.npy old.npy
    for i in 1 2 3 4 5 6 7 8 9 10; do sc-scale -q old.npy -o older.npy; mv older.npy old.npy; done
    shapecond old.npy --bytes 14k --steps 5 --no-score -q -o budget.npy
    test "$(stat -c %s budget.npy)" -le 14000
    fails 1 "300 views take" shapecond train.npy --bytes 2k -o none
    fails 1 "choose fewer (--bytes)" shapecond train.npy --bytes 1M -o none
    fails 2 "not a size" shapecond train.npy --bytes many -o none
    fails 2 "chooses --spc" shapecond train.npy --bytes 20k --spc 1 -o none
'
test_that 'files of trials do not replace those that the user names' '
    mkdir kept
    for number in 1 6; do
        cp short.npy kept/budget-$number.npy
        fails 2 "same file" shapecond short.npy --bytes 12k --force --validate kept/budget-$number.npy --keep kept -o none
    done
    cmp short.npy kept/budget-6.npy
'
test_that 'no more series are wanted than there are, which is known before the work' '
    fails 1 "27 series per class are wanted, but the smallest class has 25 besides" shapecond train.npy --spc 27 -o none
    refute grep "^+ sc-" .stderr
    sc-select -q -n 6 train.npy -o few.npy
    shapecond few.npy --steps 5 --views 20 --force -o fewer.npy 2>said
    grep "5 series per class: the smallest class" said
    test "$(sc-info --json fewer.npy | json count)" = 15
    fails 1 "besides those held out" shapecond grouped.npy --spc 1200 --force -o none
'
test_that 'a result that is not smaller than the data needs --force' '
    fails 1 "as many bytes as the 90 series of train.npy" shapecond train.npy --spc 25 --bits 32 -o none
    shapecond train.npy --spc 25 --bits 32 --force --steps 5 --views 5000 --no-score -q -o large.npy
    test -s large.npy
'
test_that 'an accuracy of 0 is one, and --sample is refused where nothing is chosen by a network' '
    printf "a,1,2,3,4,5,6,7,8\na,2,1,2,3,4,5,6,7\nb,1,2,3,4,5,6,7,8\nb,2,1,2,3,4,5,6,7\n" >four.csv
    shapecond -q four.csv --spc 1 --views 10 --steps 10 --force --report four.html -o four.npy
    test -s four.html
    fails 2 "sample is for series" shapecond train.npy --students shapelets --sample 10 -o none
    fails 2 "sample=1, but --spc=2" shapecond train.npy --spc 2 --sample 1 -o none
'
finish
