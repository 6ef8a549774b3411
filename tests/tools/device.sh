#!/bin/sh
# --device: what it says where there is no plug-in, driver or GPU, and what the tools make on a
# device that is not the processor (tests/fake_cuda).
. "$(dirname "$0")/lib.sh"

fake=$SC_BUILD/tests/libshapecond-cuda-fake.so
real=$SC_BUILD/lib/libshapecond-cuda.so
computing='sc-shapelets sc-strans sc-teacher sc-synth sc-eval sc-select sc-experts sc-match shapecond'
unset SHAPECOND_CUDA_PLUGIN

sc-gen two-patterns -n 24 -o set.npy
sc-gen two-patterns -n 12 --seed 1 -o test.npy
sc-shapelets -q -k 2 -o pool.slp set.npy

test_that 'every program that computes takes --device' '
    for tool in $computing; do
        $tool --help | grep -q -- "--device" || { echo "$tool does not"; exit 1; }
        fails 2 "--device" $tool --device=abacus
    done
'
test_that 'a plug-in that is not there is named, and auto continues without it' '
    export SHAPECOND_CUDA_PLUGIN=$PWD/nowhere.so
    fails 1 "sc-strans: --device: no CUDA plug-in: $PWD/nowhere.so: cannot open shared object" \
        sc-strans --device cuda -o features.npy pool.slp set.npy
    refute test -e features.npy
    sc-strans --device auto -o auto.npy pool.slp set.npy
    sc-strans -o cpu.npy pool.slp set.npy
    cmp auto.npy cpu.npy
'
test_that 'a library that is no plug-in is refused' '
    export SHAPECOND_CUDA_PLUGIN=$SC_BUILD/lib/libnpy-c.so.0
    fails 1 "not a shapecond plug-in" sc-strans --device cuda pool.slp set.npy
'
test_that 'a plug-in of another build is refused, whatever its version' '
    version=$(sc-strans --version | sed "s/.* //")
    LC_ALL=C sed "s/\($version-[0-9]*\)[0-9]/\1x/g" "$fake" >stale.so
    refute cmp -s stale.so "$fake"
    export SHAPECOND_CUDA_PLUGIN=$PWD/stale.so
    fails 1 "x) and the program ($version-" \
        sc-strans --device cuda -o features.npy pool.slp set.npy
    grep -q "are not of the same build" .stderr
    refute test -e features.npy
    sc-strans --device auto -o auto.npy pool.slp set.npy
    test -s auto.npy
