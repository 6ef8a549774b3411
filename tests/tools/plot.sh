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
test_that 'every channel can have a row, and names of any length fit' '
    sc-gen planted -n 12 --channels 3 -L 40 -o channels.npy
    sc-plot channels.npy -c 2 --all-channels -o channels.svg
    for channel in 0 1 2; do grep -q ">channel $channel<" channels.svg; done
    test "$(count "stroke=\"#cccccc\"" channels.svg)" = $((3 * 2 * $(sc-info --json channels.npy | json classes)))
    printf "a name that is longer than any other name of a class,1,2,3\\nb,3,2,1\\n" | sc-import -q -f csv | sc-plot -o long.svg
    grep -q ">a name that is longer than any other name of a class<" long.svg
'
test_that 'what is drawn is called what it is' '
    sc-plot set.npy --over real.npy -o plain.svg
    refute grep -q "condensed" plain.svg
    for word in step value; do grep -q ">$word<" plain.svg; done
    sc-teacher -q --steps 2 real.npy -o teacher.tch
    sc-select -q -n 1 --teacher teacher.tch --soft real.npy -o soft.npy
    sc-shapelets -q -k 9 real.npy -o pool.slp
    sc-plot soft.npy --over real.npy --shapelets pool.slp -o soft.svg
    for word in "condensed series" "real series of the class" "match of the class'"'"'s best shapelet" second third; do grep -q ">$word<" soft.svg; done
    sc-plot pool.slp -o pool.svg
    grep -q ">[0-9]: class no. [0-2], gain" pool.svg
    sc-plot pool.slp --over real.npy -o pool.svg
    grep -q ": class \(cylinder\|bell\|funnel\), gain" pool.svg
    sc-plot pool.slp -c 2 -r 2 | grep -q "9 shapelets, the first 4 of them"
'
test_that 'tables of sc-eval become bars, with the confusion matrix of the first that has one' '
    printf "seed\\taccuracy\\n0\\t80.00\\n1\\t90.00\\nmean\\t85.00\\ndeviation\\t7.07\\n" >few.tsv
    printf "seed\\taccuracy\\n0\\t97.50\\nmean\\t97.50\\n\\ntrue\\tas:a<b\\tas:c\\na<b\\t9\\t1\\nc\\t0\\t10\\n" >all.tsv
    sc-plot few.tsv all.tsv -o bars.svg
    grep -q "85.00 ± 7.07" bars.svg
    grep -q ">97.50<" bars.svg
    grep -q ">few<" bars.svg
    grep -q "a&lt;b" bars.svg
    for share in 90 10 100; do grep -q ">$share<" bars.svg; done
    sc-plot <few.tsv | grep -q "85.00 ± 7.07"
    fails 2 "only for tables of sc-eval" sc-plot set.npy real.npy -o none.svg
    printf "x\\ty\\n1\\t2\\n" >curve.tsv
    fails 1 "curve.tsv: not a table that sc-eval has written" sc-plot few.tsv curve.tsv -o none.svg
    test ! -e none.svg
    # Long names of classes get room at the left of the matrix.
    sed "s/a<b/a name of many letters/" all.tsv >names.tsv
    sc-plot few.tsv names.tsv -o names.svg
    left() { sed -n "s/.*<rect x=\"\([0-9]*\).*/\1/p" "$1" | sort -n | tail -n 1; }
    test "$(left names.svg)" -gt "$(left bars.svg)"
    sc-plot --text few.tsv all.tsv >bars.txt
    grep -q "^few .*█.* 85.00 % ± 7.07" bars.txt
'
test_that 'a terminal shows series and curves in dots of Braille' '
    dots() { sed "s/⠀//g" "$1" | grep -c "$(printf "\342")"; } # lines that are not blank
    sc-plot --text -c 2 set.npy >set.txt
    test "$(dots set.txt)" = 12
    for name in cylinder bell funnel; do grep -qx "$name" set.txt; done
    awk "length(\$0) > 3 * 80 { exit 1 }" set.txt
    # One value in hundreds that is far from the others does not flatten them.
    awk "BEGIN { printf \"a\"; for (i = 0; i < 600; i++) printf \",%d\", i == 300 ? 70000 : i % 10; print \"\" }" | sc-import -q -f csv | sc-plot --text >far.txt
    refute grep -q 70000 far.txt
    # A line that falls goes from the upper left to the lower right.
    awk "BEGIN { printf \"a\"; for (i = 0; i < 70; i++) printf \",%d\", 70 - i; print \"\" }" | sc-import -q -f csv | sc-plot --text >fall.txt
    sed -n 3p fall.txt | grep -q "^ *70 ⠉"
    sed -n 6p fall.txt | grep -q "^ *1 ⠀.*⣀$"
    printf "x\\ty\\n1\\t5\\n2\\t7\\n" | sc-plot --text >curve.txt
    test "$(dots curve.txt)" = 16 # joined; a gap is not
    grep -q "x from 1 to 2" curve.txt
    printf "x\\ty\\n1\\t5\\n2\\t-\\n3\\t7\\n" >gap.tsv
    sc-plot --text gap.tsv >curve.txt
    test "$(dots curve.txt)" = 2
    sc-plot --text --marks --title "a title" gap.tsv >curve.txt
    test "$(dots curve.txt)" = 16
    head -n 1 curve.txt | grep -qx "a title"
    awk "BEGIN { for (i = 0; i < 4; i++) { for (c = 0; c < 2; c++) { for (t = 0; t < 8; t++) printf \"%s%d\", t ? \",\" : \"\", 10 * c + t; printf \":\" } print \"k\" i % 2 } }" >both.rows
    { echo "@univariate false"; echo "@classLabel true k0 k1"; echo "@data"; cat both.rows; } >both.ts
    sc-import -q both.ts -o both.npy
    sc-plot --text --all-channels both.npy >set.txt
    grep -qx "4 series, 2 classes, 2 channels" set.txt
    test "$(grep -c "channel [01]\$" set.txt)" = 4
    grep -q "^ *17 " set.txt # each channel has its own scale
