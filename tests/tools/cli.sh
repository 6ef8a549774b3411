#!/bin/sh
# What all tools share: options, exit codes, output files that are whole or not there, provenance.
. "$(dirname "$0")/lib.sh"

tools=$(cd "$SC_BUILD/bin" && ls)

test_that 'every tool has --help that names its options and exits with 0' '
    for tool in $tools; do
        $tool --help >help
        grep -q "^Usage: $tool " help
        grep -q -- "--seed=N" help
        grep -q "man $tool" help
    done
'
test_that 'every tool has --version' '
    for tool in $tools; do
        $tool --version | grep -qE "^$tool \(shapecond\) [0-9]+\.[0-9]+\.[0-9]+$"
    done
'
test_that 'every tool has a manual page that names all of its options, and lint is clean' '
    for tool in $tools; do
        page=$SC_ROOT/man/$tool.1
        mandoc -T lint -W warning "$page"
        mandoc -T ascii "$page" | sed "s/.$(printf "\b")//g" >text
        for option in $($tool --help | grep -oE "^ +(-., )?--[a-z-]+" | grep -oE -- "--[a-z-]+"); do
            case $option in --help|--version|--seed|--threads|--quiet|--output) continue ;; esac
            grep -q -- "$option" text || { echo "$page: no $option"; exit 1; }
        done
    done
