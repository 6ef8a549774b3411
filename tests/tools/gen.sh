#!/bin/sh
# sc-gen
. "$(dirname "$0")/lib.sh"

member() { sc-info --json "$1" | json "$2"; }

test_that 'the examples of the manual page run' '
    run_examples sc-gen
    test "$(member test.npy count)" = 900
    test "$(member two-patterns-test.npy count)" = 4000
    test "$(member all.npy min | cut -c 1-2)" = -1
'
test_that 'datasets have their shape, their classes and their names' '
    sc-gen two-patterns -n 8 -o tp.npy
    test "$(member tp.npy classes)" = 4
    test "$(sc-info --json tp.npy | grep -c "\"count\": 2}")" = 4
    for name in dd ud du uu; do sc-info tp.npy | grep -q "25.00 %  $name"; done
    sc-gen planted -n 6 -C 4 -L 300 -V 3 -o planted.npy
    test "$(member planted.npy channels) $(member planted.npy length)" = "4 300"
    sc-info planted.npy | grep -q "class-2"
'
test_that 'the truth is a table with a row for each pattern' '
    sc-gen planted -n 50 -k 3 -V 2 -C 2 --truth truth.tsv -o planted.npy
    test "$(head -n 1 truth.tsv | tr "\t" " ")" = "series class channel start length"
    test "$(wc -l <truth.tsv)" = 151
    awk "NR > 1 && (NF != 5 || \$1 != int((NR - 2) / 3) || \$2 != \$1 % 2 || \$3 > 1 ||
         \$4 + \$5 > 128 || \$5 != 16) { exit 1 }" truth.tsv
'
test_that 'datasets of one seed continue where the last one stopped' '
    sc-gen planted -n 30 --seed 4 --truth all.tsv -o all.npy
    sc-gen planted -n 10 --seed 4 --first 20 --truth last.tsv -o last.npy
    header=128
    tail -c +$((header + 20 * 512 + 1)) all.npy | head -c $((10 * 512)) >tail.bytes
    tail -c +$((header + 1)) last.npy | head -c $((10 * 512)) >last.bytes
    cmp tail.bytes last.bytes
    awk "NR > 21 { print \$4 }" all.tsv >tail.starts
    awk "NR > 1 { print \$4 }" last.tsv | cmp - tail.starts
    sc-gen planted -n 30 --seed 5 -o other.npy
    refute cmp -s all.npy other.npy
'
test_that 'the notes say what was made and how' '
    sc-gen cbf -n 9 --noise 0.5 --seed 3 --threads 2 -q -o notes.npy
    sc-info notes.npy | grep -qE "made by   sc-gen [0-9.]+ cbf --count=9 --noise=0.5 --seed=3$"
'
test_that 'bytes do not depend on the number of threads' '
    for kind in two-patterns cbf planted; do
        sc-gen $kind -n 200 --imbalance 0.5 --correlation 0.3 --threads 1 -o one.npy
        sc-gen $kind -n 200 --imbalance 0.5 --correlation 0.3 --threads 3 -o three.npy
        cmp one.npy three.npy
    done
'
test_that 'wrong usage is refused' '
    fails 2 "missing argument: two-patterns, cbf, planted or walks" sc-gen
    fails 2 "not one of: two-patterns, cbf, planted" sc-gen three-patterns
    fails 2 "for planted datasets only" sc-gen cbf --channels 2
    fails 2 "out of range" sc-gen cbf --imbalance 1.5
    fails 2 "out of range" sc-gen cbf --correlation 1
    fails 2 "too small" sc-gen planted --pattern 1
    fails 2 "are the same file" sc-gen cbf -o same --truth same
    fails 2 "are the same file" sc-gen cbf --truth -
'
test_that 'what cannot be made is refused and leaves no file' '
    fails 1 "do not fit into 20 steps" sc-gen planted -L 20 -o none.npy --truth none.tsv
    fails 1 "too short" sc-gen cbf -L 10 -o none.npy --truth none.tsv
    fails 1 "too large" sc-gen cbf -n 99999999999999999 -o none.npy --truth none.tsv
    fails 1 "no/none.tsv: No such file" sc-gen cbf -o none.npy --truth no/none.tsv
    fails 1 "no/none.npy: No such file" sc-gen cbf -o no/none.npy --truth none.tsv
    fails 1 "/dev/full: No space left" sc-gen cbf -o none.npy --truth /dev/full
    fails 1 "No space left" sc-gen cbf -o /dev/full --truth none.tsv
    test ! -e none.npy
    test ! -e none.tsv
'

# Of each series: lengths and places of its two patterns, where the order leaves no doubt (dd, uu).
published_patterns() {
    awk '
        $1 == 1 || $1 == 4 {
            low = high = $2
            for (i = 3; i <= NF; i++) {
                if ($i < low) low = $i
                if ($i > high) high = $i
            }
            runs = 0; last = 0
            for (i = 2; i <= NF; i++) {
                level = high - $i < 1e-4 ? 1 : $i - low < 1e-4 ? -1 : 0
                if (level != last && level != 0) start[++runs] = i - 2
                if (level != 0) end[runs] = i - 1
                last = level
            }
            if (runs == 4) print end[2] - start[1], end[4] - start[3], start[1], start[3]
        }' "$@"
}

