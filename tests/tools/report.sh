#!/bin/sh
# sc-report
. "$(dirname "$0")/lib.sh"

test_that 'the examples of the manual page run, and the page has all its parts' '
    run_examples sc-report
    for part in Accuracy "What came in" "Condensed series" Shapelets "Where they lie" Confusion "Training on it" Provenance; do
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
    # Real series of each of the three classes beside its name, and what the page says first.
    test "$(grep -o "<svg class=\"few " tiny.html | wc -l)" = 3
    grep -qF "A condensed dataset: 9 series that train a classifier in place of 60. Networks" tiny.html
'
test_that 'large numbers have commas, and long series are drawn with few points' '
    sc-gen cbf -n 1203 -L 16 -o large.npy
    sc-report large.npy -o large.html
    grep -qF ">1,203<" large.html
    sc-gen planted -n 2 -L 20000 -o long.npy
    sc-report long.npy -o long.html
    test "$(wc -c <long.html)" -lt 200000
    rm large.npy large.html long.npy long.html
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
test_that 'of each class the shares in percent are shown, small ones as less than 1' '
    printf "seed\\taccuracy\\n0\\t50\\nmean\\t50\\n\\ntrue\\tas:a\\tas:b\\na\\t996\\t4\\nb\\t6\\t994\\n" >shares.tsv
    sc-report -e shares.tsv names.npy -o shares.html
    sed -n "/<td class=\"hit\"/s/<\/th>/:/p" shares.html | sed "s/<\/td>/|/g; s/<[^>]*>//g" >got
    printf "&lt;script&gt;x&lt;/script&gt;:100|&lt;1|\\na &quot;&amp;&quot; b:1|99|\\n" | diff - got
'
test_that 'curves, times and models are shown' '
    printf "epoch\\tloss\\tvalidation <x>\\n1\\t2\\t50\\n2\\t1\\t-\\n3\\t0.5\\t75\\n" >log.tsv
    printf "12.50\\t2500\\tsc-teacher -o d/<x>\\n0.01\\t7\\tsc-split -o y\\nnonsense\\n" >times.tsv
    sc-report --note "Held out by <persons>." -c "the <teacher>=log.tsv" --times times.tsv -e "CNN: few=tiny.tsv" -e "CNN: many=tiny.tsv" -e "RNN: few=tiny.tsv" \
        --name other.npz tiny.npy -o more.html
    grep -qF "the &lt;teacher&gt;: loss by epoch<br>0.5 at the end, from 0.5 to 2<" more.html
    grep -qF "Held out by &lt;persons&gt;." more.html
    grep -qF "validation &lt;x&gt; by epoch<br>75 at the end, from 50 to 75<" more.html
    grep -qF "<div>sc-teacher <small>&lt;x&gt;</small></div>" more.html
    grep -qF "12.5&thinsp;s</div><div class=\"n\">2.5 kB<" more.html
    grep -qF "it wrote; 13 seconds in all" more.html
    test "$(grep -o "class=\"model\"" more.html | wc -l)" = 2
    grep -qF "np.load(&quot;other.npz&quot;)" more.html
    printf "x\\n" >none.tsv
    fails 1 "sc-report: none.tsv: not a list of stages" sc-report --times none.tsv tiny.npy -o none.html
    sc-gen cbf -n 60 -L 64 --first 900 -o elsewhere.npy
    fails 1 "elsewhere.npy: the shapelets of pool.slp are not in it" sc-report -s pool.slp --searched elsewhere.npy tiny.npy -o none.html
    refute test -e none.html
'
test_that 'the tags of the page are balanced' '
    for tag in div svg table main pre tr small button; do
        test "$(grep -oE "<$tag[ >]" tiny.html | wc -l)" = "$(grep -o "</$tag>" tiny.html | wc -l)" || { echo "$tag"; exit 1; }
    done
