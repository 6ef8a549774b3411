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
# FUNCTION SOURCE for all functions that other files can call; nothing where there are no symbols (-flto).
(cd "$SC_BUILD/obj" && find lib formats tools -name "*.o") | while read -r object; do
    [ -e "$SC_ROOT/${object%.o}.c" ] || continue # of a source that was removed
    nm "$SC_BUILD/obj/$object" 2>/dev/null | awk -v file="${object%.o}.c" '$2 == "T" && $3 != "main" { print $3, file }'
done >functions
(cd "$SC_ROOT" && find lib formats tools cuda tests -name '*.c' -o -name '*.cu' -o -name '*.cpp' -o -path 'tests/*.h') >sources
test_that 'every function that is not static is used by another file' '
    cd "$SC_ROOT"
    awk "
        FILENAME == ARGV[1] { home[\$1] = home[\$1] \" \" \$2; next }
        {
            count = split(\$0, word, /[^A-Za-z0-9_]+/)
            for (i = 1; i <= count; i++)
                if (word[i] in home && !index(home[word[i]], FILENAME)) used[word[i]]
        }
        END { for (name in home) if (!(name in used)) print \"not used: \" name home[name] }
    " "$scratch/functions" $(cat "$scratch/sources") >"$scratch/unused"
    cat "$scratch/unused"
    test ! -s "$scratch/unused"
'
# shellcheck disable=SC2016 # backquotes of Markdown
test_that 'the files that HACKING.md names exist' '
    grep -o "\`[^\` ]*\`" "$SC_ROOT/HACKING.md" | tr -d "\`" | grep -E "^[a-z0-9_/-]+\.(c|h|cu|sh|py|mk|awk)$" | sort -u >named
    test "$(wc -l <named)" -gt 40
    (cd "$SC_ROOT" && find lib formats tools cuda tests pipelines -type f) | sed "p; s|^lib/||p; s|.*/||" | sort -u >there
    comm -23 named there >missing
    cat missing
    test ! -s missing
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
