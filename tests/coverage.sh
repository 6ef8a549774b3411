#!/bin/sh
# Which lines the tests reached, by gcov: coverage.sh BUILD, after all tests of a build with --coverage.
# Prints the share of each folder and of all, and the files with the most lines that were not reached;
# BUILD/report has each source with its counts (##### is a line that was not reached).
set -eu
cd "$(dirname "$0")/.."
build=$1
case $build in /*) ;; *) build=$PWD/$build ;; esac
: "${GCOV:=gcov}"
export LC_ALL=C
rm -rf "$build/report"
mkdir -p "$build/report"

# One run of gcov for each object, in a folder from where the sources are found by their names.
find "$build/obj/formats" "$build/obj/lib" "$build/obj/tools" -name '*.gcno' | sort >"$build/objects"
ln -s "$PWD/formats" "$PWD/lib" "$PWD/tools" "$build/report/"
(
    cd "$build/report"
    while read -r notes; do
        "$GCOV" --preserve-paths --relative-only --object-file "$notes" "$notes" 2>/dev/null
    done
) <"$build/objects" >"$build/gcov.log"
rm "$build/report/formats" "$build/report/lib" "$build/report/tools"

# "File 'F'" and "Lines executed:P% of N", of F the .c files: those of headers come from many objects.
awk '
    /^File / { file = $0; sub(/^File ./, "", file); sub(/.$/, "", file) }
    /^Lines executed:/ && file ~ /\.c$/ {
        split($0, part, /[:%]| of /)
        lines = $NF
        reached = int(part[2] / 100 * lines + 0.5)
        print file, lines, reached
        file = ""
    }
    /^No executable lines/ { file = "" }' "$build/gcov.log" | sort -u >"$build/files"

awk '
    {
        folder = $1
        sub(/\/[^\/]*$/, "", folder)
        lines[folder] += $2; reached[folder] += $3; all += $2; got += $3
    }
    END {
        for (folder in lines)
            printf "%-20s %6d of %6d lines  %5.1f %%\n", folder, reached[folder], lines[folder],
                100 * reached[folder] / lines[folder] | "sort"
        close("sort")
        printf "%-20s %6d of %6d lines  %5.1f %%\n", "all", got, all, 100 * got / all
    }' "$build/files"
echo
echo "Most lines not reached (see $build/report):"
awk '$2 > $3 { printf "%5d of %5d  %5.1f %%  %s\n", $2 - $3, $2, 100 * $3 / $2, $1 }' "$build/files" |
    sort -k 1,1rn | head -n "${COVERAGE_FILES:-15}"