'
test_that 'the other manual pages are clean' '
    mandoc -T lint -W warning "$SC_ROOT"/man/*.[2-9]
'
test_that 'usage errors say what is wrong and exit with 2' '
    fails 2 "unknown option '"'--wrong'"'" sc-gen --wrong cbf
    fails 2 "unknown option '"'-x'"'" sc-gen -x cbf
    fails 2 "--count needs a value" sc-gen cbf --count
    fails 2 "is not a whole number" sc-gen cbf -n ten
    fails 2 "is not a whole number" sc-gen cbf -n -5
    fails 2 "is not a whole number" sc-gen cbf -n 5x
    fails 2 "is not a whole number" sc-gen cbf -n 99999999999999999999
    fails 2 "unknown option '"'--cou'"'" sc-gen cbf --cou 5
    fails 2 "unknown option '"'--counts'"'" sc-gen cbf --counts 5
    fails 2 "is not a number" sc-gen cbf --noise=nan
    fails 2 "is not a number" sc-gen cbf --noise=inf
    fails 2 "is too small" sc-gen cbf -n 0
    fails 2 "is not a number" sc-gen cbf --noise=loud
    fails 2 "is out of range" sc-gen cbf --noise=-1
    fails 2 "takes no value" sc-gen cbf --quiet=yes
    fails 2 "one argument too many" sc-gen cbf cbf
    fails 2 "is not a whole number" sc-gen cbf --seed=-1
    fails 2 "is too large" sc-gen cbf --threads=1000
    fails 2 "--output needs a file name" sc-gen cbf -o ""
    fails 2 "standard input can be read once only" sc-import - -
    fails 2 "standard input can be read once only" sc-teacher -v - -o network.tch
    fails 2 "Try '"'sc-gen --help'"'" sc-gen --wrong
'
test_that 'an unknown option is answered with the nearest one' '
    fails 2 "unknown option '"'--trian'"'; did you mean --train?" sc-split --trian 0.5
    fails 2 "did you mean --quiet?" sc-gen --quite cbf
    fails 2 "did you mean --count?" sc-gen --cou 5
    fails 2 "did you mean --help?" sc-gen --hlep
    sc-gen --entirely-strange 2>.stderr || true
    refute grep -q "did you mean" .stderr
'
test_that 'help fits a terminal and has an example' '
    for tool in $tools; do
        $tool --help >help
        grep -v "[^ ]\{50,\}" help | awk "length > 80 { print; bad = 1 } END { exit bad }"
        case $tool in shapecond) ;; *) grep -q "^Example: $tool " help ;; esac
    done
'
test_that 'options are completed in bash, zsh and fish' '
    for tool in $tools; do
        for shell in bash zsh fish; do
            $tool --complete=$shell >completion.$shell
            for option in $($tool --help | grep -oE "^ +(-., )?--[a-z-]+" | grep -oE -- "[a-z-]*[a-z]$"); do
                grep -q -- "${option#--}" completion.$shell
            done
        done
        if command -v bash >/dev/null; then bash -n completion.bash; fi
        if command -v zsh >/dev/null; then zsh -n completion.zsh; fi
        if command -v fish >/dev/null; then fish -n completion.fish; fi
    done
    fails 2 "unknown option" sc-gen --complete=csh
    if command -v bash >/dev/null; then
        sc-import --complete=bash >completion.bash
        bash -c ". ./completion.bash; COMP_WORDS=(sc-import --mis); COMP_CWORD=1; _sc-import 2>/dev/null
            test \"\${COMPREPLY[*]}\" = --missing=
            COMP_WORDS=(sc-import --missing l); COMP_CWORD=2; _sc-import; test \"\${COMPREPLY[*]}\" = linear"
    fi
'
test_that 'the limits of a number are among those that may be given' '
    sc-gen cbf -n 1 --noise 0 --imbalance 1 --threads 256 -o a
    fails 2 "--imbalance: 1.001 is out of range (1e-06 to 1)" sc-gen cbf --imbalance 1.001 -o a
    fails 2 "--threads: 257 is too large (at most 256)" sc-gen cbf --threads 257 -o a
    fails 2 "--pattern: 1 is too small (at least 2)" sc-gen planted --pattern 1 -o a
    sc-gen planted --pattern 2 -n 1 -o a
'
test_that 'options can be written in every usual way' '
    sc-gen cbf -n 5 --seed 7 -o a
    sc-gen -n5 --seed=7 -oa2 cbf
    sc-gen -q -n 5 --seed=7 --output=a3 -- cbf
    sc-gen -qn5 cbf --seed 7 >a4
    sc-gen -qn5 cbf --seed 7 --output - >a5
    for other in a2 a3 a4 a5; do cmp a $other; done
'
test_that 'bytes do not depend on the number of threads' '
    for threads in 1 2 7; do sc-gen cbf -n 50 --threads $threads -o threads-$threads; done
    cmp threads-1 threads-2
    cmp threads-1 threads-7
'
test_that 'the environment says how many threads where the command does not' '
    fails 2 "SHAPECOND_THREADS): '"'many'"' is not a whole number" env SHAPECOND_THREADS=many sc-gen cbf
    fails 2 "is too large" env SHAPECOND_THREADS=1000 sc-gen cbf
    SHAPECOND_THREADS=3 sc-gen --help | grep -A 1 -e "--threads" | grep -qF "[3]"
    SHAPECOND_THREADS=3 sc-gen --threads 2 --help | grep -A 1 -e "--threads" | grep -qF "[2]"
    SHAPECOND_THREADS= sc-gen --help | grep -A 1 -e "--threads" | grep -qF "[0]"
'
test_that 'a failed run leaves no file and keeps an old one' '
    printf old >kept
    printf "not a dataset" >bad.npy
    fails 1 "bad.npy: not an NPY file" sc-scale bad.npy -o none
    fails 1 "bad.npy: not an NPY file" sc-scale bad.npy -o kept
    test ! -e none
    test "$(cat kept)" = old
'
test_that 'what cannot be read is named with the reason' '
    fails 1 "none.npy: No such file or directory" sc-scale none.npy
    fails 1 ".: Is a directory" sc-scale .
    : >empty
    fails 1 "empty: empty file" sc-scale empty
    fails 1 "standard input: empty file" sc-scale </dev/null
    fails 1 "/dev/zero: a device that does not end" sc-import /dev/zero
    fails 1 "standard input: a device that does not end" sc-info </dev/zero
    fails 1 "/dev/full: a device that does not end" sc-synth --teacher /dev/full empty
'
name='a file without permission is named with the reason'
if unprivileged sc-scale --version >/dev/null 2>&1; then
    test_that "$name" '
        sc-gen cbf -n 5 -o secret
        chmod 0 secret
        fails 1 "secret: Permission denied" unprivileged sc-scale secret
    '
else
    skip_that "$name" 'cannot become another user'
fi
test_that 'a full standard output is an error' '
    if sc-gen cbf >/dev/full 2>err; then exit 1; fi
    grep -q "standard output: No space left on device" err
'
# Every tool that writes, with what it needs; some write less and some more than a buffer holds.
writers() {
    cat <<"END"
sc-gen cbf -n 5
sc-gen cbf -n 500
sc-import table.csv
sc-scale set.npy
sc-prune set.npy
sc-balance set.npy
sc-select -q -n 1 set.npy
sc-shapelets -q -k 2 set.npy
sc-strans pool.slp set.npy
sc-export --format ucr set.npy
sc-teacher -q --steps 1 set.npy
sc-teacher -q --steps 1 --network "cnn depth=1 width=1" set.npy
sc-experts -q -c 1 -e 1 set.npy
sc-synth -q -t teacher.tch --steps 1 -n 1 set.npy
sc-synth -q -t teacher.tch --steps 1 -n 30 set.npy
sc-match -q -m dm --steps 1 -n 1 set.npy
sc-match -q -m dm --steps 1 -n 30 set.npy
sc-views -q -t teacher.tch -m 9 set.npy
sc-expand -q views.npy
sc-quantise -q set.npy
sc-eval -q --seeds 1 --steps 1 set.npy set.npy
sc-info set.npy
sc-plot set.npy
sc-plot log.tsv
sc-report set.npy
shapecond -q --steps 1 --views 1 --no-score -n 1 set.npy
END
}
test_that 'a device that is full is named with the reason by every tool' '
    sc-gen cbf -n 30 -o set.npy
    sc-export --format ucr set.npy -o table.csv
    sc-shapelets -q -k 2 set.npy -o pool.slp
    sc-teacher -q --steps 2 --log log.tsv set.npy -o teacher.tch
    sc-views -q -t teacher.tch -m 9 set.npy -o views.npy
    for tool in $tools; do
        # sc-split writes to names of its own making.
        test $tool = sc-split || writers | grep -q "^$tool "
    done
    writers | while read -r command; do
        fails 1 ": /dev/full: " sh -c "$command -o /dev/full"
        grep -q "No space left on device" .stderr
        fails 1 ": standard output: " sh -c "$command >/dev/full"
    done
'
test_that 'a file that may not grow is an error by every tool, and keeps the old one' '
    mkdir limited
    printf old >limited/kept
    writers | grep -v "^shapecond" | while read -r command; do
        sh -c "$command -o whole"
        test "$(wc -c <whole)" -gt 1024 || continue
        fails 1 "limited/kept: " sh -c "ulimit -f 1; $command -o limited/kept"
        grep -q "File too large" .stderr
        test "$(cat limited/kept)" = old
        test "$(ls -A limited)" = kept
    done
'
test_that 'a place where nothing can be written is known before the work' '
    for command in "sc-match --steps 1000000000" "sc-synth -t teacher.tch --steps 1000000000" \
        "sc-teacher --steps 1000000000" "sc-experts -e 1000000" "shapecond --steps 1000000000"; do
        fails 1 "none/file: No such file or directory" timeout 20 $command set.npy -o none/file
    done
'
mkdir small
if mount -t tmpfs -o size=256k tmpfs small 2>/dev/null; then
    test_that 'a full disk is an error and leaves nothing' '
        sc-gen cbf -n 10 -o small/kept
        cp small/kept before
        fails 1 "No space left on device" sc-gen cbf -n 1000 -o small/new
        fails 1 "No space left on device" sc-gen cbf -n 1000 -o small/kept
        cmp small/kept before
        test "$(ls -A small)" = kept
    '
    umount small
else
    skip_that 'a full disk is an error and leaves nothing' 'cannot mount a small tmpfs'
fi
test_that 'a process killed while it writes leaves the old file' '
    sc-gen cbf -n 10 -o killed
    cp killed before
    mkfifo slow
    # Killed while it waits for data that does not come.
    sc-scale -o killed <slow &
    writer=$!
    exec 3>slow
    head -c 1000 before >&3
    sleep 0.2
    kill -9 $writer
    wait $writer || true
    exec 3>&-
    cmp killed before
    # Killed at random moments of a large write.
    for delay in 0.00 0.01 0.02 0.03 0.05 0.08; do
        sc-gen cbf -n 20000 -o killed & writer=$!
        sleep $delay
        kill -9 $writer 2>/dev/null || true
        wait $writer || true
        if ! cmp -s killed before; then
            test "$(sc-info --json killed | grep -o "\"count\": *[0-9]*" | head -n 1 |
                grep -o "[0-9]*$")" = 20000
            cp before killed
        fi
    done
'
test_that 'an interrupted process leaves nothing' '
    mkdir interrupted
    for delay in 0.01 0.03 0.05; do
        timeout -s INT $delay sc-gen cbf -n 20000 -o interrupted/file || true
        rm -f interrupted/file
        test -z "$(ls -A interrupted)"
    done
'
test_that 'a reader that stops early ends the pipe quietly' '
    sc-gen cbf -n 5000 2>err | head -c 10 >/dev/null
    test ! -s err
'
test_that 'provenance names tools, options, seed and input but neither files nor threads' '
    sc-gen cbf -n 30 --seed 3 --threads 2 -o made
    sc-scale --threads 2 made -o scaled
    sc-info scaled >info
    version=$(sc-gen --version | grep -oE "[0-9.]+$")
    grep -qF "sc-gen $version --count=30 cbf --seed=3" info ||
        grep -qF "sc-gen $version cbf --count=30 --seed=3" info
    grep -qF "sc-scale $version" info
    grep -qF "<$(b2sum -l 128 made | cut -d" " -f1)" info
    refute grep -q threads info
    # Only what is random has a seed.
    refute grep "sc-scale .*--seed" info
'
test_that 'the seed changes what every tool with random choices writes, and the same seed does not' '
    sc-gen planted -V 2 --imbalance 0.3 -n 30 -L 64 -o unequal.npy
    while read -r command; do
        for seed in 1 1 2; do
            case $command in
            *"|"*) sh -c "${command%%|*} --seed $seed |${command#*|} -o made-$seed" ;;
            *) sh -c "$command --seed $seed -o made-$seed" ;;
            esac
            content made-$seed >content-$seed
            test ! -e content-first || cmp content-1 content-first
            cp content-1 content-first
        done
        rm content-first
        if cmp -s content-1 content-2; then
            echo "the seed does not matter: $command"
            exit 1
        fi
    done <<"END"
sc-gen cbf -n 5
sc-gen planted -n 5
sc-prune -p 0.5 set.npy
sc-balance unequal.npy
sc-balance --method smote unequal.npy
sc-split --train 0.5 --only train set.npy
sc-select -q -n 1 set.npy
sc-select -q -n 3 -m kmeans set.npy
sc-teacher -q --steps 2 set.npy
sc-experts -q -c 1 -e 1 set.npy
sc-synth -q -t teacher.tch --steps 1 -n 1 set.npy
sc-match -q -m dm --steps 1 -n 1 set.npy
sc-eval -q --seeds 1 --steps 2 set.npy set.npy
sc-views -q -t teacher.tch -m 20 set.npy | sc-expand
sc-views -q --augment -m 20 set.npy | sc-expand
shapecond -q --steps 1 --views 2 --no-score -n 1 set.npy
END
'
test_that 'provenance has the digest of everything that a tool read' '
    sc-gen cbf -n 30 --first 100 -o other.npy
    sc-scale -q set.npy --save scale.npy -o scaled.npy
    sc-experts -q -c 1 -e 3 set.npy -o experts.npy
    sc-teacher -q --steps 2 -s pool.slp set.npy -o with.tch
    while read -r inputs command; do
        sh -c "$command -o made"
        for input in $(echo "$inputs" | tr , " "); do
            tr -d "\000" <made | grep -aq "<$(b2sum -l 128 $input | cut -d" " -f1)" || {
                echo "no digest of $input: $command"
                exit 1
            }
        done
    done <<"END"
table.csv sc-import table.csv
table.csv,set.npy sc-import --classes-from set.npy table.csv
set.npy sc-prune set.npy
set.npy sc-balance set.npy
set.npy sc-select -q -n 1 set.npy
set.npy,with.tch,pool.slp sc-select -q -n 1 -m herding -t with.tch -s pool.slp set.npy
set.npy sc-split --train 0.5 --only train set.npy
set.npy,scale.npy sc-scale --with scale.npy set.npy
set.npy sc-shapelets -q -k 2 set.npy
set.npy,pool.slp sc-strans pool.slp set.npy
set.npy,pool.slp,other.npy sc-teacher -q --steps 1 -s pool.slp --validate other.npy set.npy
set.npy,teacher.tch sc-synth -q -t teacher.tch --steps 1 -n 1 set.npy
set.npy,with.tch,pool.slp sc-synth -q -t with.tch -s pool.slp --steps 1 -n 1 set.npy
set.npy,experts.npy sc-match -q -m mtt -x experts.npy --steps 1 -n 1 set.npy
set.npy,other.npy,pool.slp sc-match -q -m unroll --from other.npy -s pool.slp --steps 0 set.npy
set.npy sc-experts -q -c 1 -e 1 set.npy
set.npy sc-quantise -q set.npy
set.npy,with.tch,pool.slp sc-views -q -t with.tch -s pool.slp -m 9 set.npy
END
'
if command -v script >/dev/null; then
    test_that 'binary data is not written to a terminal' '
        script -qec "sc-gen cbf" /dev/null >typed || true
        grep -q "will not write binary data to a terminal" typed
    '
    test_that 'a progress bar is drawn on a terminal, and nowhere else' '
        sc-gen cbf -n 30 -o few.npy
        script -qec "sc-shapelets few.npy -o few.slp" /dev/null >typed
        grep -qF "sc-shapelets [" typed
        script -qec "sc-shapelets --quiet few.npy -o few.slp" /dev/null >typed
        refute grep -qF "sc-shapelets [" typed
        sc-shapelets few.npy -o few.slp 2>typed
        refute grep -qF "sc-shapelets [" typed
        # After a second or two of a million epochs there are hours left.
        script -qec "timeout 4 sc-teacher --epochs 1000000 few.npy -o few.tch" /dev/null >typed || true
        tr "\r" "\n" <typed | sed -n "s/.* \([0-9]*\):[0-9]* left.*/\1/p" | awk "{ n++; if (\$1 < 10) exit 1 } END { exit !n }"
    '
    test_that 'a progress bar fits a narrow terminal' '
        for columns in 60 80; do
            script -qec "stty cols $columns; timeout 2 sc-teacher -v few.npy --epochs 1000000 few.npy -o few.tch" /dev/null >typed || true
            tr "\r" "\n" <typed | sed "s/.*\[K//" | grep "sc-teacher \[" >bars
            awk -v columns=$columns "length >= columns { print; exit 1 } / left/ { n++ } END { exit !n }" bars
        done
        # One of several stages says which, and when all will be done: 7200 seconds after it.
        SHAPECOND_STAGE="3/12 7200" script -qec "stty cols 80; timeout 2 sc-teacher --epochs 100000 few.npy -o few.tch" /dev/null >typed || true
        tr "\r" "\n" <typed | sed "s/.*\[K//" | sed -n "s/^3\/12 sc-teacher .* \([0-9]*\):[0-9]* of ~\([0-9]*\):[0-9]* left.*/\1 \2/p" >left
        awk "{ n++; if (\$2 - \$1 != 120 && \$2 - \$1 != 121) exit 1 } END { exit !n }" left
    '
    test_that 'a program that would wait for what is typed says its usage instead' '
        for tool in sc-import sc-info sc-plot sc-shapelets sc-select; do
            script -qec "timeout 10 $tool" /dev/null >typed && exit 1
            grep -q "^Usage: $tool " typed
        done
    '
