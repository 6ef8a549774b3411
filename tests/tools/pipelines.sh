#!/bin/sh
# The pipelines that make the paper's tables, on generated sets of a few series.
. "$(dirname "$0")/lib.sh"

# A data folder: TwoPatterns as text files, Other as arrays of series and of labels.
mkdir -p data/TwoPatterns data/Other
sc-gen two-patterns -n 80 -L 32 --seed 1 -o all.npy
sc-split -q --train 40 --test rest -o part all.npy
for part in train test; do
    name=$(echo $part | tr '[:lower:]' '[:upper:]')
    sc-export -q part-$part.npy -o "data/TwoPatterns/TwoPatterns_$name.tsv"
done
sc-gen cbf -n 60 -L 32 --seed 2 -o other.npy
head -c $((128 + 60 * 32 * 4)) other.npy >data/Other/Other_X.npy
tail -c +$((129 + 60 * 32 * 4)) other.npy | head -c $((128 + 60 * 4)) >data/Other/Other_y.npy

pipelines=$SC_ROOT/pipelines
# table NAME ARGUMENTS...: the pipeline pipelines/NAME.mk with settings for small sets.
table() {
    table_name=$1
    shift
    env -u METHODS MAKEFLAGS= LC_ALL="$user_locale" make --no-print-directory -f "$pipelines/$table_name.mk" DATA=data RUN=run \
        SETS='TwoPatterns Other' SPLIT='--train 0.5 --val 0.25 --test rest' PRUNE='--ratio 0' \
        SHAPELETS='-k 3' CANDIDATES='--lengths 8 --window 4' TEACHER='--steps 20' \
        SYNTH='--steps 20' SHAPECOND= SRE2L= STUDENT='--steps 20' STUDENT_shapelets= SEEDS=2 NAS_STUDENT='--steps 10' "$@"
}
# steps: the targets of the steps in what make said that it runs (or with -n, would run).
steps() { sed -n 's/^ *[0-9.]* s  run\///p; s/.*step\.sh run\/\([^ ]*\) .*/\1/p' | sort; }
# accuracy FILE: the mean that sc-eval wrote.
accuracy() { awk '$1 == "mean" { print $2 }' "$1"; }
few='random random-soft sre2l shapecond'

test_that 'the main table has every set, method and number of series per class' '
    table main-table METHODS="$few" SPCS="1 2" >said
    for set in TwoPatterns Other; do grep -qx "### $set" said; done
    test "$(grep -c "| ShapeCond " said)" = 4
    test "$(grep -c "| Random, soft labels " said)" = 4
    grep -q "^40 series for training, 20 for validation, 20 for test; 1 x 32, 4 classes" said
    grep -q "^30 series for training, 15 for validation, 15 for test; 1 x 32, 3 classes" said
'
test_that 'a row has the mean of the students, the ratio to all data and the figures of the paper' '
    mean=$(accuracy run/TwoPatterns/1/shapecond.0.plain.tsv)
    other=$(accuracy run/TwoPatterns/1/shapecond.0.shapelets.tsv)
    full=$(accuracy run/TwoPatterns/full/all.0.plain.tsv)
    row=$(awk "/^### / { set = \$2 } /^. [1-9]/ { spc = \$2 } set == \"TwoPatterns\" && spc == 1 && /ShapeCond/" said)
    echo "$mean $other $full: $row"
    echo "$row" | grep -q "ShapeCond *| $mean ± [0-9.]* *| $(awk "BEGIN { printf \"%.1f\", 100 * $mean / $full }") "
    echo "$row" | grep -q "| $other ± "
    echo "$row" | grep -q "| 45.95 | 46.0  |$"
    awk "/^### / { set = \$2 } set == \"Other\" && /ShapeCond/" said | grep -q "| -     | -     |$"
