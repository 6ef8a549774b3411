#!/bin/sh
# sc-info
. "$(dirname "$0")/lib.sh"

member() { sc-info --json "$1" | json "$2"; }

test_that 'the examples of the manual page run' '
    run_examples sc-info
'
test_that 'a dataset is described by shape, types, values, classes and provenance' '
    sc-gen cbf -n 90 --seed 2 -o cbf.npy
    sc-info cbf.npy >text
    grep -q "^cbf.npy: dataset, 90 series, 1 channel, 128 steps, 3 classes$" text
    grep -qE "^arrays +series +<f4 +\(90, 1, 128\)$" text
    grep -qE "^ +labels +<i4 +\(90,\)$" text
    grep -qE "^ +names +<U8 +\(3,\)$" text
    grep -qE "^ +1 +30 +33.33 %  bell$" text
    grep -qE "^made by   sc-gen [0-9.]+ cbf --count=90 --seed=2$" text
'
test_that 'the digest is that of b2sum' '
    test "$(member cbf.npy digest)" = "$(b2sum -l 128 cbf.npy | cut -d " " -f 1)"
    test "$(member cbf.npy bytes)" = "$(wc -c <cbf.npy | tr -d " ")"
'
test_that 'standard input is described like a file' '
    sc-info cbf.npy | sed "s/^cbf.npy/standard input/" >expected
    sc-info <cbf.npy | cmp - expected
    cat cbf.npy | sc-info | cmp - expected
    cat cbf.npy | sc-info - | cmp - expected
'
test_that 'JSON holds the same facts' '
    sc-info --json cbf.npy >json
    test "$(json count <json) $(json channels <json) $(json length <json)" = "90 1 128"
    test "$(json classes <json) $(json labelled <json) $(json soft <json)" = "3 true false"
    test "$(json kind <json) $(json nan <json)" = "dataset 0"
    grep -q "{\"class\": 2, \"name\": \"funnel\", \"count\": 30}" json
    grep -q "\"shape\": \[90, 1, 128\]" json
'
test_that 'a table has one row for each file, with the bytes that count' '
    sc-select -n 2 cbf.npy -o few.npy
    sc-teacher -q --steps 1 cbf.npy -o one.tch
    sc-views -q -t one.tch -m 10 few.npy -o views.npy
    sc-shapelets -q -k 2 cbf.npy -o pool.slp
    sc-info --tsv cbf.npy few.npy views.npy pool.slp one.tch >table
    test "$(head -n 1 table | tr "\t" " ")" = "file kind bytes count channels length classes labels views content"
    cut -f 1,2,4- table | tr "\t" " " | tail -n +2 >got
    {
        echo "cbf.npy dataset 90 1 128 3 hard 0 $((90 * (128 * 4 + 4)))"
        echo "few.npy dataset 6 1 128 3 hard 0 $((6 * (128 * 4 + 4)))"
        echo "views.npy dataset 6 1 128 3 soft 10 $((6 * (128 * 4 + 4) + 12 * 8 + (6 + 10) * 2))"
        echo "pool.slp pool 2 1 128 3 - - -"
        echo "one.tch teacher - - - - - - -"
    } | diff - got
    test "$(awk "NR == 2 { print \$3 }" table)" = "$(wc -c <cbf.npy | tr -d " ")"
    fails 2 "exclude each other" sc-info --json --tsv cbf.npy
'
test_that 'several files are described one after another' '
    sc-info cbf.npy cbf.npy | grep -c "^cbf.npy: dataset" | grep -qx 2
    sc-info --json cbf.npy cbf.npy | grep -c "^}" | grep -qx 2
    sc-info -o described.txt cbf.npy
    grep -q "^cbf.npy: dataset" described.txt
'
test_that 'NaN and infinity are counted and left out of the rest' '
    cp cbf.npy odd.npy
    { printf "\000\000\300\177\000\000\200\177\000\000\200\377"; } |
        dd of=odd.npy bs=1 seek=128 conv=notrunc 2>/dev/null
    sc-info odd.npy | grep -q "1 NaN, 2 infinite"
    test "$(member odd.npy nan) $(member odd.npy infinite)" = "1 2"
    refute sh -c "sc-info --json odd.npy | grep -iE \"[ :](nan|-?inf),\""
'
test_that 'long lists are cut short unless all is asked for' '
    sc-gen planted -n 200 -V 50 -C 40 -o wide.npy
    test "$(sc-info wide.npy | wc -l)" -lt 60
    sc-info wide.npy | grep -q "and 30 more (--all)"
    sc-info wide.npy | grep -q "and 20 more (--all)"
    test "$(sc-info -a wide.npy | grep -c " class-")" = 50
    refute sh -c "sc-info --all wide.npy | grep more"
    # A line that says "and 1 more" would take as much room as that one.
    sc-gen planted -n 124 -V 31 -C 11 -o nearly.npy
    refute sh -c "sc-info nearly.npy | grep more"
    test "$(sc-info --json wide.npy | grep -c "\"class\":")" = 50
