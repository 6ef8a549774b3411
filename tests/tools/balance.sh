#!/bin/sh
# sc-balance
. "$(dirname "$0")/lib.sh"

class_sizes() {
    sc-info --json "$1" | sed -n 's/.*"class": .*"count": \([0-9]*\)}.*/\1/p' | tr '\n' ' '
}

test_that 'the examples of the manual page run' '
    run_examples sc-balance
    set -- $(class_sizes even.npy)
    test "$1" = "$2"
    test "$2" = "$3"
    test "$(class_sizes more.npy)" = "200 200 200 "
'
test_that 'the series of the dataset come first and stay as they are' '
    sc-gen two-patterns -n 100 --imbalance 0.2 -o set.npy
    for method in copy smote; do
        sc-balance --method $method set.npy -o balanced.npy
        tail -c +129 set.npy | head -c 51200 >original
        tail -c +129 balanced.npy | head -c 51200 | cmp - original
    done
'
test_that 'copies add no new series, and smote does' '
    sc-balance set.npy -o copied.npy
    sc-balance --method smote set.npy -o smoted.npy
    count=$(sc-info --json copied.npy | json count)
    for kind in copied smoted; do
        tail -c +129 $kind.npy | head -c $((count * 512)) | od -An -v -tx4 -w512 | sort -u | wc -l
    done >distinct
    test "$(head -n 1 distinct)" = 100
    test "$(tail -n 1 distinct)" = "$count"
'
test_that 'the seed decides and the number of threads does not' '
    sc-balance --method smote --threads 1 set.npy -o one.npy
    sc-balance --method smote --threads 3 <set.npy | cmp - one.npy
    sc-balance --method smote --seed 1 set.npy -o other.npy
    content one.npy >one.txt
    content other.npy >other.txt
    refute cmp -s one.txt other.txt
    sc-info one.npy | grep -q "sc-balance .* --method=smote --seed=0 <"
'
test_that 'a class of one series is copied and an empty one stays so, with a remark' '
    sc-gen two-patterns -n 5 -o tiny.npy
    sc-balance --method smote --to 3 tiny.npy -o three.npy 2>remark
    test "$(class_sizes three.npy)" = "3 3 3 3 "
    grep -q "3 of the 4 classes have one series only" remark
    sc-split -q --train 3 --only train tiny.npy | sc-balance --to 2 -o two.npy 2>remark
    grep -q "1 of the 4 classes have no series" remark
'
test_that 'bad input is refused and leaves no file' '
    fails 2 "not one of: copy, smote" sc-balance --method clone set.npy -o none.npy
    fails 2 "too large" sc-balance -k 65 set.npy -o none.npy
    head -c $((128 + 51200)) set.npy >bare.npy
    fails 1 "bare.npy: no labels" sc-balance bare.npy -o none.npy
    head -c 3000 set.npy >cut.npy
    fails 1 "cut.npy: truncated" sc-balance cut.npy -o none.npy
    : >empty.npy
    fails 1 "empty.npy: " sc-balance empty.npy -o none.npy
    cp set.npy nan.npy
    printf "\000\000\200\377" | dd of=nan.npy bs=1 seek=128 conv=notrunc 2>/dev/null
    fails 1 "nan.npy: series 0, channel 0, step 0: infinite, or too large" sc-balance nan.npy -o none.npy
    fails 1 "out of memory" sc-balance --to 9999999999999999999 set.npy -o none.npy
    test ! -e none.npy
    fails 1 "No space left" sc-balance set.npy -o /dev/full
'
finish
