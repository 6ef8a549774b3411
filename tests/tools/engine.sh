#!/bin/sh
# The network engine's kernels for machines of every kind: the unit tests ran with the best of this one.
. "$(dirname "$0")/lib.sh"

for level in generic avx2; do
    test_that "networks agree with PyTorch and finite differences with the kernels for $level" "
        export SHAPECOND_CPU=$level
        for test in test_nn test_nn_golden test_nn_train; do
            CMOCKA_MESSAGE_OUTPUT=TAP \$SC_BUILD/tests/\$test >\$test.log 2>&1 || { cat \$test.log; false; }
        done
    "
done
finish
