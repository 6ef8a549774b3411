#!/bin/sh
# sc-import
. "$(dirname "$0")/lib.sh"

# What a dataset holds, as UCR rows: the other direction, which test_export checks by itself.
rows() { sc-export -f ucr "$@" | tr '\t' ' '; }

test_that 'the examples of the manual page run' '
    run_examples sc-import
    test "$(rows all.npy)" = "1 0.5 0.75
2 -1 0
2 -0.5 0.25"
    test "$(rows test.npy)" = "2 -0.5 0.25"
    test "$(rows table.npy)" = "up 1 2 3
down 3 2 2"
'
test_that 'a format is recognised by content, by name or by the option' '
    printf "1,2,3\n" >a.csv
    printf "1\t2\t3\n" >a.tsv
    printf "1 2 3\n" >a.txt
    printf "@classLabel true 1\n@data\n2,3:1\n" >a.ts
    printf "@relation r\n@attribute a numeric\n@attribute b numeric\n@attribute c {1}\n@data\n2,3,1\n" >a.arff
    sc-import a.csv -o a.npy
    for file in a.csv a.tsv a.txt a.ts a.arff a.npy; do
        test "$(sc-import "$file" | rows)" = "1 2 3"
        cp "$file" nameless
        test "$(sc-import nameless | rows)" = "1 2 3"
        test "$(sc-import <"$file" | rows)" = "1 2 3"
        test "$(cat "$file" | sc-import - | rows)" = "1 2 3"
        case $file in *.tsv|*.txt) format=ucr ;; *) format=${file#a.} ;; esac
        test "$(sc-import --format $format nameless | rows)" = "1 2 3"
    done
    fails 1 "a.ts:1: column 2: " sc-import -f ucr a.ts
'
test_that 'many files are pooled in order' '
    sc-import a.csv a.ts a.arff a.npy a.csv -o five.npy
    test "$(rows five.npy | wc -l)" = 5
'
test_that 'the label map of another dataset is used, and strangers to it are errors' '
    printf "b,1\na,2\n" >train.csv
    printf "b,3\n" >test.csv
    printf "b,3\nc,3\n" >strange.csv
    sc-import train.csv -o train.npy
    sc-import test.csv --classes-from train.npy -o test.npy
    test "$(sc-export -f ts test.npy | grep "^@classLabel")" = "@classLabel true a b"
    fails 1 "sc-import: strange.csv:2: label '"'c'"' is not one of the given classes" \
        sc-import strange.csv --classes-from train.npy -o none.npy
    refute test -e none.npy
'
test_that 'bad input is named by file, line and column, and leaves no file' '
    bad() { printf "$2" >bad."$1"; fails 1 "sc-import: bad.$1$3" sc-import bad."$1" -o none.npy; refute test -e none.npy; }
    bad tsv "1\t2\n1\tabc\n" ":2: column 2: '"'abc'"' is not a number"
    bad tsv "1\t2\t3\n1\t2\n" ":2: 1 values, but line 1 has 2 (--lengths pads or cuts)"
    bad tsv "1\t2\t?\n" ":1: column 3: missing value (--missing fills it in)"
    bad tsv "1\t2\tNaN\n" ":1: column 3: missing value (--missing fills it in)"
    bad csv "" ": empty file"
    bad csv "a,b\n" ": no rows of data"
    bad ts "@dimension 2\n@classLabel true a\n@data\n1:a\n" ":4: 1 channels where the header declares 2"
    bad ts "@classLabel true a\n@data\n1:b\n" ":3: label '"'b'"' is not among the classes that the header declares"
    bad arff "@relation x\n@attribute a numeric\n" ": no @data line"
    bad npy "1,2\n" ": not an NPY file"
    bad tsv "1\t1e99\n" ":1: column 2: '"'1e99'"' is too large for a 32-bit float"
    fails 1 "sc-import: .: Is a directory" sc-import .
    fails 1 "sc-import: nowhere.tsv: No such file or directory" sc-import nowhere.tsv
    fails 1 "sc-import: standard input: empty file" sc-import </dev/null
    fails 1 "sc-import: a.csv: --labels is for NPY files" sc-import a.csv --labels a.npy
    fails 1 "sc-import: five.npy: the file has labels of its own" sc-import five.npy --labels a.npy
'
test_that 'what makes no sense is a usage error' '
    fails 2 "is not one of: auto, ucr, csv, ts, arff, npy, npz" sc-import -f tsv a.tsv
    fails 2 "--length needs --lengths" sc-import --length 5 a.tsv
    fails 2 "--labels is given 1 times for 2 files" sc-import a.npy a.npy --labels y.npy
'
name='a file without permission is named'
if unprivileged sc-import --version >/dev/null 2>&1; then
    test_that "$name" '
        printf "1,2\n" >secret.csv
        chmod 0 secret.csv
        fails 1 "sc-import: secret.csv: Permission denied" unprivileged sc-import secret.csv
    '
else
    skip_that "$name" 'cannot become another user'
fi
test_that 'labels that are not whole numbers raise a warning' '
    printf "0.5,1,7\n0.25,1,8\n" | sc-import -o odd.npy 2>warning
    grep -q "warning: the labels are numbers that are not whole" warning
    printf "0.5,1,7\n0.25,1,8\n" | sc-import -q --label last -o odd.npy 2>warning
    refute test -s warning
'
test_that 'a header that has numbers is recognised, or raises a warning' '
    printf "label,0,1\n1,5,6\n2,7,8\n" >pandas.csv
    sc-import pandas.csv -o odd.npy 2>said
    grep -q "pandas.csv:1: taken for names of columns" said
    test "$(rows odd.npy)" = "1 5 6
2 7 8"
    printf "kind,7,1\n1,5,6\n2,7,8\n" >odd.csv
    sc-import odd.csv -o odd.npy 2>warning
    grep -q "warning: the label of the first row alone is not a number; --header" warning
    sc-import -q --header odd.csv -o odd.npy 2>warning
    refute test -s warning
    printf "a,0,1\n1,5,6\na,7,8\n" | sc-import -q -o odd.npy 2>warning
    refute test -s warning
'
test_that 'npz files are read back as they were exported, and groups stay' '
    printf "a,p1,1,2,3\nb,p2,4,5,6\na,p1,7,8,9\nb,p3,1,0,2\n" >groups.csv
    sc-import --group 2 groups.csv -o groups.npy 2>said
    grep -q "4 series, 1 channel, 3 steps, 3 groups, 2 classes: a (2), b (2)" said
    sc-export -f npz groups.npy -o groups.npz
    sc-import groups.npz -o back.npy
    test "$(content back.npy)" = "$(content groups.npy)"
    sc-info back.npy | grep -q "groups  *<u4"
    sc-split --by group --train 0.5 --test rest -o part groups.npy
    for part in train test; do sc-info part-$part.npy | grep -q "groups  *<u4"; done
    printf "not a zip" >bad.npz
    fails 1 "bad.npz: not an NPZ file" sc-import bad.npz
    head -c 300 groups.npz >cut.npz
    fails 1 "cut.npz: not an NPZ file" sc-import cut.npz
    flip groups.npz 190
    fails 1 "groups.npz: " sc-import groups.npz
'
test_that 'provenance has the digests of all inputs and the options that matter' '
    sc-import train.csv test.csv --missing linear --threads 2 -o notes.npy
    line=$(sc-export -f ts notes.npy | grep "^# sc-import ")
    expected=$(for file in train.csv test.csv; do b2sum -l 128 "$file" | cut -c 1-32; done | sed "s/^/ </" | tr -d "\n")
    case $line in *" --missing=linear$expected") ;; *) echo "$line"; exit 1 ;; esac
