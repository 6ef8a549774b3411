#!/bin/sh
# A sample of make check-faults (tests/faults).
. "$(dirname "$0")/lib.sh"

status=0
"$SC_ROOT/tests/faults/run.sh" "$SC_BUILD" --quick >table 2>&1 || status=$?
name='failing calls and kills lose nothing, leave nothing and are reported (a sample)'
case $status in
77) skip_that "$name" "$(tail -n 1 table)" ;;
*) test_that "$name" 'cat table; test "$status" -eq 0' ;;
esac
test_that 'every program has a command there' '
    for source in "$SC_ROOT"/tools/*.c; do
        echo "$source"
        grep -Eq ": $(basename "$source" .c) " "$SC_ROOT/tests/faults/commands"
    done
'
finish
