#!/bin/sh
# Runs the tests as they may be started elsewhere: environments.sh BUILD [TEST]...
# Each environment differs from the usual one in everything at once; the log says what failed in which.
# ENVIRONMENTS names those to run.  Ends with "N passed, N failed".
set -eu
cd "$(dirname "$0")/.."
build=$1
shift
: "${ENVIRONMENTS:=nohup scheduler bare-hands}"
case $build in /*) ;; *) build=$PWD/$build ;; esac
work=$build/environments
rm -rf "$work"
mkdir -p "$work"

# A locale of our own making: decimals with a comma, or letters whose cases do not pair as in ASCII.
# locale NAME: sets what a user of it has.
use_locale() {
    mkdir -p "$work/locales"
    if [ ! -e "$work/locales/$1.UTF-8" ] &&
        ! localedef --no-archive -i "$1" -f UTF-8 "$work/locales/$1.UTF-8" 2>"$work/localedef.log"; then
        cat "$work/localedef.log" >&2
        echo "no locale $1: install the package locales" >&2
        exit 1
    fi
    export LOCPATH="$work/locales" LC_ALL="$1.UTF-8" LANG="$1.UTF-8" LANGUAGE="${1%_*}"
}

# As nohup and some CI systems start it, by somebody careful with a home of his own for temporary files.
start_nohup() (
    use_locale de_DE
    umask 077
    mkdir -p "$work/a folder for 'temporary' files"
    export TMPDIR="$work/a folder for 'temporary' files"
    unset HOME
    trap '' HUP PIPE INT QUIT TERM USR1 ALRM
    tests/run-tests.sh "$@" </dev/zero
)

# As a scheduler starts it: no terminal, no standard input, signals blocked, variables of all kinds.
start_scheduler() (
    use_locale tr_TR
    umask 000
    export TZ='<odd>-13:37<summer>,J1/0,J200/23' TERM=dumb HOME=/nonexistent
    export MAKEFLAGS=n CDPATH=/usr ENV=/nonexistent BASH_ENV=/nonexistent POSIXLY_CORRECT=1 GREP_OPTIONS=-v \
        GREP_COLORS=mt=31 COLUMNS=10 METHODS=none SETS=none DATA=none SEEDS=none STUDENT=none BUILD=none \
        OPENBLAS_NUM_THREADS=7 OMP_NUM_THREADS=5 SHAPECOND_CUDA_PLUGIN=/nonexistent CMOCKA_TEST_ABORT=1
    exec env --block-signal=HUP,INT,TERM,QUIT,USR1,ALRM,CHLD setsid -w tests/run-tests.sh "$@" <&-
)

# Nothing at all but the PATH, and a locale that is not there.
start_bare_hands() (
    umask 022
    exec env -i PATH="$PATH" LC_ALL=xx_XX.UTF-8 setsid -w tests/run-tests.sh "$@" </dev/null
)

failed=0 passed=0
for name in $ENVIRONMENTS; do
    echo "== $name"
    log=$work/$name.log
    case $name in
        nohup) start_nohup "$build" "$@" ;;
        scheduler) start_scheduler "$build" "$@" ;;
        bare-hands) start_bare_hands "$build" "$@" ;;
        *) echo "no environment named $name" ;;
    esac >"$log" 2>&1 || true
    grep -v '^ok ' "$log" || true
    counts=$(tail -n 1 "$log")
    case $counts in
        *' passed, '*' failed')
            passed=$((passed + ${counts%% *}))
            counts=${counts#* passed, }
            failed=$((failed + ${counts%% *}))
            ;;
        *) failed=$((failed + 1)) ;;
    esac
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
