#!/bin/sh
# try.sh ID: tries one mutant in the copy of the tree that belongs to this slot of xargs, and adds a
# line to results.tsv.  Called by run.sh.
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

# make_again FILE: whatever is made of it.  Programs and tests find libshapecond when they start, so
# that they need not be linked again; they contain npy-c.
make_again() {
    library=build/lib/libshapecond.a
    # shellcheck disable=SC2086 # one target per word
    case $1 in
    formats/npy-c/*)
        "$MUTANTS_HERE/make.sh" "$tree" -o $library build/tests/test_npy &&
            { [ ! -e "$tree/everywhere" ] || make_everything; }
        ;;
    tools/*) "$MUTANTS_HERE/make.sh" "$tree" -o $library all ;;
    *.h) "$MUTANTS_HERE/make.sh" "$tree" $library && make_everything ;;
    *) "$MUTANTS_HERE/make.sh" "$tree" $library ;;
    esac
}
make_everything() {
    # shellcheck disable=SC2086 # one target per word
    "$MUTANTS_HERE/make.sh" "$tree" -o build/lib/libshapecond.a all $MUTANTS_UNITS
}

# once TEST: runs it.  It may take ten times as long as usual.
once() {
    seconds=$(awk -F '\t' -v name="$1" '$1 == name { s = $2 } END { print int(10 * s) + 60 }' \
        "$MUTANTS_FOLDER/times.tsv")
    rm -rf "$TMPDIR" && mkdir -p "$TMPDIR"
    (cd "$tree" && timeout -k 5 "$seconds" tests/run-tests.sh build "$1") \
        >"$tree/test.log" 2>&1 </dev/null
    status=$?
    return $status
}

# passes TEST: a busy machine may make a test fail that watches the clock, so that one failure of a shell
# test, or of one with processes of its own, is not enough; one that takes too long is.
passes() {
    once "$1" && return
    [ $status -ne 124 ] || return
    case $1 in test_guide_command | test_output) ;; test_*) return 1 ;; esac
    once "$1"
}

# killed TEST: with the name of the first of its tests that failed.
killed() {
    what=$(sed -n 's/^ *not ok [0-9]* *-* *//p' "$tree/test.log" | head -n 1)
    [ $status -ne 124 ] || what='took too long'
    result killed "$1${what:+: $what}"
}

# The file of the mutant before is whole again, or was not if that try was interrupted.
if [ -e "$tree/broken" ]; then
    before=$(cat "$tree/broken")
    cmp -s "$before" "$tree/$before" || cp "$before" "$tree/$before"
    if [ "$before" != "$file" ] || [ -e "$tree/everywhere" ]; then
        make_again "$before" || result uncompiled "after $before"
    fi
    rm -f "$tree/everywhere"
fi
echo "$file" >"$tree/broken"
awk -v id="$id" -f "$MUTANTS_HERE/apply.awk" "$MUTANTS_TABLE" >"$tree/$file" ||
    result stale "the old text is not in the file, or more than once"
make_again "$file" || result uncompiled "$(grep -m 1 error "$tree/make.log")"
for test in $tests; do
    passes "$test" || killed "$test"
done
[ -z "$MUTANTS_QUICK" ] || result unsure ""

# Alive so far: everything else, the quickest first.
case $file in
formats/npy-c/*)
    touch "$tree/everywhere"
    make_everything || result uncompiled "$(grep -m 1 error "$tree/make.log")"
    ;;
esac
sort -t "$(printf '\t')" -k 2n "$MUTANTS_FOLDER/times.tsv" | cut -f 1 >"$tree/order"
while read -r test; do
    case " $tests " in *" $test "*) continue ;; esac
    passes "$test" || killed "$test"
done <"$tree/order"
result survived ""
