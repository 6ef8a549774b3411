#!/bin/sh
# What the notes say of how a file was made: every input, and what computed.
. "$(dirname "$0")/lib.sh"

small='cnn depth=1 width=4'
# The line of the last program in the notes of a file; those of .ts files are comments.
last_note() {
    case $1 in
    *.ts) sed -n 's/^# //p' "$1" | tail -n 1 ;;
    *) sc-info --json "$1" | sed -n '/"provenance"/,$p' | grep -o '"sc-.*"' | tail -n 1 ;;
    esac
}

# X and y in one file and in two; what follows them is notes, which sc-import drops.
sc-gen cbf -n 30 -L 32 -q -o set.npy
head -c 3968 set.npy >x.npy
tail -c +3969 set.npy | head -c 248 >labels
sc-shapelets -q -k 2 set.npy -o pool
sc-shapelets -q -k 2 -l 9 set.npy -o other
sc-teacher -q --steps 2 -s pool -n "$small" set.npy -o teacher
sc-experts -q -c 1 -e 2 -n "$small" set.npy -o experts
sc-scale -q set.npy --save statistics -o scaled.npy
sc-gen cbf -n 9 -L 32 --seed 1 -q -o few

# What influences the output: option, file, where a bit of it can be changed (from its end, or with +
# from its start) so that it is still such a file, and the rest of a command.  Pools have a checksum of
# their own: another one takes the place.
influences() {
    grep -v '^$' <<'END'
sc-balance --labels labels +128 x.npy
sc-experts --labels labels +128 -c 1 -e 1 x.npy
sc-export --labels labels +128 -f ts x.npy
sc-gen --like few +140 walks
sc-import --labels labels +128 x.npy
sc-import --groups labels +128 set.npy
sc-import --classes-from few +140 set.npy
sc-match --labels labels +128 --network cnn --steps 1 -n 1 x.npy
sc-match --experts experts 4 -m mtt --expert-epochs 1 --steps 1 -n 1 set.npy
sc-match --shapelets pool - -m unroll --steps 1 -n 1 --student-steps 4 --unroll-steps 2 set.npy
sc-match --from few +140 -m unroll --steps 1 --student-steps 4 --unroll-steps 2 set.npy
sc-prune --labels labels +128 x.npy
sc-scale --with statistics +128 set.npy
sc-select --labels labels +128 -n 1 x.npy
sc-select --teacher teacher 4 -s pool -m herding -n 1 set.npy
sc-select --shapelets pool - -t teacher -m herding -n 1 set.npy
sc-shapelets --labels labels +128 -k 1 x.npy
sc-split --labels labels +128 --train 0.5 --only train x.npy
sc-strans --labels labels +128 pool x.npy
sc-synth --labels labels +128 -t teacher -s pool --spc 1 --steps 1 x.npy
sc-synth --teacher teacher 4 -s pool --spc 1 --steps 1 set.npy
sc-synth --shapelets pool - -t plain --spc 1 --steps 1 set.npy
sc-teacher --labels labels +128 --steps 1 x.npy
sc-teacher --validate few +140 --steps 1 set.npy
sc-teacher --shapelets pool - --steps 1 set.npy
sc-quantise --labels labels +128 x.npy
sc-views --labels labels +128 --augment -m 3 x.npy
sc-views --teacher teacher 4 -s pool -m 3 set.npy
sc-views --shapelets pool - -t teacher -m 3 set.npy
sc-views --validate few +140 -t teacher -s pool -m 3 set.npy
END
}
# Files that are written, or that only words on standard error depend on, and those of programs whose
# output has no notes.
no_influence='sc-eval sc-info sc-plot sc-report shapecond
    sc-experts--checkpoint sc-gen--truth sc-match--checkpoint sc-scale--save sc-teacher--checkpoint
    sc-teacher--last sc-teacher--log sc-teacher--test'

