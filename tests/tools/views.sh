#!/bin/sh
# sc-views and sc-expand
. "$(dirname "$0")/lib.sh"

sc-gen cbf -n 60 --seed 1 -o train.npy
sc-gen cbf -n 90 --seed 2 -o test.npy
sc-teacher -q --steps 150 train.npy -o teacher.tch
sc-select -n 1 train.npy -o few.npy

test_that 'the examples of the manual pages run' '
    mkdir pages && cd pages
    run_examples sc-views
    run_examples sc-expand
    test "$(sc-expand -q tiny.npy | sc-info --json | json count)" = 503
'
test_that 'labelled views make better students than the series alone' '
    sc-views -q -t teacher.tch -m 400 few.npy -o views.npy
    plain=$(sc-eval -q --seeds 2 --steps 100 few.npy test.npy | awk "/^mean/ { print \$2 }")
    views=$(sc-eval -q --seeds 2 --steps 100 views.npy test.npy | awk "/^mean/ { print \$2 }")
    echo "without views $plain, with views $views"
    awk "BEGIN { exit !($views > $plain + 5 && $views > 85) }"
'
test_that 'students learn the same from views and from what sc-expand writes' '
    sc-views -q -t teacher.tch -m 50 few.npy -o views.npy
    sc-expand -q views.npy -o expanded.npy
    sc-eval -q --seeds 1 --steps 20 --rate 0.005 views.npy test.npy -o a
    sc-eval -q --seeds 1 --steps 20 --rate 0.005 expanded.npy test.npy | cmp - a
'
# A teacher program: see tests/unit/test_guide_command.c.
program="$SC_BUILD/tests/test_guide_command teach"
# Series, labels and logits of network.npy and program.npy are the same, those of the views, too.
same_labels() {
    sc-expand -q network.npy -o a
    sc-expand -q program.npy -o b
    cmp -n $((3 * 128 + (3 + $1) * (4 * 128 + 4 + 4 * 3))) a b
}
test_that 'a program labels views as the network that it serves does, alone or as one of several teachers' '
    sc-views -q -t teacher.tch -m 700 few.npy -o network.npy
    sc-views -q --teacher-command "$program well teacher.tch" -m 700 few.npy -o program.npy
    same_labels 700
    sc-teacher -q --steps 20 --seed 5 train.npy -o second.tch
    sc-views -q -t teacher.tch -t second.tch -m 50 few.npy -o network.npy
    sc-views -q -t teacher.tch --teacher-command "$program well second.tch" -m 50 few.npy -o program.npy
    same_labels 50
    # It also labels the series, and the trials of recipes.
    sc-views -q -t teacher.tch -m 50 --validate test.npy few.npy -o network.npy
    sc-views -q --teacher-command "$program well teacher.tch" -m 50 --validate test.npy few.npy -o program.npy
    same_labels 50
    sc-info program.npy | grep -q -e "--teacher-command"
    sc-teacher -q --steps 20 -s "$(sc-shapelets -q -k 5 train.npy -o five.slp && echo five.slp)" train.npy -o seeing.tch
    sc-views -q -s five.slp -t seeing.tch -m 50 few.npy -o network.npy
    sc-views -q -s five.slp --teacher-command "$program well seeing.tch" -m 50 few.npy -o program.npy
    same_labels 50
'
test_that 'a program that fails ends sc-views with the reason, and none outlives it' '
    fails 2 "missing option: --teacher" sc-views few.npy -o none
    fails 2 "not with --teacher, --teacher-command" sc-views --augment --teacher-command cat few.npy -o none
    fails 1 "teacher command: exited with status 1" sc-views --teacher-command false few.npy -o none
    fails 1 "teacher command: was killed by signal 9" sc-views --teacher-command "exec $program killed teacher.tch" -m 2000 few.npy -o none
    fails 1 "no first words within 0.2 seconds" sc-views --teacher-timeout 0.2 --teacher-command "sleep 100" few.npy -o none
    test ! -e none
