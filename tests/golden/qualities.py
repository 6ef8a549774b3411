"""SciPy's answers for the measures of shapelet quality, as a golden file.

    python3 qualities.py           writes qualities.npy beside this script

For each case: distances, labels, and the statistics of f_oneway, kruskal and median_test.
The test that reads it is tests/unit/test_quality.c."""
import os

import numpy as np
from scipy import stats

CASES = [(12, 2, 1000), (12, 2, 4), (30, 3, 1000), (31, 3, 6), (101, 5, 10), (200, 4, 100000), (250, 4, 7)]

with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "qualities.npy"), "wb") as f:
    for seed, (count, classes, levels) in enumerate(CASES):
        rng = np.random.default_rng(seed)
        labels = rng.integers(classes, size=count)
        labels[:classes] = np.arange(classes)
        distances = np.floor(levels * (rng.random(count) + 0.3 * labels)) / levels * 3.1
        distances = distances.astype(np.float32)
        groups = [distances[labels == v].astype(np.float64) for v in range(classes)]
        answers = [stats.f_oneway(*groups).statistic, stats.kruskal(*groups).statistic,
                   stats.median_test(*groups, correction=False).statistic]
        for array in (distances, labels, answers):
            np.save(f, np.asarray(array, np.float32))