else
    skip_that 'binary data is not written to a terminal' 'no script(1)'
    skip_that 'a progress bar is drawn on a terminal, and nowhere else' 'no script(1)'
fi

# The Python of the manual pages runs as it stands there.
python=$(python_with numpy)
if [ -n "$python" ]; then
    test_that 'the reader and writer of slp(5) agree with the tools' '
        mandoc -T man "$SC_ROOT/man/slp.5" >/dev/null
        sed -n "/^\.Bd/,/^\.Ed/p" "$SC_ROOT/man/slp.5" | sed "/^\.[BE]d/d; s/\\\\e/\\\\/g" >slp.py
        cat >>slp.py <<END
import sys
header = np.zeros((), HEADER)
header["channels"], header["steps"], header["classes"] = 2, 10, 4
records = np.zeros(2, RECORD)
records["channel"], records["start"], records["length"] = [1, 0], [7, 0], [3, 2]
records["class"], records["window"], records["source"] = [3, -1], [20, 2**32 - 1], [41, 7]
records["quality"], records["threshold"] = [0.75, 0.5], [1.25, 2]
values = [np.array([1, 2, 3]), np.array([4, 5.5])]
write_slp("made.slp", header, records, values, "by hand")
h, r, v, notes, scaling = read_slp("made.slp")
assert scaling is None
assert h["count"] == 2 and notes == "by hand" and (r == records).all()
assert all((a == b).all() for a, b in zip(v, values))
write_slp("made.slp", header, records, values, "by hand", [[1, 2], [3, 4]])
h, r, v, notes, scaling = read_slp("made.slp")
assert notes == "by hand" and (scaling == [[1, 2], [3, 4]]).all()
END
        $python slp.py
        sc-info made.slp >info
        grep -q "by hand" info
        grep -q "standardised" info
        printf x | dd of=made.slp bs=1 seek=60 conv=notrunc 2>/dev/null
        fails 1 "made.slp: damaged" sc-info made.slp
    '
    test_that 'the examples of sc-dataset(5) read and write what the tools do' '
        sc-gen cbf -n 6 -o train.npy
        sed "1,/^\.Sh EXAMPLES/d" "$SC_ROOT/man/sc-dataset.5" | sed -n "/^\.Bd/,/^\.Ed/p" | sed "/^\.[BE]d/d" >dataset.py
        sc-select -q -n 1 train.npy | sc-views -q --augment -m 5 -o tiny.npy
        # One of them writes; give it two class names and labels to match.
        sed -i "s/^with open(\"train.npy\", \"wb\")/whole = shapecond.load(\"train.npy\")\ny = y % 2\n&/" dataset.py
        cat >>dataset.py <<END
assert whole["X"].shape == (6, 1, 128) and set(whole) == {"X", "y", "names", "notes"}
assert "sc-gen" in str(whole["notes"])
assert series.shape == (5, 1, 128) and logits.shape == (5, 3)
END
        PYTHONPATH="$SC_ROOT/formats" PYTHONDONTWRITEBYTECODE=1 $python dataset.py
        sc-info train.npy | grep -q walking
    '
else
    skip_that 'the Python of the manual pages runs' 'no Python with NumPy'
fi
finish
