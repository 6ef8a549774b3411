#!/bin/sh
# The folders of the sources: which includes which, against the graph in HACKING.md.
. "$(dirname "$0")/lib.sh"

cd "$SC_ROOT" || exit 1
# FOLDER HEADER-FOLDER HEADER FILE for every include of a header of the project.
find lib formats tools cuda -name '*.[ch]' -o -name '*.cu' | sort | xargs awk '
    /^#include "/ {
        parts = split(FILENAME, folder, "/")
        from = folder[1] == "lib" ? folder[2] : folder[1]
        split($2, quoted, "\"")
        if (split(quoted[2], header, "/") == 1 || header[1] == "common" || header[1] == "shapecond")
            to = from
        else
            to = header[1]
        print from, to, quoted[2], FILENAME
    }' >"$scratch/includes"
awk '$1 != $2 { print $1, $2 }' "$scratch/includes" | sort -u >"$scratch/edges"
sed -n 's/^    \([a-z]*\) *-> *\(.*\)$/\1 \2/p' HACKING.md |
    awk '{ for (i = 2; i <= NF; i++) print $1, $i }' | sort -u >"$scratch/allowed"
cd "$scratch" || exit 1

awk '{ uses[$1] = uses[$1] " " $2 } END { for (folder in uses) print "# " folder " ->" uses[folder] }' edges | sort

test_that 'folders include the headers of those that HACKING.md names, and of no others' '
    test -s allowed
    diff allowed edges
'
test_that 'the graph of the folders has no cycle' '
    tsort edges >order
    test "$(wc -l <order)" -ge 15
'
test_that 'no private header is included outside of its folder' '
    awk "\$1 != \$2" includes | grep -E "([_-]internal|_kernel|nn/kernels[a-z_]*|nn/backend_cpu|nn/layer|nn/build|nn/family)\.h " >crossing ||
        test ! -s crossing
    cat crossing
    test ! -s crossing
'
test_that 'every folder of the top is known' '
    for entry in "$SC_ROOT"/*; do
        case ${entry##*/} in
        cuda | formats | lib | man | pipelines | tests | tools | Makefile | *.md | LICENSE | build*) ;;
        *) echo "${entry##*/}" && exit 1 ;;
        esac
    done
'
finish
