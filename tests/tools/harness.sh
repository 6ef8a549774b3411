#!/bin/sh
# The tests' own lib.sh.
. "$(dirname "$0")/lib.sh"

# ended PROCESS: it is no more, or only to be reaped.
ended() {
    refute grep "^State:.[^Z]" "/proc/$1/status"
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
