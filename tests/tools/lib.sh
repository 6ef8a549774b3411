# shellcheck shell=sh
# Helpers for the shell tests of the tools, which source this file.
#
#     . "$(dirname "$0")/lib.sh"
#     test_that 'a pruned dataset has the fraction asked for' '
#         sc-gen two-patterns -n 100 | sc-prune -p 0.7 -o kept.npy &&
#         test "$(sc-info --json kept.npy | json count)" = 30
#     '
#     finish
#
# Each test runs in a subshell with `set -e`: the first command that fails ends it, and whatever it
# left running is killed.  All tests of a file share a scratch folder that is removed at the end.
# SC_STOP=1: no more tests of this file after one that failed.

set -u
: "${SC_ROOT:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${SC_BUILD:=$SC_ROOT/build}"
PATH="$SC_BUILD/bin:$PATH"
data=$SC_ROOT/../shared/data
# The tests' own tools (awk, sort, grep) go by no language; what is tested in that of the user is started
# with LC_ALL="$user_locale".
user_locale=${LC_ALL:-${LC_NUMERIC:-${LANG-}}}
export LC_ALL=C
scratch=$(mktemp -d)
# Kills what runs in the scratch folder, but for this shell.
end_processes() {
    find /proc -maxdepth 2 -path '/proc/[0-9]*/cwd' -lname "$scratch*" 2>/dev/null >"$scratch/.running"
    while read -r process; do
        process=${process#/proc/} process=${process%/cwd}
        if [ "$process" != $$ ]; then kill -9 "$process" 2>/dev/null; fi
    done <"$scratch/.running"
}
trap 'end_processes; rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM
cd "$scratch" || exit 1
test_count=0
test_failures=0

# test_that NAME SCRIPT
test_that() {
    test_count=$((test_count + 1))
    # Not inside the condition itself: there the shell would ignore set -e.
    (
        set -e
        eval "$2"
    ) >"$scratch/.out" 2>&1
    test_status=$?
    if [ "$test_status" -eq 0 ]; then
        echo "ok $test_count - $1"
    else
        echo "not ok $test_count - $1"
        sed 's/^/# /' "$scratch/.out"
        end_processes
        test_failures=$((test_failures + 1))
        if [ -n "${SC_STOP-}" ]; then exit 1; fi
    fi
}

# skip_that NAME REASON
skip_that() {
    test_count=$((test_count + 1))
    echo "ok $test_count - $1 # SKIP $2"
}

# fails STATUS TEXT COMMAND...: the command exits with STATUS and says TEXT (a fixed string) on
# standard error.
fails() {
    fails_status=$1 fails_text=$2
    shift 2
    fails_got=0
    "$@" >/dev/null 2>.stderr || fails_got=$?
    if [ "$fails_got" -ne "$fails_status" ]; then
        echo "exit $fails_got instead of $fails_status: $*"
        cat .stderr
        return 1
    fi
    grep -qF -- "$fails_text" .stderr || {
        echo "no '$fails_text' in what $1 said:"
        cat .stderr
        return 1
    }
}

# run_examples TOOL: runs the literal displays of the EXAMPLES of its manual page as one script.
run_examples() {
    sed -n '/^\.Sh EXAMPLES/,/^\.Sh SEE ALSO/p' "$SC_ROOT/man/$1.1" |
        sed -n '/^\.Bd -literal/,/^\.Ed/p' | sed '/^\.[BE]d/d; s/\\e/\\/g; s/\\-/-/g' >.examples
    test -s .examples
    sh -e .examples
}

# The first Python of $PYTHON, python3 and Debian's that has the modules; nothing if none has.
#     python=$(python_with numpy)
python_with() {
    for python_module; do python_imports="${python_imports-}import $python_module;"; done
    for python_candidate in "${PYTHON:-python3}" python3 /usr/bin/python3; do
        if "$python_candidate" -c "$python_imports" 2>/dev/null; then
            echo "$python_candidate"
            return
        fi
    done
}

# json KEY: the value of a member of the JSON that sc-info writes, which stands on a line of its own.
json() {
    sed -n "s/^ *\"$1\": \"\{0,1\}\([^\"]*[^\",]\)\"\{0,1\},\{0,1\}\$/\1/p"
}

# killed FILE COMMAND...: kills the command as soon as FILE has some content.
killed() {
    killed_file=$1
    shift
    "$@" &
    killed_job=$!
    killed_waits=0
    while [ "$(stat -c %s "$killed_file" 2>/dev/null || echo 0)" -lt 1000 ] && [ "$killed_waits" -lt 3000 ]; do
        killed_waits=$((killed_waits + 1))
        sleep 0.01
    done
    kill -9 "$killed_job"
    wait "$killed_job" || true
    test -s "$killed_file"
}

# flip FILE OFFSET: changes one bit of the byte at the offset.
flip() {
    # shellcheck disable=SC2059 # the format is the byte
    printf "\\$(printf %o $(($(od -An -tu1 -j "$2" -N 1 "$1") ^ 1)))" |
        dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

# damages_are_refused FILE COMMAND...: FILE is a checkpoint that the command would continue from; with
# a bit changed anywhere, a NaN, zeros or its start alone it says so, says what to do, and leaves it.
damages_are_refused() {
    damaged_file=$1
    shift
    cp "$damaged_file" undamaged
    damaged_size=$(stat -c %s undamaged)
    for damage in flip-10 flip-40 flip-120 flip-half flip-last nan zeros gone; do
        cp undamaged "$damaged_file"
        case $damage in
        flip-half) flip "$damaged_file" $((damaged_size / 2)) ;;
        flip-last) flip "$damaged_file" $((damaged_size - 2)) ;;
        flip-*) flip "$damaged_file" "${damage#flip-}" ;;
        nan) printf "\\377\\377\\377\\377\\377\\377\\377" |
            dd of="$damaged_file" bs=1 seek=$((damaged_size / 2)) conv=notrunc status=none ;;
        zeros) dd if=/dev/zero of="$damaged_file" bs=1 seek=$((damaged_size / 2)) count=500 \
            conv=notrunc status=none ;;
        gone) truncate -s 120 "$damaged_file" ;;
        esac
        cp "$damaged_file" before
        fails 1 "$damaged_file: " "$@"
        grep -q "damaged.*remove " .stderr
        cmp "$damaged_file" before
    done
    mv undamaged "$damaged_file"
}