'
test_that 'the seed decides, not the threads, and fewer views are the beginning of more' '
    sc-views -q -t teacher.tch -m 300 --seed 3 --threads 1 few.npy -o a
    sc-views -q -t teacher.tch -m 300 --seed 3 --threads 7 few.npy | cmp - a
    sc-views -q -t teacher.tch -m 300 --seed 4 few.npy -o b
    refute cmp -s a b
    sc-expand -q --threads 1 a -o ea
    sc-expand -q --threads 7 a | cmp - ea
    sc-expand -q ea 2>/dev/null && exit 1
    sc-views -q -t teacher.tch -m 100 --seed 3 few.npy | sc-expand -q -o fewer
    head -c $((128 + 103 * 128 * 4)) fewer | tail -c +129 >x
    tail -c +129 ea | cmp -n $((103 * 128 * 4)) - x
'
test_that 'logits of several teachers are averaged' '
    sc-teacher -q --steps 30 --seed 9 train.npy -o other.tch
    for t in teacher other; do sc-views -q -t $t.tch -m 20 -r none few.npy | sc-expand -q -o $t.npy; done
    sc-views -q -t teacher.tch -t other.tch -m 20 -r none few.npy -o both.npy
    sc-info both.npy | grep -q "<$(b2sum -l 128 other.tch | cut -d" " -f1)"
    refute cmp -s both.npy other.npy
'
test_that 'with a margin the class of each series is learned from a teacher that does not know it' '
    sc-teacher -q --steps 1 train.npy -o untaught.tch
    sc-views -q -t untaught.tch -m 1 train.npy -o without.npy
    sc-views -q -t untaught.tch -m 1 --margin 8 train.npy -o with.npy
    for name in without with; do
        sc-eval -q --seeds 1 --steps 100 $name.npy test.npy | awk "/^mean/ { print \$2 }" >$name
    done
    cat without with
    awk "NR == 1 { low = \$1 } NR == 2 { exit !(low < 60 && \$1 > 80) }" without with
    sc-select -q -n 1 -t teacher.tch --soft train.npy |
        fails 0 "soft labels, so --margin" sc-views -t teacher.tch --margin 8 -m 1 -o none.npy
    rm none.npy
    fails 2 "not with --augment" sc-views --augment --margin 8 few.npy -o none.npy
'
test_that 'held-out series choose the recipe: outlines of which every bend counts bear little' '
    # Classes that differ by a small bump at one place, which strong views tear away.
    awk "BEGIN { for (i = 0; i < 120; i++) { printf i % 2; for (t = 0; t < 32; t++) printf \",%.4f\", sin(t / 5) + (i % 2 && t >= 15 && t <= 17 ? 0.5 : 0) + 0.02 * ((i * 7919 + t * 104729) % 101 / 50 - 1); print \"\" } }" >bump.csv
    sc-import -q bump.csv -o bump.npy
    sc-split -q --train 80 --val rest -o bump bump.npy
    sc-teacher -q --steps 300 bump-train.npy -o bump.tch
    sc-select -q -n 2 bump-train.npy -o bump-few.npy
    sc-views -t bump.tch -m 300 --validate bump-val.npy bump-few.npy -o chosen.npy 2>said
    cat said
    grep -E "recipe (gentle|moderate|strong): accuracy on the held-out series [0-9.]+ % \(flattened end\) and [0-9.]+ % \(mean over time\)" said
    name=$(sed -n "s/.*recipe \([a-z]*\):.*/\1/p" said)
    sc-views -q -t bump.tch -m 300 -r $name bump-few.npy | sc-expand -q -o by-name.npy
    sc-expand -q chosen.npy -o by-choice.npy
    content by-name.npy >a
    content by-choice.npy | cmp - a
    sc-info chosen.npy | grep -q "<$(b2sum -l 128 bump-val.npy | cut -d" " -f1)"
    sc-views -q -t bump.tch -m 300 --validate bump-val.npy --threads 3 bump-few.npy | cmp - chosen.npy
    # The one with the highest accuracy, as it says itself.
    sed "s/.*means: //; s/[^0-9. ]//g" said | awk "{ for (i = 2; i <= NF; i++) if (\$i > \$1) exit 1 }"
    # Students of few steps have learned less.
    sc-views -t bump.tch -m 300 --steps 2 --validate bump-val.npy bump-few.npy -o fewer.npy 2>fewer
    grep "accuracy on the held-out series" said >usual
    grep "accuracy on the held-out series" fewer >few
    refute cmp -s usual few
    fails 2 "not with --recipe" sc-views -t bump.tch --validate bump-val.npy -r strong bump-few.npy -o none
    fails 2 "not with --augment" sc-views --augment --validate bump-val.npy bump-few.npy -o none
    fails 1 "steps" sc-views -t bump.tch --validate test.npy bump-few.npy -o none
