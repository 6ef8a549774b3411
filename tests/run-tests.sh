#!/bin/sh
# Runs every unit test of BUILD/tests and every shell test of tests/tools, and counts.
# Each speaks TAP; what it printed is kept in BUILD/logs.  Names after BUILD choose tests:
#     tests/run-tests.sh build test_npy import
# Ends with "N passed, N failed" and fails if any test did.
#
# What the tests see does not depend on how this was started: signals that are ignored or blocked
# (nohup, some CI systems), which no shell can reset, are as in a terminal; of the environment only
# the variables below are left.  SC_RUNNER goes before the names of unit tests: an emulator.
set -u
if [ -z "${SC_CLEAN-}" ]; then
    set -- SC_CLEAN=1 "$0" "$@"
    for name in PATH HOME TMPDIR TERM TZ LANG LANGUAGE LC_ALL LC_CTYPE LC_NUMERIC LC_COLLATE LC_MESSAGES LC_TIME \
        LOCPATH LD_LIBRARY_PATH LD_PRELOAD PKG_CONFIG_PATH PYTHON PYTHONPATH CC CFLAGS LDFLAGS \
        ASAN_OPTIONS LSAN_OPTIONS TSAN_OPTIONS UBSAN_OPTIONS MALLOC_PERTURB_ GCOV_PREFIX \
        SC_RUNNER SC_STOP SHAPECOND_CLUSTER SHAPECOND_CPU SHAPECOND_SCRATCH SHAPECOND_THREADS; do
        if eval "[ -n \"\${$name+set}\" ]"; then eval "set -- \"$name=\$$name\" \"\$@\""; fi
    done
    if env --default-signal true 2>/dev/null; then set -- --default-signal "$@"
    else echo "env(1) cannot reset signals: tests that send them may fail if they are ignored" >&2; fi
    exec env -i "$@"
fi
cd "$(dirname "$0")/.." || exit 1
build=${1-build}
[ -d "$build/tests" ] || {
    echo "usage: tests/run-tests.sh BUILD [NAME...]; there are no tests in $build (make check builds them)" >&2
    exit 2
}
if [ $# -gt 0 ]; then shift; fi
case $build in /*) ;; *) build=$PWD/$build ;; esac
logs=$build/logs
rm -rf "$logs"
mkdir -p "$logs"

programs=$(find "$build/tests" -maxdepth 1 -type f -perm -u+x -name 'test_*' 2>/dev/null | sort)
# The longest files take longest, and are started first.
scripts=$(find tests/tools -maxdepth 1 -name '*.sh' ! -name 'lib.sh' -printf '%s %p\n' | sort -rn | cut -d ' ' -f 2)
chosen=
for test in $scripts $programs; do
    name=$(basename "$test" .sh)
    if [ $# -gt 0 ]; then
        case " $* " in *" $name "*) ;; *) continue ;; esac
    fi
    chosen="$chosen $test"
done
[ -n "$chosen" ] || { echo "no tests" >&2; exit 1; }
for name; do
    case " $chosen " in *"/$name "* | *"/$name.sh "*) ;; *) echo "no test named $name" >&2; exit 1 ;; esac
done

export SC_BUILD="$build" SC_ROOT="$PWD" SC_LOGS="$logs"
export CMOCKA_MESSAGE_OUTPUT=TAP ASAN_OPTIONS="${ASAN_OPTIONS-detect_leaks=1}" \
    UBSAN_OPTIONS="${UBSAN_OPTIONS-print_stacktrace=1}"
# shellcheck disable=SC2086 # one test per word
printf '%s\n' $chosen | xargs -P "$(nproc)" -I '{}' sh -c '
    name=$(basename "{}" .sh)
    case {} in *.sh) runner= ;; *) runner=${SC_RUNNER-} ;; esac
    begun=$(date +%s)
    PATH="$SC_BUILD/bin:$PATH" $runner "{}" >"$SC_LOGS/$name.log" 2>&1 </dev/null
    echo "$? $(($(date +%s) - begun))" >"$SC_LOGS/$name.status"'

# Counted in no language: in Turkish, I is not the capital of i.
export LC_ALL=C
passed=0 failed=0 skipped=0
for test in $chosen; do
    name=$(basename "$test" .sh)
    log=$logs/$name.log
    read -r status seconds <"$logs/$name.status"
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
        printf 'ok   %-24s %3s passed %4s s\n' "$name" "$ok" "$seconds"
        grep -iE '^ok .*# skip' "$log" | sed 's/^ok [-0-9 ]*/     skipped: /'
    fi
done
if [ "$skipped" -gt 0 ]; then echo "$skipped skipped"; fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
