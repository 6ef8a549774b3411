#!/bin/sh
# share.sh rcs LIBRARY OBJECT...: instead of ar, makes libshapecond a shared library, so that after a
# change of one object only this is linked again, and not all programs and tests.  (The tests of npy-c
# call functions that it hides.)
case $2 in *npy-c*) exec ar "$@" ;; esac
library=$2
shift 2
# shellcheck disable=SC2086 # CC may have words
exec $CC -shared -Wl,-soname,"$(basename "$library")" -o "$library" "$@"