# Mean and deviation of the four columns, least and greatest length, last step of a pattern.
moments() {
    awk '{
            for (k = 1; k <= 4; k++) { sum[k] += $k; square[k] += $k * $k }
            if (NR == 1 || $1 < low) low = $1
            if ($1 > high) high = $1
            if ($2 + $4 > last) last = $2 + $4
        }
        END {
            for (k = 1; k <= 4; k++) {
                mean = sum[k] / NR
                printf "%f %f ", mean, sqrt(square[k] / NR - mean * mean)
            }
            print low, high, last, NR
        }'
}

name='lengths and places of TwoPatterns are distributed as in the published set'
if [ -r "$data/TwoPatterns/TwoPatterns_TEST.tsv" ]; then
    test_that "$name" '
        published_patterns "$data"/TwoPatterns/*.tsv | moments >published
        sc-gen two-patterns -n 40000 --truth truth.tsv -o tp.npy
        awk "NR > 1 && (\$2 == 0 || \$2 == 3) {
                if (NR % 2 == 0) { length1 = \$5; start1 = \$4 }
                else print length1, \$5, start1, \$4
             }" truth.tsv | moments >generated
        cat published generated
        # Means within four standard errors, deviations within 5 %, bounds the same.
        cat published generated | awk "
            NR == 1 { split(\$0, a); next }
            { for (k = 1; k <= 7; k += 2) {
                  error = 4 * a[k + 1] * sqrt(1 / a[12] + 1 / \$12)
                  if (a[k] - \$k > error || \$k - a[k] > error) exit 1
                  if (a[k + 1] / \$(k + 1) > 1.05 || a[k + 1] / \$(k + 1) < 0.95) exit 1
              }
              for (k = 9; k <= 11; k++) if (a[k] != \$k) exit 1
            }"
    '
else
    skip_that "$name" "no $data/TwoPatterns"
fi
test_that 'walks have the shape, the scale and the classes of the dataset that they are like' '
    sc-gen planted -n 60 -C 3 -L 40 -V 4 --seed 3 -o like.npy
    sc-gen walks --like like.npy --spc 25 -o walks.npy
    test "$(sc-info --tsv walks.npy | awk "NR == 2" | cut -f 4-9 | tr "\t" " ")" = "100 3 40 4 hard 0"
    test "$(sc-info --json walks.npy | grep -c "\"name\": \"class-[0-3]\", \"count\": 25}")" = 4
    # channel_list: min, max, mean, std of each; every series has the mean and deviation of the channel exactly
    channels() { sc-info --json "$1" | grep "{\"min\"" | sed "s/.*\"mean\": \([-0-9.e]*\), \"std\": \([0-9.e]*\).*/\1 \2/"; }
    channels like.npy >like
    channels walks.npy >walks
    paste like walks | awk "{ if ((\$1 - \$3) ^ 2 > 1e-9 || (\$2 - \$4) ^ 2 > 1e-9) exit 1; n++ } END { exit n != 3 }"
'
test_that 'steps of walks are normal: their successive differences do not correlate' '
    sc-gen cbf -n 9 -L 2000 -o flat.npy
    sc-gen walks --like flat.npy --spc 1 -o walk.npy
    sc-export -q walk.npy -o walk.tsv
    head -n 1 walk.tsv | tr "\t" "\n" | tail -n +2 | awk "
        NR > 1 { d[NR] = \$1 - last } { last = \$1 }
        END {
            for (i = 2; i <= NR; i++) { sum += d[i] * d[i]; fourth += d[i] ^ 4 }
            for (i = 3; i <= NR; i++) product += d[i] * d[i - 1]
            r = product / sum; k = fourth * (NR - 1) / sum ^ 2
            exit !(r * r < 0.0064 && k > 2.5 && k < 3.5)
        }"
'
test_that 'walks depend on the seed, and there are ten of each class' '
    sc-gen walks --like like.npy --spc 2 --seed 1 -o one.npy
    sc-gen walks --like like.npy --spc 2 --seed 2 -o two.npy
    refute cmp one.npy two.npy
    sc-gen walks --like like.npy --spc 2 --seed 1 | cmp - one.npy
    sc-gen walks --like flat.npy -o ten.npy
    sc-export -q ten.npy -o ten.tsv
    test "$(cut -f 2- ten.tsv | sort -u | wc -l)" = 30
'
test_that 'walks and the other kinds refuse the options of each other' '
    fails 2 "missing option: --like=FILE" sc-gen walks
    fails 2 "walks take --like, --spc and --seed" sc-gen walks --like like.npy -n 5
    fails 2 "walks take --like, --spc and --seed" sc-gen walks --like like.npy --truth t.tsv
    fails 2 "--like and --spc are for walks" sc-gen cbf --like like.npy
    fails 2 "--like and --spc are for walks" sc-gen cbf --spc 3
    fails 1 "none.npy: No such file" sc-gen walks --like none.npy
    sc-gen cbf -n 6 -L 16 -o x.npy
    head -c $((128 + 6 * 16 * 4)) x.npy >bare.npy
    fails 1 "bare.npy" sc-gen walks --like bare.npy
'
finish
