#!/bin/sh
# sc-report
. "$(dirname "$0")/lib.sh"

test_that 'the examples of the manual page run, and the page has all its parts' '
    run_examples sc-report
    for part in Accuracy Classes "Condensed series" Shapelets "Where they lie" Confusion "Training on it" Provenance; do
        grep -qF "<h2>$part</h2>" tiny.html || { echo "no $part"; exit 1; }
    done
    grep -qF "random series</div>" tiny.html
    grep -qF "open(&quot;tiny.npy&quot;" tiny.html
    mean=$(awk "\$1 == \"mean\" { print \$2 }" tiny.tsv)
    grep -qF ">$mean &plusmn;" tiny.html
    # Nine condensed series and six shapelets, each with a curve of its own.
    test "$(grep -o "class=\"own\"" tiny.html | wc -l)" = 9
    test "$(grep -o "class=\"part\"" tiny.html | wc -l)" = 6
    test "$(grep -o "<rect" tiny.html | wc -l)" = 9
    test "$(grep -o "<circle" tiny.html | wc -l)" = 60
'
test_that 'the same input gives the same page, whatever the number of threads' '
    for threads in 1 3; do
        sc-report --threads $threads -r train.npy -s pool.slp -e "random series=tiny.tsv" tiny.npy | cmp - tiny.html
    done
'
test_that 'the page loads nothing, and text from files stays text' '
    refute grep -qE "https?:|url\(|@import|<link [^>]*(stylesheet|preload)| src=" tiny.html
    printf "<script>x</script>,1,2,3\n\"a \"\"&\"\" b\",3,2,1\n" >names.csv
    sc-import -q names.csv -o names.npy
    printf "seed\taccuracy\n0\t50\nmean\t50\n" >one.tsv
    sc-report --title "</title><b>" -e "<i>=one.tsv" names.npy -o names.html
    test "$(grep -o "<script>" names.html | wc -l)" = 1
    grep -qF "&lt;script&gt;x&lt;/script&gt;" names.html
    grep -qF "a &quot;&amp;&quot; b" names.html
    grep -qF "<h1>&lt;/title&gt;&lt;b&gt;</h1>" names.html
    grep -qF "<div>&lt;i&gt;</div>" names.html
    grep -qF "<div class=\"n\">50.00&thinsp;%" names.html
'
test_that 'the tags of the page are balanced' '
    for tag in div svg table main pre tr small button; do
        test "$(grep -oE "<$tag[ >]" tiny.html | wc -l)" = "$(grep -o "</$tag>" tiny.html | wc -l)" || { echo "$tag"; exit 1; }
    done
'
test_that 'what does not belong together is refused' '
    sc-gen cbf -n 6 -L 32 -o short.npy
    fails 1 "short.npy: 1 channels, 32 steps and 3 classes, but" sc-report -r short.npy tiny.npy -o none.html
    printf "step\tloss\n1\t2\n" >curve.tsv
    fails 1 "curve.tsv: not a table that sc-eval has written" sc-report -e curve.tsv tiny.npy -o none.html
    fails 1 "nowhere.tsv: No such file" sc-report -e x=nowhere.tsv tiny.npy -o none.html
    printf "seed\taccuracy\n0\t50\nmean\t50\n\ntrue\tas:a\tas:b\na\t1\n" >cut.tsv
    fails 1 "cut.tsv: the confusion matrix has" sc-report -e cut.tsv tiny.npy -o none.html
    refute test -e none.html
'
finish