'
test_that 'augmented views keep the labels of their series' '
    sc-views -q --augment -m 60 few.npy | sc-expand -q -o kept.npy
    test "$(sc-info --json kept.npy | json count)" = 63
    sc-info kept.npy | grep -q "100.00 % of the series"
    fails 2 "mix and cut must be 0" sc-views --augment -r mix=1 few.npy -o none
    fails 2 "not with --teacher" sc-views --augment -t teacher.tch few.npy -o none
'
test_that 'four bits take half the bytes' '
    sc-views -q -t teacher.tch -m 1000 --bits 8 few.npy -o eight
    sc-views -q -t teacher.tch -m 1000 few.npy -o four
    test $(($(stat -c %s eight) - $(stat -c %s four))) -ge 900
'
test_that 'few bits: an eighth of the bytes of the series, and views of what is stored' '
    mkdir quantised && cd quantised
    run_examples sc-quantise
    sc-info tiny.npy | grep "stored in 4 bits per value"
    cd ..
    sc-select -q -n 8 train.npy -o many.npy
    for bits in 8 4; do
        sc-quantise -q -b $bits many.npy -o q$bits.npy
        sc-views -q -t teacher.tch -m 400 --bits 4 q$bits.npy -o v$bits.npy
        sc-info v$bits.npy | grep "stored in $bits bits"
        # What other programs read: values, not codes.
        sc-expand -q v$bits.npy -o e$bits.npy
        sc-prune -q q$bits.npy -o floats.npy
        test "$(sc-info --json floats.npy | json max)" = "$(sc-info --json q$bits.npy | json max)"
        sc-eval -q --seeds 1 --steps 100 --batch 64 --rate 0.005 e$bits.npy test.npy -o scores
        sc-eval -q --seeds 1 --steps 100 --batch 64 v$bits.npy test.npy | cmp - scores
        awk "/^mean/ { exit !(\$2 > 85) }" scores
    done
    # 24 series of 128 steps; a low and a step of each, and two headers.
    test $(($(stat -c %s many.npy) - $(stat -c %s q4.npy))) -gt $((24 * 128 * 4 - 24 * 64 - 24 * 8 - 1200))
    # They stay few through sc-scale and back.
    sc-scale -q --save s.npy v4.npy -o scaled.npy
    sc-scale -q --undo --with s.npy scaled.npy -o back.npy
    head -c 1664 v4.npy | tail -c 1536 >codes
    head -c 1664 back.npy | tail -c 1536 | cmp - codes
    sc-scale -q v4.npy | sc-info | grep "stored in 4 bits"
    # Views no longer fit series that are rounded.
    sc-quantise v8.npy -o dropped 2>said
    grep -q "its 400 labelled views are left out" said
    # The shape (N, L) is one channel.
    sc-shapelets -q -k 3 train.npy -o p.slp
    sc-strans -q p.slp train.npy | sc-quantise | sc-info - | grep -q "series *|u1 *([0-9]*, 1, 3)"
