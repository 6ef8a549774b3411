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
finish
