#!/bin/sh
# Time, messages and bytes of the programs against the number of ranks, which are processes of this machine with
# one thread each: tests/bench/cluster.sh BUILD.  RANKS='1 2 4', SERIES=1000.
set -eu
PATH=$(realpath "$1")/bin:$PATH
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
: "${RANKS:=1 2 4 8}" "${SERIES:=1000}"
sc-gen two-patterns -n "$SERIES" -o train.npy
sc-gen two-patterns -n 200 --seed 1 -o test.npy
sc-shapelets -q --step 8 -k 20 train.npy -o pool.slp
sc-teacher -q --steps 20 train.npy -o teacher.tch
sc-select -q -n 5 -t teacher.tch --soft train.npy -o few.npy

echo "$(nproc) cores, $SERIES series of 128 steps, one thread for each rank"
printf '%-14s %5s %8s %9s %12s  %s\n' program ranks seconds messages bytes bytes-compared
# measure PROGRAM ARGUMENTS...
measure() {
    for ranks in $RANKS; do
        start=$(date +%s%N)
        "$@" --cluster processes:"$ranks" --threads 1 -o "out-$ranks" 2>said
        spent=$(($(date +%s%N) - start))
        same=first
        if [ "$ranks" != "${RANKS%% *}" ]; then cmp -s "out-${RANKS%% *}" "out-$ranks" && same=same || same=DIFFERENT; fi
        sed -n 's/.* ranks sent \([0-9]*\) messages, \([0-9]*\) bytes/\1 \2/p' said | grep . >sent || echo 0 0 >sent
        read -r messages bytes <sent
        awk -v p="$1" -v r="$ranks" -v s="$spent" -v m="$messages" -v b="$bytes" -v c="$same" \
            'BEGIN { printf "%-14s %5d %8.2f %9d %12d  %s\n", p, r, s / 1e9, m, b, c }'
    done
}
measure sc-shapelets --step 4 -k 20 train.npy
measure sc-strans pool.slp train.npy
measure sc-select -m herding -n 5 -t teacher.tch train.npy
measure sc-views -t teacher.tch -m 4000 few.npy
measure sc-eval --seeds 8 --steps 100 few.npy test.npy
measure sc-experts -c 8 -e 1 train.npy
measure sc-teacher --steps 40 train.npy
measure sc-match -m dc -n 5 --steps 5 train.npy
