#!/bin/sh
# How long 100 iterations of sc-match take: ElectricDevices (1 x 96, 7 classes), one series per class,
# beside the paper's times on a V100 and, for dc and mtt, beside loops of the same computation in
# PyTorch, with one thread each and with all.
#     make bench-match THREADS="1 2" PYTHON=python3
# sc-match is timed as a whole process, reading and writing included; of PyTorch only the loop.  With
# one thread it is processor time, which a busy machine disturbs little, else time on the wall.
set -eu
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."
BENCH_REPEATS=${BENCH_REPEATS:-3}
# shellcheck source=tests/bench/support/time.sh
. tests/bench/support/time.sh
PATH="$build/bin:$PATH"
python=${PYTHON:-python3}
"$python" -c 'import torch' 2>/dev/null || python=
batch=256 student_steps=20

electric=../shared/data/ElectricDevices/ElectricDevices_TRAIN.tsv
if [ -e "$electric" ]; then
    sc-import -q "$electric" | sc-scale -q -o "$scratch/train.npy"
    echo 'ElectricDevices, 1 series per class, 100 iterations'
else
    sc-gen planted -n 4000 -L 96 -V 7 | sc-scale -q -o "$scratch/train.npy"
    echo "No $electric here: generated series of its shape, 1 per class, 100 iterations"
fi
sc-experts -q -c 2 -e 3 "$scratch/train.npy" -o "$scratch/experts.npy"
sc-experts -q -c 2 -e 3 --two-tower "$scratch/train.npy" -o "$scratch/two.npy"
echo "  dc, dsa, dm: $batch real series of each class; mtt, condtsc: $student_steps steps of a student"

# processor COMMAND...: the processor time of its fastest run in nanoseconds.
processor() {
    count=0
    while [ "$count" -lt "$BENCH_REPEATS" ]; do
        ("$@" && times)
        count=$((count + 1))
    done | awk 'NR % 2 == 0 {
        split($1, user, /[ms]/); split($2, system_time, /[ms]/)
        time = 60 * (user[1] + system_time[1]) + user[2] + system_time[2]
        if (!best || time < best) best = time
    } END { printf "%.0f\n", 1e9 * best }'
}

# torch METHOD MORE...: seconds of 100 iterations, from a tenth of them.
torch() {
    torch_method=$1
    shift
    "$python" tests/bench/match.py "$torch_method" "$scratch/train.npy" 10 "$@" | {
        read -r torch_time torch_loss
        : "$torch_loss"
        echo "$torch_time" | awk '{ printf "%.3f", 10 * $1 }'
    }
}

# line METHOD PAPER OPTIONS...
line() {
    method=$1 paper=$2
    shift 2
    for threads in ${THREADS:-1 $(nproc)}; do
        measure=best
        [ "$threads" -gt 1 ] || measure=processor
        time=$($measure sc-match -q -m "$method" -n 1 --steps 100 --threads "$threads" "$@" \
            "$scratch/train.npy" -o "$scratch/tiny.npy")
        seconds=$(echo "$time" | awk '{ printf "%.3f", $1 / 1e9 }')
        printf '  %-8s %2s thread(s) %8s s' "$method" "$threads" "$seconds"
        [ "$paper" = - ] || printf '  V100 of the paper %6s s: %5s x' "$paper" \
            "$(ratio "$paper" "$seconds")"
        if [ -n "$python" ]; then
            case $method in
            dc) theirs=$(torch dc "$batch" "$threads") ;;
            mtt) theirs=$(torch mtt "$student_steps" "$threads" "$scratch/experts.npy" 2) ;;
            *) theirs= ;;
            esac
            [ -z "$theirs" ] || printf '  PyTorch here %7s s: %4s x' "$theirs" \
                "$(ratio "$theirs" "$seconds")"
        fi
        echo
    done
}

line dc 19.81 -b $batch
line dsa 59.58 -b $batch
line dm - -b $batch
line mtt 85.59 -x "$scratch/experts.npy" --student-steps $student_steps --expert-epochs 2
line condtsc 41.86 -x "$scratch/two.npy" --student-steps $student_steps --expert-epochs 2
[ -n "$python" ] || echo '  No Python with PyTorch here (set PYTHON), so no comparison with it.'
