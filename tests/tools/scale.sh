#!/bin/sh
# sc-scale
. "$(dirname "$0")/lib.sh"

member() { sc-info --json "$1" | json "$2"; }
# near A B: equal to six digits after the point.
near() { test "$(printf %.5f "$1" | tr -d -)" = "$(printf %.5f "$2" | tr -d -)"; }

test_that 'the examples of the manual page run' '
    run_examples sc-scale
    near "$(member train.npy mean)" 0
    near "$(member train.npy std)" 1
    near "$(member raw-again.npy std)" "$(member raw-test.npy std)"
    refute near "$(member test.npy mean)" 0
'
test_that 'every channel has mean 0 and deviation 1, and the statistics bring the raw scale back' '
    sc-gen planted -n 700 -C 3 --noise 5 -o raw.npy
    sc-scale raw.npy --save scale.npy | sc-scale --undo --with scale.npy -o again.npy
    for key in min max mean std; do near "$(member raw.npy $key)" "$(member again.npy $key)"; done
    sc-scale raw.npy -o scaled.npy
    test "$(sc-info --json scaled.npy | grep -cE "\"mean\": -?[0-9.]+e-[01][0-9].*\"std\": (1|0.99999[0-9]*|1.00000[0-9]*)," )" = 3
    sc-scale --with scale.npy raw.npy -o with.npy
    tail -c +129 scaled.npy | head -c 1075200 >expected
    tail -c +129 with.npy | head -c 1075200 | cmp - expected
'
test_that 'labels, names and the order stay, and the notes say what was done' '
    test "$(sc-info --json scaled.npy | grep "\"class\":")" = "$(sc-info --json raw.npy | grep "\"class\":")"
    digest=$(member scale.npy digest)
    sc-info with.npy | grep -qE "sc-scale [0-9.]+ <[0-9a-f]{32} <$digest$"
    sc-info again.npy | grep -q "sc-scale [0-9.]* --undo <"
    sc-info scale.npy | grep -q "sc-scale "
'
test_that 'each series by itself' '
    sc-gen two-patterns -n 40 | sc-scale --per-series -o each.npy
    near "$(member each.npy mean)" 0
    near "$(member each.npy std)" 1
    sc-split -q --in-order --train 1 --only train each.npy -o first.npy
    near "$(member first.npy mean)" 0
    near "$(member first.npy std)" 1
'
test_that 'a constant channel loses its mean only, with a remark' '
    sc-gen planted -n 10 --noise 0 --amplitude 0 -o constant.npy
    sc-scale constant.npy --save scale-constant.npy -o zero.npy 2>remark
    grep -q "1 of 1 channels are constant" remark
    test "$(member zero.npy min) $(member zero.npy max)" = "0 0"
    test "$(member scale-constant.npy max)" = 1
    sc-scale --per-series constant.npy -o zero.npy 2>remark
    grep -q "10 constant series" remark
    sc-scale -q constant.npy -o zero.npy 2>remark
    test ! -s remark
'
test_that 'bytes do not depend on the number of threads' '
    sc-scale --threads 1 raw.npy --save one-scale.npy -o one.npy
    sc-scale --threads 3 raw.npy --save three-scale.npy -o three.npy
    cmp one.npy three.npy
    cmp one-scale.npy three-scale.npy
'
test_that 'series without labels are scaled too' '
    head -c $((128 + 1075200)) raw.npy >bare.npy
    sc-scale bare.npy -o bare-scaled.npy
    test "$(member bare-scaled.npy labelled)" = false
    near "$(member bare-scaled.npy std)" 1
'
test_that 'wrong usage is refused' '
    fails 2 "--undo needs" sc-scale --undo raw.npy -o none.npy
    fails 2 "one of the two" sc-scale --with scale.npy --save none.npy raw.npy
    fails 2 "--per-series keeps no statistics" sc-scale --per-series --save none.npy raw.npy
    fails 2 "standard input can be read once only" sc-scale --with -
    fails 2 "are the same file" sc-scale raw.npy --save -
    fails 2 "are the same file" sc-scale raw.npy -o none.npy --save none.npy
'
test_that 'bad input is refused and leaves no file' '
    sc-gen planted -n 10 -C 2 -o two.npy
    fails 1 "two.npy: statistics of 3 channels, but the dataset has 2" \
        sc-scale --with scale.npy two.npy -o none.npy
    fails 1 "raw.npy: not a file of statistics" sc-scale --with raw.npy raw.npy -o none.npy
    fails 1 "gone.npy: No such file" sc-scale --with gone.npy raw.npy -o none.npy
    head -c 150 scale.npy >cut-scale.npy
    fails 1 "cut-scale.npy: truncated" sc-scale --with cut-scale.npy raw.npy -o none.npy
    : >empty.npy
    fails 1 "empty.npy: " sc-scale --with empty.npy raw.npy -o none.npy
    fails 1 "empty.npy: " sc-scale empty.npy -o none.npy --save none-scale.npy
    head -c 5000 raw.npy >cut.npy
    fails 1 "cut.npy: truncated" sc-scale cut.npy -o none.npy --save none-scale.npy
    cp raw.npy nan.npy
    printf "\000\000\300\177" | dd of=nan.npy bs=1 seek=132 conv=notrunc 2>/dev/null
    fails 1 "nan.npy: series 0, channel 0, step 1: NaN" sc-scale nan.npy -o none.npy
    fails 1 "No space left" sc-scale raw.npy -o none.npy --save /dev/full
    fails 1 "No space left" sc-scale raw.npy -o /dev/full --save none-scale.npy
    test ! -e none.npy
    test ! -e none-scale.npy
'
python=$(python_with numpy)
name='NumPy reads the statistics and scales to the same bits'
if [ -n "$python" ]; then
    test_that "$name" '
        "$python" -c "
import numpy as np
raw, scaled = np.load(\"raw.npy\").astype(float), np.load(\"scaled.npy\")
mean, deviation = np.load(\"scale.npy\")
assert np.allclose(mean, raw.mean((0, 2)), rtol=0, atol=1e-12)
assert np.allclose(deviation, raw.std((0, 2)), rtol=1e-12)
assert np.array_equal(scaled, ((raw - mean[:, None]) / deviation[:, None]).astype(np.float32))
np.save(\"foreign.npy\", np.array([mean, deviation], order=\"F\").astype(\">f8\"))"
        sc-scale --with foreign.npy raw.npy -o foreign-scaled.npy
        tail -c +129 foreign-scaled.npy | head -c 1075200 | cmp - expected
    '
else
    skip_that "$name" "no NumPy"
fi
finish
