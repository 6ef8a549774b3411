#!/bin/sh
# pipelines/condense.mk: one condensation, stage by stage, and what is made again.
. "$(dirname "$0")/lib.sh"

mkdir data
for part in train val test; do sc-gen cbf -n 24 -L 32 --seed ${#part} -o data/$part.npy; done

# condense ARGUMENTS...: with settings for a small dataset.
condense() {
    MAKEFLAGS='' LC_ALL="$user_locale" make --no-print-directory -f "$SC_ROOT/pipelines/condense.mk" DATA=data RUN=run SPC=2 SEEDS=1 \
        PRUNE='--ratio 0' SHAPELETS='-k 3' TEACHER='--steps 5' SYNTH='--steps 3' \
        UNROLL='--steps 2 --student-steps 10 --unroll-steps 5' VIEWS='--views 20' STUDENT='--steps 5' \
        STUDENT_SHAPELETS='--steps 5' "$@"
}
# would ARGUMENTS...: the stages that it would make, without the folder.
would() { condense -n "$@" | sed -n 's/.* -o run\/\([^ ]*\).*/\1/p' | sort; }
# assert_would FILES ARGUMENTS...
assert_would() {
    echo "$1" | tr ' ' '\n' | grep . | sort >expected
    shift
    would "$@" >got
    diff expected got
}
plain='random-2.tsv random-soft-2.tsv sre2l-2.tsv shapecond-2.tsv views-2.tsv'
seeing='random-soft-shapelets-2.tsv shapecond-shapelets-2.tsv unroll-shapelets-2.tsv'
all="pool.slp teacher.tch plain.tch pooled.tch shapecond-2.npy chosen-2.npy stored-2.npy views-2.npy unroll-2.npy sre2l-2.npy random-2.npy full.tsv $plain $seeing"

test_that 'every stage is made once' '
    assert_would "$all"
    condense table >said 2>&1
    test "$(tail -n 10 said | grep -c " [0-9.]* *[0-9.-]*$")" = 9
    for file in $all; do test -s run/$file; done
    condense -q
'
test_that 'another option makes its stages again, and what depends on them, but nothing else' '
    of_synth="shapecond-2.npy chosen-2.npy unroll-2.npy sre2l-2.npy shapecond-2.tsv sre2l-2.tsv shapecond-shapelets-2.tsv unroll-shapelets-2.tsv"
    of_pool="pool.slp teacher.tch shapecond-2.npy chosen-2.npy unroll-2.npy shapecond-2.tsv $seeing"
    assert_would "$of_synth" SYNTH="--steps 4"
    assert_would "unroll-2.npy unroll-shapelets-2.tsv" UNROLL="--steps 1"
    assert_would "views-2.npy views-2.tsv" VIEWS="--views 30"
    assert_would "stored-2.npy views-2.npy views-2.tsv" BITS=4
    assert_would "$plain" STUDENT="--steps 6"
    assert_would "$seeing" STUDENT_SHAPELETS="--steps 6"
    assert_would "$plain $seeing" SEEDS=2
    assert_would "$of_pool" PRUNE="--ratio 0.1"
    assert_would "$of_pool" SHAPELETS="-k 2"
    assert_would "$(echo $all | sed "s/pool.slp//")" TEACHER="--steps 6"
    assert_would "$all" SEED=1
    condense -q # trying changed nothing
'
test_that 'a program can be the teacher, and another one makes its stages again' '
    program="$SC_BUILD/tests/test_guide_command teach well run/plain.tch"
    of_program="full.tsv random-2.npy random-2.tsv random-soft-2.tsv random-soft-shapelets-2.tsv sre2l-2.npy sre2l-2.tsv stored-2.npy views-2.npy views-2.tsv"
    assert_would "$of_program" TEACHER_COMMAND="$program"
    cp -a run own
    condense RUN=own TEACHER_COMMAND="$program" table >said 2>&1 || { cat said; exit 1; }
    grep -c -e "--teacher-command" said
    test "$(grep -c -e "--teacher-command" said)" -ge 4
    cmp own/full.tsv run/full.tsv
    condense RUN=own TEACHER_COMMAND="$program" -q
    condense -q
'
test_that 'another data folder makes everything again, even if its files are older' '
    mkdir other
    for part in train val test; do
        sc-gen cbf -n 24 -L 32 --seed 1${#part} -o other/$part.npy
        touch -d "2020-01-01" other/$part.npy
    done
    assert_would "$all" DATA=other
'
test_that 'newer data makes what was made from it again' '
    touch -d "+1 hour" data/test.npy
    assert_would "full.tsv $plain $seeing"
    touch -d "2020-01-01" data/test.npy
    condense -q
'
test_that 'what is made again has the new option and stays made' '
    cp run/unroll-2.npy unroll-before
    cp run/shapecond-2.npy shapecond-before
    condense UNROLL="--steps 3 --student-steps 10 --unroll-steps 5" >said
    test "$(grep -c "^sc-" said)" = 2
    sc-info run/unroll-2.npy | grep "sc-match .* --steps=3"
    refute cmp -s run/unroll-2.npy unroll-before
    cmp run/shapecond-2.npy shapecond-before
    condense -q UNROLL="--steps 3 --student-steps 10 --unroll-steps 5"
    condense >said
    cmp run/unroll-2.npy unroll-before
'
test_that 'options with quotes are remembered as they are' '
    condense TEACHER="--steps 5 --network '"'cnn depth=2 width=4'"'" >said
    sc-info run/teacher.tch | grep "depth=2 width=4"
    condense -q TEACHER="--steps 5 --network '"'cnn depth=2 width=4'"'"
'
test_that 'a stage that fails is made at the next run' '
    fails 2 "sc-synth: --steps" condense SYNTH="--steps much"
    refute condense -q
    condense >said
    condense -q
'
test_that 'LAUNCH is in front of every stage' '
    condense -B -n LAUNCH="start here" | grep " -o run/" >stages
    test -s stages
    refute grep -v "start here sc-" stages
'

finish
