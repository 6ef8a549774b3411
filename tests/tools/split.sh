#!/bin/sh
# sc-split
. "$(dirname "$0")/lib.sh"

member() { sc-info --json "$1" | json "$2"; }
# The sizes of the classes, in one line.
class_sizes() {
    sc-info --json "$1" | sed -n 's/.*"class": .*"count": \([0-9]*\)}.*/\1/p' | tr '\n' ' '
}
# The values of the series, which are enough to tell them apart, one series of 128 steps a line.
series() {
    bytes=$(($(member "$1" count) * 512))
    tail -c +129 "$1" | head -c "$bytes" | od -An -v -tx4 -w512
}

test_that 'the examples of the manual page run' '
    run_examples sc-split
    test "$(member tp-train.npy count)" = 1249
    test "$(member tp-val.npy count)" = 1876
    test "$(member tp-test.npy count)" = 1875
    test "$(member train.npy count)" = 180
'
test_that 'no group is in two parts, whatever the seed' '
    { echo "a,b,who,label"
      awk "BEGIN { for (i = 0; i < 200; i++) print i \",\" i % 7 / 3 \",\" int(i / 9) \",\" i % 3 }"; } >grouped.csv
    sc-import -q --group who grouped.csv -o grouped.npy 2>said
    for seed in 1 2; do
        sc-split -q --by group --seed $seed --train 0.6 --val 0.2 --test 0.2 -o by grouped.npy
        for part in train val test; do
            # A series is its number over 9, rounded down, of the group.
            sc-export -f ucr by-$part.npy | awk "{ print int(\$2 / 9) }" | sort -u
        done >parts
        test "$(sort parts | uniq -d | wc -l)" = 0
        test "$(wc -l <parts)" = 23
        test "$(member by-train.npy count)" -ge 110
        test "$(member by-train.npy count)" -le 130
        cp by-train.npy seed$seed.npy
    done
    refute cmp -s seed1.npy seed2.npy
    fails 1 "no groups to keep together" sc-split --by group --train 0.5 --test 0.5 -o x tp-train.npy
'
test_that 'every series is in exactly one part and every class keeps its share' '
    sc-gen two-patterns -n 501 --imbalance 0.3 -o all.npy
    sc-split --train 0.6 --val 0.2 --test 0.2 -o part all.npy
    series all.npy | sort >all
    for part in train val test; do series part-$part.npy; done | sort | cmp - all
    for part in train val test; do class_sizes part-$part.npy; echo; done >sizes
    class_sizes all.npy | cat sizes - | awk "
        { for (v = 1; v <= 4; v++) size[NR, v] = \$v }
        END { for (p = 1; p <= 3; p++) for (v = 1; v <= 4; v++) {
                  off = size[p, v] - size[4, v] * (p == 1 ? 0.6 : 0.2)
                  if (off > 1.5 || off < -1.5) exit 1 } }"
'
test_that 'one part alone is the same as among the others' '
    sc-split --train 0.6 --val 0.2 --test 0.2 --only val all.npy -o val.npy
    series part-val.npy >expected
    series val.npy | cmp - expected
    sc-split --train 0.6 --val 0.2 --test 0.2 --only val <all.npy | cmp - val.npy
    sc-info part-val.npy | grep -q "sc-split .* --train=0.6 --val=0.2 --test=0.2 --seed=0 <.* : val"
    sc-info val.npy | grep -q "sc-split .* --only=val --seed=0 <"
'
test_that 'the seed decides and the number of threads does not' '
    sc-split --train 0.5 --only train --seed 1 --threads 1 all.npy -o one.npy
    sc-split --train 0.5 --only train --seed 1 --threads 3 all.npy | cmp - one.npy
    sc-split --train 0.5 --only train --seed 2 all.npy -o two.npy
    refute cmp -s one.npy two.npy
'
test_that 'in order, the first of each class go to train' '
    sc-gen cbf -n 30 -o cbf.npy
    sc-split --in-order --train 18 --test rest -o order cbf.npy
    series cbf.npy | head -n 18 >expected
    series order-train.npy | cmp - expected
    series cbf.npy | tail -n 12 >expected
    series order-test.npy | cmp - expected
    test ! -e order-val.npy
'
test_that 'a prefix may end in .npy and name a folder' '
    mkdir folder
    sc-split --train 10 --test 5 -o folder/set.npy cbf.npy
    test "$(ls folder | tr "\n" " ")" = "set-test.npy set-train.npy "
'
test_that 'a remark tells that classes are missing from a part' '
    sc-gen two-patterns -n 5 -o few.npy
    sc-split --train 4 --test 1 -o few few.npy 2>remark
    test "$(class_sizes few-train.npy)" = "1 1 1 1 "
    grep -q "test has no series of 3 of the 4 classes" remark
    sc-split -q --train 4 --test 1 -o few few.npy 2>remark
    test ! -s remark
'
test_that 'a pipe of stages works' '
    sc-gen cbf -n 60 | sc-split --train 0.5 --only train | sc-balance | sc-scale -o piped.npy
    test "$(member piped.npy count)" = 30
    test "$(sc-info --json piped.npy | grep -cE "^ *\"sc-(gen|split|balance|scale) ")" = 4
'
test_that 'labels may be in a file of their own' '
    head -c $((128 + 30 * 512)) cbf.npy >x.npy
    tail -c +$((128 + 30 * 512 + 1)) cbf.npy | head -c $((128 + 30 * 4)) >y.npy
    sc-split --train 18 --only train --labels y.npy x.npy -o separate.npy
    series separate.npy >expected
    sc-split --train 18 --only train cbf.npy -o together.npy
    series together.npy | cmp - expected
