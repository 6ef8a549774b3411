#!/bin/sh
# sc-export
. "$(dirname "$0")/lib.sh"

# The arrays of a dataset without its notes, which name the run that made it.
content() { sc-export -f ts "$1" | grep -v '^#'; }

test_that 'the examples of the manual page run' '
    run_examples sc-export
    grep -q "^@problemName CBF$" CBF_TRAIN.ts
'
test_that 'a dataset comes back from text bit for bit' '
    sc-gen cbf -n 50 -o set.npy
    for end in tsv txt ts csv; do
        sc-export set.npy -o set.$end
        sc-import set.$end --classes-from set.npy -o back.npy
        content set.npy >expected
        content back.npy | cmp - expected
    done
'
test_that 'a table has a heading, and names that it cannot hold are refused' '
    sc-export set.npy -o set.csv
    head -n 1 set.csv | grep -q "^label,0,1,2,.*,127$"
    sed -n "2s/^[^,]*,[^,]*/b c,/p;1p" set.csv >gap.csv
    sc-import --missing keep gap.csv -o gap.npy
    sc-export gap.npy -f csv | cmp - gap.csv
    printf "a;b,1,2\\n" | sc-import -f csv -o semicolon.npy
    fails 1 "cannot be written to a CSV file" sc-export semicolon.npy -o none.csv
'
test_that 'a dataset of several channels comes back from .ts bit for bit' '
    sc-gen planted -n 12 --channels 3 --length 60 -o set.npy
    sc-export set.npy -o set.ts
    grep -q "^@dimension 3$" set.ts
    sc-import set.ts --classes-from set.npy -o back.npy
    content set.npy >expected
    content back.npy | cmp - expected
    fails 1 "none.tsv: UCR files hold one channel, this dataset has 3" sc-export set.npy -o none.tsv
    fails 1 "none.csv: CSV files hold one channel, this dataset has 3" sc-export set.npy -o none.csv
    refute test -e none.tsv
    fails 1 "sc-export: standard output: UCR files hold one channel" sc-export -f ucr set.npy
'
test_that 'an .npz has the same bytes whenever and wherever it is made' '
    sc-export -f npz set.npy -o one.npz
    sleep 2 # the resolution of times in ZIP
    TZ=Asia/Tokyo sc-export -f npz <set.npy >two.npz
    cmp one.npz two.npz
'
test_that 'bad input leaves no file' '
    printf "no set" >bad.npy
    fails 1 "sc-export: bad.npy: not an NPY file" sc-export bad.npy -o none.npz
    fails 1 "sc-export: nowhere: No such file or directory" sc-export nowhere -o none.npz
    fails 2 "does not end in .npz, .tsv, .txt, .ts or .csv" sc-export set.npy -o none.dat
    fails 2 "does not end in .npz, .tsv, .txt, .ts or .csv" sc-export set.npy
    printf "a b,1\n" | sc-import -o names.npy
    fails 1 "class name '"'a b'"' cannot be written to a .ts file" sc-export names.npy -o none.ts
    for file in none.*; do refute test -e "$file"; done
'
python=$(python_with numpy)
if [ -n "$python" ]; then
    test_that 'NumPy reads the archive, with all of its arrays' '
        sc-gen cbf -n 30 -o cbf.npy
        sc-export cbf.npy -o cbf.npz
        "$python" -c "
import numpy as np
with open(\"cbf.npy\", \"rb\") as file:
    x, y, names = np.load(file), np.load(file), np.load(file)
archive = np.load(\"cbf.npz\")
assert sorted(archive) == [\"X\", \"classes\", \"notes\", \"y\"], list(archive)
assert np.array_equal(archive[\"X\"], x) and archive[\"X\"].dtype == np.float32
assert np.array_equal(archive[\"y\"], y) and np.array_equal(archive[\"classes\"], names)
assert \"sc-export\" in str(archive[\"notes\"])
"
    '
else
    skip_that 'NumPy reads the archive, with all of its arrays' 'no Python with NumPy'
fi
python=$(python_with numpy aeon)
if [ -n "$python" ]; then
    test_that 'aeon reads the .ts file' '
        sc-gen planted -n 12 --channels 3 --length 60 -o set.npy
        sc-export set.npy -o set.ts
        "$python" -W ignore -c "
import numpy as np
from aeon.datasets import load_from_ts_file
with open(\"set.npy\", \"rb\") as file:
    x, y = np.load(file), np.load(file)
series, labels = load_from_ts_file(\"set.ts\")
assert np.array_equal(series.astype(np.float32), x)
assert len(set(zip(labels, y))) == len(set(y))
"
    '
else
    skip_that 'aeon reads the .ts file' 'no Python with aeon'
fi
test_that 'gaps are exported as they are' '
    sc-gen cbf -n 6 -o gap.npy
    printf "\000\000\300\177" | dd of=gap.npy bs=1 seek=128 conv=notrunc 2>/dev/null
    sc-export -f csv gap.npy | sed -n 2p | grep -q "^[^,]*,,"
'
finish
