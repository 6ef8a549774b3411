#!/bin/sh
# Data as people have them, on their way into a dataset: what sc-import says to each.  Either the dataset
# is right, or a message says what to do; nothing is silently taken for something else.  JOURNEYS=show
# prints the commands and what they say.
. "$(dirname "$0")/lib.sh"

# Thirty series of three classes and eight steps, in the shapes that follow.  awk's `row` has the values.
rows_of() {
    awk -v separator="${2:-,}" -v comma="${3-}" "
        function value(i, t) { v = sprintf(\"%.3f\", sin(i * 1.7 + t * (i % 3 + 1) / 2)); if (comma) sub(/\\./, \",\", v); return v }
        function values(i,    t, text) {
            for (t = 0; t < 8; t++) text = text (t ? separator : \"\") value(i, t)
            return text
        }
        BEGIN { split(\"ok,fault A,fault B\", kinds, \",\"); for (i = 0; i < 30; i++) { kind = kinds[i % 3 + 1]; $1 } }"
}
names=t0,t1,t2,t3,t4,t5,t6,t7

# journey SUMMARY COMMAND...: it ends well and says this.
journey() {
    journey_expected=$1
    shift
    rm -f out.npy
    "$@" -o out.npy 2>said || { cat said; return 1; }
    show "$@"
    grep -qF -- "$journey_expected" said || { cat said; return 1; }
    test -s out.npy
}
# refused MESSAGE COMMAND...: it ends with 1, says this, and writes nothing.
refused() {
    refused_message=$1
    shift
    rm -f out.npy
    fails 1 "$refused_message" "$@" -o out.npy
    cp .stderr said
    show "$@"
    refute test -e out.npy
}
show() {
    if [ "${JOURNEYS-}" = show ]; then { echo "\$ $*"; cat said; } >>"$SC_BUILD/journeys.txt"; fi
}
understood='30 series, 1 channel, 8 steps, 3 classes: fault A (10), fault B (10), ok (10)'
if [ "${JOURNEYS-}" = show ]; then : >"$SC_BUILD/journeys.txt"; fi

test_that '1: a UCR pair' '
    rows_of "print i % 3 \"\t\" values(i)" "\t" >all.tsv
    head -n 20 all.tsv >Set_TRAIN.tsv
    tail -n 10 all.tsv >Set_TEST.tsv
    journey "30 series, 1 channel, 8 steps, 3 classes: 0 (10), 1 (10), 2 (10)" sc-import Set_TRAIN.tsv Set_TEST.tsv
'
test_that '2: a table with the label last and no header: the message names the option' '
    rows_of "print values(i) \",\" kind" >last.csv
    refused "last.csv:1: column 9: '"'ok'"' is not a number (is it the label? --label last); the same in 29 more" sc-import last.csv
    journey "$understood" sc-import --label last last.csv
'
test_that '3: a header with a label column' '
    { echo "$names,label"; rows_of "print values(i) \",\" kind"; } >header.csv
    journey "$understood" sc-import header.csv
    grep -q "header.csv: the labels are in column 9, .label." said
'
test_that '4: the index of pandas' '
    { echo ",$names,label"; rows_of "print i \",\" values(i) \",\" kind"; } >index.csv
    journey "$understood" sc-import index.csv
    grep -q "index.csv: column 1 has no name: left out as the index of a table" said
'
test_that '5: columns that pandas has numbered' '
    { echo "0,1,2,3,4,5,6,7,label"; rows_of "print values(i) \",\" kind"; } >numbered.csv
    journey "$understood" sc-import numbered.csv
    grep -q "numbered.csv:1: taken for names of columns" said
'
test_that '6: identifiers that are text' '
    { echo "device,$names,label"; rows_of "print \"dev-\" i \",\" values(i) \",\" kind"; } >text-id.csv
    refused "column 1: '"'dev-0'"' is not a number (--drop device leaves the column out" sc-import text-id.csv
    journey "$understood" sc-import --drop device text-id.csv
'
test_that '7: identifiers that are numbers' '
    { echo "device,$names,label"; rows_of "print 1000 + i \",\" values(i) \",\" kind"; } >number-id.csv
    journey "warning: the values of column 1 count up by one: if they number the rows, --drop 1" sc-import number-id.csv
    journey "$understood" sc-import --drop 1 number-id.csv
    { echo "device,$names,label"; rows_of "print i * 7919 % 10007 \",\" values(i) \",\" kind"; } >odd-id.csv
    journey "warning: the values of column 1 are all different whole numbers" sc-import odd-id.csv
'
test_that '8: a label with a name of its own, in the middle' '
    { echo "state,$names" | sed "s/state,t0/t0,state/"; rows_of "v = values(i); sub(\",\", \",\" kind \",\", v); print v"; } >middle.csv
    journey "$understood" sc-import --label state middle.csv
    refused "--label: there is no column '"'status'"'; there are 9: t0, state, t1" sc-import --label status middle.csv
'
test_that '9: semicolons and decimal commas' '
    { echo "$names;label" | tr , ";"; rows_of "print values(i) \";\" kind" ";" 1; } >german.csv
    journey "$understood" sc-import german.csv
    grep -q "german.csv: commas are decimal points" said
'
test_that '10: a log with one value in a row, in any order' '
    { echo "run,time,sensor,value,state"
      rows_of "for (t = 7; t >= 0; t--) { print i \",\" t / 2 \",acc,\" value(i, t) \",\" kind; print i \",\" t / 2 \",gyr,\" value(i + 1, t) \",\" kind }"; } >log.csv
    refused "'"'acc' is not a number; the same in column 5 'state' (a log, with one value of a series in a row?  --long id=COLUMN,time=time,"'" sc-import log.csv
    journey "30 series, 2 channels, 8 steps, 3 classes: fault A (10)" \
        sc-import --long id=run,time=time,channel=sensor,value=value,label=state log.csv
'
test_that '11: groups, held out together' '
    { echo "person,$names,label"; rows_of "print \"p\" i % 10 \",\" values(i) \",\" kind"; } >persons.csv
    journey "30 series, 1 channel, 8 steps, 10 groups, 3 classes" sc-import --group person persons.csv
    sc-split --by group --train 0.7 --test 0.3 -o part out.npy 2>said
    grep -q "test: 9 of 30 series" said
'
test_that '12: what sc-export writes' '
    sc-import -q header.csv -o set.npy
    for end in npz ts; do
        sc-export -f $end set.npy -o set.$end 2>/dev/null || continue
        journey "$understood" sc-import set.$end
    done
'
test_that '13: unequal lengths and missing values, all at once' '
    printf "label,a,b,c\nx,1,2,3\nx,1,2\ny,1,,3\ny,1,two,3\n" >gaps.csv
    refused "gaps.csv:3: 2 values, but line 2 has 3 (--lengths pads or cuts)" sc-import gaps.csv
    grep -qF "gaps.csv:4: column 3: missing value (--missing fills it in)" said
    grep -qF "gaps.csv:5: column 3: '"'two'"' is not a number" said
    sed -i "s/two/2/" gaps.csv
    journey "4 series, 1 channel, 3 steps, 2 classes: x (2), y (2)" sc-import --lengths pad --missing linear gaps.csv
'
test_that '14: files of others are recognised' '
    printf "PAR1....PAR1" >table.parquet
    refused "pd.read_parquet('"'table.parquet'"').to_csv('"'table.csv'"', index=False)" sc-import table.parquet
    printf "ARROW1\0\0" >table.feather
    refused "pd.read_feather(" sc-import table.feather
    printf "\211HDF\r\n\032\n" >table.h5
    refused "h5py.File('"'table.h5'"')" sc-import table.h5
    printf "MATLAB 7.3 MAT-file, Platform" >table.mat
    refused "h5py.File('"'table.mat'"'); np.savez('"'table.npz', X=f['X'][:].T"'" sc-import table.mat
    printf "MATLAB 5.0 MAT-file, Platform" >table.mat
    refused "scipy.io.loadmat(" sc-import table.mat
    printf "\200\005\225\001" >pickled
    refused "pd.read_pickle('"'pickled'"')" sc-import pickled
    gzip -c header.csv >header.csv.gz
    refused "a gzip file" sc-import header.csv.gz
'
test_that '15: a class of one series' '
    { cat header.csv; echo "1,2,3,4,5,6,7,8,odd"; } >single.csv
    journey "1 of 4 classes has one series only, such as '"'odd'"'" sc-import single.csv
'
test_that '21: a table straight into shapecond, and out as a table' '
    shapecond header.csv --import "--label label" --spc 1 --steps 5 --views 20 --no-score --force -o tiny.csv 2>said
    grep -q "tiny.csv has the views written out as series" said
    journey "23 series, 1 channel, 8 steps, 3 classes" sc-import tiny.csv
    fails 1 "sc-import failed" shapecond text-id.csv --spc 1 -o none.npy
    grep -q "drop device" .stderr
'
test_that '26: numbers that are no steps, and labels that nothing names' '
    { echo "person,v0,v1,v2,v3,v4,v5,v6,v7,state"; rows_of "print i % 5 \",\" values(i) \",\" kind"; } >person.csv
    sc-import person.csv -o none.npy 2>said
    grep -q "column 1 is a step of the series, but it is called .person., not as .v0.: --drop 1" said
    { echo "v0,v1,v2,v3,v4,v5,v6,v7,state"; rows_of "print values(i) \",\" kind"; } >steps.csv
    sc-import steps.csv -o none.npy 2>said
    refute grep "is a step of the series" said
    { echo "person,v0,v1,vx,v3,v4,v5,v6,v7,state"; rows_of "print i % 5 \",\" values(i) \",\" kind"; } >other.csv
    sc-import other.csv -o none.npy 2>said
    refute grep "is a step of the series" said
    { echo "person,v0,v1,v2,v3,v4,v5,v6,v7,code"; rows_of "print i % 5 \",\" values(i) \",\" i % 3"; } >codes.csv
    sc-import codes.csv -o none.npy 2>said
    grep -q "the labels are taken from column 1, .person.; --label names another" said
    refused "there is no column '"'Code'"'; did you mean '"'code'"'?" sc-import codes.csv --label Code
'
test_that '27: columns are asked for where there are arrays' '
    sc-gen cbf -n 6 -L 16 | sc-export -q -o arrays.npz
    for option in "--label state" "--drop id" "--group person"; do
        refused "arrays.npz: --label, --drop and --group name columns of a table" sc-import $option arrays.npz
    done
    sc-import arrays.npz -o arrays.npy 2>said
'
test_that '22: the only column of text of a table with a header holds the labels' '
    { echo "$names,state"; rows_of "print values(i) \",\" kind"; } >state.csv
    journey "$understood" sc-import state.csv
    grep -q "state.csv: the labels are in column 9, .state.: the others are numbers" said
    { echo "state,$names"; rows_of "print kind \",\" values(i)"; } >first.csv
    journey "$understood" sc-import first.csv
    { echo "$names"; echo "1,2,3,n.a.,5,6,7,8"; rows_of "print values(i)"; } >odd.csv # not a column of text
    refused "odd.csv:2: column 4: '"'n.a.'"' is not a number" sc-import odd.csv
    { echo "machine,$names,state"; rows_of "print \"m\" i % 5 \",\" values(i) \",\" kind"; } >two-texts.csv
    refused "column 10: '"'ok'"' is not a number (is it the label? --label last)" sc-import two-texts.csv
    refused "column 1: '"'m0'"' is not a number (--drop machine leaves the column out" sc-import --label state two-texts.csv
    refused "column 1: '"'m0' is not a number; the same in column 10 'state' (--drop machine"'" sc-import --label t3 two-texts.csv
    journey "8 steps, 5 groups, 3 classes" sc-import --group machine two-texts.csv
'
test_that '23: names of columns above a table with tabs, whatever its ending' '
    tr , "\t" <state.csv >state.txt
    journey "$understood" sc-import state.txt
    cp state.txt state.tsv
    journey "$understood" sc-import --label state state.tsv
'
test_that '24: JSON, bzip2 and xz files' '
    echo "[{\"t0\": 1}]" >table.json
    refused "a JSON file, which cannot be read.  In Python: import pandas as pd; pd.read_json('"'table.json'"')" sc-import table.json
    printf "BZh91AY" >table.csv.bz2
    refused "bz2.open('"'table.csv.bz2'"')" sc-import table.csv.bz2
    printf "\3757zXZ" >table.csv.xz
    refused "lzma.open('"'table.csv.xz'"')" sc-import table.csv.xz
'
test_that '25: a table whose label has another name, straight into shapecond' '
    shapecond header.csv --label label --spc 1 --steps 5 --views 0 --no-score --force -o tiny.npy 2>said
    grep -q "^+ sc-import --label label -o" said
    fails 1 "pass its options on as in --import" shapecond text-id.csv --spc 1 -o none.npy
'
python=$(python_with numpy)
if [ -n "$python" ]; then
    "$python" -c "
import numpy as np
X = np.random.default_rng(1).normal(size=(30, 8, 3))
y = np.array(['ok', 'fault A', 'fault B'])[np.arange(30) % 3]
np.save('nlc.npy', X); np.save('ncl.npy', X.transpose(0, 2, 1)); np.save('x.npy', X[:, :, 0])
np.save('wide.npy', X[:, :2]); np.save('y.npy', y); np.save('objects.npy', y.astype(object))
np.save('hot.npy', np.eye(3)[np.arange(30) % 3])
np.savez('xy.npz', X=X[:, :, 0], y=y)
np.savez_compressed('parts.npz', X_train=X[:20, :, 0], y_train=y[:20], X_test=X[20:, :, 0], y_test=y[20:])
"
    test_that '16: arrays with labels in a file of their own, also one-hot' '
        journey "$understood" sc-import x.npy --labels y.npy
        journey "30 series, 1 channel, 8 steps, 3 classes: 0 (10), 1 (10), 2 (10)" sc-import x.npy --labels hot.npy
    '
    test_that '17: labels that are Python objects' '
        refused "objects.npy: array of Python objects; save numbers or text instead: x.astype('"'f4'"'), y.astype(str)" \
            sc-import x.npy --labels objects.npy
    '
    test_that '18: (N, L, C) arrays' '
        journey "warning: more channels (8) than steps (3): if the array is (N, L, C), --axes nlc says so" \
            sc-import nlc.npy --labels y.npy
        journey "30 series, 3 channels, 8 steps" sc-import --axes nlc nlc.npy --labels y.npy
        cp out.npy turned.npy
        journey "30 series, 3 channels, 8 steps" sc-import ncl.npy --labels y.npy
        cmp -n 3008 out.npy turned.npy # X, before the notes
    '
    test_that '19: npz of np.savez' '
        journey "$understood" sc-import xy.npz
    '
    test_that '20: npz with train and test' '
        refused "several arrays of series: X_train, X_test; --array says which" sc-import parts.npz
        journey "20 series, 1 channel, 8 steps, 3 classes" sc-import --array X_train parts.npz
    '
else
    skip_that '16 to 20: arrays of NumPy' 'no Python with NumPy'
fi
finish
