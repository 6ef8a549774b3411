#!/bin/sh
# sc-plot
. "$(dirname "$0")/lib.sh"

count() { grep -c "$1" "$2"; }

test_that 'the examples of the manual page run' '
    run_examples sc-plot
    test "$(count "<path" few.svg)" -gt 0
    test "$(count "<path" loss.svg)" = 1
'
test_that 'a dataset has one row for each class and one panel for each series' '
    sc-gen cbf -n 12 -o set.npy
    sc-plot set.npy -c 3 -o set.svg
    test "$(count "<path" set.svg)" = 9
    for name in cylinder bell funnel; do grep -q ">$name<" set.svg; done
    sc-plot set.npy -c 3 -r 2 >two.svg
    test "$(count "<path" two.svg)" = 6
    grep -q "the first 2 of 3 classes" two.svg
'
test_that 'real series are drawn behind, up to the number asked for' '
    sc-gen cbf -n 300 --first 50 -o real.npy
    sc-plot set.npy -c 2 --over real.npy --behind 7 -o behind.svg
    test "$(count "<path" behind.svg)" = 27
    test "$(count "<use" behind.svg)" = 3
'
test_that 'the picture is well-formed XML whatever the names hold' '
    sc-plot --title "a < b & \"c\" > d" -o odd.svg set.npy
    grep -q "a &lt; b &amp; \"c\" &gt; d" odd.svg
    if command -v xmllint >/dev/null; then xmllint --noout odd.svg; fi
'
test_that 'a table draws one curve for each column and leaves gaps' '
    printf "x,a,b\n0,1,2\n1,,3\n2,5,nan\n" | sc-plot >table.svg
    test "$(count "<path" table.svg)" = 2
    test "$(grep "<path" table.svg | head -n 1 | grep -o "M" | wc -l)" = 2
    printf "0 1\n1 2\n" | sc-plot | grep -q "column 2"
'
test_that 'values near the limits of floats, or far from 0 and near each other, have a place' '
    # drawn FILE: every place and every word of the picture is a number.
    drawn() {
        timeout 60 sc-plot "$@" -o drawn.svg
        refute grep -E "[^a-z](nan|inf)" drawn.svg
        test "$(count "<text" drawn.svg)" -gt 2
    }
    for value in 0 1e30 -1e30 3.4e38 1e-45 1e-30; do
        for i in 0 1 0 1; do printf "$i\t$value\t$value\t$value\t$value\n"; done |
            sc-import -q -f ucr -o same.npy
        drawn same.npy
        sc-shapelets -q --raw -k 1 -l 3 same.npy -o same.slp
        drawn same.slp
        for i in 0 1 0 1; do printf "$i\t$value\t0\t-$i\t-1e-45\n"; done |
            sc-import -q -f ucr -o other.npy 2>said || continue
        drawn other.npy
        drawn same.npy --over other.npy
    done
    # Marks of small values are not all 0.
    printf "0\t1e-30\t-1e-30\t2e-30\n1\t1e-30\t0\t-2e-30\n" | sc-import -q -f ucr | sc-plot -o drawn.svg
    test "$(grep -o ">[-0-9.]*e-30<" drawn.svg | sort -u | wc -l)" -ge 2
    grep -q ">0<" drawn.svg
    printf "x\ty\n1e16\t1\n10000000000000002\t2\n" >far.tsv
    printf "x\ty\n-\t1\n2\t2\n3\t-\n4\t1e30\n" >gap.tsv
    printf "x\ty\n1e30\t5\n1e30\t5\n" >point.tsv
    printf "x\ty\n1\t1e300\n2\t1e300\n" >large.tsv
    printf "x\ty\n1\t1e-320\n2\t2e-320\n" >small.tsv
    for table in far gap point large small; do drawn $table.tsv; done
    printf "x\ty\n1\t1e308\n2\t-1e308\n" >huge.tsv
    fails 1 "huge.tsv: numbers that are too large to draw" sc-plot huge.tsv -o none.svg
    test ! -e none.svg
'
test_that 'what cannot be drawn is refused with the reason and leaves no file' '
    printf "x,a\n0,1\n1,two\n" >bad.tsv
    fails 1 "bad.tsv: row 3, column 2: '"'two'"' is not a number" sc-plot bad.tsv -o none.svg
    printf "0,1\n1\n" >bad.tsv
    fails 1 "row 2 has 1 columns" sc-plot bad.tsv -o none.svg
    printf "1\n2\n" >bad.tsv
    fails 1 "one column only" sc-plot bad.tsv -o none.svg
    : >bad.tsv
    fails 1 "no rows" sc-plot bad.tsv -o none.svg
    sc-gen two-patterns -n 8 -L 200 -o longer.npy
    fails 1 "the series behind are 1 x 200" sc-plot set.npy --over longer.npy -o none.svg
    fails 1 "channel 3 of a set of 1" sc-plot set.npy --channel 3 -o none.svg
    fails 1 "none.npy: No such file" sc-plot none.npy -o none.svg
    head -c 300 set.npy >cut.npy
    fails 1 "truncated" sc-plot cut.npy -o none.svg
    test ! -e none.svg
'
test_that 'marks are joined over gaps, on a logarithmic axis at equal distances for equal ratios' '
    printf "bytes\ta\tb\n10\t1\t-\n100\t-\t2\n1000\t3\t-\n0\t9\t-\n" | sc-plot --log --marks >marks.svg
    test "$(count "<circle" marks.svg)" = 5 # three values, two in the legend
    test "$(grep "<path" marks.svg | head -n 1 | grep -o "[ML]" | tr -d "\n")" = ML
    grep "<circle" marks.svg | sed -n "1,2p;4p" | sed "s/.*cx=\"\([0-9.]*\)\".*/\1/" | tr "\n" " " >places
    awk "{ exit !(\$1 < \$3 && \$3 < \$2 && (\$1 + \$2 - 2 * \$3) ^ 2 < 0.1) }" places
    for mark in 10 20 50 100 1000; do grep -q ">$mark<" marks.svg; done
    printf "x\ta\n-1\t1\n0\t2\n" >low
    fails 1 "no numbers to draw" sc-plot --log low
'
test_that 'many curves have legends on several lines and marks of other shapes' '
    { echo x $(seq -f "method-with-a-name-%.0f" 14); echo 1 $(seq 14); echo 2 $(seq 14); } | sc-plot --marks >many.svg
    test "$(count "<circle" many.svg) $(count "<polygon" many.svg)" = "18 6"
    for name in 1 7 14; do grep -q ">method-with-a-name-$name<" many.svg; done
    grep -o "<text x=\"[0-9.]*\"[^>]*>method" many.svg | sed "s/.*x=\"\([0-9.]*\).*/\1/" | awk "\$1 > 900 { exit 1 }"
    printf "x y\n1 2\n2 3\n" | sc-plot | grep -q "viewBox=\"0 0 [0-9]* 460\""
'
finish
