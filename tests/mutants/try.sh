#!/bin/sh
# try.sh ID: tries one mutant in the copy of the tree that belongs to this slot of xargs, and adds a
# line to results.tsv.  Called by run.sh, which see.
set -u
id=$1
tree=$MUTANTS_FOLDER/tree-$SLOT
export TMPDIR="$MUTANTS_FOLDER/tmp-$SLOT"
ulimit -f 4000000 # of 512 bytes: what an endless loop may write

field() { awk -F '\t' -v id="$id" -v n="$1" '$1 == id { print $n }' "$MUTANTS_TABLE"; }
file=$(field 2) tests=$(field 5)
begun=$(date +%s)

# result STATUS TEST
result() {
    cp "$file" "$tree/$file"
    sum=$("$MUTANTS_HERE/key.sh" "$id")
    printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$id" "$1" "$2" "$(($(date +%s) - begun))" "$sum" \
        "$MUTANTS_TREE_SUM" >>"$MUTANTS_FOLDER/results.tsv"
    printf '%-4s %-9s %s %s\n' "$id" "$1" "$file" "$2"
    exit 0
}

build() {
    # shellcheck disable=SC2086 # one target and one flag per word
    (cd "$tree" && make -s $MUTANTS_MAKE "$@") >"$tree/make.log" 2>&1
}

# limit TEST: seconds after which it counts as failed.
limit() {
    awk -F '\t' -v name="$1" '$1 == name { s = $2 } END { print int(10 * s) + 60 }' \
        "$MUTANTS_FOLDER/times.tsv"
}

# once TEST: runs it.
once() {
    rm -rf "$TMPDIR" && mkdir -p "$TMPDIR"
    (cd "$tree" && timeout -k 5 "$(limit "$1")" tests/run-tests.sh build "$1") \
        >"$tree/test.log" 2>&1 </dev/null
}

# passes TEST: a busy machine may make a test fail that watches the clock, so that one failure is not
# enough; one that takes too long is.
passes() {
    once "$1" || { [ $? -ne 124 ] && once "$1"; }
}

# killed TEST: with the name of the first of its tests that failed.
killed() {
    what=$(sed -n 's/^ *not ok [0-9]* *-* *//p' "$tree/test.log" | head -n 1)
    result killed "$1${what:+: $what}"
}

# What an interrupted try left behind.
if [ -e "$tree/broken" ]; then
    while read -r old; do cp "$old" "$tree/$old"; done <"$tree/broken"
fi
echo "$file" >"$tree/broken"
awk -v id="$id" -f "$MUTANTS_HERE/apply.awk" "$MUTANTS_TABLE" >"$tree/$file" ||
    result stale "the old text is not in the file, or more than once"

tools_built=
for test in $tests; do
    if [ -e "tests/unit/$test.c" ]; then
        case $test in test_cuda_*) fake=build/tests/libshapecond-cuda-fake.so ;; *) fake= ;; esac
        build "build/tests/$test" $fake || result uncompiled "$(grep -m 1 error "$tree/make.log")"
    elif [ -z "$tools_built" ]; then
        build all || result uncompiled "$(grep -m 1 error "$tree/make.log")"
        tools_built=yes
    fi
    passes "$test" || killed "$test"
done

# Alive so far: everything else, the quickest first.
[ -z "$MUTANTS_QUICK" ] || result unsure ""
# shellcheck disable=SC2086 # one target per word
build all $MUTANTS_UNITS build/tests/libshapecond-cuda-fake.so ||
    result uncompiled "$(grep -m 1 error "$tree/make.log")"
sort -t "$(printf '\t')" -k 2n "$MUTANTS_FOLDER/times.tsv" | cut -f 1 >"$tree/order"
while read -r test; do
    case " $tests " in *" $test "*) continue ;; esac
    passes "$test" || killed "$test"
done <"$tree/order"
result survived ""
