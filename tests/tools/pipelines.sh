#!/bin/sh
# The pipelines that make the paper's tables, on generated datasets of a few series.
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
# table NAME ARGUMENTS...: the pipeline pipelines/NAME.mk with settings for small datasets.
table() {
    table_name=$1
    shift
    env -u METHODS MAKEFLAGS= LC_ALL="$user_locale" make --no-print-directory -f "$pipelines/$table_name.mk" DATA=data RUN=run \
        DATASETS='TwoPatterns Other' SPLIT='--train 0.5 --val 0.25 --test rest' PRUNE='--ratio 0' \
        SHAPELETS='-k 3' CANDIDATES='--lengths 8 --window 4' TEACHER='--steps 20' \
        SYNTH='--steps 20' SHAPECOND= SRE2L= UNROLL='--steps 1 --unroll-steps 2 --student-steps 4' \
        EXPERTS='--count 1 --epochs 5' MTT='--steps 1' \
        STUDENT='--steps 20' STUDENT_shapelets= STUDENT_views= SEEDS=2 NAS_STUDENT='--steps 10' "$@"
}
# steps: the targets of the steps in what make said that it runs (or with -n, would run), without the rows.
steps() { sed -n 's/^ *[0-9.]* s  run\///p; s/^run\/\([^ ]*\): .*/\1/p' | grep -v '\.row$' | sort; }
# coded FILE: the bytes of its compressed labels, from the header of their array.
coded() { tr -c "[:print:]" "\n" <"$1" | sed -n "s/.*'|u1'.*'shape': (1, \([0-9]*\)).*/\1/p"; }
# accuracy FILE: the mean that sc-eval wrote.
accuracy() { awk '$1 == "mean" { print $2 }' "$1"; }
# cell DATASET SPC METHOD HEADING FILE: of a Markdown table with the rows dataset, per class, method.
cell() {
    awk -F ' *[|] *' -v dataset="$1" -v spc="$2" -v method="$3" -v heading="$4" '
        /^[|] dataset / { for (i = 2; i < NF; i++) if ($i == heading) column = i; next }
        { if ($2 != "") d = $2; if ($3 != "") s = $3 }
        d == dataset && s == spc && $4 == method { print column ? $column : "no " heading }' "$5"
}
few='random random-soft sre2l shapecond ridge+20'

test_that 'the main table has every dataset, method and number of series per class' '
    table main-table METHODS="$few" SPCS="1 2" >said
    for dataset in TwoPatterns Other; do
        for spc in 1 2; do
            for method in $few; do cell $dataset $spc $method plain said | grep -q " ± "; done
        done
    done
    grep -qx "TwoPatterns/train.npy: 40 series of 1 x 32, 4 classes" said
    grep -qx "Other/test.npy: 15 series of 1 x 32, 3 classes" said
'
test_that 'a row has the mean of the students, the ratio to all data and the figures of the paper' '
    folder=run/1/TwoPatterns/1/0
    mean=$(accuracy $folder/shapecond.cnn.tsv)
    full=$(accuracy run/1/TwoPatterns/full/0/all.cnn.tsv)
    cell TwoPatterns 1 shapecond plain said | grep -q "^$mean ± "
    test "$(cell TwoPatterns 1 shapecond "plain, ratio" said)" = "$(awk "BEGIN { printf \"%.1f\", 100 * $mean / $full }")"
    cell TwoPatterns 1 shapecond shapelets said | grep -q "^$(accuracy $folder/shapecond.cnn-shapelets.tsv) ± "
    test "$(cell TwoPatterns 1 shapecond paper said) $(cell TwoPatterns 1 shapecond "paper, ratio" said)" = "45.95 46.0"
    test "$(cell TwoPatterns full all plain said) $(cell TwoPatterns full all paper said)" = "$full 99.95"
    test "$(cell Other 1 shapecond paper said)" = -