'
test_that 'compressed series: as many as fit, with views of what is stored' '
    for step in 0.1 0.5; do
        sc-quantise -q --step $step --bytes 3k train.npy -o packed.npy
        size=$(stat -c %s packed.npy)
        test $size -le $((3000 + 1500))
        sc-info packed.npy | grep "compressed, .* bits per value"
        grep -qa "descr.: .|S" packed.npy # notes take a byte for each character
        count=$(sc-info --json packed.npy | json count)
        test $count -gt $((3000 / 128)) # more than with a byte for each value
        sc-views -q -t teacher.tch -m 400 packed.npy -o packed-views.npy
        sc-expand -q packed-views.npy -o expanded.npy
        sc-eval -q --seeds 1 --steps 100 --batch 64 --rate 0.005 expanded.npy test.npy -o scores
        sc-eval -q --seeds 1 --steps 100 --batch 64 packed-views.npy test.npy | cmp - scores
        awk "/^mean/ { exit !(\$2 > 85) }" scores
        # They stay compressed through sc-scale and back.
        sc-scale -q --save s.npy packed-views.npy -o scaled.npy
        sc-scale -q --undo --with s.npy scaled.npy | sc-info | grep compressed
        eval "count_$(echo $step | tr . _)=$count"
    done
    test $count_0_5 -gt $count_0_1
    sc-quantise -q --step 0.1 train.npy -o all.npy
    test "$(sc-info --json all.npy | json count)" = "$(sc-info --json train.npy | json count)"
    for threads in 1 3; do sc-quantise -q --step 0.1 --threads $threads train.npy | cmp - all.npy; done
    # Values as the reader of sc-dataset(5) has them.
    for name in packed packed-time; do
        sc-prune -q --ratio 0 "$SC_ROOT/tests/golden/$name.npy" -o floats.npy
        head -c $((128 + 40 * 3 * 37 * 4)) floats.npy | cmp - "$SC_ROOT/tests/golden/$name-values.npy"
    done
    cp "$SC_ROOT/tests/golden/packed.npy" damaged.npy
    flip damaged.npy 200
    fails 1 "damaged.npy: damaged series" sc-prune damaged.npy
    fails 2 "bytes needs --step" sc-quantise --bytes 40k train.npy
    fails 2 "must be above 0" sc-quantise --step 0 train.npy
    fails 2 "exclude each other" sc-quantise --bits 8 --step 0.1 train.npy
    fails 1 "one series of each class takes more than 50 bytes" sc-quantise --step 0.1 --bytes 50 train.npy
'
test_that 'a size in bytes: as many views as fit' '
    # Series of each kind, with groups and with soft labels that no class of the series shows.
    sc-quantise -q --step 0.5 --bytes 3k train.npy -o packed.npy
    sc-quantise -q --bits 4 few.npy -o bits.npy
    sc-synth -q -t teacher.tch -n 1 --steps 0 train.npy -o soft.npy
    for file in few packed bits soft; do
        for size in 7000 12345; do
            sc-views -q -t teacher.tch --bytes $size $file.npy -o sized.npy
            sc-views -q -t teacher.tch -m 1 $file.npy -o one.npy
            count=$(sc-info sized.npy | sed -n "s/^views *\([0-9]*\),.*/\1/p")
            # Headers and notes take as many bytes with one view.
            labels=$(sc-info sized.npy | sed -n "s/^views.* in \([0-9]*\) bytes.*/\1/p")
            first=$(sc-info one.npy | sed -n "s/^views.* in \([0-9]*\) bytes.*/\1/p")
            echo "$file $size: $count views in $labels bytes; $(stat -c %s sized.npy)"
            test $count -gt 300
            test $(stat -c %s sized.npy) -le $((size + 4000))
            test $(stat -c %s sized.npy) -gt $((size - 20))
            test $(($(stat -c %s sized.npy) - labels)) -le $(($(stat -c %s one.npy) - first + 64))
        done
    done
    # No one more fits.
    sc-views -q -t teacher.tch --bytes 7k few.npy -o sized.npy
    sc-views -q -t teacher.tch --bytes 7k -m 20 few.npy -o twenty.npy
    sc-info twenty.npy | grep "^views *20,"
    for threads in 1 3; do sc-views -q -t teacher.tch --bytes 7k --threads $threads few.npy | cmp - sized.npy; done
    sc-views -q --augment --bytes 7k few.npy | sc-info | grep "^views"
    fails 1 "with their labels and one view take 15" sc-views -t teacher.tch --bytes 1550 few.npy -o none
    fails 1 "with their labels take 1548 bytes" sc-views -t teacher.tch --bytes 1500 few.npy -o none
    fails 2 "not a size" sc-views -t teacher.tch --bytes x few.npy -o none
    test ! -e none