'
test_that 'what the table says of time is the sum of the steps' '
    for step in all.npy train.npy val.npy balanced.npy pool.slp teacher.tch 2/shapecond.0.npy; do
        cat run/Other/$step.time
    done | awk "{ sum += \$1 } END { print sum }" >sum
    table main-table SPCS=2 times >times
    test -z "$(steps <times)"
    sed -n "s/^From raw files to 2 per class by ShapeCond: \([0-9.]*\) s.*/\1/p" said | tail -n 1 >in-text
    sed -n "s/^| Other .*| \([0-9.]*\) s *|\$/\1/p" times >in-table
    paste sum in-text in-table | awk "{ exit !(\$2 == \$3 && (\$1 - \$2) ^ 2 < (\$1 < 9 ? 0.0001 : 0.5)) }"
'
test_that 'series and labels from arrays are those of the set' '
    sc-export -q other.npy -o direct.tsv
    sc-export -q run/Other/all.npy -o imported.tsv
    cut -f 2- direct.tsv >direct
    cut -f 2- imported.tsv >imported
    cmp direct imported
    cut -f 1 direct.tsv | sort | uniq -c | awk "{ print \$1 }" >direct
    cut -f 1 imported.tsv | sort | uniq -c | awk "{ print \$1 }" >imported
    cmp direct imported
'
test_that 'nothing is run again, and only what is missing or was cut off is made' '
    table main-table METHODS="$few" SPCS="1 2" >again
    test -z "$(steps <again)"
    test "$(sed -n "/^###/,\$p" said)" = "$(cat again)"
    rm run/Other/1/sre2l.0.plain.tsv run/Other/2/random.0.npy.command
    table main-table METHODS="$few" SPCS="1 2" >again
    steps <again >ran
    printf "%s\n" Other/1/sre2l.0.plain.tsv Other/2/random.0.npy Other/2/random.0.plain.tsv \
        Other/2/random.0.shapelets.tsv >expected
    diff expected ran
'
test_that 'other options run the stage that they are for again, and what depends on it' '
    table main-table -n METHODS="$few" SPCS=1 SETS=Other SYNTH="--steps 21" | steps >ran
    for method in shapecond sre2l; do
        printf "%s\n" Other/1/$method.0.npy Other/1/$method.0.plain.tsv Other/1/$method.0.shapelets.tsv
    done >expected
    diff expected ran
    table main-table -n METHODS="$few" SPCS=1 SETS=Other STUDENT="--steps 21" | steps >ran
    test "$(wc -l <ran)" = 8
    refute grep -v "\.tsv$" ran
    table main-table -n METHODS="$few" SPCS=1 SETS=Other STUDENT_random="--rate 0.1" SRE2L="--rate 0.1" STUDENTS=plain |
        steps >ran
    printf "%s\n" Other/1/random.0.plain.tsv Other/1/sre2l.0.npy Other/1/sre2l.0.plain.tsv >expected
    diff expected ran
    table main-table -n METHODS=random SPCS=1 SETS=Other STUDENT_shapelets="--rate 0.1" | steps >ran
    test "$(cat ran)" = Other/1/random.0.shapelets.tsv
    table main-table -n METHODS="$few" SPCS=1 SETS=Other SHAPELETS="-k 2" | steps >ran
    grep -qx Other/pool.slp ran
    grep -qx Other/teacher.tch ran
    grep -qx Other/1/random.0.shapelets.tsv ran
    refute grep -e plain.tch -e random.0.plain -e train.npy -e "sre2l.0.npy" ran
    table main-table METHODS="$few" SPCS="1 2" | steps >ran
    test ! -s ran