test_that 'this test knows every option of every program that names a file' '
    for program in "$SC_BUILD"/bin/*; do
        program=$(basename "$program")
        $program --help | grep -o -e "--[a-z-]*=FILE" | sed "s/=FILE//" | sort -u | grep -v -e --output |
            while read -r option; do
                influences | grep -q "^$program $option " ||
                    echo "$no_influence" | grep -qE -e "(^| )$program($option)?( |\$)" ||
                    { echo "what about $program $option?"; exit 1; }
            done || exit 1
    done
'
test_that 'a bit of any file that an output depends on changes its notes' '
    # One without notes, so that sc-synth does not miss the pool that it was trained with.
    sed "/^note /d" teacher >plain
    influences | while read -r program option file place rest; do
        out=out.npy
        test $program != sc-export || out=out.ts
        $program -q $option $file $rest -o $out </dev/null
        before=$(last_note $out)
        case $before in *"<$(b2sum -l 128 "$file" | cut -c 1-32)"*) ;; *)
            echo "$program $option: no digest of $file in: $before"
            exit 1 ;;
        esac
        cp $file kept
        case $place in
        -) cp other $file ;;
        +*) flip $file ${place#+} ;;
        *) flip $file $(($(stat -c %s $file) - place)) ;;
        esac
        $program -q $option $file $rest -o $out </dev/null
        if test "$(last_note $out)" = "$before"; then
            echo "$program $option: $before"
            exit 1
        fi
        mv kept $file
    done
'
test_that 'a file of labels holds nothing else' '
    cat labels labels >two
    fails 1 "two: more than one array" sc-prune --labels two x.npy -o none
    fails 1 "two: more than one array" sc-import --labels two x.npy -o none
    : >empty
    fails 1 "empty: " sc-prune --labels empty x.npy -o none
    fails 1 "empty: " sc-import --labels empty x.npy -o none
    cat experts labels >two
    fails 1 "two: more than two arrays" sc-match -m mtt -x two set.npy -o none
    test ! -e none
'
# made_by LEVEL: what all programs make, in a folder of that name.
made_by() {
    export SHAPECOND_CPU="$1"
    mkdir "$1"
    sc-strans pool set.npy -o "$1/strans"
    sc-teacher -q --steps 2 -s pool set.npy -o "$1/teacher"
    sc-experts -q -c 1 -e 1 set.npy -o "$1/experts"
    sc-match -q -n 1 --steps 1 set.npy -o "$1/match"
    sc-synth -q -t teacher -s pool --spc 1 --steps 1 set.npy -o "$1/synth"
    sc-select -q -t teacher -s pool -n 1 set.npy -o "$1/select"
    sc-gen -q planted -n 20 -o "$1/gen"
    sc-scale -q set.npy -o "$1/scale"
    sc-split -q --train 0.5 --only train set.npy -o "$1/split"
    sc-balance -q --method smote --to 20 set.npy -o "$1/balance"
    sc-prune -q -p 0.5 set.npy -o "$1/prune"
    sc-shapelets -q -k 3 --select diverse set.npy -o "$1/shapelets"
    sc-export -q -f ts set.npy -o "$1/export.ts"
    unset SHAPECOND_CPU
}
test_that 'notes say what computed where bytes depend on it, and bytes do not depend on it elsewhere' '
    made_by generic
    made_by avx2
    for tool in strans teacher experts match synth select; do
        last_note generic/$tool | grep "\[generic.*, glibc [0-9.]*.*, [a-z]* [0-9.]* -O"
        last_note avx2/$tool | grep "\[\(generic\|avx2\).*, glibc [0-9.]*.*, [a-z]* [0-9.]* -O"
    done
    # Ridge regressions depend on OpenBLAS; nearest points are only looked for with it.
    last_note generic/synth | grep "OpenBLAS [0-9.]* [A-Za-z0-9]*\]"
    sc-select -q -m kmeans -n 1 set.npy -o kmeans.npy
    last_note kmeans.npy >line
    refute grep OpenBLAS line
    for file in gen scale split balance prune shapelets export.ts; do
        cmp generic/$file avx2/$file
        last_note generic/$file | grep "sc-" >line
        refute grep glibc line
    done
'
if grep -q '\bavx2\b' /proc/cpuinfo; then
    test_that 'a checkpoint is continued only by the instructions that began it' '
        for run in "sc-teacher -q --epochs 100000 --checkpoint-every 1 -n cnn" \
            "sc-match -q -n 1 --steps 100000 --checkpoint-every 1" \
            "sc-experts -q -c 100000 -e 1"; do
            killed state $run --checkpoint state set.npy -o none
            fails 1 "state: computed so far by \"shapecond " \
                env SHAPECOND_CPU=generic timeout 60 $run --checkpoint state set.npy -o none
            grep "so far by \"[^\"]* avx2, [^\"]*\", but this is \"[^\"]* generic, .*remove it" .stderr
            rm state
        done
        test ! -e none
    '
else
    skip_that 'a checkpoint is continued only by the instructions that began it' 'no AVX2'
fi
finish
