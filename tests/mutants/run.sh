#!/bin/sh
# run.sh BUILD
# Breaks lib, formats and tools in one place after another, as mutants.tsv says, and runs tests on
# each: one of them must fail.  A mutant that passes the tests of its entry has to pass all of
# `make check` before it counts as survivor.  A test that takes ten times as long as usual has failed.
#
#     make check-mutants                      all of mutants.tsv; continues where it was stopped
#     make check-mutants MUTANTS='1-50 77'    these
#     make check-mutants SAMPLE=320           a sample, the same each time: one of every file, then others
#     make check-mutants JOBS=4               mutants at a time (2)
#     make check-mutants QUICK=1              no more than the tests of each entry
#
# Each job has a copy of the tree in BUILD/mutants/tree-N, compiled with -O1 and with shared libraries,
# so that little is linked again for each mutant.  Results are kept in BUILD/mutants/results.tsv: id,
# status, the test that failed, seconds, and two checksums.  A mutant is tried again when its entry or
# the file that it changes is another, a survivor when anything is.
#
# Fails when an entry no longer applies or does not compile, when a mutant survives that
# survivors.tsv does not explain, when one is killed that it does, and when a source has no mutant.
set -u
cd "$(dirname "$0")/../.." || exit 1
build=$1
case $build in /*) folder=$build/mutants ;; *) folder=$PWD/$build/mutants ;; esac
jobs=${JOBS:-2} wanted=${MUTANTS:-} sample=${SAMPLE:-}
here=$PWD/tests/mutants
table=$here/mutants.tsv results=$folder/results.tsv
mkdir -p "$folder"
touch "$results"
tab=$(printf '\t')

die() {
    echo "check-mutants: $*" >&2
    exit 1
}

# ---- The table ----

awk -f "$here/apply.awk" "$table" || die "mutants.tsv no longer fits the sources"
for test in $(grep -v '^#' "$table" | cut -f 5 | tr ' ' '\n' | sort -u); do
    [ -e "tests/unit/$test.c" ] || [ -e "tests/tools/$test.sh" ] || die "there is no test '$test'"
done
# The MPI plug-in is tested where there is an MPI (make check-mpi).
for source in $(find lib formats tools -name '*.c' ! -path 'lib/cluster/mpi*' | sort); do
    [ "$(wc -l <"$source")" -le 30 ] || cut -f 2 "$table" | grep -qxF "$source" ||
        die "$source has no mutant"
done
grep -v '^#' "$here/survivors.tsv" | while IFS=$tab read -r id reason; do
    [ -n "$reason" ] || die "survivors.tsv has no reason for $id"
    grep -q "^$id$tab" "$table" || die "survivors.tsv explains $id, which is no mutant"
done || exit 1

# The ids of a sample: all are put in an order that looks random; first comes the first of each file.
if [ -n "$sample" ]; then
    wanted=$(grep -v '^#' "$table" | awk -F '\t' '
        { print ($1 * 7919 + 104729 * ($1 % 13)) % 100003, $1, $2 }' | sort -n | awk '
        seen[$3]++ { later[++n] = $2; next }
        { print $2 }
        END { for (i = 1; i <= n; i++) print later[i] }' | head -n "$sample")
fi

# ---- Copies of the tree, built, and the usual time of each test ----

sources() { find . \( -path ./build -o -path "./$build" -o -path ./.git \) -prune -o -type f -print; }

# copy TO: makes it what this tree is.  Only files that differ are written.
copy() {
    mkdir -p "$1"
    (cd "$1" && find . -path ./build -prune -o -type f -print) | while read -r file; do
        [ -e "$file" ] || rm -f "$1/$file"
    done
    sources | while read -r file; do
        cmp -s "$file" "$1/$file" && continue
        mkdir -p "$1/$(dirname "$file")"
        cp "$file" "$1/$file"
    done
}

# chosen ID: whether MUTANTS names it.
chosen() {
    [ -n "$wanted" ] || return 0
    for range in $(echo "$wanted" | tr ',' ' '); do
        if [ "$1" -ge "${range%-*}" ] && [ "$1" -le "${range#*-}" ]; then return 0; fi
    done
    return 1
}

selected=''
ids=$(grep -v '^#' "$table" | cut -f 1)
for id in $ids; do
    if chosen "$id"; then selected="$selected $id"; fi
done
[ -n "$selected" ] || die "no mutant '$wanted'"

# The data of the tests beside each copy, as beside this tree.
if [ -e ../shared ]; then ln -sfn "$(cd ../shared && pwd)" "$folder/shared"; fi
# From here on nothing looks at this tree, which may change while the mutants are tried.
copy "$folder/source"
cd "$folder/source" || exit 1
here=$PWD/tests/mutants
table=$here/mutants.tsv
tree_sum=$(sources | grep -v "^./tests/mutants/" | sort | xargs cat | cksum | tr -d " ")
units=$(for unit in tests/unit/test_*.c; do echo "build/tests/$(basename "$unit" .c)"; done)
unset MAKEFLAGS MAKEOVERRIDES MFLAGS MAKELEVEL
CC=${CC:-gcc} CXX=${CXX:-g++}
if command -v ccache >/dev/null; then
    CC="ccache ${CC#ccache }" CXX="ccache ${CXX#ccache }"
fi
export SC_STOP=1 CC CXX MUTANTS_FOLDER="$folder" MUTANTS_TABLE="$table" \
    MUTANTS_HERE="$here" MUTANTS_TREE_SUM="$tree_sum" MUTANTS_UNITS="$units" \
    MUTANTS_QUICK="${QUICK:-}"

slot=0
while [ "$slot" -lt "$jobs" ]; do
    copy "$folder/tree-$slot"
    # shellcheck disable=SC2086 # one target per word
    "$here/make.sh" "$folder/tree-$slot" all $units build/tests/libshapecond-cuda-fake.so build/tests/peak \
        build/tests/faults/driver build/tests/faults/preload.so || {
        cat "$folder/tree-$slot/make.log"
        die "what is not broken does not compile"
    }
    slot=$((slot + 1))
done

# usual TEST: on what is not broken.
usual() {
    rm -rf "$folder/tmp-0" && mkdir "$folder/tmp-0"
    (cd "$folder/tree-0" && TMPDIR=$folder/tmp-0 tests/run-tests.sh build "$1") \
        >"$folder/test.log" 2>&1 </dev/null
}

# Every test may be needed, if all have to pass before a mutant counts as survivor.
needed=$(for id in $selected; do awk -F '\t' -v id="$id" '$1 == id { print $5 }' "$table"; done)
# A test is tried again when anything changed but other tests.
common=$(sources | grep -v -e '^./tests/mutants/' -e '^./tests/unit/test_' -e '^./tests/tools/[^l]' |
    sort | xargs cat | cksum)
touch "$folder/times.tsv"
for test in tests/unit/test_*.c tests/tools/*.sh; do
    name=$(basename "${test%.*}")
    [ "$name" != lib ] || continue
    [ -z "${QUICK:-}" ] || echo "$needed" | grep -qw "$name" || continue
    sum=$({ echo "$common" && cat "$test"; } | cksum | tr -d ' ')
    ! grep -q "^$name$tab.*$tab$sum\$" "$folder/times.tsv" || continue
    begun=$(date +%s)
    if ! usual "$name" && ! usual "$name"; then
        cat "$folder/test.log"
        die "$name fails on what is not broken"
    fi
    sed -i "/^$name$tab/d" "$folder/times.tsv"
    printf '%s\t%s\t%s\n' "$name" "$(($(date +%s) - begun))" "$sum" >>"$folder/times.tsv"
done

# ---- Which are due, and trying them ----

# known ID: whether its result still holds.
known() {
    sum=$("$here/key.sh" "$1")
    awk -F '\t' -v id="$1" -v sum="$sum" -v tree="$tree_sum" -v quick="${QUICK:-}" '
        $1 == id && $5 == sum { found = $2 == "killed" || ($6 == tree && ($2 != "unsure" || quick)) }
        END { exit !found }' "$results"
}

# A mutant that root runs could change the modes of devices, or remove them: it gets copies.
own_devices=$folder/own-devices.sh
cat >"$own_devices" <<'END'
set -e
mount --make-rprivate /
rm -rf "$MUTANTS_FOLDER/dev" && mkdir "$MUTANTS_FOLDER/dev"
for name in full null zero random urandom tty; do
    cp -a "/dev/$name" "$MUTANTS_FOLDER/dev/$name"
    mount --bind "$MUTANTS_FOLDER/dev/$name" "/dev/$name"
done
: >/dev/null
exec "$@"
END
with_own_devices="unshare --mount sh $own_devices"
if [ "$(id -u)" != 0 ]; then
    with_own_devices=
elif ! $with_own_devices true; then
    echo "check-mutants: no devices of their own for the mutants, so they are tried with those of this machine" >&2
    with_own_devices=
fi

due=''
for id in $selected; do known "$id" || due="$due $id"; done
# shellcheck disable=SC2086 # one id per word
if [ -n "$due" ]; then
    printf '%s\n' $due | $with_own_devices nice -n 10 xargs -P "$jobs" -n 1 --process-slot-var=SLOT "$here/try.sh" || exit 1
fi

# ---- The end ----

# shellcheck disable=SC2086 # one id per word
printf '%s\n' $selected | awk -F '\t' -v results="$results" -v survivors="$here/survivors.tsv" '
    BEGIN {
        while ((getline < survivors) > 0)
            if ($0 !~ /^#/) reason[$1] = $2
        while ((getline < results) > 0) {
            status[$1] = $2
            what[$1] = $3
        }
    }
    {
        tried++
        if (status[$1] == "killed") {
            killed++
            if ($1 in reason) { print $1 " is killed (" what[$1] "), though survivors.tsv explains it"; bad = 1 }
        } else if (status[$1] == "survived" || status[$1] == "unsure") {
            if ($1 in reason) explained++
            else { print $1 " SURVIVES"; bad = 1 }
        } else { print $1 " " status[$1] ": " what[$1]; bad = 1 }
    }
    END {
        printf "%d mutants, %d killed (%.1f %%), %d equivalent by survivors.tsv, %d others\n", tried, killed,
            100 * killed / tried, explained, tried - killed - explained
        exit bad
    }'