'
test_that 'what is refined are the series that explain the teacher, as they are' '
    both() {
        table main-table METHODS="explain refined" SPCS=1 SETS=Other STUDENTS=shapelets \
            UNROLL="--steps 1 --unroll-steps 2 --student-steps 4" "$@"
    }
    both >said
    for method in explain refined; do accuracy run/Other/1/$method.0.shapelets.tsv; done >means
    sed -n "s/^|.*| Series that explain the teacher\(, refined\)\{0,1\} *| \([0-9.]*\) .*/\2/p" said | diff means -
    grep -q -e "--from run/Other/1/explain.0.npy --shapelets run/Other/pool.slp" run/Other/1/refined.0.npy.command
    refute cmp run/Other/1/explain.0.npy run/Other/1/refined.0.npy
    sc-export -q run/Other/train.npy -o train.tsv
    sc-export -q run/Other/1/explain.0.npy -o explain.tsv
    test "$(grep -cFxf train.tsv explain.tsv)" = 3
    test -z "$(both -n SHAPECOND="--rate 0.1" | steps)"
    both -n UNROLL="--steps 2" | steps >ran
    printf "%s\n" Other/1/refined.0.npy Other/1/refined.0.shapelets.tsv | diff - ran
'
test_that 'without SETS the sets of the paper are taken, or where there is none of them, all' '
    sets() { env -u SETS MAKEFLAGS= make -n -f "$pipelines/main-table.mk" RUN=none METHODS=random SPCS=1 "$@"; }
    sets DATA=data >commands
    grep -q none/TwoPatterns/all.npy commands
    refute grep none/Other commands
    mkdir -p unknown
    cp -r data/Other unknown
    sets DATA=unknown | grep -q none/Other/1/random.0.plain.tsv
    fails 2 "DATA=nowhere" sets DATA=nowhere
'
test_that 'a setting of one set is for that set, but the command line is for all' '
    cp -r "$SC_ROOT/pipelines" edited
    printf "Other_STUDENT := --steps 22\nOther_STUDENT_shapelets := --steps 33\n" >>edited/settings.mk
    pipelines=edited table main-table -n RUN=none METHODS=random SPCS=1 STUDENTS=plain | grep "sc-eval.*random" >commands
    test "$(grep -c -e "--steps 20" commands)" = 2
    pipelines=edited table main-table -n RUN=none METHODS=random SPCS=1 STUDENTS=plain STUDENT="--steps 22" |
        grep "sc-eval.*random" >commands
    test "$(grep -c -e "--steps 22" commands)" = 2
    env -u STUDENT MAKEFLAGS= make --no-print-directory -n -f edited/main-table.mk DATA=data RUN=none METHODS=random SPCS=1 \
        SETS="TwoPatterns Other" | grep "sc-eval.*random" >commands
    test "$(grep -c -e "--steps 22 .*Other" commands)" = 2
    test "$(grep -c -e "--steps 22 --steps 33 .*Other.*--shapelets" commands)" = 1
    refute grep -e "--steps [23][23].*TwoPatterns" commands
'
test_that 'newer data makes its set again, and no other' '
    touch data/Other/Other_y.npy data/Other/Other_X.npy
    table main-table -n METHODS="$few" SPCS=1 | steps >ran
    grep -qx Other/1/shapecond.0.plain.tsv ran
    refute grep TwoPatterns ran
'
test_that 'several condensations are averaged, and -j gives the same' '
    table main-table METHODS=random SPCS=1 SETS=TwoPatterns STUDENTS=plain REPEATS=2 >two
    mean=$(cat run/TwoPatterns/1/random.[01].plain.tsv | awk "\$1 ~ /^[0-9]+\$/ { n++; sum += \$2 } END { printf \"%.2f\", sum / n }")
    grep "| Random " two | grep -F "| $mean ± "
    refute cmp run/TwoPatterns/1/random.0.npy run/TwoPatterns/1/random.1.npy
    table main-table METHODS=random SPCS=1 SETS=TwoPatterns STUDENTS=plain REPEATS=2 RUN=jobs -j2 >jobs.said
    cmp run/TwoPatterns/1/random.1.plain.tsv jobs/TwoPatterns/1/random.1.plain.tsv
    cmp run/TwoPatterns/plain.tch jobs/TwoPatterns/plain.tch
'
test_that 'sets that are not those of the paper are named so' '
    mkdir -p electric/ElectricDevices
    table main-table DATA=electric SETS=ElectricDevices METHODS=random show >shown
    grep -qx "### ElectricDevices (89 % of it)" shown
    tail -n 1 shown | grep -q "^  ElectricDevices (89 % of it)"
    refute grep "Not the same data" said
