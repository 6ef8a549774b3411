#!/bin/sh
# Fuzzes every parser for SECONDS in all: run-fuzz.sh FOLDER SECONDS [TARGET]...
# `make fuzz` builds the fuzzers first, in FOLDER/sanitized with ASan and UBSan, which get a quarter
# of the time, and in FOLDER/plain without, which get the rest and make most of the executions.
# Both start from small generated files and, where they are, from the heads of real ones, and keep
# what they find in FOLDER/corpus from run to run.  Inputs that crash are left in FOLDER/crashes.
# FOLDER/executions.tsv counts the executions of all runs: target, build, executions, seconds,
# commit, outcome.  FUZZ_JOBS run at a time, one for each core unless told otherwise; FUZZ_EACH is the
# time of a target, instead of its share of SECONDS.
# Ends with the executions of each target and "N passed, N failed", and fails if any target did.
set -eu
cd "$(dirname "$0")/../.."
folder=$1 seconds=$2
shift 2
data=../shared/data
targets=${*:-$(find tests/fuzz -name 'fuzz_*.c' -exec basename '{}' .c ';' | sort)}
jobs=${FUZZ_JOBS:-$(nproc)}
ledger=$folder/executions.tsv

mkdir -p "$folder/crashes" "$folder/logs"
rm -f "$folder"/crashes/* "$folder"/logs/*

# Rows of real files for the text formats, and arrays whose data is cut off for NPY.
add_real_seeds() {
    [ -d "$data" ] || return 0
    for file in "$data"/*/*_TRAIN.*; do
        head -n 3 "$file" | cut -c 1-400 >"$folder/corpus/fuzz_ucr/$(basename "$file")"
        head -n 2 "$file" | cut -c 1-200 | tr '\t ' ',,' >"$folder/corpus/fuzz_csv/$(basename "$file")"
        head -n 2 "$file" | tr '\t ' ',,' | cut -c 1-200 |
            sed 's/,[^,]*$/:1/; 1i @classLabel true 1\n@data' >"$folder/corpus/fuzz_ts/$(basename "$file")"
        head -n 1 "$file" | tr '\t ' '[\n*]' | head -n 300 >"$folder/numbers"
        while read -r number; do
            printf %s "$number" >"$folder/corpus/fuzz_number/$number"
        done <"$folder/numbers"
    done
    for file in "$data"/*/*.npy; do
        for target in npy dataset import; do
            head -c 600 "$file" >"$folder/corpus/fuzz_$target/$(basename "$file")"
        done
    done
}

add_seeds() {
    for target in tests/fuzz/fuzz_*.c; do mkdir -p "$folder/corpus/$(basename "$target" .c)"; done
    "$folder/plain/fuzzers/seeds" "$folder/corpus"
    add_real_seeds
    for golden in tests/golden/npy*; do
        if [ -e "$golden" ]; then cp "$golden" "$folder/corpus/fuzz_npy/"; fi
    done
    cp tests/golden/teacher.tch "$folder/corpus/fuzz_tch/"
}

# Long enough for what the format has to say, and no longer: executions of short inputs are fast.
longest() {
    case $1 in
    fuzz_number) echo 64 ;;
    fuzz_architecture | fuzz_report) echo 256 ;;
    fuzz_table) echo 384 ;;
    fuzz_figures | fuzz_statistics) echo 512 ;;
    fuzz_tch | fuzz_teacher) echo 4096 ;;
    *) echo 1024 ;;
    esac
}

# The words that its format is made of, in a file for libFuzzer.
add_dictionary() {
    case $1 in
    fuzz_architecture) words=network ;;
    fuzz_npy | fuzz_dataset | fuzz_statistics | fuzz_command) words=npy ;;
    fuzz_experts | fuzz_tch | fuzz_teacher | fuzz_*checkpoint) words='npy network' ;;
    fuzz_import) words='npy text' ;;
    *) words=text ;;
    esac
    echo "# words of $1" >"$folder/dictionaries/$1"
    for name in $words; do cat "tests/fuzz/dictionaries/$name" >>"$folder/dictionaries/$1"; done
}

# One line for each run: target, build, seconds, longest input.  Every target gets the same time, in
# rounds of about a minute, so that all have had their share when the run is stopped early.
plan() {
    # shellcheck disable=SC2086 # one target per word
    each=${FUZZ_EACH:-$((seconds * jobs / $(echo $targets | wc -w)))}
    [ "$each" -ge 2 ] || each=2
    rounds=$(((each + 59) / 60))
    sanitized=$((each / rounds / 4))
    [ "$sanitized" -ge 1 ] || sanitized=1
    round=0
    while [ "$round" -lt "$rounds" ]; do
        for target in $targets; do
            echo "$target sanitized $sanitized $(longest "$target")"
            echo "$target plain $((each / rounds - sanitized)) $(longest "$target")"
        done
        round=$((round + 1))
    done
}

# For the ledger: target, executions of its sanitized build, of the other, of both.
totals() {
    awk -F '\t' '
        function row(name, a, b) { printf "%-28s %14d %14d %14d\n", name, a, b, a + b }
        BEGIN { printf "%-28s %14s %14s %14s\n", "executions", "sanitized", "plain", "both" }
        { runs[$1, $2] += $3; all[$2] += $3; if (!($1 in seen)) { seen[$1]; names[++n] = $1 } }
        END {
            for (i = 1; i <= n; i++) row(names[i], runs[names[i], "sanitized"], runs[names[i], "plain"])
            row("all", all["sanitized"], all["plain"])
        }' "$ledger"
}

add_seeds
mkdir -p "$folder/dictionaries"
for target in $targets; do add_dictionary "$target"; done
commit=$(git describe --always --dirty 2>/dev/null || echo unknown)
# shellcheck disable=SC2016 # the inner shell expands
plan | FOLDER=$folder LEDGER=$ledger COMMIT=$commit xargs -P "$jobs" -L 1 sh -c '
    target=$0 build=$1 seconds=$2 longest=$3
    log=$FOLDER/logs/$target.$build.log
    [ ! -e "$FOLDER/logs/$target.failed" ] || exit 0
    outcome=ok
    "$FOLDER/$build/fuzzers/$target" -max_total_time="$seconds" -max_len="$longest" -timeout=20 \
        -rss_limit_mb=2048 -verbosity=1 -print_final_stats=1 -dict="$FOLDER/dictionaries/$target" \
        -artifact_prefix="$FOLDER/crashes/$target-" "$FOLDER/corpus/$target" \
        >"$log" 2>&1 || outcome=FAIL
    runs=$(sed -n "s/^stat::number_of_executed_units: *//p" "$log")
    printf "%s\t%s\t%s\t%s\t%s\t%s\n" "$target" "$build" "${runs:-0}" "$seconds" "$COMMIT" "$outcome" \
        >>"$LEDGER"
    printf "%-4s %-28s %-9s %11s executions in %s s\n" "$outcome" "$target" "$build" "${runs:-0}" "$seconds"
    if [ "$outcome" != ok ]; then
        echo "     see $log"
        grep -E "does not hold|^SUMMARY|^ *#[0-9] .* in |^Base64" "$log" | head -n 12 | sed "s/^/     /"
        touch "$FOLDER/logs/$target.failed"
    fi'

totals
failed=$(find "$folder/logs" -name '*.failed' | wc -l)
# shellcheck disable=SC2086
echo "$(($(echo $targets | wc -w) - failed)) passed, $failed failed"
[ "$failed" -eq 0 ]
