#!/bin/sh
# sc-teacher
. "$(dirname "$0")/lib.sh"

# The share in percent that a remark tells: accuracy test <stderr
accuracy() { sed -n "s/^sc-teacher: $1 accuracy \([0-9]*\)\..*/\1/p"; }

test_that 'the examples of the manual page run' '
    run_examples sc-teacher
    grep -q "</svg>" curve.svg
    sc-info teacher.tch | grep -q "network .*features=4$"
    sc-info small.tch | grep -q "network .*width=16 .*norm=instance .*classes=3$"
    test ! -e state.tch
'
# Small datasets and a small network, for the sake of the sanitizers.
sc-gen cbf -n 45 -L 32 --seed 3 -o train.npy
sc-gen cbf -n 30 -L 32 --seed 4 -o val.npy
sc-gen cbf -n 150 -L 32 --seed 5 -o test.npy
sc-shapelets -q -k 3 train.npy -o pool.slp
teach() { sc-teacher -n "cnn depth=2 width=8" --rate 0.02 "$@"; }

test_that 'a teacher learns, says how well, and is scored the same by sc-eval' '
    teach train.npy --steps 40 --validate val.npy --test test.npy -o t.tch 2>said
    test "$(accuracy validation <said)" -ge 80
    test "$(accuracy test <said)" -ge 80
    sc-eval --teacher t.tch test.npy >scored
    grep -q "test accuracy $(awk "\$1 == \"mean\" { print \$2 }" scored) %" said
    sc-info t.tch | grep -q "^ *epoch .* validation accuracy .* %, loss 0"
'
test_that 'the same bytes come from 1, 2 and 7 threads, with shapelets or without' '
    teach -q train.npy --steps 10 -v val.npy -s pool.slp --threads 1 -o one.tch
    teach -q train.npy --steps 10 --threads 1 -o plain.tch
    for threads in 2 7; do
        teach -q train.npy --steps 10 -v val.npy -s pool.slp --threads $threads | cmp - one.tch
        teach -q train.npy --steps 10 --threads $threads | cmp - plain.tch
    done
    refute cmp -s one.tch plain.tch
'
test_that 'the seed changes the teacher, the test set does not' '
    teach -q train.npy --steps 10 --seed 1 | sc-info --json | grep -q seed=1
    teach -q train.npy --steps 10 --test test.npy | cmp - plain.tch
    teach -q train.npy --steps 10 --seed 1 -o seed-1.tch
    refute cmp -s seed-1.tch plain.tch
'
test_that 'the network of the last epoch is written as well, from the same training, or none of the two files' '
    teach -q train.npy --epochs 60 --validate val.npy -o best.tch
    teach -q train.npy --epochs 60 --validate val.npy --choose last -o chosen.tch
    teach train.npy --epochs 60 --validate val.npy -o both.tch --last last.tch 2>said
    cmp best.tch both.tch
    refute cmp -s best.tch last.tch
    grep "last epoch: validation accuracy" said
    sc-info last.tch | grep "epoch 60 of 60, validation accuracy"
    # The weights are at the end, after notes that differ.
    for name in last chosen; do tail -c 4000 $name.tch >$name.end; done
    cmp last.end chosen.end
    refute cmp -s last.end best.tch
    cp last.tch old.tch
    fails 1 nowhere/last.tch teach -q train.npy --epochs 2 --validate val.npy -o new.tch --last nowhere/last.tch
    test ! -e new.tch
    cmp last.tch old.tch
    fails 2 "same file" teach -q train.npy --epochs 2 --validate val.npy -o new.tch --last ./new.tch
    fails 2 "without which the last epoch" teach -q train.npy --last last.tch -o new.tch
'
test_that 'a run that was killed resumes to the same bytes, and the same curve' '
    run="sc-teacher -q train.npy -v val.npy -s pool.slp --epochs 150 --checkpoint-every 3"
    run="$run --network cnn"
    $run --log whole.tsv -o whole.tch
    for later in 0 0.03 0.1; do
        $run --checkpoint state.tch --log parts.tsv -o parts.tch &
        pid=$!
        # Killed in the middle: some time after it has begun to write its state.
        for wait in $(seq 1000); do
            test -s state.tch && break
            sleep 0.01
        done
        sleep $later
        kill -9 $pid 2>/dev/null || true
        wait $pid || true
        test $later != 0 || test -s state.tch
    done
    $run --checkpoint state.tch --log parts.tsv -o parts.tch
    cmp whole.tch parts.tch
    cmp whole.tsv parts.tsv
    test ! -e state.tch
    test "$(wc -l <whole.tsv)" = 151
'
test_that 'a checkpoint of another run is refused and stays' '
    sc-teacher -q train.npy --epochs 100000 --checkpoint other.tch --checkpoint-every 1 -o none &
    pid=$!
    until test -s other.tch; do sleep 0.01; done
    kill $pid
    wait $pid || true
    fails 1 "other.tch: belongs to a training with other data or options" \
        sc-teacher train.npy --epochs 4 --checkpoint other.tch -o none
    test -s other.tch
    damages_are_refused other.tch sc-teacher train.npy --epochs 100000 --checkpoint other.tch -o none
    ln -s /dev/full full
    fails 1 "full: a checkpoint is a regular file" sc-teacher train.npy --checkpoint full -o none
    test -e full
    test ! -e none