'
test_that 'views survive sc-scale, and programs that drop them say so' '
    sc-views -q -t teacher.tch -m 30 few.npy -o views.npy
    test "$(sc-scale -q views.npy | sc-info --json | json views)" = 30
    for command in "sc-split --train 0.5 --test rest --only train" "sc-prune -p 0.5" "sc-balance" \
        "sc-select -n 1" "sc-scale --per-series"; do
        $command views.npy -o dropped 2>said
        grep -q "views.npy: its 30 labelled views are left out" said
        test "$(sc-info --json dropped | json views)" = 0
    done
'
test_that 'bad input is refused with the reason and leaves no file' '
    fails 2 "missing option: --teacher" sc-views few.npy -o none
    fails 2 "shift must be between 0 and 0.5" sc-views -t teacher.tch -r shift=1 few.npy -o none
    fails 2 "below 2^53" sc-views -t teacher.tch --seed 9007199254740992 few.npy -o none
    fails 1 "has no views" sc-expand few.npy -o none
    sc-gen two-patterns -n 8 -o other.npy
    fails 1 "knows 3 classes" sc-views -t teacher.tch other.npy -o none
    sc-views -q -t teacher.tch -m 30 few.npy -o views.npy
    size=$(stat -c %s views.npy)
    printf x | dd of=views.npy bs=1 seek=$((size - 5)) conv=notrunc 2>/dev/null
    fails 1 "damaged views: the coded numbers" sc-expand views.npy -o none
    test ! -e none
'
test_that 'views fill a size, however well their labels compress, and with many channels' '
    # The labels of 300 classes compress to much less than a quarter, and these of --augment are not stored with the series.
    sc-gen planted -n 900 -V 300 -L 16 --pattern 4 -o classes.npy
    sc-views -q --augment --bytes 120k classes.npy -o classes-full.npy
    content=$(sc-info --tsv classes-full.npy | awk "NR == 2 { print \$10 }")
    test "$content" -le 120000
    test "$content" -gt 110000 || sc-info classes-full.npy | grep "^views *20000,"
    # Low and step of each channel are part of compressed series.
    sc-gen planted -n 200 -L 12 --pattern 4 -C 500 -V 4 -o wide.npy
    for step in "--step 1" "--bits 4"; do
        sc-prune -q --per-class 4 wide.npy | sc-quantise -q $step -o wide-few.npy
        bytes=$(($(sc-info --tsv wide-few.npy | awk "NR == 2 { print \$10 }") + 1000))
        sc-views -q --augment --bytes $bytes wide-few.npy -o wide-full.npy
        test "$(stat -c %s wide-full.npy)" -le $((bytes + 2000))
        test "$(sc-info --tsv wide-full.npy | awk "NR == 2 { print \$10 }")" -le $((bytes + 200)) # with the recipe
    done
    fails 1 "the series with their labels take" sc-views --augment --bytes 100 wide.npy -o none
    fails 2 "for the students of --validate" sc-views --augment --steps 5 wide.npy -o none
    test ! -e none
'
finish
