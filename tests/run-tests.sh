#!/bin/sh
# Runs every unit test of BUILD/tests and every shell test of tests/tools, and counts.
# Each speaks TAP; what it printed is kept in BUILD/logs.  Names after BUILD choose tests:
#     tests/run-tests.sh build test_npy import
# Ends with "N passed, N failed" and fails if any test did.
set -u
cd "$(dirname "$0")/.." || exit 1
build=$1
shift
case $build in /*) ;; *) build=$PWD/$build ;; esac
logs=$build/logs
rm -rf "$logs"
mkdir -p "$logs"

programs=$(find "$build/tests" -maxdepth 1 -type f -perm -u+x -name 'test_*' 2>/dev/null | sort)
scripts=$(find tests/tools -maxdepth 1 -name '*.sh' ! -name 'lib.sh' | sort)
chosen=
for test in $programs $scripts; do
    name=$(basename "$test" .sh)
    if [ $# -gt 0 ]; then
        case " $* " in *" $name "*) ;; *) continue ;; esac
    fi
    chosen="$chosen $test"
done
[ -n "$chosen" ] || { echo "no tests" >&2; exit 1; }

export SC_BUILD="$build" SC_ROOT="$PWD" SC_LOGS="$logs"
export CMOCKA_MESSAGE_OUTPUT=TAP ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1
# shellcheck disable=SC2086 # one test per word
printf '%s\n' $chosen | xargs -P "$(nproc)" -I '{}' sh -c '
    name=$(basename "{}" .sh)
    PATH="$SC_BUILD/bin:$PATH" "{}" >"$SC_LOGS/$name.log" 2>&1 </dev/null
    echo $? >"$SC_LOGS/$name.status"'

passed=0 failed=0 skipped=0
for test in $chosen; do
    name=$(basename "$test" .sh)
    log=$logs/$name.log
    status=$(cat "$logs/$name.status")
    skip=$(grep -ciE '^ok .*# skip' "$log")
    ok=$(($(grep -c '^ok ' "$log") - skip))
    bad=$(grep -c '^not ok ' "$log")
    # A test that died, or that counted nothing, has failed.
    if [ "$bad" -eq 0 ] && { [ "$status" -ne 0 ] || [ $((ok + skip)) -eq 0 ]; }; then bad=1; fi
    passed=$((passed + ok)) failed=$((failed + bad)) skipped=$((skipped + skip))
    if [ "$bad" -gt 0 ]; then
        printf 'FAIL %s (exit %s)\n' "$name" "$status"
        sed 's/^/    /' "$log"
    else
        printf 'ok   %-24s %s passed\n' "$name" "$ok"
        grep -iE '^ok .*# skip' "$log" | sed 's/^ok [-0-9 ]*/     skipped: /'
    fi
done
if [ "$skipped" -gt 0 ]; then echo "$skipped skipped"; fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