# content FILE: what a tool wrote, without the notes on how.
content() {
    case $(head -c 4 "$1") in
    %TCH) grep -av "^note " "$1" ;;
    seed) cut -f 2- "$1" ;;
    *)
        if sc-export -f ts "$1" >.content 2>/dev/null; then
            grep -v "^#" .content
        elif sc-info "$1" >.content 2>/dev/null && grep -q "shapelet pool" .content; then
            sc-info --all "$1" | grep -v -e "^made by" -e "^ *sc-" -e "^file" -e "$1"
        else
            tail -c 2000 "$1"
        fi
        ;;
    esac
}

# unprivileged TOOL ARGUMENTS...: by somebody who may not read every file.  For root that is a copy of the
# tool run by another user, by relative names: others may not even be let into the folders above.
unprivileged() {
    if [ "$(id -u)" -eq 0 ]; then
        chmod 755 .
        cp "$(command -v "$1")" ".$1"
        chmod 755 ".$1"
        unprivileged_tool=./.$1
        shift
        set -- setpriv --reuid=65534 --regid=65534 --clear-groups "$unprivileged_tool" "$@"
    fi
    "$@"
}

# sanitized: whether the programs were built with AddressSanitizer.
sanitized() {
    nm "$SC_BUILD/bin/sc-gen" 2>/dev/null | grep -q __asan_init
}

# refute COMMAND...: the command fails.  (set -e takes no notice of "! command".)
refute() {
    if "$@"; then
        echo "succeeded: $*"
        return 1
    fi
}

finish() {
    echo "1..$test_count"
    [ "$test_failures" -eq 0 ]
    exit
}
