#!/bin/sh
# Files that would be lost: one file for two uses, closed descriptors, inputs that are cut off, names
# that look like options, and what files can put into messages.
. "$(dirname "$0")/lib.sh"

sc-gen cbf -n 90 -L 200 -o train.npy
cp train.npy before.npy

# The programs that keep a checkpoint, with little work.
checkpointers() {
    cat <<"END"
sc-teacher -q --steps 3
sc-experts -q -c 1 -e 1
sc-match -q -m dm --steps 1 -n 1
END
}
test_that 'a checkpoint and the output cannot be one file, however it is named' '
    mkdir -p here/sub elsewhere
    ln -s ../here elsewhere/folder
    ln -s new here/link
    checkpointers | while read -r command; do
        for names in "new ./new" "new $PWD/here/new" "link new" "sub/../new new" \
            "../elsewhere/folder/new new" "new ../elsewhere/folder/link"; do
            (cd here && fails 2 "--output and --checkpoint are the same file" \
                $command ../train.npy --checkpoint ${names% *} -o ${names#* })
            test ! -e here/new
        done
        printf old >here/new
        ln here/new here/hard
        (cd here && fails 2 "--output and --checkpoint are the same file" \
            $command ../train.npy --checkpoint hard -o new)
        (cd here && fails 2 "--output and --checkpoint are the same file" \
            sh -c "$command ../train.npy --checkpoint hard >>new")
        test "$(cat here/new)" = old
        rm here/new here/hard
    done
'
test_that 'different files are not taken for one' '
    checkpointers | while read -r command; do
        $command train.npy --checkpoint here/other -o here/out
        test -s here/out
        test ! -e here/other
        # Names of one file in different folders, and links to different files.
        $command train.npy --checkpoint here/sub/out -o here/out
        ln -s here/sub/out one
        ln -s here/out two
        $command train.npy --checkpoint one -o two
        test -s here/out
        rm one two here/out
    done
    sc-teacher -q --steps 1 train.npy --log /dev/null -o /dev/null
'
test_that 'no output replaces another one or an input' '
    sc-scale train.npy --save scale.npy -o scaled.npy
    sc-shapelets -q -k 2 train.npy -o pool.slp
    ln -sf train.npy link.npy
    ln -f train.npy hard.npy
    for name in train.npy ./train.npy link.npy hard.npy; do
        fails 2 "--output and the input are the same file" sc-scale train.npy -o $name
        fails 2 "--output and the input are the same file" sc-plot $name -o train.npy
        fails 2 "--output and the input are the same file" sc-scale -o $name <train.npy
        fails 2 "--output and the input are the same file" sh -c "sc-scale train.npy >>$name"
        fails 2 "--save and the input are the same file" sc-scale train.npy --save $name -o none
        fails 2 "--log and the input are the same file" \
            sc-teacher --steps 1 train.npy --log $name -o none
        fails 2 "--checkpoint and the input are the same file" \
            sc-teacher --steps 1 train.npy --checkpoint $name -o none
        fails 2 "--output and --validate are the same file" \
            sc-teacher --steps 1 before.npy --validate $name -o train.npy
    done
    fails 2 "--output and --shapelets are the same file" \
        sc-teacher --steps 1 train.npy --shapelets pool.slp -o pool.slp
    fails 2 "--output and the input are the same file" sc-strans pool.slp train.npy -o pool.slp
    fails 2 "--output and the input are the same file" sc-strans pool.slp -o before.npy <before.npy
    fails 2 "--output and --with are the same file" sc-scale train.npy --with scale.npy -o scale.npy
    fails 2 "--output and --save are the same file" sc-scale train.npy --save new -o ./new
    fails 2 "--output and --truth are the same file" sc-gen cbf --truth new -o ./new
    fails 2 "--output and --log are the same file" sc-teacher --steps 1 train.npy --log new -o ./new
    fails 2 "--log and --checkpoint are the same file" \
        sc-teacher --steps 1 train.npy --log new --checkpoint ./new -o none
    fails 2 "--output and --labels are the same file" sc-import train.npy --labels before.npy -o before.npy
    printf "seed\taccuracy\n" >table
    fails 2 "--output and --full are the same file" sc-eval train.npy train.npy --full table -o table
    cmp train.npy before.npy
    test ! -e none
    test ! -e new
'
test_that 'sc-split and shapecond know the names that they make' '
    cp train.npy part-train.npy
    ln -sf train.npy part-test.npy
    fails 2 "--output and the input are the same file" \
        sc-split --train 0.5 --test 0.5 part-train.npy -o part
    fails 2 "--output and the input are the same file" \
        sc-split --train 0.5 --test 0.5 train.npy -o part.npy
    fails 2 "--output and the input are the same file" \
        sc-split --train 0.5 --only train train.npy -o ./train.npy
    sc-split --train 0.5 --val 0.5 train.npy -o train # the prefix is no file
    mkdir stages
    cp train.npy stages/train.npy
    fails 2 "--keep and the input are the same file" shapecond stages/train.npy --keep ./stages -o none
    fails 2 "--keep and --output are the same file" \
        shapecond train.npy --keep stages -o stages/condensed.npy
    cmp train.npy before.npy
    cmp stages/train.npy before.npy
'
# The last file is small enough to wait in the memory until it is put in place, and too large for the limit.
test_that 'where one of several outputs cannot be written whole, all old ones stay' '
    sc-gen cbf -n 33 -L 16 -o few.npy
    echo old >both-train.npy
    cp both-train.npy both-test.npy
    (
        ulimit -f 4
        fails 1 "both-test.npy: File too large" sc-split -q --train 0.1 --test rest few.npy -o both
    )
    test "$(cat both-train.npy both-test.npy)" = "$(printf "old\nold")"
    rm both-train.npy both-test.npy few.npy
'
test_that 'messages do not get into the output when standard error is closed' '
    sc-teacher train.npy --steps 2 -o with.tch 2>said
    test -s said
    sc-teacher train.npy --steps 2 -o without.tch 2>&-
    cmp with.tch without.tch
    sc-teacher train.npy --steps 2 -o without.tch 0<&- 1>&- 2>&-
    cmp with.tch without.tch
    sc-teacher train.npy --steps 2 --checkpoint state --log log.tsv -o without.tch 0<&- 2>&-
    cmp with.tch without.tch
    head -n 1 log.tsv | grep -q "^epoch"
    shapecond train.npy --spc 1 --steps 2 --views 20 --no-score -o tiny.npy 2>/dev/null
    shapecond train.npy --spc 1 --steps 2 --views 20 --no-score -o again.npy 0<&- 1>&- 2>&-
    cmp tiny.npy again.npy
    got=0
    sc-scale none.npy -o none 2>&- || got=$?
    test $got = 1
'
test_that 'a closed standard output is an error, before the work' '
    fails 1 "standard output: not open for writing" sh -c "sc-scale train.npy >&-"
    fails 1 "standard output: not open for writing" sh -c "sc-scale train.npy -o /dev/stdout >&-"
    fails 1 "standard output: not open for writing" sh -c "sc-info train.npy >&-"
    fails 1 "standard output: not open for writing" sh -c "sc-scale train.npy 1</dev/null"
    fails 1 "standard output: not open for writing" \
        timeout 20 sh -c "sc-teacher train.npy --steps 1000000000 >&-"
    fails 1 "standard output: not open for writing" \
        timeout 20 sh -c "sc-shapelets train.npy 0<&- >&-"
    fails 1 "standard output: not open for writing" \
        timeout 20 sh -c "shapecond train.npy --steps 1000000000 >&-"
    fails 1 "standard output: not open for writing" \
        timeout 20 sh -c "shapecond train.npy --steps 1000000000 --test train.npy -o none >&-"
    fails 1 "standard output" sh -c "sc-gen --help >&-"
    sc-gen cbf -n 5 -o /dev/null >&-
    fails 1 "standard input: " sh -c "sc-scale <&-"
    test ! -e none
'

# scale_while COMMAND...: sc-scale cut.npy, whose statistics come through a pipe, with the command run
# when it has read the dataset and waits for them.  Its status is in $got, what it says in the file said.
mkfifo statistics
scale_while() {
    sc-scale cut.npy --with statistics -o "$target" 2>said &
    job=$!
    # shellcheck disable=SC2016 # for the inner shell
    timeout 60 sh -c 'exec 3>statistics; "$@"; cat scale.npy >&3' scale_while "$@"
    got=0
    wait "$job" || got=$?
    cat said
}
test_that 'an input that is cut off while it is in use is named, and nothing is left' '
    sc-gen cbf -n 2000 -o large.npy
    sc-scale -q large.npy --save scale.npy -o /dev/null
    mkdir results
    printf old >results/kept
    # At the end of a page there are only zeros where data was, and no signal.
    for size in 1000 $(($(stat -c %s large.npy) - 8)); do
        for target in results/kept results/new; do
            cp large.npy cut.npy
            scale_while truncate -s $size cut.npy
            test $got = 1
            test "$(cat said)" = "sc-scale: cut.npy: was truncated while it was in use"
            test "$(ls -A results)" = kept
            test "$(cat results/kept)" = old
        done
    done
'
test_that 'the signal of an input that is cut off is caught in every thread' '
    sc-gen cbf -n 20000 -o large.npy
    sc-teacher -q large.npy --steps 100000000 --log log -o results/new 2>said &
    job=$!
    while ! grep -q "^1	" log 2>/dev/null; do
        sleep 0.1
        kill -0 $job
    done
    truncate -s 100000 large.npy
    got=0
    wait $job || got=$?
    test $got = 1
    test "$(cat said)" = "sc-teacher: large.npy: was truncated while it was in use"
    test "$(ls -A results)" = kept
'
test_that 'an input that is written to while it is in use is remarked on' '
    target=changed.npy
    cp train.npy cut.npy
    scale_while touch -d 2001-01-01 cut.npy
    test $got = 0
    grep "sc-scale: cut.npy: was changed while it was in use" said
    # One that is replaced is still there for who has it open.
    scale_while mv scaled.npy cut.npy
    test $got = 0
    test ! -s said
'

test_that 'what files hold reaches the terminal only as printable characters' '
    # A class name with an escape sequence, a C1 control and a turn of direction, and others that
    # are harmless.
    printf "%s\n" "@problemName x" "@timeStamps false" "@missing false" "@univariate true" \
        "@equalLength true" "@seriesLength 4" "@classLabel true zebra plain" "@data" \
        "1,2,3,4:zebra" "2,3,4,5:plain" >names.ts
    sc-import names.ts -o names.npy
    # Code points of 32 bits: the letters of "zebra" become others.
    letters="z\\x00\\x00\\x00e\\x00\\x00\\x00b\\x00\\x00\\x00r\\x00\\x00\\x00a\\x00\\x00\\x00"
    others="\\x1b\\x00\\x00\\x00\\x9b\\x00\\x00\\x00\\x2e\\x20\\x00\\x00\\xfc\\x00\\x00\\x00\\x1b\\x00\\x00\\x00"
    LC_ALL=C sed "s/$letters/$others/" names.npy >evil.npy
    refute cmp -s evil.npy names.npy
    fails 1 "class name " sc-export evil.npy -o none.ts
    cat -v .stderr
    grep -qF "\\x1b\\xc2\\x9b\\xe2\\x80\\xae$(printf "\\303\\274")\\x1b" .stderr
    harmless() { test -z "$(tr -d "\n" <$1 | LC_ALL=C tr -d "[:print:]\\303\\274")"; }
    harmless .stderr
    sc-info evil.npy >info
    harmless info
    sc-info --json evil.npy >info
    grep -qF "\\u001b\\u009b\\u202e$(printf "\\303\\274")\\u001b" info
    harmless info
    # Words of a network.
    sc-teacher -q --steps 1 train.npy -o teacher.tch
    LC_ALL=C sed "s/^network cnn depth=3/network cnn d$(printf "\\033")[1m=3/" teacher.tch >evil.tch
    fails 1 "evil.tch" sc-eval --teacher evil.tch train.npy
    grep -qF "d\\x1b[1m" .stderr
    harmless .stderr
    sc-experts -q -c 1 -e 1 train.npy -o experts.npy
    LC_ALL=C sed "1,2s/p\\x00\\x00\\x00t\\x00\\x00\\x00h\\x00\\x00\\x00=/p\\x00\\x00\\x00\\x1b\\x00\\x00\\x00h\\x00\\x00\\x00=/" \
        experts.npy >evil-experts.npy
    refute cmp -s experts.npy evil-experts.npy
    fails 1 "evil-experts.npy" sc-match -m mtt -x evil-experts.npy train.npy -o none
    grep -qF "\\x1b" .stderr
    harmless .stderr
    # Names on the command line.
    fails 1 "evil\\x1b[2J.npy: No such file" sc-scale "$(printf "evil\\033[2J.npy")"
    harmless .stderr
'
test_that 'a checkpoint that cannot be written is named, and not the output' '
    for command in "sc-experts -q -c 1 -e 1" "sc-match -q -m dm --steps 1 -n 1 --checkpoint-every 1"; do
        fails 1 "${command%% *}: nowhere/state: No such file or directory" $command train.npy \
            --checkpoint nowhere/state -o none
        test ! -e none
    done
    # The checkpoint is too large, the output has no data yet.
    fails 1 "sc-experts: state: File too large" \
        sh -c "ulimit -f 8; sc-experts -q -c 2 -e 1 train.npy --checkpoint state -o none"
    rm state
    fails 1 "sc-experts: none: " sh -c "ulimit -f 8; sc-experts -q -c 2 -e 1 train.npy -o none"
'
test_that 'a link to a checkpoint stays when the checkpoint goes' '
    ln -s state link
    sc-teacher -q --steps 3 --checkpoint-every 1 --checkpoint link train.npy -o linked.tch
    test -L link
    test ! -e state
'
finish