'
# Chromium runs the page with a script after it that points at things and writes down what the page says then.
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || browser=
name='in a browser: what is pointed at is named, with its value; a class that is picked stays; no errors'
cat >pointer.js <<'EOF'
<pre id="said"></pre><script>
function say(text) { document.getElementById('said').textContent += text.replace(/\n/g, ' | ') + '\n' }
function note(item, x, y) {
    var box = item.getBoundingClientRect(), tip = document.getElementById('tip')
    item.dispatchEvent(new PointerEvent('pointermove', { bubbles: true, clientX: box.left + x * box.width, clientY: box.top + y * box.height }))
    return tip.hidden ? 'nothing' : tip.textContent
}
function first(what) { return document.querySelector(what) }
function faded() { return document.querySelectorAll('.dim').length + ' of ' + document.querySelectorAll('[data-c]:not(button)').length }
say('width ' + (document.documentElement.scrollWidth <= innerWidth ? 'fits' : document.documentElement.scrollWidth + ' of ' + innerWidth))
say('curve: ' + note(first('.class svg'), 0.5, 0.5))
say('end: ' + note(first('.class svg'), 1, 0))
say('shapelet: ' + note(first('svg[data-t]'), 0.5, 0.5))
say('point: ' + note(first('.points rect'), 0.5, 0.5))
say('cell: ' + note(first('.matrix td.hit[data-n]'), 0.5, 0.5))
say('heading: ' + note(first('h1'), 0.5, 0.5))
first('.chips button[data-c="1"]').click()
say('picked: ' + faded() + ', ' + first('.class[data-c="1"]').classList.contains('dim') + ', ' + first('.class[data-c="0"]').classList.contains('dim'))
document.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape' }))
say('all: ' + faded())
</script>
EOF
browse() { # browse PAGE WIDTH: said has what the script wrote, console what the browser complained about
    { cat "$1"; cat pointer.js; } >pointed.html
    timeout 100 "$browser" --headless=new --no-sandbox --disable-gpu --user-data-dir="$PWD/browser" --window-size="$2,900" \
        --enable-logging=stderr --dump-dom "file://$PWD/pointed.html" >dom.html 2>browser.log || return 1
    sed -n "/<pre id=\"said\">/,/<\/pre>/p" dom.html | sed "s/<pre id=\"said\">//; s/<\/pre>.*//" >said
    if grep -E "CONSOLE|Uncaught|Refused to" browser.log; then return 1; fi
}
if [ -n "$browser" ] && { echo "<p>x" >x.html; timeout 100 "$browser" --headless=new --no-sandbox --disable-gpu \
    --user-data-dir="$PWD/browser" --dump-dom "file://$PWD/x.html" 2>/dev/null | grep -q "<p>x"; }; then
    test_that "$name" '
        for width in 1280 390; do
            browse tiny.html "$width" || { cat browser.log; exit 1; }
            grep -qx "width fits" said || { cat said; exit 1; }
            grep -qE "^curve: series 0, step 3[12]: -?[0-9.]+$" said
            grep -qE "^shapelet: shapelet 0 of [a-z]+, from series [0-9]+ \| gain [0-9.]+ at the distance [0-9.]+ \| (its series|the shapelet), step 3[12]: -?[0-9.]+$" said
            grep -qx "point: condensed series 0 | class cylinder" said
            grep -qE "^cell: true class: [a-z]+ \| taken for: [a-z]+ \| [0-9.]+ of 40 predictions$" said
            grep -qx "heading: nothing" said
            # Of three classes: rows of two tables, rows of series, points, shapelets.
            grep -qE "^picked: [1-9][0-9]+ of [0-9]+, false, true$" said
            grep -qE "^all: 0 of [0-9]+$" said
        done
        # The value is that of the series: the last step of the first one.
        shown=$(sed -n "s/^end: series 0, step 63: //p" said)
        value=$(sc-export -f csv tiny.npy | awk -F, "NR == 2 { print \$65 }")
        awk -v a="$shown" -v b="$value" "BEGIN { exit !(a != \"\" && a - b < 0.06 && b - a < 0.06) }" || { echo "$shown, not $value"; exit 1; }
    '
else
    skip_that "$name" "no chromium that runs"
fi
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
test_that 'a page does not replace one of its tables' '
    printf "seed\taccuracy\n0\t50\nmean\t50\n" >table.tsv
    printf "epoch\tloss\n1\t2\n" >curve.tsv
    cp table.tsv before.tsv
    ln -sf table.tsv link.tsv
    for name in table.tsv x=table.tsv x=./table.tsv link.tsv; do
        fails 2 "--eval and --output are the same file" sc-report -e $name tiny.npy -o table.tsv
    done
    fails 2 "--curve and --output are the same file" sc-report -c y=curve.tsv tiny.npy -o curve.tsv
    cmp table.tsv before.tsv
    sc-report -e x=table.tsv -e y=table.tsv tiny.npy -o fine.html
'
test_that 'numbers that cannot be drawn are left out' '
    printf "epoch\tloss\taccuracy\n1\t1e308\t1\n2\t-1e308\t2\n3\tnan\tinf\n" >huge.tsv
    printf "epoch\tloss\n1\t1e30\n2\t1e30\n" >same.tsv
    sc-report -c huge.tsv -c same.tsv tiny.npy -o huge.html
    grep -o "data-s=\"[^\"]*\"" huge.html >scales
    grep -o "at the end, from [^<]*" huge.html >>scales
    refute grep -iE "nan|inf" scales
    grep -q ">2 at the end, from 1 to 2<" huge.html
    refute grep -q "aria-label=\"loss\" data-s=\"3 " huge.html
    printf "1e308\t1\tsc-a -o x\n2\t1\tsc-b -o y\n" >log.tsv
    sc-report --times log.tsv tiny.npy -o huge.html
    grep -q "2 seconds in all" huge.html
'
finish
