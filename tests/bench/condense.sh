#!/bin/sh
# How long synthesis takes: ElectricDevices (1 x 96, 7 classes), one series per class, 2000 steps,
# beside the paper's time on a V100 and beside a loop of the same computation in PyTorch; then
# against the number of series per class and the length of the series; then all stages from the raw files
# of each dataset to a condensed one, with the settings of the main table.
#     tests/bench/condense.sh BUILD
# sc-synth is timed as a whole process, reading and writing included; of PyTorch only the loop.
set -eu
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."
BENCH_REPEATS=${BENCH_REPEATS:-3}
# shellcheck source=tests/bench/support/time.sh
. tests/bench/support/time.sh
PATH="$build/bin:$PATH"
python=${PYTHON:-python3}
"$python" -c 'import torch' 2>/dev/null || python=

seconds() { echo "$1" | awk '{ printf "%.3f", $1 / 1e9 }'; }
per_step() { echo "$1 $2" | awk '{ printf "%.3f ms", $1 / 1e6 / $2 }'; }

electric=../shared/data/ElectricDevices/ElectricDevices_TRAIN.tsv
if [ -e "$electric" ]; then
    name=ElectricDevices
    sc-import -q "$electric" | sc-scale -q -o "$scratch/train.npy"
else
    name='Generated series'
    echo "No $electric here."
    sc-gen planted -n 4000 -L 96 -V 7 | sc-scale -q -o "$scratch/train.npy"
fi
sc-prune -q -n 30 "$scratch/train.npy" |
    sc-shapelets -q -k 20 --raw -l 14,18,22,26 -w 20 -o "$scratch/pool.slp"
sc-teacher -q --steps 100 "$scratch/train.npy" -o "$scratch/plain.tch"
sc-teacher -q --steps 100 -s "$scratch/pool.slp" "$scratch/train.npy" -o "$scratch/shapelets.tch"

# torch_line NANOSECONDS TEACHER POOL OPTIONS...: PyTorch with one thread or all, whichever is faster,
# a tenth of the steps.
torch_line() {
    ours=$1 teacher=$2 pool=$3
    shift 3
    sc-synth -q -n 1 --init real --steps 0 --teacher "$teacher" "$@" "$scratch/train.npy" -o "$scratch/start.npy"
    for threads in 1 "$(nproc)"; do
        "$python" tests/bench/condense.py "$teacher" "$pool" "$scratch/start.npy" 200 0.2 "$threads"
    done | sort -n | head -n 1 | {
        read -r time loss
        printf '  %-26s %8s s  loss of the start %s; sc-synth is %s times as fast\n' \
            'PyTorch, 10 x 200 steps' "$(echo "$time" | awk '{ printf "%.3f", 10 * $1 }')" "$loss" \
            "$(echo "$time $ours" | awk '{ printf "%.1f", $1 * 1e10 / $2 }')"
    }
}

# run TEACHER OPTIONS...
run() {
    run_teacher=$1
    shift
    best sc-synth -q --init real --teacher "$scratch/$run_teacher" "$@" -o "$scratch/tiny.npy" "$scratch/train.npy"
}

# first TITLE PAPER TEACHER POOL OPTIONS...
first() {
    title=$1 paper=$2 network=$3 shapelets=$4
    shift 4
    time=$(run "$network" -n 1 --steps 2000 --rate 0.2 "$@")
    loss=$(sc-synth -n 1 --init real --steps 1 --rate 0.2 --teacher "$scratch/$network" "$@" "$scratch/train.npy" 2>&1 \
        >"$scratch/tiny.npy" | sed -n 's/.*loss \([0-9.]*\) -> .*/\1/p')
    echo "$name, $title, 1 series per class, 2000 steps"
    printf '  %-26s %8s s  loss of the start %s\n' sc-synth "$(seconds "$time")" "$loss"
    printf '  %-26s %8s s  sc-synth is %s times as fast\n' 'the paper, on a V100' "$paper" \
        "$(echo "$paper $time" | awk '{ printf "%.0f", $1 * 1e9 / $2 }')"
    if [ -n "$python" ]; then
        torch_line "$time" "$scratch/$network" "$shapelets" "$@"
    else
        echo '  No Python with PyTorch here (set PYTHON), so no comparison with it.'
    fi
}

first ShapeCond 28.71 shapelets.tch "$scratch/pool.slp" -s "$scratch/pool.slp"
first SRe2L 24.71 plain.tch -

BENCH_REPEATS=1
echo "$name, ShapeCond, against the series per class (time of a step of all of them)"
for per_class in 1 5 10 50; do
    for over in all round; do
        time=$(run shapelets.tch -s "$scratch/pool.slp" -n $per_class --statistics $over --steps 200)
        printf '  %3s per class, statistics over %-6s %12s\n' $per_class $over "$(per_step "$time" 200)"
    done
done
echo 'Generated series of 4 classes, ShapeCond, 1 per class, against their length (time of a step)'
for length in 100 300 1000 3000; do
    sc-gen two-patterns -n 200 -L $length | sc-scale -q -o "$scratch/train.npy"
    sc-shapelets -q -k 20 -l 20 -w 20 --step 10 "$scratch/train.npy" -o "$scratch/pool.slp"
    sc-teacher -q --steps 4 -s "$scratch/pool.slp" "$scratch/train.npy" -o "$scratch/shapelets.tch"
    time=$(run shapelets.tch -s "$scratch/pool.slp" -n 1 --steps 200)
    printf '  %4s steps %12s\n' $length "$(per_step "$time" 200)"
done
echo 'From raw files to condensed datasets by ShapeCond, each stage on all cores (settings of make main-table)'
if [ -d ../shared/data ]; then
    env -u SETS MAKEFLAGS='' make --no-print-directory -f pipelines/main-table.mk DATA=../shared/data \
        RUN="$scratch/tables" SPCS=10 times | sed -n 's/^|/  |/p'
else
    echo '  No ../shared/data here.'
fi
