#!/bin/sh
# sc-synth, and teachers that are programs (sc-teacher-command(7)).
. "$(dirname "$0")/lib.sh"

golden=$SC_ROOT/tests/golden
# A teacher program: see tests/unit/test_guide_command.c.
program="$SC_BUILD/tests/test_guide_command teach"
example=$SC_ROOT/pipelines/examples/numpy_teacher.py

# How many classes have that many series.
classes_with() { sc-info --json "$2" | grep -c "\"class\": .*\"count\": $1\b" || true; }

test_that 'the examples of the manual page run' '
    run_examples sc-synth
    test "$(classes_with 10 tiny.npy)" = 3
    test "$(classes_with 5 sre2l.npy)" = 3
    sc-info tiny.npy | grep "the largest logit is the label.s for 100.00 %"
    sc-info tiny.npy | grep "sc-synth .* --spc=10 --steps=200 --seed=0 <"
    sc-info --json tiny.npy | grep "\"name\": \"cylinder\""
'
test_that 'the loss falls' '
    sc-synth -t plain.tch --steps 200 train.npy -o a 2>said
    sed -n "s/.*loss \([0-9.]*\) -> \([0-9.]*\):.*/\1 \2/p" said | { read -r first best
        awk "BEGIN { exit !($best < $first / 2) }"; }
'
test_that 'the result is the same for any number of threads, of every kind' '
    for options in "" "--statistics round" "--init kmeans --norm squared" "--init noise -n 3"; do
        sc-synth -q -t teacher.tch -s pool.slp --steps 20 $options --threads 1 train.npy -o one
        for threads in 2 7; do
            sc-synth -q -t teacher.tch -s pool.slp --steps 20 $options --threads $threads train.npy |
                cmp - one
        done
    done
'
test_that 'every option changes the result' '
    synth() { sc-synth -q -t teacher.tch -s pool.slp --steps 20 "$@" train.npy | head -c 15000; }
    synth >base
    for options in "--seed 1" "--rate 0.1" "--steps 21" "--weight-ce 0.5" "--weight-bn 0.1" \
        "--first-layer 1" "--norm squared" "--statistics round" "--init kmeans" "--init noise"; do
        synth $options >other
        refute cmp -s base other
    done
'
test_that 'a class with too few series starts from them again' '
    sc-synth -t plain.tch --steps 3 -n 120 train.npy -o many.npy 2>said
    grep "60 series start from others" said
    test "$(classes_with 120 many.npy)" = 3
'
test_that 'steps that only make it worse are remarked on' '
    sc-synth -t plain.tch --rate 1000 --steps 5 -n 1 train.npy -o a 2>said
    grep "no step was better than the start: try a smaller --rate" said
'
test_that 'a teacher without batch normalisation is inverted without statistics, and that is said' '
    sc-teacher -q -n "cnn depth=1 width=8 norm=instance" train.npy --steps 5 -o instance.tch
    sc-synth -t instance.tch --steps 3 -n 1 train.npy -o a 2>said
    grep "instance.tch has no batch normalisation: there are no statistics to match" said
    grep "statistics 0.0000 -> 0.0000" said
    sc-synth -t instance.tch --steps 3 -n 1 --weight-bn 0 train.npy -o a 2>said
    refute grep "no batch normalisation" said