'
test_that 'the programs have no symbol of CUDA and do not need it' '
    for program in "$SC_BUILD"/bin/*; do
        nm "$program" >symbols
        nm -D "$program" >>symbols
        test -s symbols
        refute grep -qiE "cuda|cudnn|cublas" symbols
        readelf -d "$program" >needed
        refute grep -qiE "cuda|cudnn|cublas" needed
    done
'
if [ -e "$real" ] && ! ls /dev/nvidia0 >/dev/null 2>&1; then
    test_that 'without a driver the plug-in says so, and auto continues without it' '
        fails 1 "sc-teacher: --device: no NVIDIA driver: there is no libcuda.so.1" \
            sc-teacher --device cuda -o t.tch set.npy
        refute test -e t.tch
        sc-strans --device auto -o auto.npy pool.slp set.npy
        sc-strans --device cpu -o cpu.npy pool.slp set.npy
        cmp auto.npy cpu.npy
    '
    test_that 'the plug-in exports its entry and nothing else' '
        test "$(nm -D --defined-only "$real" | grep -c " T ")" = 1
        nm -D --defined-only "$real" | grep -q " T shapecond_cuda_open"
    '
else
    skip_that 'without a driver the plug-in says so' 'no plug-in was built, or there is a GPU'
fi

export SHAPECOND_CUDA_PLUGIN="$fake"
test_that 'a GPU that is missing or runs nothing is named, and auto continues without it' '
    sc-strans -o cpu.npy pool.slp set.npy
    export FAKE_CUDA_GPUS=0
    fails 1 "sc-strans: --device: no GPU: the NVIDIA driver finds none" \
        sc-strans --device cuda -o features.npy pool.slp set.npy
    sc-strans --device auto -o auto.npy pool.slp set.npy
    cmp auto.npy cpu.npy
    export FAKE_CUDA_GPUS=1 FAKE_CUDA_FAIL=kernel
    fails 1 "the GPU cannot be used: CUDA: probe_kernel: an illegal memory access" \
        sc-strans --device cuda -o features.npy pool.slp set.npy
    sc-strans --device auto -o auto.npy pool.slp set.npy
    cmp auto.npy cpu.npy
    refute test -e features.npy
'
test_that 'a call that fails half-way is reported, and nothing is written' '
    for call in cudaMemcpyAsync cudaStreamSynchronize cudaGraphLaunch cudaStreamEndCapture; do
        fails 1 "CUDA: $call" env FAKE_CUDA_FAIL=$call \
            sc-teacher -q --steps 6 -b 8 --device cuda -o half.tch set.npy
        refute test -e half.tch
    done
'
test_that 'a pool has the same bytes from any device' '
    sc-shapelets -q -k 2 --device cuda -o other.slp set.npy
    cmp pool.slp other.slp
'
test_that 'teacher, synthesis, students and choices work on another device' '
    sc-teacher -q --steps 6 -s pool.slp -v test.npy --device cuda -o t.tch set.npy
    sc-info t.tch | grep -q -- "--device=cuda"
    sc-synth -q -t t.tch -s pool.slp -n 1 --steps 5 --device cuda -o tiny.npy set.npy
    sc-eval -q tiny.npy test.npy -s pool.slp --seeds 1 --steps 4 --device cuda | grep -q "^mean"
    sc-eval -q --teacher t.tch -s pool.slp test.npy -o cpu.tsv
    sc-eval -q --teacher t.tch -s pool.slp --device auto test.npy -o cuda.tsv
    cmp cpu.tsv cuda.tsv
    sc-select -q -m herding -n 2 -t t.tch -s pool.slp -o cpu.npy set.npy
    sc-select -q -m herding -n 2 -t t.tch -s pool.slp --device cuda -o cuda.npy set.npy
    test "$(sc-info --json cuda.npy | json count)" = "$(sc-info --json cpu.npy | json count)"
'
test_that 'experts and matching work on another device' '
    network="cnn depth=1 width=4 norm=instance"
    sc-experts -q -c 1 -e 2 -n "$network" -b 12 --device cuda -o experts.npy set.npy
    sc-match -q -m mtt -x experts.npy -n 1 --steps 2 --student-steps 2 --expert-epochs 1 \
        --device cuda -o mtt.npy set.npy
    sc-match -q -m dc -n 1 --steps 2 --network "$network" -b 4 --device cuda -o dc.npy set.npy
    sc-match -q -m unroll -n 1 --steps 1 --student-steps 3 --unroll-steps 2 --device cuda \
        --network "cnn depth=1 width=4" -o unroll.npy set.npy
    sc-info unroll.npy | grep -q -- "--device=cuda"
'
test_that 'the same command gives the same bytes again' '
    sc-teacher -q --steps 6 --device cuda -o a.tch set.npy
    sc-teacher -q --steps 6 --device cuda --threads 3 -o b.tch set.npy
    cmp a.tch b.tch
'
test_that 'a checkpoint is continued only on the device that began it' '
    for run in "sc-teacher -q --epochs 100000 --checkpoint-every 1 -n cnn" \
        "sc-match -q -n 1 --steps 100000 --checkpoint-every 1" "sc-experts -q -c 100000 -e 1"; do
        killed state $run --checkpoint state --device cuda set.npy -o none
        fails 1 "state: computed so far by " timeout 60 $run --checkpoint state set.npy -o none
        grep "so far by \".*, cuda\", but this is \".*[^a]\"" .stderr
        rm state
    done
    test ! -e none
'
test_that 'a teacher command has no device of ours' '
    fails 2 "computes where it likes" sc-synth --teacher-command cat --device cuda set.npy
'
test_that 'the plug-in trains, inverts and matches transformers and recurrent networks' '
    export SHAPECOND_CUDA_PLUGIN=$fake
    for network in "transformer width=4 ff=4 dropout=0.2" "gru hidden=4"; do
        sc-teacher -q --device cuda --steps 3 -n "$network" -o gpu.tch set.npy
        sc-eval -q --device cuda --teacher gpu.tch test.npy >gpu.tsv
        sc-eval -q --teacher gpu.tch test.npy >cpu.tsv
        cmp gpu.tsv cpu.tsv
        sc-synth -q --device cuda -t gpu.tch -n 1 --steps 2 set.npy -o gpu.npy
        sc-match -q --device cuda -m dm -n 1 --steps 1 -b 4 --network "$network" set.npy -o gpu.npy
        sc-match -q -m unroll -n 1 --steps 1 --student-steps 3 --unroll-steps 2 --device cuda \
            --network "$network" -o gpu.npy set.npy
    done
'
finish