'
python=$(python_with numpy aeon)
if [ -n "$python" ]; then
    test_that 'the datasets that come with aeon are read as aeon reads them' '
        "$python" "$SC_ROOT/tests/tools/check_aeon.py"
    '
else
    skip_that 'the datasets that come with aeon are read as aeon reads them' 'no Python with aeon'
fi
if [ -d "$data" ]; then
    test_that 'every row of the UCR files is read, whatever the number of threads' '
        for set in FacesUCR TwoPatterns ElectricDevices GunPoint ItalyPowerDemand TiselacNDVI; do
            files=$(ls "$data/$set/${set}_TRAIN."* "$data/$set/${set}_TEST."*)
            sc-import "$data/$set/${set}_TRAIN."* "$data/$set/${set}_TEST."* --threads 1 -o $set.npy
            sc-import "$data/$set/${set}_TRAIN."* "$data/$set/${set}_TEST."* --threads 3 | cmp - $set.npy
            test "$(rows $set.npy | wc -l)" = "$(cat $files | wc -l)"
        done
    '
    test_that 'arrays with labels of their own files are read' '
        for set in HAR Sleep Pedestrian; do
            sc-import "$data/$set/${set}_X.npy" --labels "$data/$set/${set}_y.npy" -o $set.npy
        done
    '
    python=$(python_with numpy)
    if [ -n "$python" ]; then
        test_that 'NumPy reads back exactly what was in the source' '
            "$python" "$SC_ROOT/tests/tools/check_import.py" "$data" .
        '
    else
        skip_that 'NumPy reads back exactly what was in the source' 'no Python with NumPy'
    fi
else
    skip_that 'the real datasets are read' "no $data"
fi
test_that 'classes of one series are remarked upon, unless the file is tiny' '
    { seq 40 | sed "s/.*/a,&,1/"; echo b,1,2; } >single.csv
    sc-import single.csv -o single.npy 2>said
    grep -q "1 of 2 classes has one series only, such as .b" said
    printf "a,1,2\na,2,3\nb,3,4\n" | sc-import -f csv - -o few.npy 2>said
    refute grep "one series only" said
'
test_that 'names in brackets are no JSON, a name is no bzip2, and a missing value or a date is no label' '
    printf "[g] x,[g] y,label\n1,2,a\n2,3,b\n3,1,a\n" >brackets.csv
    sc-import brackets.csv -o none.npy
    printf "BZhang,1,2,3\nBZhang,2,3,4\nOther,3,4,1\n" >name.csv
    sc-import name.csv -o none.npy
    test "$(sc-info --json none.npy | json classes)" = 2
    rm none.npy
    printf "[{\"a\": 1}]\n" >list.txt
    fails 1 "a JSON file" sc-import list.txt -o none.npy
    printf "x1,x2,x3,y1\n1,n/a,3,0\n2,n/a,4,1\n4,n/a,5,0\n" >missing.csv
    fails 1 "is not a number" sc-import missing.csv -o none.npy
    awk "BEGIN { print \"x1,day,x2\"; for (i = 1; i <= 12; i++) print i \",2024-01-\" i \",\" i }" >dates.csv
    fails 1 "column 2" sc-import dates.csv -o none.npy
    test ! -e none.npy
'
finish