'
test_that 'what does not fit is refused with the reason and leaves no file' '
    sc-gen cbf -n 30 -L 64 -o short.npy
    sc-gen two-patterns -n 40 -o four.npy
    sc-gen planted -C 2 -V 3 -n 30 -o wide.npy
    sc-shapelets -q -k 5 --step 7 train.npy -o other.slp
    fails 1 "short.npy: the teacher is for series of 1 channels and 128 steps, these have 1 and 64" \
        sc-synth -t plain.tch short.npy -o none
    fails 1 "these have 2 and 128" sc-synth -t plain.tch wide.npy -o none
    fails 1 "four.npy: the teacher knows 3 classes, the dataset has 4" \
        sc-synth -t plain.tch four.npy -o none
    fails 1 "trained with 5 shapelets: give the same pool" sc-synth -t teacher.tch train.npy -o none
    fails 1 "trained without shapelets" sc-synth -t plain.tch -s pool.slp train.npy -o none
    fails 1 "other.slp: not the pool that teacher.tch was trained with" \
        sc-synth -t teacher.tch -s other.slp train.npy -o none
    fails 1 "teacher.tch was trained with --window=found" \
        sc-synth -t teacher.tch -s pool.slp -w full train.npy -o none
    fails 1 "pool.slp: the pool is for series of 1 channels, not 2" \
        sc-synth -t teacher.tch -s pool.slp wide.npy -o none
    fails 1 "pool.slp: found in series of 128 steps and 3 classes, these have 128 and 4" \
        sc-synth --teacher-command cat -s pool.slp four.npy -o none
    fails 1 "train.npy: step 1: the loss is no longer a number; a smaller learning rate than 1e+30" \
        sc-synth -t plain.tch -r 1e30 --steps 50 train.npy -o none
    fails 1 "train.npy" sc-synth -t train.npy train.npy -o none
    fails 2 "no teacher given" sc-synth train.npy -o none
    fails 2 "exclude each other" sc-synth -t plain.tch --teacher-command cat train.npy -o none
    fails 2 "--window needs --shapelets" sc-synth -t plain.tch -w 3 train.npy -o none
    fails 2 "is too small" sc-synth -t plain.tch -n 0 train.npy -o none
    test ! -e none
'
test_that 'a run that is killed leaves no file' '
    sc-synth -q -t plain.tch --steps 100000000 train.npy -o none &
    sleep 0.5
    kill -9 $!
    wait $! || true
    test ! -e none
    test -z "$(ls -A | grep none)"
'
test_that 'a program as teacher gives what the network that it serves gives' '
    sc-gen planted -C 2 -L 20 -V 3 --pattern 8 -n 30 -o small.npy
    for options in "" "--statistics round --norm squared"; do
        sc-synth -q -t "$golden/synthesis.tch" -s "$golden/synthesis.slp" -n 4 --steps 50 $options \
            small.npy -o network.npy
        sc-synth -q --teacher-command "$program well $golden/synthesis.tch" \
            -s "$golden/synthesis.slp" -n 4 --steps 50 $options small.npy -o program.npy
        cmp -n 2496 network.npy program.npy # all but the notes
    done
'
test_that 'a program is asked for the norm that --norm says' '
    for norm in plain squared; do
        sc-synth -q -s "$golden/synthesis.slp" -n 1 --steps 2 --norm $norm small.npy -o program.npy \
            --teacher-command "tee asked | $program well $golden/synthesis.tch"
        test "$(tr -d "\000" <asked | grep -ao "norm=[a-z]*" | sort -u)" = "norm=$norm"
    done
'
test_that 'batches that no pipe holds go through, whatever the program says on standard error' '
    sc-synth -q -t "$golden/synthesis.tch" -s "$golden/synthesis.slp" -n 300 --steps 3 small.npy -o network.npy
    sc-synth -q -s "$golden/synthesis.slp" -n 300 --steps 3 small.npy -o program.npy \
        --teacher-command "yes chatter | head -n 100000 >&2; exec $program well $golden/synthesis.tch" 2>said
    cmp -n 150000 network.npy program.npy
    test "$(grep -c chatter said)" = 100000
'
test_that 'a program that breaks the rules is refused with the reason' '
    with() { sc-synth -s "$golden/synthesis.slp" --teacher-command "$1" small.npy -o none; }
    fails 1 "small.npy: teacher command: was killed by signal 9" \
        with "exec $program killed $golden/synthesis.tch"
    fails 1 "teacher command: exited with status 1" with false
    fails 1 "teacher command: exited with status 127" with "/no/such/program 2>/dev/null"
    fails 1 "teacher command: said \"hello 1" with cat
    fails 1 "teacher command: where its first words should be: not an NPY file" \
        with "head -c 10 >/dev/null; echo Loading the model; cat >/dev/null"
    fails 1 "no first words within 0.2 seconds" \
        sc-synth --teacher-timeout 0.2 --teacher-command "sleep 100" small.npy -o none
    test ! -e none
