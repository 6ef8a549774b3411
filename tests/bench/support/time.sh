# shellcheck shell=sh
# Helpers for the benchmarks, which source this file.  Times are of whole processes, the best of
# several runs, so that a busy machine disturbs them little; ratios are of times from one run of the
# benchmark.

: "${BENCH_REPEATS:=7}"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' INT TERM

# best COMMAND...: the time of its fastest run in nanoseconds.
best() {
    best_time=
    best_count=0
    while [ "$best_count" -lt "$BENCH_REPEATS" ]; do
        best_start=$(date +%s%N)
        "$@" || exit 1
        best_spent=$(($(date +%s%N) - best_start))
        if [ -z "$best_time" ] || [ "$best_spent" -lt "$best_time" ]; then best_time=$best_spent; fi
        best_count=$((best_count + 1))
    done
    echo "$best_time"
}

# processor COMMAND...: its mean processor time in nanoseconds, which other processes disturb little.
processor() {
    (
        count=0
        while [ "$count" -lt "$BENCH_REPEATS" ]; do
            "$@" || exit 1
            count=$((count + 1))
        done
        times
    ) | tail -n 1 | tr 'ms' '  ' | awk -v n="$BENCH_REPEATS" '
        { printf "%.0f", ($1 * 60 + $2 + $3 * 60 + $4) * 1e9 / n }'
}

# rate FILE NANOSECONDS: MB/s.
rate() {
    echo "$(wc -c <"$1") $2" | awk '{ printf "%.0f", $1 * 1000 / $2 }'
}

# ratio A B: A / B.
ratio() {
    echo "$1 $2" | awk '{ printf "%.1f", $1 / $2 }'
}

# The first Python of $PYTHON, python3 and Debian's that has NumPy; nothing if none has.
python_with_numpy() {
    for candidate in "${PYTHON:-python3}" python3 /usr/bin/python3; do
        if "$candidate" -c 'import numpy' 2>/dev/null; then
            echo "$candidate"
            return
        fi
    done
}
