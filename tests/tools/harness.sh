#!/bin/sh
# The tests' own lib.sh.
. "$(dirname "$0")/lib.sh"

# ended PROCESS: it is no more, or only to be reaped.  A busy machine may need a moment.
ended() {
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        if ! grep "^State:.[^Z]" "/proc/$1/status"; then return 0; fi
        sleep 1
    done
    return 1
}
# A file of tests whose only one leaves something running.
cat >inner.sh <<END
. "$SC_ROOT/tests/tools/lib.sh"
test_that leaves '
    sleep 1000 &
    echo \$! >"$scratch/left"
    eval "\$COMMAND"
'
finish
END

test_that 'a test that fails leaves nothing running' '
    refute env COMMAND=false sh inner.sh
    ended "$(cat left)"
'
test_that 'the first command that fails ends a test' '
    refute env COMMAND="false; true" sh inner.sh
    COMMAND=true sh inner.sh
    ended "$(cat left)"
'
finish
