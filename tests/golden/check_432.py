#!/usr/bin/env python3
"""Compares all 432 networks of the paper's search space (depth 2, 3, 4; width 32 to 256; four
normalisations, three activations, three poolings) with PyTorch: values, gradients, tangents, running
statistics, the matching of batch statistics.

    tests/golden/check_432.py [BUILD]        BUILD: where `make check` built the tests, default build

Takes some minutes: PyTorch computes in double precision."""
import itertools
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import networks  # noqa: E402

build = sys.argv[1] if len(sys.argv) > 1 else "build"
space = list(itertools.product((2, 3, 4), (32, 64, 128, 256), networks.NORMS, networks.ACTS,
                               networks.POOLS))
failed = 0
for seed, (depth, width, norm, act, pool) in enumerate(space):
    arrays = networks.case(seed, samples=4, depth=depth, width=width, norm=norm, act=act, pool=pool,
                           channels=9, length=32, classes=6, features=3, training=seed % 4 != 0,
                           loss=("labels", "kl", "soft")[seed % 3], temperature=1 + seed % 2)
    with tempfile.NamedTemporaryFile(suffix=".npy") as file:
        networks.write(file, arrays)
        file.flush()
        run = subprocess.run([f"{build}/tests/test_nn_golden", file.name], capture_output=True,
                             text=True)
    if run.returncode:
        failed += 1
        print(run.stdout, run.stderr)
    print(f"\r{seed + 1} of {len(space)} networks, {failed} failed", end="", file=sys.stderr)
print(file=sys.stderr)
print(f"{len(space) - failed} of {len(space)} networks agree with PyTorch {networks.torch.__version__}")
sys.exit(failed > 0)