'
test_that 'the ledger has a row for each condensed dataset and kind of student' '
    "$pipelines/ledger.sh" run >ledger
    test "$(wc -l <ledger)" = $((1 + 2 * 2 + 2 * 2 * 5 * 2))
    awk -F "\t" "NF != 19" ledger | refute grep .
    # columns NAMES...: of the row of 2 series per class by ridge with views, for plain students
    columns() {
        awk -F "\t" -v names="$*" "NR == 1 { for (i = 1; i <= NF; i++) at[\$i] = i; n = split(names, name, \" \") }
            \$at[\"dataset\"] == \"Other\" && \$at[\"per\"] == 2 && \$at[\"method\"] == \"ridge\" && \$at[\"kind\"] == \"plain\" {
                for (i = 1; i <= n; i++) printf \"%s%s\", \$at[name[i]], i < n ? \" \" : \"\n\" }" ledger
    }
    test "$(columns split variant repeat views network labels students)" = "1 - 0 20 cnn soft 2"
    test "$(columns accuracy)" = "$(accuracy run/1/Other/2/0/ridge+20.cnn.tsv)"
    folder=run/1/Other
    test "$(columns bytes)" = $((6 * (32 * 4 + 4) + 13 * 8 + $(coded $folder/2/0/ridge+20.npy)))
    sum() { cat "$@" | awk "{ sum += \$1 } END { printf \"%.3f\", sum }"; }
    test "$(columns seconds)" = "$(sum $folder/2/0/ridge.npy.time $folder/2/0/ridge+20.npy.time)"
    test "$(columns preparation)" = "$(sum $folder/pool.slp.time $folder/teacher.tch.time $folder/plain.tch.time $folder/plain@pooled.tch.time)"
'
test_that 'students that see the shapelets need the bytes of the pool' '
    awk -F "\t" "\$1 == \"Other\" && \$3 == 1 && \$4 == \"random\" { print \$9, \$17 }" ledger | sort >bytes
    pool=$(sc-info --tsv run/1/Other/pool.slp | awk "NR == 2 { print \$3 }")
    printf "plain 396\nshapelets %d\n" $((396 + pool)) | diff - bytes
'
test_that 'series and labels from arrays are those of the dataset' '
    sc-export -q other.npy -o direct.tsv
    sc-export -q run/data/Other.npy -o imported.tsv
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
    test "$(grep "^|" said)" = "$(grep "^|" again)"
    rm run/1/Other/1/0/sre2l.cnn.tsv run/1/Other/2/0/random.npy.command run/1/Other/1/0/random.npy
    table main-table METHODS="$few" SPCS="1 2" >again
    steps <again >ran
    for file in 1/0/random 2/0/random; do printf "1/Other/%s\n" $file.cnn-shapelets.tsv $file.cnn.tsv $file.npy; done >expected
    echo 1/Other/1/0/sre2l.cnn.tsv >>expected
    sort expected | diff - ran
'
test_that 'other options run the stage that they are for again, and what depends on it' '
    table main-table -n METHODS="$few" SPCS=1 DATASETS=Other SYNTH="--steps 21" | steps >ran
    for method in shapecond sre2l; do
        printf "1/Other/1/0/%s\n" $method.cnn-shapelets.tsv $method.cnn.tsv $method.npy
    done >expected
    diff expected ran
    table main-table -n METHODS="$few" SPCS=1 DATASETS=Other STUDENT="--steps 21" | steps >ran
    test "$(wc -l <ran)" = 10
    refute grep -v "\.tsv$" ran
    table main-table -n METHODS="$few" SPCS=1 DATASETS=Other STUDENT_random="--rate 0.1" SRE2L="--rate 0.1" STUDENTS=plain |
        steps >ran
    printf "1/Other/1/0/%s\n" random.cnn.tsv sre2l.cnn.tsv sre2l.npy >expected
    diff expected ran
    table main-table -n METHODS=random SPCS=1 DATASETS=Other STUDENT_shapelets="--rate 0.1" | steps >ran
    test "$(cat ran)" = 1/Other/1/0/random.cnn-shapelets.tsv
    table main-table -n METHODS="$few" SPCS=1 DATASETS=Other VIEWS="--bits 4" STUDENTS=plain | steps >ran
    printf "1/Other/1/0/%s\n" ridge+20.cnn.tsv ridge+20.npy | diff - ran
    table main-table -n METHODS="$few" SPCS=1 DATASETS=Other SHAPELETS="-k 2" | steps >ran
    grep -qx 1/Other/pool.slp ran
    grep -qx 1/Other/teacher.tch ran
    grep -qx 1/Other/1/0/random.cnn-shapelets.tsv ran
    refute grep -e plain.tch -e random.cnn.tsv -e train.npy -e "sre2l.npy" ran
    table main-table METHODS="$few" SPCS="1 2" | steps >ran
    test ! -s ran
'
test_that 'another split has files of its own, and tables average the splits that are asked for' '
    table main-table METHODS=random SPCS=1 DATASETS=Other STUDENTS=plain SEED=2 >two
    refute cmp run/1/Other/train.npy run/2/Other/train.npy
    refute cmp run/1/Other/plain.tch run/2/Other/plain.tch
    cell Other 1 random plain two | grep -q "^$(accuracy run/2/Other/1/0/random.cnn.tsv) ± "
    table main-table METHODS=random SPCS=1 DATASETS=Other STUDENTS=plain SPLITS="1 2" show >both
    mean=$(cat run/[12]/Other/1/0/random.cnn.tsv | awk "\$1 ~ /^[0-9]+\$/ { n++; sum += \$2 } END { printf \"%.2f\", sum / n }")
    cell Other 1 random plain both | grep -q "^$mean ± "
'
test_that 'what is refined are the ridge-selected series, as they are' '
    both() { table main-table METHODS="ridge refined" SPCS=1 DATASETS=Other STUDENTS=shapelets "$@"; }
    both >refined
    grep -q -e "--from run/1/Other/1/0/ridge.npy --shapelets run/1/Other/pool.slp" run/1/Other/1/0/refined.npy.command
    refute cmp run/1/Other/1/0/ridge.npy run/1/Other/1/0/refined.npy
    sc-export -q run/1/Other/train.npy -o train.tsv
    sc-export -q run/1/Other/1/0/ridge.npy -o ridge.tsv
    test "$(grep -cFxf train.tsv ridge.tsv)" = 3
    test -z "$(both -n SHAPECOND="--rate 0.1" | steps)"
    both -n UNROLL="--steps 2" | steps >ran
    printf "1/Other/1/0/%s\n" refined.cnn-shapelets.tsv refined.npy | diff - ran
'
test_that 'without DATASETS those of the paper are taken, or where there is none of them, all' '
    datasets() { env -u DATASETS MAKEFLAGS= make -n -f "$pipelines/main-table.mk" RUN=none METHODS=random SPCS=1 "$@"; }
    datasets DATA=data >commands
    grep -q none/1/TwoPatterns/train.npy commands
    refute grep none/1/Other commands
    mkdir -p unknown
    cp -r data/Other unknown
    datasets DATA=unknown | grep -q none/1/Other/1/0/random.cnn.tsv
    fails 2 "DATA=nowhere" datasets DATA=nowhere
'
test_that 'a setting of one dataset is for that dataset, but the command line is for all' '
    cp -r "$SC_ROOT/pipelines" edited
    printf "Other_STUDENT := --steps 22\nOther_STUDENT_shapelets := --steps 33\n" >>edited/settings.mk
    pipelines=edited table main-table -n RUN=none METHODS=random SPCS=1 STUDENTS=plain | grep "^none.*random.*sc-eval" >commands
    test "$(grep -c -e "--steps 20" commands)" = 2
    pipelines=edited table main-table -n RUN=none METHODS=random SPCS=1 STUDENTS=plain STUDENT="--steps 22" |
        grep "^none.*random.*sc-eval" >commands
    test "$(grep -c -e "--steps 22" commands)" = 2
    env -u STUDENT MAKEFLAGS= make --no-print-directory -n -f edited/main-table.mk DATA=data RUN=none METHODS=random SPCS=1 \
        DATASETS="TwoPatterns Other" | grep "^none.*random.*sc-eval" >commands
    test "$(grep -c -e "--steps 22 .*Other" commands)" = 2
    test "$(grep -c -e "--steps 22 --steps 33 .*Other.*--shapelets" commands)" = 1
    refute grep -e "--steps [23][23].*TwoPatterns" commands
'
test_that 'a method, a variant, a network and a dataset are one line each' '
    {
        echo "method_mine = sc-select --method kmeans \$(few)"
        echo "options_twice = --method herding"
        echo "network_small = --network '"'cnn depth=1 width=4'"'"
    } >>edited/methods.mk
    cp -r data/Other data/Third
    echo "Third_SPCS := 3" >>edited/settings.mk
    pipelines=edited table main-table -n METHODS="mine mine@twice+20 random@small+20" SPCS=1 DATASETS=Other NETWORKS=small \
        STUDENTS=plain >commands
    grep -q "^run/1/Other/1/0/mine.npy: sc-select --method kmeans --spc 1 --seed 0 run/1/Other/train.npy -o" commands
    grep -q "^run/1/Other/1/0/mine@twice.npy: .* --method kmeans .* --method herding -o" commands
    grep -q "^run/1/Other/1/0/mine@twice+20.npy: sc-views --quiet --views 20 .* --teacher run/1/Other/plain.tch" commands
    grep -q "^run/1/Other/plain@small.tch: .* --network .cnn depth=1 width=4." commands
    grep -q "^run/1/Other/1/0/random@small+20.npy: .* --teacher run/1/Other/plain@small.tch" commands
    grep -q "^run/1/Other/1/0/mine.small.tsv: .* --network .cnn depth=1 width=4." commands
    env -u SPCS MAKEFLAGS= make --no-print-directory -n -f edited/main-table.mk DATA=data RUN=none METHODS=random DATASETS=Third |
        grep -q "^none/1/Third/3/0/random.npy: "
    rm -r data/Third
'
test_that 'newer data makes its dataset again, and no other' '
    touch data/Other/Other_y.npy data/Other/Other_X.npy
    table main-table -n METHODS="$few" SPCS=1 | steps >ran
    grep -qx 1/Other/1/0/shapecond.cnn.tsv ran
    refute grep TwoPatterns ran
'
test_that 'several condensations are averaged, and -j gives the same' '
    table main-table METHODS=random SPCS=1 DATASETS=TwoPatterns STUDENTS=plain REPEATS=2 >two
    mean=$(cat run/1/TwoPatterns/1/[01]/random.cnn.tsv | awk "\$1 ~ /^[0-9]+\$/ { n++; sum += \$2 } END { printf \"%.2f\", sum / n }")
    cell TwoPatterns 1 random plain two | grep -q "^$mean ± "
    refute cmp run/1/TwoPatterns/1/0/random.npy run/1/TwoPatterns/1/1/random.npy
    table main-table METHODS=random SPCS=1 DATASETS=TwoPatterns STUDENTS=plain REPEATS=2 RUN=jobs -j2 >jobs.said
    cmp run/1/TwoPatterns/1/1/random.cnn.tsv jobs/1/TwoPatterns/1/1/random.cnn.tsv
    cmp run/1/TwoPatterns/plain.tch jobs/1/TwoPatterns/plain.tch
'
test_that 'datasets that are not those of the paper are named so' '
    mkdir -p electric/ElectricDevices
    table main-table DATA=electric DATASETS=ElectricDevices METHODS=random show >shown
    grep -q "^| ElectricDevices (89 % of it) " shown
    tail -n 1 shown | grep -q "^Not the data of the paper; compare methods only: ElectricDevices (89 % of it)"
    refute grep "Not the data" said
'
test_that 'what is there so far is shown without running anything' '
    table main-table METHODS="random kcenter" SPCS="1 10" show >shown
    cell TwoPatterns 1 random plain shown | grep -q " ± "
    test "$(cell TwoPatterns 10 kcenter plain shown) $(cell TwoPatterns 10 kcenter paper shown)" = "- 43.25"
    test ! -e run/1/TwoPatterns/10
    test -z "$(steps <shown)"
'
test_that 'a step that fails says why and leaves nothing' '
    fails 2 "sc-eval: --rate" table main-table METHODS=random SPCS=1 DATASETS=TwoPatterns STUDENT="--rate much"
    fails 2 "none.npy: No such file" table main-table METHODS=random SPCS=1 DATASETS=Other IMPORT="--classes-from none.npy"
    refute test -e run/1/TwoPatterns/1/0/random.cnn.tsv.command
'
test_that 'unknown datasets, methods, variants and networks are refused' '
    fails 2 "DATASETS: no folder None in data, which has: Other TwoPatterns" table main-table DATASETS=None
    fails 2 "METHODS: there is no magic" table main-table METHODS="random magic"
    fails 2 "METHODS: there is no variant spell" table main-table METHODS="random@spell"
    fails 2 "DATASETS: no folder TwoPatterns Other in nowhere" table main-table DATA=nowhere
    fails 2 "NETWORKS: there is no none" table main-table METHODS=random NETWORKS=none
    fails 2 "ABLATIONS: there is no magic" table ablations ABLATIONS=magic
    PATH=$(getconf PATH) fails 2 "The programs are not on the PATH" table main-table METHODS=random
'
test_that 'ablations make what a variant changes and share the rest' '
    table ablations ABLATIONS="pool-size objective" DATASETS=TwoPatterns SPCS=1 STUDENTS=plain >said
    steps <said >ran
    grep -qx 1/TwoPatterns/teacher@k-5.tch ran
    grep -qx 1/TwoPatterns/1/0/shapecond@squared-round.npy ran
    refute grep -e "teacher@squared" -e "pool@squared" ran
    cell TwoPatterns 1 squared-round plain said | grep -q "^$(accuracy run/1/TwoPatterns/1/0/shapecond@squared-round.cnn.tsv) ± "
    test "$(cell TwoPatterns 1 k-5 paper said)" = 36.46
    grep -q "^| TwoPatterns | k-5  *| $(accuracy run/1/TwoPatterns/full/0/all@k-5.logistic.tsv) " said
    table ablations -n ABLATIONS="pool-size objective" DATASETS=TwoPatterns SPCS=1 STUDENTS=plain SYNTH="--steps 21" | steps >ran
    grep -qx 1/TwoPatterns/1/0/shapecond@k-5.npy ran
    refute grep -e "\.slp" -e "\.tch" -e logistic.tsv ran
    refute cmp run/1/TwoPatterns/1/0/shapecond@plain-all.npy run/1/TwoPatterns/1/0/shapecond@squared-all.npy
'
test_that 'the pruning ablation scores the shapelets and a network on what is left' '
    table ablations ABLATIONS=pruning DATASETS=Other SPCS=1 STUDENTS=plain SEEDS=1 >said
    folder=run/1/Other/full/0
    grep -q "^| .* | pruned-0.5  *| $(accuracy $folder/all@pruned-0.5.cnn.tsv) .*| $(accuracy $folder/all@pruned-0.5.logistic.tsv) " said
    grep -q "^ran_.*sc-prune .*--ratio 0.5 .*| sc-teacher" run/1/Other/plain@pruned-0.5.tch.command
'
test_that 'unroll gives accuracy and time for each start and number of steps' '
    table unroll DATASETS=Other SPCS=1 VARIANTS="steps-50" UNROLL="--unroll-steps 2 --student-steps 4" SEEDS=1 >said
    refute cmp run/1/Other/1/0/unroll@steps-50.npy run/1/Other/1/0/shapecond-unroll@steps-50.npy
    for method in random shapecond unroll@steps-50 shapecond-unroll@steps-50; do
        test "$(cell Other 1 $method plain said)" = "$(accuracy run/1/Other/1/0/$method.cnn.tsv)"
    done
    test "$(cell Other 1 unroll@steps-50 steps said)" = 50
'
test_that 'efficiency gives time, memory and steps of each method' '
    table efficiency DATASETS=Other SPCS=1 METHODS="random mtt shapecond" RUN=timed >said
    read -r seconds memory processor <timed/1/Other/1/0/shapecond.npy.time
    test "$(cell Other 1 shapecond "plain, seconds" said)" = "$(printf "%.2f s" "$seconds")"
    test "$(cell Other 1 shapecond "plain, per 100 steps" said)" = "$(awk "BEGIN { printf \"%.3f s\", $seconds * 5 }")"
    test "$(cell Other 1 shapecond "plain, steps" said) $(cell Other 1 mtt "plain, steps" said)" = "20 1"
    test "$(cell Other 1 mtt "plain, preparation" said)" = "$(awk "{ printf \"%.2f s\", \$1 }" timed/1/Other/experts.experts.time)"
    table efficiency DATA=electric DATASETS=ElectricDevices METHODS=shapecond show >shown
    row="$(grep "| shapecond " shown)"
    echo "$row" | grep -q "54.72 .* 28.71\|54.72 .* 29 s"
'
test_that 'shapelet-table scores condensed series by their shapelets' '
    table shapelet-table SPCS=2 REPEATS=1 >said
    grep "^| TwoPatterns " said | grep -q "| $(accuracy run/1/TwoPatterns/2/0/sre2l.logistic.tsv) *| $(accuracy run/1/TwoPatterns/2/0/shapecond.logistic.tsv) *| $(accuracy run/1/TwoPatterns/full/0/all.logistic.tsv) "
    table shapelet-table SPCS=10 show | grep "^| TwoPatterns " | grep -q "69.17 .* 77.50 .* 76.53"
'
test_that 'nas finds the network that is best on the validation data, and trains it on all data' '
    table nas DATASETS=TwoPatterns SPCS=2 METHODS=shapecond DEPTHS="2 3" WIDTHS=4 NORMS="none batch" ACTIVATIONS=relu \
        POOLINGS=max >said
    folder=run/1/TwoPatterns/2/0
    for file in $folder/shapecond.nas/*.try; do
        echo "$(accuracy $file) $file"
    done | sort -rn >ranking
    best=$(head -n 1 ranking | cut -d" " -f1)
    network=$(cat $folder/shapecond.best)
    name=$(echo "$network" | sed "s/^cnn //; s/ /_/g; s/=/-/g")
    test "$(accuracy $folder/shapecond.nas/$name.try)" = "$best"
    test "$(wc -l <ranking)" = 4
    sc-info $folder/shapecond.found | grep -q "${network#cnn }"
    grep "| shapecond " said | grep -F "$(accuracy $folder/shapecond.nas.tsv)"
    grep "| shapecond " said | grep -qF "$(echo "$network" | tr " " _)"
'
test_that 'views-table has every method without views, with views and with views that keep their labels' '
    table views-table DATASETS=Other SPCS=1 METHODS="walks random ridge" VIEW_COUNTS=20 SEEDS=1 >said
    for method in walks random ridge; do
        for views in "" +kept20 +20; do accuracy run/1/Other/1/0/$method$views.cnn.tsv; done
    done >means
    sed -n "/^| dataset/,/^$/p" said | awk -F " *[|] *" "\$5 ~ /^(0|kept20|20)\$/ && \$3 != \"full\" { print \$7 }" | diff means -
    grep -q "sc-views --quiet --views 20 --seed 0 --augment" run/1/Other/1/0/random+kept20.npy.command
    grep -q -e "--teacher run/1/Other/plain.tch" run/1/Other/1/0/walks+20.npy.command
    for method in random ridge; do sc-info --tsv run/1/Other/1/0/$method+20.npy | awk "NR == 2 { print \$9 }" | grep -qx 20; done
'
test_that 'bytes-table sorts by bytes, and what is truncated has no more bytes than what it is held against' '
    table bytes-table DATASETS=Other SPCS=1 METHODS="random herding-8bit" VIEW_COUNTS="20 600" NETWORKS="cnn fcn" SEEDS=1 >said
    awk -F " *[|] *" "/^[|] Other/ { print \$5 }" said >bytes
    sort -n bytes | diff - bytes
    test "$(tail -n 1 bytes)" = 3960
    cell Other 1 herding-8bit+20 "fcn plain" said | grep -qx "$(accuracy run/1/Other/1/0/herding-8bit+20.fcn.tsv)"
    grep -qx "Figure: run/bytes-Other-fcn.svg" said
    for curve in random herding-8bit herding-8bit+views truncated all; do grep -qF ">$curve<" run/bytes-Other-cnn.svg; done
    ours=$(cell Other 1 herding-8bit+600 bytes said)
    cut=$(cell Other 1 truncated@600 bytes said)
    test "$cut" -le "$ours" -a "$((cut + 3 * 132))" -gt "$ours"
'
test_that 'cross-table has students of each network on what teachers of each have condensed' '
    table cross-table DATASETS=Other SPCS=1 METHODS=random+20 NETWORKS="cnn fcn" SEEDS=1 >said
    row=$(grep "| fcn " said | tail -n 1)
    echo "$row" | grep -q "| $(accuracy run/1/Other/1/0/random@fcn+20.cnn.tsv) .*| $(accuracy run/1/Other/1/0/random@fcn+20.fcn.tsv) "
    sc-info run/1/Other/plain@fcn.tch | grep -q "fcn"
    mean=$(accuracy run/1/Other/1/0/random+20.fcn.tsv)
    full=$(accuracy run/1/Other/full/0/all.fcn.tsv)
    grep "| random " said | grep -q "| $mean *| $(awk "BEGIN { printf \"%.1f\", 100 * $mean / $full }") *|$"
'
test_that 'figures of the paper stand in the table of Transformers' '
    mkdir -p har/HAR
    table transformer-table DATA=har DATASETS=HAR METHODS="random shapecond@transformer" show >shown
    test "$(cell HAR 10 shapecond@transformer paper shown) $(cell HAR 10 random "paper, ratio" shown)" = "89.22 65.9"
'
test_that 'archive-accuracy scores networks on the own split of the archive, beside published figures' '
    table archive-accuracy DATASETS=TwoPatterns NETWORKS="fcn mlp" ARCHIVE_STUDENT="--steps 5" >said
    grep -q "^| TwoPatterns *| $(printf %.2f "$(accuracy run/1/TwoPatterns/archive/0/own.fcn.tsv)")" said
    grep -q "87.10 ± 0.30" said
    sc-info run/1/TwoPatterns/archive/train.npy | grep -q "40 series"
    table archive-accuracy DATASETS=TwoPatterns NETWORKS="fcn mlp" ARCHIVE_STUDENT="--steps 5" | steps >ran
    test ! -s ran
'

test_that 'the demo scores each method on its own dataset' '
    MAKEFLAGS= make --no-print-directory -f "$pipelines/demo.mk" RUN=demo SEEDS=1 SHAPELETS="-k 3" CANDIDATES="--lengths 10 --step 8" \
        PRUNE="--per-class 5" TEACHER="--steps 4" SYNTH="--steps 2" SRE2L= SHAPECOND= STUDENT="--steps 4" STUDENT_views= >said
    for method in random sre2l shapecond herding-8bit+2000; do
        grep -q "^sc-eval .* demo/1/two-patterns/10/0/$method.npy demo/1/two-patterns/test.npy$" said
        grep "^| $method " said | grep -q "| $(accuracy demo/1/two-patterns/10/0/$method.cnn.tsv) "
    done
    grep -q "^| random  *| $((40 * (128 * 4 + 4))) " said
    grep -q "^| herding-8bit+2000  *| $((40 * (128 + 8 + 4) + 2 * 8 + 13 * 8 + $(coded demo/1/two-patterns/10/0/herding-8bit+2000.npy))) " said
    test -s demo/condensed.svg
'
test_that 'LAUNCH starts every step, and another one is no reason to run it again' '
    printf "#!/bin/sh\necho \"\$*\" >>launched\nexec \"\$@\"\n" >launcher
    chmod +x launcher
    table main-table METHODS=random SPCS=1 STUDENTS=plain DATASETS=Other RUN=launched-run LAUNCH="$PWD/launcher" >said
    test "$(grep -c "sh -ec" launched)" = "$(find launched-run -name "*.command" | wc -l)"
    grep -q "sh -ec .*sc-select" launched
    rm launched
    table main-table METHODS=random SPCS=1 STUDENTS=plain DATASETS=Other RUN=launched-run LAUNCH="$PWD/other" >said
    test ! -e launched
'

finish
