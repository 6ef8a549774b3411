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
test_that 'of each class the shares in percent are shown that are not 0 when rounded' '
    printf "seed\\taccuracy\\n0\\t50\\nmean\\t50\\n\\ntrue\\tas:a\\tas:b\\na\\t996\\t4\\nb\\t6\\t994\\n" >shares.tsv
    sc-report -e shares.tsv names.npy -o shares.html
    sed -n "/<td class=\"hit\"/s/<\/th>/:/p" shares.html | sed "s/<\/td>/|/g; s/<[^>]*>//g" >got
    printf "&lt;script&gt;x&lt;/script&gt;:100||\\na &quot;&amp;&quot; b:1|99|\\n" | diff - got
'
test_that 'curves, times and models are shown' '
    printf "epoch\\tloss\\tvalidation <x>\\n1\\t2\\t50\\n2\\t1\\t-\\n3\\t0.5\\t75\\n" >log.tsv
    printf "a\\tb\\t12.50\\tsc-teacher -o x\\na\\tb\\t0.01\\tsc-split -o y\\nnonsense\\n" >times.tsv
    sc-report -c "the <teacher>=log.tsv" --times times.tsv -e "CNN: few=tiny.tsv" -e "CNN: many=tiny.tsv" -e "RNN: few=tiny.tsv" \
        --name other.npz tiny.npy -o more.html
    grep -qF "the &lt;teacher&gt;: loss by epoch<br>0.5 at the end, from 0.5 to 2<" more.html
    grep -qF "validation &lt;x&gt; by epoch<br>75 at the end, from 50 to 75<" more.html
    grep -qF "<div>sc-teacher</div>" more.html
    grep -qF "of 13 seconds in all" more.html
    test "$(grep -o "class=\"model\"" more.html | wc -l)" = 2
    grep -qF "np.load(&quot;other.npz&quot;)" more.html
    printf "x\\n" >none.tsv
    fails 1 "not a log of commands" sc-report --times none.tsv tiny.npy -o none.html
    sc-gen cbf -n 60 -L 64 --first 900 -o elsewhere.npy
    fails 1 "elsewhere.npy: the shapelets of pool.slp are not in it" sc-report -s pool.slp --searched elsewhere.npy tiny.npy -o none.html
    refute test -e none.html
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
    for count in -1 x nan ""; do
        printf "seed\\taccuracy\\n0\\t50\\nmean\\t50\\n\\ntrue\\tas:a\\tas:b\\na\\t1\\t2\\nb\\t1\\t%s\\n" "$count" >bad.tsv
        fails 1 "bad.tsv: the confusion matrix has no count in row 2" sc-report -e bad.tsv tiny.npy -o none.html
    done
    refute test -e none.html
'
finish
