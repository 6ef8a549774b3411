#!/usr/bin/env python3
"""Compares random networks of all families with PyTorch: values, gradients, Hessian and mixed products,
running statistics, the matching of batch statistics.

    tests/golden/check_families.py [BUILD [COUNT [SEED]]]
                  BUILD: where `make check` built the tests, default build; COUNT networks, default 320

Prints for each family how many agree and the largest deviation of any value, as a share of what the
test allows (1e-5 of the largest value for the forward pass, 3e-5 for gradients, 1e-4 for second order).
Takes some minutes: PyTorch computes in double precision."""
import os
import random
import re
import subprocess
import sys
import tempfile
import warnings

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import networks  # noqa: E402
import sequences  # noqa: E402,F401 (adds transformer and gru)

warnings.filterwarnings("ignore", message="Using padding='same'")


def pick(r, **choices):
    """One value of each list; of a pair, a number between its ends."""
    return {word: r.randint(*of) if isinstance(of, tuple) else r.choice(of)
            for word, of in choices.items()}


ENDS = ["flatten", "mean", "max"]
KERNELS = dict(kernel1=(1, 9), kernel2=(1, 9), kernel3=(1, 9))
COMMON = dict(norm=list(networks.NORMS), act=list(networks.ACTS))
# The words of each family and what they may be.
SPACE = {
    "cnn": dict(depth=(1, 3), width=(1, 40), kernel=[1, 3, 5, 7], pool=list(networks.POOLS), end=ENDS,
                **COMMON),
    "fcn": dict(width=(1, 20), end=ENDS, **KERNELS, **COMMON),
    "resnet": dict(blocks=(1, 3), width=(1, 20), end=ENDS, **KERNELS, **COMMON),
    "inception": dict(depth=(1, 7), width=(1, 12), bottleneck=(0, 9), kernel1=(1, 40), kernel2=(1, 20),
                      kernel3=(1, 10), end=ENDS, **COMMON),
    "tcn": dict(depth=(1, 5), width=(1, 40), kernel=(1, 8), end=ENDS + ["last"], **COMMON),
    "mlp": dict(depth=(1, 4), width=(1, 70), norm=["none", "batch"], act=list(networks.ACTS)),
    "transformer": dict(width=[8, 12, 24, 40], heads=[1, 2, 4], layers=(1, 2), ff=(2, 40), patch=(1, 3),
                        norm=["batch", "layer"], act=["sigmoid", "gelu", "relu"],
                        positions=["none", "learned"], end=ENDS),
    "gru": dict(hidden=(1, 40), layers=(1, 3), end=["last", "mean", "max"]),
}
# What is added to the start of normalisations and biases; of transformers to all matrices, whose
# attention would otherwise be all or nothing.
NOISE = {"transformer": 0.05}


def describe(r, family):
    words = pick(r, **SPACE[family])
    # Two channels and some series and steps at least (8 where poolings leave the fewest): the gradient of
    # what a normalisation takes away, such as a bias, is rounding, which grows with less.
    data = pick(r, channels=(2, 9), length=(32, 48), classes=(2, 6), features=[0, 0, 3])
    how = pick(r, samples=(4, 12), training=[True, False], loss=["labels", "kl", "soft"],
               temperature=[1.0, 2.0])
    return {**words, **data, **how}


def check(build, seed, family, options):
    """Whether it agrees, and the share of the tolerance."""
    arrays, margin = None, 2e-6
    while not arrays:  # until rounding takes nothing over a kink, or as far from one as there is
        arrays = networks.case(seed, family=family, margin=margin, noise=NOISE.get(family, 0.3),
                               **options)
        seed, margin = seed + 1000, 0.9 * margin
    with tempfile.NamedTemporaryFile(suffix=".npy") as file:
        networks.write(file, arrays)
        file.flush()
        run = subprocess.run([f"{build}/tests/test_nn_golden", file.name], capture_output=True, text=True)
    found = re.search(r"# (.*): ([0-9.]+) of the tolerance in (\S+)", run.stdout)
    if run.returncode or not found:
        print(f"{family} {options}\n{run.stdout}{run.stderr}")
        return False, 0.0, ""
    return True, float(found[2]), f"{found[3]} of {found[1]}"


def main(build="build", count="320", seed="1"):
    r = random.Random(int(seed))
    worst = {family: (0.0, "") for family in SPACE}
    agree, total = dict.fromkeys(SPACE, 0), dict.fromkeys(SPACE, 0)
    for number in range(int(count)):
        family = list(SPACE)[number % len(SPACE)]
        fine, share, where = check(build, number, family, describe(r, family))
        total[family] += 1
        agree[family] += fine
        worst[family] = max(worst[family], (share, where))
        print(f"\r{number + 1} of {count} networks", end="", file=sys.stderr)
    print(file=sys.stderr)
    for family, (share, where) in worst.items():
        print(f"{family}: {agree[family]} of {total[family]} agree with PyTorch; "
              f"largest deviation {share:.2f} of the tolerance, {where}")
    return sum(agree.values()) < int(count)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