'
test_that 'options of training do what they say' '
    teach train.npy -v val.npy --epochs 7 --batch 20 --log e.tsv -o t.tch 2>said
    test "$(wc -l <e.tsv)" = 8
    teach train.npy -v val.npy --epochs 7 --choose last -o t.tch 2>said
    grep -q "epoch 7 of 7 kept" said
    teach train.npy -v val.npy --epochs 300 --patience 5 -o t.tch 2>said
    refute grep -q "of 300 kept" said
    teach train.npy -v val.npy --epochs 9 --validate-every 4 --log e.tsv -o t.tch 2>said
    test "$(awk "NR > 1 && \$3 != \"-\" { print \$1 }" e.tsv | tr "\n" " ")" = "4 8 9 "
    teach train.npy --steps 60 --optimiser sgd --schedule constant --test test.npy \
        -o t.tch 2>said
    test "$(accuracy test <said)" -ge 80
'
test_that 'a few series are not validated on many after every epoch' '
    sc-gen cbf -n 3 -L 32 -o three.npy
    teach -q three.npy -v test.npy --epochs 60 --log e.tsv -o t.tch
    # 150 held-out series cost as much as training on 50, and 25 epochs train on 75.
    test "$(awk "NR > 1 && \$3 != \"-\" { print \$1 }" e.tsv | tr "\n" " ")" = "25 50 60 "
'
# until_epoch N LOG: waits until an epoch is in the log.
until_epoch() { until grep -q "^$1$(printf "\t")" "$2" 2>/dev/null; do sleep 0.01; done; }
test_that 'a checkpoint is written as often as --checkpoint-every says' '
    teach -q train.npy --epochs 1000000 --checkpoint rare --checkpoint-every 1000000 --log rare.tsv -o none &
    until_epoch 31 rare.tsv
    test ! -e rare
    kill -9 $!
    teach -q train.npy --epochs 1000000 --checkpoint often --checkpoint-every 1 --log often.tsv -o none &
    until_epoch 2 often.tsv
    test -s often
    kill -9 $!
'
test_that 'a diverging run says so and loses nothing' '
    echo precious >kept.tch
    fails 1 "the loss is not a number in epoch" \
        sc-teacher train.npy --optimiser sgd --rate 1000 --network "cnn norm=none" --epochs 50 \
        -o kept.tch
    # Statistics that overflow show in no loss.
    fails 1 "values that are not finite after epoch" \
        sc-teacher train.npy --optimiser sgd --rate 1000 --schedule constant \
        --network "cnn depth=2 width=8" --epochs 50 -o kept.tch
    test "$(cat kept.tch)" = precious
'
test_that 'datasets that do not go together are refused with the reason, before any work' '
    sc-gen cbf -n 30 -L 24 -o short.npy
    sc-gen planted -n 40 -V 4 -C 1 -L 32 -o four.npy
    fails 1 "short.npy: series of 1 channels and 24 steps, but train.npy is for 1 and 32" \
        sc-teacher train.npy -v short.npy -o none
    fails 1 "is of class 3, but train.npy knows only classes 0 to 2" \
        sc-teacher train.npy -v four.npy -o none
    fails 1 "short.npy: " sc-teacher train.npy -t short.npy -o none
    sc-gen planted -n 40 -C 2 -L 32 -o two.npy
    fails 1 "two.npy: the pool is for series of 1 channels, not 2" \
        sc-teacher two.npy -s pool.slp -o none
    fails 1 "No such file" sc-teacher train.npy -s none.slp -o none
    fails 1 "/nowhere" sc-teacher train.npy --steps 1000000 -o /nowhere/at.all
    test ! -e none
'
test_that 'a class without series is refused' '
    # Series of classes 0 and 2 only.
    sc-select -n 2 train.npy -o few.npy
    { head -c 128 few.npy | sed "s/(6, 1, 32)/(4, 1, 32)/"
      tail -c +129 few.npy | head -c 256
      tail -c +129 few.npy | head -c 768 | tail -c 256; } >gap.npy
    { printf "\223NUMPY\001\000\166\000"
      printf "%-117s\n" "{\"descr\": \"<i4\", \"fortran_order\": False, \"shape\": (4,), }" | tr "\"" "\047"
      printf "\000\000\000\000\000\000\000\000\002\000\000\000\002\000\000\000"; } >gap-y.npy
    fails 1 "gap.npy: class 1 of 3 has no series" sc-teacher gap.npy --labels gap-y.npy -o none
    test ! -e none
'
test_that 'networks that cannot be are refused' '
    fails 1 "the network says channels=3, but for train.npy it is 1" \
        sc-teacher train.npy -n "cnn channels=3" -o none
    fails 1 "depht" sc-teacher train.npy -n "cnn depht=3" -o none
    fails 1 "" sc-teacher train.npy -n "cnn depth=30" -o none
    fails 2 "--window needs --shapelets" sc-teacher train.npy -w 3 -o none
    fails 2 "is neither a number of steps" sc-teacher train.npy -s pool.slp -w wide -o none
    fails 2 "is too small" sc-teacher train.npy --batch 0 -o none
    fails 2 "is not one of: loss, accuracy, last" sc-teacher train.npy --choose best -o none
    fails 1 "Is a directory" sc-teacher train.npy --epochs 1 --log . -o none
    test ! -e none
'
test_that 'a pool of series of another length is refused' '
    sc-gen cbf -n 30 -L 64 -o short.npy
    sc-gen cbf -n 30 -o long.npy
    sc-shapelets -q -k 3 short.npy -o short.slp
    for command in "sc-teacher -q --steps 2" "sc-eval -q --steps 2 long.npy"; do
        fails 1 "long.npy: the shapelets were found in series of 64 steps, these have 128" \
            $command -s short.slp long.npy -o none
    done
    test ! -e none
'
finish
