#!/bin/sh
# Fuzzes every parser for SECONDS in all: run-fuzz.sh BUILD SECONDS [TARGET]...
# Compiles the formats and tests/fuzz/fuzz_*.c with clang and the sanitizers into BUILD, starts from
# small generated files and, where they are, from the heads of real ones, and keeps what it finds in
# BUILD/corpus from run to run.  Inputs that crash are left in BUILD/crashes.
# Ends with "N passed, N failed" and fails if any target did.
set -eu
cd "$(dirname "$0")/../.."
build=$1 seconds=$2
shift 2
: "${CLANG:=clang}"
data=../shared/data
flags='-std=c11 -D_GNU_SOURCE -Iformats -Itests/fuzz -O1 -g
       -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined -pthread'

targets=${*:-$(find tests/fuzz -name 'fuzz_*.c' -exec basename '{}' .c ';' | sort)}
mkdir -p "$build/obj" "$build/crashes" "$build/logs"
rm -f "$build"/crashes/* "$build"/logs/*

# shellcheck disable=SC2086 # flags and file names are words
compile() {
    objects=
    for source in formats/*.c formats/npy-c/*.c; do
        object=$build/obj/$(basename "$source" .c).o
        if [ ! -e "$object" ] || [ -n "$(find formats -name '*.[ch]' -newer "$object")" ]; then
            "$CLANG" $flags -fsanitize=fuzzer-no-link -c -o "$object" "$source"
        fi
        objects="$objects $object"
    done
    for target in $targets; do
        "$CLANG" $flags -fsanitize=fuzzer -o "$build/$target" "tests/fuzz/$target.c" $objects -lb2 -lzip -lm
    done
    "$CLANG" $flags -fsanitize=fuzzer-no-link -o "$build/seeds" tests/fuzz/seeds.c $objects -lb2 -lzip -lm
}

# Rows of real files for the text formats, and arrays whose data is cut off for NPY.
add_real_seeds() {
    [ -d "$data" ] || return 0
    for file in "$data"/*/*_TRAIN.*; do
        head -n 3 "$file" | cut -c 1-400 >"$build/corpus/fuzz_ucr/$(basename "$file")"
        head -n 2 "$file" | cut -c 1-200 | tr '\t ' ',,' >"$build/corpus/fuzz_csv/$(basename "$file")"
        head -n 2 "$file" | tr '\t ' ',,' | cut -c 1-200 |
            sed 's/,[^,]*$/:1/; 1i @classLabel true 1\n@data' >"$build/corpus/fuzz_ts/$(basename "$file")"
        head -n 1 "$file" | tr '\t ' '[\n*]' | head -n 300 >"$build/numbers"
        while read -r number; do
            printf %s "$number" >"$build/corpus/fuzz_number/$number"
        done <"$build/numbers"
    done
    for file in "$data"/*/*.npy; do
        for target in npy dataset import; do
            head -c 600 "$file" >"$build/corpus/fuzz_$target/$(basename "$file")"
        done
    done
    for file in "$data"/*/*_y.npy; do cp "$file" "$build/corpus/fuzz_npy/whole-$(basename "$file")"; done
}

for target in tests/fuzz/fuzz_*.c; do mkdir -p "$build/corpus/$(basename "$target" .c)"; done
compile
"$build/seeds" "$build/corpus"
add_real_seeds
for golden in tests/golden/npy*; do
    if [ -e "$golden" ]; then cp "$golden" "$build/corpus/fuzz_npy/"; fi
done

cp tests/golden/teacher.tch "$build/corpus/fuzz_tch/"

# Several targets at a time, each for its share of the time of all cores.
cores=$(nproc)
# shellcheck disable=SC2086
each=$((seconds * cores / $(echo $targets | wc -w)))
[ "$each" -ge 1 ] || each=1
# shellcheck disable=SC2016,SC2086 # the inner shell expands
printf '%s\n' $targets | BUILD=$build EACH=$each xargs -P "$cores" -I '{}' sh -c '
    status=0
    "$BUILD/{}" -max_total_time="$EACH" -max_len=4096 -timeout=20 -rss_limit_mb=2048 -verbosity=1 \
        -print_final_stats=1 -artifact_prefix="$BUILD/crashes/{}-" "$BUILD/corpus/{}" \
        >"$BUILD/logs/{}.log" 2>&1 || status=$?
    runs=$(sed -n "s/^stat::number_of_executed_units: *//p" "$BUILD/logs/{}.log")
    if [ "$status" -eq 0 ]; then
        printf "ok   %-16s %10s runs in %s s\n" "{}" "$runs" "$EACH"
    else
        printf "FAIL %-16s see %s\n" "{}" "$BUILD/logs/{}.log"
        touch "$BUILD/logs/{}.failed"
    fi'

failed=$(find "$build/logs" -name '*.failed' | wc -l)
# shellcheck disable=SC2086
echo "$(($(echo $targets | wc -w) - failed)) passed, $failed failed"
[ "$failed" -eq 0 ]