'
test_that 'a program ends when sc-synth is killed' '
    sc-synth -q -s "$golden/synthesis.slp" --steps 100000000 small.npy -o none \
        --teacher-command "echo \$\$ >pid; exec $program well $golden/synthesis.tch" &
    for wait in 1 2 3 4 5 6 7 8 9 10; do test -s pid && break; sleep 0.5; done
    kill -9 $!
    wait $! || true
    for wait in 1 2 3 4 5 6 7 8 9 10; do kill -0 "$(cat pid)" 2>/dev/null || break; sleep 0.5; done
    refute kill -0 "$(cat pid)"
'
# ends PID: within a second.  A zombie waits for nobody but whoever inherited it.
ends() {
    for ends_try in 1 2 3 4 5 6 7 8 9 10; do
        if ! kill -0 "$1" 2>/dev/null || grep -q "^State:.*Z" "/proc/$1/status"; then return 0; fi
        sleep 0.1
    done
    return 1
}
test_that 'a program that hangs ends, with all that it started, when sc-synth gets a signal' '
    for signal in TERM:143 HUP:129; do
        rm -f pid other
        sc-synth -q -s "$golden/synthesis.slp" small.npy -o none \
            --teacher-command "sleep 1000 & echo \$! >other; echo \$\$ >pid; exec sleep 1000" &
        job=$!
        for wait in 1 2 3 4 5 6 7 8 9 10; do test -s pid && break; sleep 0.2; done
        kill -s ${signal%:*} $job
        got=0
        wait $job || got=$?
        test $got = ${signal#*:}
        ends "$(cat pid)"
        ends "$(cat other)"
        test ! -e none
        test -z "$(ls -A | grep none)"
    done
'
test_that 'a program may finish its work after the last batch' '
    sc-synth -q -s "$golden/synthesis.slp" -n 4 --steps 3 small.npy -o program.npy \
        --teacher-command "$program well $golden/synthesis.tch; sleep 0.5; echo done >finished"
    grep -qx done finished
'
test_that 'what a program started does not outlive a run that ends well' '
    sc-synth -q -s "$golden/synthesis.slp" -n 1 --steps 2 small.npy -o a \
        --teacher-command "sleep 1000 & echo \$! >other; exec $program well $golden/synthesis.tch"
    ends "$(cat other)"
'
python=$(python_with numpy)
if [ -n "$python" ]; then
    test_that 'the teacher in NumPy has the gradient that it says' '
        PYTHONDONTWRITEBYTECODE=1 "$python" - "$example" <<"END"
import importlib.util, sys
import numpy as np
spec = importlib.util.spec_from_file_location("numpy_teacher", sys.argv[1])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
random = np.random.default_rng(1)
x, y = random.normal(size=(50, 2, 6)), np.arange(50) % 3
teacher = module.Teacher(x, y, hidden=8, steps=20)
x, up = x[:7], random.normal(size=(7, 3))
for squared in (False, True):
    def loss(x):
        logits = teacher.forward(x)
        return (up * logits).sum() + teacher.backward(up, 0.7, squared)[1]
    loss(x)
    gradient = teacher.backward(up, 0.7, squared)[0]
    for i in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[i] = 1e-5
        slope = (loss(x + step) - loss(x - step)) / 2e-5
        assert abs(slope - gradient[i]) < 1e-5, (i, slope, gradient[i])
END
    '
    test_that 'the teacher in NumPy condenses' '
        sc-synth -n 3 --steps 100 --teacher-command "\"$python\" \"$example\" train.npy" train.npy \
            -o numpy.npy 2>said
        test "$(classes_with 3 numpy.npy)" = 3
        sc-info numpy.npy | grep "the largest logit is the label.s for 100.00 %"
        sed -n "s/.*loss \([0-9.]*\) -> \([0-9.]*\):.*/\1 \2/p" said | { read -r first best
            awk "BEGIN { exit !($best < $first / 2) }"; }
        fails 1 "teacher command: train.npy is of another shape" \
            sc-synth --teacher-command "\"$python\" \"$example\" train.npy" short.npy -o none
        test ! -e none
    '
else
    skip_that 'the teacher in NumPy condenses' 'no Python with NumPy'
fi
finish
