#!/bin/sh
# The network engine beside PyTorch: training steps (3x32 network, batch 256), synthesis steps (batch =
# classes, gradient to the series, statistics matched) and second-order products, on the shapes of the
# seven datasets of the paper, gradients and products of the few series of a condensed dataset, and training
# steps and products of the other families of networks (HAR, batches of 64, 6 and 30), with one and two threads pinned
# alike.  PyTorch's columns need a python3
# (or PYTHON=...) that has torch; without it they are empty.
#     make bench-engine THREADS="1 2" PYTHON=python3 [JOB=family, JOB="family mlp"]
set -eu
build=$1
here=$(dirname "$0")
python=${PYTHON:-python3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM

torch=no
if "$python" -c 'import torch' 2>/dev/null; then
    torch=$("$python" -c 'import torch; print(torch.__version__)')
fi
for threads in ${THREADS:-1 2}; do
    cores=0
    [ "$threads" = 1 ] || cores=0-$((threads - 1))
    # shellcheck disable=SC2086 # a job and a family, or nothing
    taskset -c "$cores" "$build/bench/engine" "$threads" ${JOB-} >"$work/ours"
    : >"$work/torch"
    # shellcheck disable=SC2086
    [ "$torch" = no ] || taskset -c "$cores" "$python" "$here/engine.py" "$threads" ${JOB-} >"$work/torch"
    awk -v threads="$threads" -v torch="$torch" '
        FILENAME == ARGV[1] { theirs[$1, $2] = $4; next }
        { ours[$1, $2] = $4 }
        $1 == "train" { shapes[++count] = $2 }
        $1 == "small" { small[++few] = $2 }
        $1 == "family" { families[++many] = $2 }
        function ratio(job, shape) {
            if (!((job, shape) in theirs))
                return "-"
            return sprintf("%.1f", ours[job, shape] / theirs[job, shape])
        }
        function faster(job, shape) {
            return (job, shape) in theirs ? sprintf("%.1f", theirs[job, shape] / ours[job, shape]) : "-"
        }
        END {
            peak = ours["sgemm", "-"]
            printf "\n%s thread%s (%s); SGEMM of OpenBLAS %.0f GFLOP/s; PyTorch %s\n", threads,
                (threads > 1 ? "s" : ""), (threads > 1 ? "time on the wall" : "processor time"), peak, torch
            printf "%-12s %11s %8s %7s %8s | %11s %8s | %11s %9s %8s | %6s\n", "dataset", "train",
                "GFLOP/s", "of peak", "PyTorch", "synthesis", "PyTorch", "product", "cost", "PyTorch",
                "memory"
            printf "%-12s %11s %8s %7s %8s | %11s %8s | %11s %9s %8s | %6s\n", "", "samples/s", "", "",
                "x", "steps/s", "x", "samples/s", "gradients", "x", "MB"
            for (i = 1; i <= count; i++) {
                s = shapes[i]
                printf "%-12s %11.0f %8.1f %6.0f%% %8s | %11.0f %8s | %11.0f %9.2f %8s | %6.0f\n", s,
                    ours["train", s], ours["gflops", s], 100 * ours["gflops", s] / peak,
                    ratio("train", s), ours["synthesis", s], ratio("synthesis", s),
                    ours["product", s], ours["product-cost", s], ratio("product", s),
                    ours["bytes", s] / 1e6
            }
            printf "%-12s %11s %8s | %11s %8s\n", "few series", "gradient", "PyTorch", "with product",
                "PyTorch"
            for (i = 1; i <= few; i++) {
                s = small[i]
                printf "%-12s %8.0f us %8s | %9.0f us %8s\n", s, ours["small", s], faster("small", s),
                    ours["small-product", s], faster("small-product", s)
            }
            printf "%-12s %11s %8s %7s %8s | %11s %8s | %11s %8s | %11s %8s | %15s\n", "HAR, 64",
                "train", "GFLOP/s", "of peak", "PyTorch", "product", "PyTorch", "batch of 6", "PyTorch",
                "batch of 30", "PyTorch", "million mult."
            for (i = 1; i <= many; i++) {
                s = families[i]
                printf "%-12s %11.0f %8.1f %6.0f%% %8s | %11.0f %8s | %11.0f %8s | %11.0f %8s | %15.1f\n",
                    s, ours["family", s], ours["family-gflops", s],
                    100 * ours["family-gflops", s] / peak, ratio("family", s),
                    ours["family-product", s], ratio("family-product", s), ours["family-6", s],
                    ratio("family-6", s), ours["family-30", s], ratio("family-30", s),
                    ours["family-work", s] / 1e6
            }
            printf "peak memory of the whole run: %.0f MB, PyTorch %.0f MB\n",
                ours["peak-memory", "-"] / 1e6, theirs["peak-memory", "-"] / 1e6
        }' "$work/torch" "$work/ours"
done
echo
echo "million mult.: multiplications of a forward pass of one series."
echo "train, synthesis, product: this engine; PyTorch x: how many times as fast as PyTorch."
echo "cost: the product of the Hessian with a direction, without the gradient before it, in gradients."