'
test_that 'arrays that are no dataset are shown with the reason' '
    tail -c +$((128 + 90 * 512 + 1)) cbf.npy | head -c $((128 + 90 * 4)) >y.npy
    sc-info y.npy >text
    grep -q "^y.npy: 1 array$" text
    grep -q "no dataset: series must have the shape" text
    grep -qE "^ +1 +0 +2 +1 +0.816497$" text
    test "$(member y.npy kind)" = arrays
'
test_that 'series without labels are a dataset without classes' '
    head -c $((128 + 90 * 512)) cbf.npy >x.npy
    sc-info x.npy | grep -q "90 series, 1 channel, 128 steps, no labels$"
    test "$(member x.npy labelled) $(member x.npy classes)" = "false 0"
'
test_that 'a teacher is described by its network, its size and its tensors' '
    sc-teacher -q cbf.npy -v cbf.npy --steps 5 -n "cnn depth=2 width=8" -o teacher.tch
    sc-info teacher.tch >text
    # 8 (3 + 1) + 16, 8 (8 3 + 1) + 16, 3 (8 32 + 1)
    grep -q "^teacher.tch: teacher, 1035 parameters$" text
    grep -q "^network   cnn depth=2 width=8 .*channels=1 length=128 classes=3$" text
    grep -qE "^ +classifier.weight +\(3, 256\)$" text
    grep -qE "^made by   sc-teacher [0-9.]+ " text
    sc-info --json teacher.tch >json
    test "$(json kind <json) $(json parameters <json)" = "teacher 1035"
    grep -q "{\"name\": \"classifier.bias\", \"shape\": \[3\]}" json
    head -c 600 teacher.tch >cut.tch
    fails 1 "cut.tch: " sc-info cut.tch
'
test_that 'bad files are refused with the reason' '
    : >empty.npy
    fails 1 "empty.npy: empty file" sc-info empty.npy
    fails 1 "standard input: empty file" sc-info </dev/null
    head -c 100 cbf.npy >cut.npy
    fails 1 "cut.npy: " sc-info cut.npy
    head -c 47000 cbf.npy >cut.npy
    fails 1 "cut.npy: truncated" sc-info --json cut.npy
    echo "1,2,3" >text.csv
    fails 1 "text.csv: neither NPY nor a shapelet pool (.slp) nor a teacher (.tch)" sc-info text.csv
    fails 1 "none.npy: No such file" sc-info none.npy
    fails 1 "Is a directory" sc-info .
    fails 1 "No space left" sc-info cbf.npy -o /dev/full
    fails 1 "none.npy: No such file" sc-info cbf.npy none.npy -o described-twice.txt
    test ! -e described-twice.txt
'
name='a file without permission is refused'
if unprivileged sc-info --version >/dev/null 2>&1; then
    test_that "$name" '
        cp cbf.npy secret.npy
        chmod 000 secret.npy
        fails 1 "secret.npy: Permission denied" unprivileged sc-info secret.npy
    '
else
    skip_that "$name" 'cannot become another user'
fi

python=$(python_with json numpy)
name='JSON is valid whatever names and notes hold, and types are those of the file'
if [ -n "$python" ]; then
    test_that "$name" '
        "$python" -c "
import numpy as np
with open(\"strange.npy\", \"wb\") as f:
    np.save(f, np.asfortranarray(np.full((4, 2, 3), np.nan, dtype=\">f8\")))
    np.save(f, np.array([0, 1, 1, 0], dtype=\">u2\"))
    np.save(f, np.array([[1, 0], [3, 4], [2, 1], [5, 0]], dtype=\"f2\"))
    np.save(f, np.array([chr(34) + chr(92) + chr(10), chr(27) + chr(0x1f600)]))
    np.save(f, np.array(\"a\tb\nc\"))"
        sc-info strange.npy >text
        sc-info --json strange.npy | "$python" -c "
import json, sys
found = json.load(sys.stdin)
assert found[\"min\"] is None and found[\"std\"] is None and found[\"nan\"] == 24
assert [a[\"type\"] for a in found[\"arrays\"]][:3] == [\">f8\", \">u2\", \"<f2\"]
assert [a[\"order\"] for a in found[\"arrays\"]][:2] == [\"F\", \"C\"]
assert found[\"class_list\"][0][\"name\"] == chr(34) + chr(92) + chr(10)
assert found[\"class_list\"][1][\"name\"] == chr(27) + chr(0x1f600)
assert found[\"provenance\"] == [\"a\tb\", \"c\"]
assert found[\"soft_labels\"][\"agreement\"] == 0.75 and found[\"soft_labels\"][\"max\"] == 5"
        refute grep -q "$(printf "\033")" text
    '
else
    skip_that "$name" "no NumPy"
fi
finish