'
test_that 'a terminal shows shapelets at their places in time' '
    sc-gen two-patterns -n 40 -o searched.npy
    sc-shapelets -q -k 5 searched.npy -o found.slp
    sc-plot --text found.slp >found.txt
    head -n 1 found.txt | grep -qx "5 shapelets, each at its place in time"
    grep -q "class [0-3] .*gain 0\.[0-9]" found.txt
    test "$(sed "s/⠀//g" found.txt | grep -c "$(printf "\342")")" = 8
    sc-plot --text --over searched.npy found.slp | grep -qE " (uu|ud|du|dd) .*gain"
    sc-plot --text -c 2 -r 1 found.slp | head -n 1 | grep -q "5 shapelets, the first 2 of them"
    # The dots of a panel lie where the shapelet was cut out.
    start=$(sc-info found.slp | awk "\$1 == \"0\" { print \$3 }")
    sc-plot --text -c 1 -r 1 found.slp | sed -n 3,6p | LC_ALL=C awk -v start="$start" "
        { for (n = 0; substr(\$0, 11 + 3 * n, 3) == \"⠀\"; n++); if (NR == 1 || n < least) least = n }
        END { exit least != int(int(start * 140 / 128) / 2) }"
    sc-gen two-patterns -n 40 -L 64 -o other.npy
    fails 1 "was not found in this dataset" sc-plot --text --over other.npy found.slp
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
    fails 1 "channel 3 of a dataset of 1" sc-plot set.npy --channel 3 -o none.svg
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
test_that 'gaps are not drawn' '
    sc-gen cbf -n 6 -o gap.npy
    printf "\000\000\300\177" | dd of=gap.npy bs=1 seek=128 conv=notrunc 2>/dev/null
    fails 1 "gap.npy: series 0, channel 0, step 0: NaN" sc-plot gap.npy -o none
    refute ls none
'
test_that 'values near the limits of numbers are drawn or refused' '
    for value in 1e30 -3.4e38 1e-45 0; do
        printf "a,%s,%s,%s\nb,%s,%s,%s\n" $value $value $value $value $value $value | sc-import -q -f csv >same.npy
        sc-plot --text same.npy >same.txt
        test "$(grep -c "^[ab]$" same.txt)" = 2
        refute grep -iE "nan|inf" same.txt
        sc-plot same.npy >same.svg
        refute grep -iE "[^a-z](nan|inf)" same.svg
    done
    printf "x\ty\n1\t1e300\n2\t1e300\n" | sc-plot --text >same.txt
    # One row of dots, in the middle.
    test "$(sed -n 2,17p same.txt | LC_ALL=C awk "/\342\240[\201-\277]|\342[\241-\243]/ { print NR }")" = 9
    for word in 1e308 1.79e308; do
        printf "x\ty\n1\t-%s\n2\t%s\n" $word $word >large
        fails 1 "numbers that are too large to draw" sc-plot --text large
        fails 1 "numbers that are too large to draw" sc-plot large
    done
    printf "x\ty\n1\t1.797e308\n2\t1.797e308\n" >large
    fails 1 "numbers that are too large to draw" sc-plot --text large
'
test_that 'on a terminal, names are printable' '
    esc=$(printf "\033")
    printf "%s\n" "a${esc}[2J,1,2,3" "b,1,2,4" | sc-import -q -f csv >evil.npy
    sc-plot --text evil.npy >evil.txt
    printf "x${esc}[1m\ty${esc}[1m\n1\t2\n2\t3\n" >evil.tsv
    sc-plot --text evil.tsv >>evil.txt
    printf "seed\taccuracy\n0\t50\nmean\t50\n" >"evil${esc}[2J.tsv"
    sc-plot --text "evil${esc}[2J.tsv" >>evil.txt
    cat -v evil.txt
    refute grep "$esc" evil.txt
    test "$(grep -c -F "?[" evil.txt)" = 4
'
finish
