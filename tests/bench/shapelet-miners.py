"""Times shapelet miners of the Python world on a dataset file, for shapelets.sh.

    python3 shapelet-miners.py pyts|aeon FILE LENGTH STEP

Prints seconds, the best of two runs, or nothing if the miner is not installed.
Compilation (numba) is done on a small part before the clock starts.
"""
import sys
import time

import numpy as np

with open(sys.argv[2], "rb") as file:
    x, y = np.load(file), np.load(file)
length, step = int(sys.argv[3]), int(sys.argv[4])
x = x[:, 0, :].astype(np.float64)
count, steps = x.shape
starts = len(range(0, steps - length + 1, step))


def pyts(series, labels, samples):
    from pyts.transformation import ShapeletTransform

    ShapeletTransform(
        n_shapelets=20, criterion="mutual_info", window_sizes=[length], window_steps=[step],
        remove_similar=True, n_jobs=2, random_state=0).fit(series, labels)


def aeon(series, labels, samples):
    from aeon.transformations.collection.shapelet_based import RandomShapeletTransform

    RandomShapeletTransform(
        n_shapelet_samples=samples, max_shapelets=20, min_shapelet_length=length,
        max_shapelet_length=length, n_jobs=2, random_state=0).fit(series[:, None, :], labels)


mine = {"pyts": pyts, "aeon": aeon}[sys.argv[1]]
try:
    mine(x[:12, : length + 4 * step], y[:12], 40)
except ImportError:
    sys.exit()
times = []
for _ in range(2):
    start = time.perf_counter()
    mine(x, y, count * starts)
    times.append(time.perf_counter() - start)
print(min(times))