'
test_that 'what is there so far is shown without running anything' '
    table main-table METHODS="random kcenter" SPCS="1 3" show >shown
    grep "| Random " shown | head -n 1 | grep -q " ± "
    test "$(grep -c "| K-Center *| - *| -" shown)" = 4
    test ! -e run/Other/3
'
test_that 'a step that fails says why and leaves nothing' '
    fails 2 "sc-eval: --rate" table main-table METHODS=random SPCS=1 SETS=TwoPatterns STUDENT="--rate much"
    fails 2 "none.npy: No such file" table main-table METHODS=random SPCS=1 SETS=Other IMPORT="--classes-from none.npy"
    refute test -e run/TwoPatterns/1/random.0.plain.tsv.command
'
test_that 'unknown sets and methods, and methods without a program, are refused' '
    fails 2 "SETS: no folder None in data, which has: Other TwoPatterns" table main-table SETS=None
    fails 2 "METHODS: there is no magic" table main-table METHODS="random magic"
    fails 2 "SETS: no folder TwoPatterns Other in nowhere" table main-table DATA=nowhere
    mkdir -p some
    for program in "$SC_BUILD"/bin/*; do ln -sf "$program" some; done
    rm -f some/sc-match some/sc-experts
    PATH=$PWD/some:$(getconf PATH) fails 2 "METHODS: dc cannot be run: no sc-match that can" \
        table main-table METHODS="random dc"
    PATH=$PWD/some:$(getconf PATH) table main-table -n SETS=Other | steps >ran
    refute grep -e "/dc\." -e "/mtt\." ran
'
test_that 'ablations make what a variant changes and share the rest' '
    table ablations ABLATIONS="pool-size objective" SETS=Other SPCS=1 STUDENTS=plain >said
    steps <said >ran
    grep -qx Other/ablations/k-5/teacher.tch ran
    grep -qx Other/ablations/squared-round/1/shapecond.0.npy ran
    refute grep -e "squared-round/teacher" -e "squared-round/pool" ran
    grep -q "| squared-round *| $(accuracy run/Other/ablations/squared-round/1/shapecond.0.plain.tsv) ± " said
    table ablations -n ABLATIONS="pool-size objective" SETS=Other SPCS=1 STUDENTS=plain SYNTH="--steps 21" | steps >ran
    grep -qx Other/ablations/k-5/1/shapecond.0.npy ran
    refute grep -e pool.slp -e teacher.tch -e logistic.tsv ran
    refute cmp run/Other/ablations/plain-all/1/shapecond.0.npy run/Other/ablations/squared-all/1/shapecond.0.npy
'
test_that 'the pruning ablation times the search and scores what is left' '
    table ablations ABLATIONS=pruning SETS=TwoPatterns SPCS=1 STUDENTS=plain >said
    row=$(grep "| pruned-0.5 " said)
    echo "$row"
    echo "$row" | grep -q "| $(accuracy run/TwoPatterns/ablations/pruned-0.5/logistic.tsv) *| $(accuracy run/TwoPatterns/ablations/pruned-0.5/pruned.tsv) *|$"
'
test_that 'figures of the paper stand beside the ablations that it has' '
    table ablations ABLATIONS=initialisation SETS=TwoPatterns SPCS=10 show >shown
    grep -q "| noise *| - *| - *| 90.94 |" shown
    grep -q "| real *| - *| - *| 69.56 |" shown
'
test_that 'unroll gives accuracy and time for each start and number of steps' '
    table unroll SETS=Other SPCS=1 STEPS="1 2" UNROLL="--unroll-steps 2 --student-steps 4" >said
    steps <said >ran
    for variant in random-1 random-2 shapecond-1 shapecond-2; do grep -qx "Other/unroll/1/$variant.0.npy" ran; done
    refute cmp run/Other/unroll/1/random-2.0.npy run/Other/unroll/1/shapecond-2.0.npy
    refute cmp run/Other/unroll/1/random-1.0.npy run/Other/unroll/1/random-2.0.npy
    for steps in 0 1 2; do
        suffix=${steps#0}
        grep "^| $steps " said | grep -q "| $(accuracy "run/Other/unroll/1/random${suffix:+-$suffix}.0.plain.tsv") ±.*| $(accuracy "run/Other/unroll/1/shapecond${suffix:+-$suffix}.0.plain.tsv") ±"
    done
    table unroll SETS=Other SPCS=1 STEPS="1 2" UNROLL="--unroll-steps 2 --student-steps 4" | steps >ran
    refute test -s ran
'
test_that 'efficiency gives time, memory and steps of each method' '
    table efficiency SETS=Other METHODS="random sre2l shapecond" STUDENTS=plain >said
    row=$(grep "| ShapeCond " said)
    read -r seconds memory processor <run/Other/efficiency/1/shapecond.0.npy.time
    echo "$row: $seconds $memory"
    echo "$row" | awk -v seconds="$seconds" "BEGIN { FS = \" *[|] *\" }
        { exit !(\$5 + 0 == sprintf(\"%.2f\", seconds) + 0 && \$7 == 20 && \$8 + 0 == sprintf(\"%.3f\", seconds * 5) + 0) }"
    fails 2 "one set and one number" table efficiency METHODS=random SETS="Other TwoPatterns"
'
test_that 'figures of the paper stand beside the efficiency of ElectricDevices' '
    table efficiency DATA=electric SETS=ElectricDevices METHODS=shapecond show >shown
    grep "| ShapeCond " shown | grep -q "54.72 .* 28.71 .* 1.44 .* 31.56"
'
test_that 'shapelet-table scores condensed series by their shapelets' '
    table shapelet-table SETS="Other TwoPatterns" SPCS=2 >said
    grep "^| TwoPatterns " said | grep -q "| $(accuracy run/TwoPatterns/shapelets/2.sre2l.0.tsv) *| 69.17 *| $(accuracy run/TwoPatterns/shapelets/2.shapecond.0.tsv) *| 77.50 *| $(accuracy run/TwoPatterns/shapelets/real.tsv) *| 76.53 |"
'
test_that 'archive-accuracy scores networks on the series of the archive, beside published results' '
    table archive-accuracy SETS=TwoPatterns NETWORKS="fcn mlp" ARCHIVE_STUDENT="--steps 2" >said
    grep "^| TwoPatterns " said | grep -q "| $(accuracy run/TwoPatterns/archive/fcn.tsv | awk "{ printf \"%.1f\", \$1 }") *| 87.1 ± 0.3 |"
    sc-info run/TwoPatterns/archive/train.npy | grep 40
'
test_that 'nas finds the network that is best on the validation set, and trains it on all data' '
    table nas SETS=TwoPatterns SPCS=2 METHODS=shapecond DEPTHS="2 3" WIDTHS=4 NORMS="none batch" ACTIVATIONS=relu \
        POOLINGS=max >said
    for file in run/TwoPatterns/nas/2/shapecond/*.tsv; do
        echo "$(accuracy $file) $file"
    done | sort -rn >ranking
    best=$(head -n 1 ranking | cut -d" " -f1)
    network=$(cat run/TwoPatterns/nas/2/shapecond.best)
    name=$(echo "$network" | sed "s/^cnn //; s/ /_/g; s/=/-/g")
    test "$(accuracy run/TwoPatterns/nas/2/shapecond/$name.tsv)" = "$best"
    test "$(wc -l <ranking)" = 4
    sc-info run/TwoPatterns/nas/2/shapecond.tch | grep "${network#cnn }" || sc-info run/TwoPatterns/nas/2/shapecond.tch
    grep "| ShapeCond " said | grep -F "$(accuracy run/TwoPatterns/nas/2/shapecond.tsv)"
'
finish
