#!/bin/sh
# check.sh BUILD: the CUDA plug-in on a real GPU against the processor (make check-cuda): the unit
# tests that `make check` runs with tests/fake_cuda, here with the real one, then the tools.
# Without a GPU nothing is run, nothing passes, and the exit status is 77.
set -u
cd "$(dirname "$0")/../.." || exit 1
case $1 in /*) build=$1 ;; *) build=$PWD/$1 ;; esac
unset SHAPECOND_CUDA_PLUGIN

if ! reason=$("$build/bench/cuda" --probe 2>&1); then
    echo "no GPU, not run: $reason"
    exit 77
fi
echo "GPU found: $reason"
failed=0
for source in tests/unit/test_cuda_*.c; do
    test=${source##*/}
    SC_TEST_GPU=1 CMOCKA_MESSAGE_OUTPUT=TAP "$build/tests/${test%.c}" || failed=1
done

# near TOLERANCE A B: texts of the same words, whose numbers differ by at most TOLERANCE of the largest.
near() {
    awk -v tolerance="$1" '
        FNR == 1 { file++ }
        { for (i = 1; i <= NF; i++) word[file, ++count[file]] = $i }
        END {
            number = "^[-+]?[0-9.]+(e[-+]?[0-9]+)?$"
            if (count[1] != count[2] || !count[1]) { print "not of the same size"; exit 1 }
            for (i = 1; i <= count[1]; i++) {
                a = word[1, i]; b = word[2, i]
                if (a !~ number || b !~ number) {
                    if (a != b) { print a " is not " b; exit 1 }
                    continue
                }
                size = a < 0 ? -a : +a; largest = size > largest ? size : largest
                gap = a > b ? a - b : b - a; apart = gap > apart ? gap : apart
            }
            if (apart > tolerance * largest) { print "off by " apart " of " largest; exit 1 }
        }' "$2" "$3"
}

# The same commands on both devices: the same pool, features that are as near as float allows, and a
# teacher that answers alike but for a series or two of a hundred.
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
PATH="$build/bin:$PATH"
cd "$scratch" || exit 1
sc-gen two-patterns -n 200 -o set.npy
sc-gen two-patterns -n 100 --seed 1 -o test.npy
for device in cpu cuda; do
    mkdir $device
    sc-shapelets -q -k 5 --device $device -o $device/pool.slp set.npy &&
        sc-strans -q --device $device -o $device/features.npy $device/pool.slp set.npy &&
        sc-teacher -q --steps 300 -s $device/pool.slp --device $device -o $device/t.tch set.npy &&
        sc-synth -q -t $device/t.tch -s $device/pool.slp -n 3 --steps 200 --device $device \
            -o $device/tiny.npy set.npy &&
        sc-eval -q $device/tiny.npy test.npy -s $device/pool.slp --steps 200 --device $device \
            -o $device/scores.tsv || failed=1
    grep '^mean' $device/scores.tsv | sed "s/^/$device: /"
done
cmp cpu/pool.slp cuda/pool.slp || failed=1
for device in cpu cuda; do
    sc-export -f ucr -o $device/features.txt $device/features.npy &&
        sc-eval -q --teacher cpu/t.tch -s cpu/pool.slp test.npy --device $device |
        awk '$1 == "mean" { print $2 }' >$device/accuracy.txt || failed=1
done
near 2e-6 cpu/features.txt cuda/features.txt || failed=1
near 0.02 cpu/accuracy.txt cuda/accuracy.txt || failed=1
for again in 1 2; do
    sc-teacher -q --steps 100 --device cuda -o again-$again.tch set.npy || failed=1
done
cmp again-1.tch again-2.tch || failed=1
if [ $failed -eq 0 ]; then echo "check-cuda: all passed"; else echo "check-cuda: FAILED"; fi
exit $failed