'
test_that 'wrong usage is refused' '
    fails 2 "no sizes given" sc-split -o none cbf.npy
    fails 2 "several files" sc-split --train 0.5 cbf.npy
    fails 2 "--test says no size" sc-split --train 0.5 --only test cbf.npy
    fails 2 "--val: '"'1.5'"' is not a fraction" sc-split --val 1.5 -o none cbf.npy
    fails 2 "neither a fraction" sc-split --val half -o none cbf.npy
    fails 2 "not one of: train, val, test" sc-split --val 0.5 --only middle cbf.npy
'
test_that 'what cannot be split is refused and leaves no file' '
    fails 1 "add up to 1.2" sc-split --train 0.6 --test 0.6 -o none cbf.npy
    fails 1 "larger than what is left: 20 of 30" sc-split --train 10 --test 21 -o none cbf.npy
    fails 1 "test would have none" sc-split --train 30 --test rest -o none cbf.npy
    fails 1 "x.npy: no labels" sc-split --train 0.5 -o none x.npy
    fails 1 "y.npy: series must have the shape" sc-split --train 0.5 -o none y.npy
    fails 1 "none.npy: No such file" sc-split --train 0.5 -o none none.npy
    : >empty.npy
    fails 1 "empty.npy: " sc-split --train 0.5 -o none empty.npy
    head -c 5000 cbf.npy >cut.npy
    fails 1 "cut.npy: truncated" sc-split --train 0.5 -o none cut.npy
    cp cbf.npy nan.npy
    printf "\000\000\300\177" | dd of=nan.npy bs=1 seek=128 conv=notrunc 2>/dev/null
    fails 1 "nan.npy: series 0, channel 0, step 0: NaN" sc-split --train 0.5 -o none nan.npy
    fails 1 "29 labels for 30" sh -c "
        { cat x.npy; tail -c +$((128 + 30 * 512 + 1)) cbf.npy | sed \"s/(30,), }/(29,), }/\"; } |
            sc-split --train 0.5 -o none"
    test -z "$(ls none* 2>/dev/null)"
'
test_that 'no part gets its name when one of them cannot be written' '
    mkdir all-test.npy
    fails 1 "all-test.npy: Is a directory" sc-split --train 0.5 --test 0.5 -o all all.npy
    test ! -e all-train.npy
    fails 1 "No space left" sc-split --train 0.5 --only train -o /dev/full all.npy
    # Here train is written in full before the larger test fails.
    (
        trap "" XFSZ
        ulimit -f 64
        fails 1 "limited-test.npy: File too large" sc-split --train 10 --test rest -o limited all.npy
    )
    test -z "$(ls -A | grep limited)"
'
# paper_split TRAIN VAL TEST [OPTION]... FILE: the parts have the sizes of the paper's table.
paper_split() {
    sizes="$1 $2 $3"
    train=$1 val=$2 test=$3
    shift 3
    sc-split --train "$train" --val "$val" --test "$test" -q -o paper "$@"
    found=
    for part in train val test; do found="$found $(member "paper-$part.npy" count)"; done
    test "$found" = " $sizes"
}
name='the complete datasets are split with the counts of the paper'
if [ -r "$data/HAR/HAR_X.npy" ]; then
    test_that "$name" '
        paper_split 5878 1477 2944 --labels "$data/HAR/HAR_y.npy" "$data/HAR/HAR_X.npy"
        # Walking is class 1 with 1722 of 10299 series: 982.8 of train.
        class_sizes paper-train.npy | grep -qE "^0 98[23] "
        sc-import -o faces.npy "$data"/FacesUCR/FacesUCR_TRAIN.tsv "$data"/FacesUCR/FacesUCR_TEST.tsv
        paper_split 1344 457 449 faces.npy
        sc-import -o two.npy "$data"/TwoPatterns/TwoPatterns_TRAIN.tsv \
            "$data"/TwoPatterns/TwoPatterns_TEST.tsv
        paper_split 1249 1876 1875 two.npy
        # Only shares that are kept exactly give the size of the balanced dataset in that table.
        sc-balance paper-train.npy -o balanced.npy
        test "$(member balanced.npy count)" = 1304
    '
else
    skip_that "$name" "no $data/HAR"
fi
test_that 'parts of whole groups have nearly the shares of the classes, whatever the draw' '
    # Groups of 20 to 40 series with classes of their own shares, three classes of 300, 200 and 100 series.
    awk "function draw() { x = x * 16807 % 2147483647; return x / 2147483647 }
    BEGIN {
        x = 5
        for (v = 0; v < 3; v++)
            for (i = 0; i < 300 - 100 * v; i++) {
                g = int(20 * (draw() + draw() * (v == 1)) / (1 + (v == 1)))
                print g \",\" i % 7 \",\" i % 5 \",\" i % 3 \",\" \"abc\" v
            }
    }" >grouped.csv
    sc-import -q grouped.csv --label 5 --group 1 -o grouped.npy
    for seed in 0 1 2 3 4 5; do
        sc-split -q --by group --seed $seed --train 0.85 --val rest -o whole grouped.npy
        sc-info whole-val.npy | sed -n "s/.* \([0-9.]*\) %  abc\([012]\)$/\2 \1/p" >shares
        cat shares
        awk "BEGIN { want[0] = 50; want[1] = 33.33; want[2] = 16.67 }
            { off = \$2 - want[\$1]; if (off > 3 || off < -3) bad = 1; n++ } END { exit bad || n != 3 }" shares
    done
'
finish
