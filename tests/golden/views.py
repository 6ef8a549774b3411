"""Golden files of labelled views: views.npy, a small dataset with views of 8 bits, views-4.npy of 4 bits,
views-few.npy and views-few-4.npy, whose series have few bits and soft labels, too, and what the Python of
sc-dataset(5) makes of them.  Their codes are those of versions 1 and 2, but for views-few.npy: version 4.  Usage: python tests/golden/views.py"""
import os
import re
import sys
import zlib

import numpy as np

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(here, "..", "..", "formats"))
import shapecond
page = open(os.path.join(here, "..", "..", "man", "sc-dataset.5")).read()
for part in re.findall(r"^\.Bd.*?\n(.*?)^\.Ed", page, re.M | re.S):
    if "def " in part:
        exec(part.replace("\\e", "\\"))

values_of = values
random = np.random.default_rng(1)
N, C, L, V, M = 5, 3, 21, 3, 40
X = random.standard_normal((N, C, L)).cumsum(-1).astype("f4")
y = np.arange(N, dtype="i4") % V
for name, bits, recipe in (("views", 8, [0.25, 0.4, 0.5, 0.3, 0.5, 0.5]), ("views-4", 4, [0.5, 0, 0.2, 1, 1, 0.3])):
    codes = random.integers(0, 256, (M, V if bits == 8 else (V + 1) // 2)).astype("u1")
    views = np.array([1, N, 2**33 + 5, *recipe, bits, 0.125, zlib.crc32(codes.tobytes())])
    series, logits = expand(X, V, views, codes)
    with open(os.path.join(here, name + ".npy"), "wb") as f:
        for array in (X, y, views, codes):
            np.save(f, array)
    with open(os.path.join(here, name + "-expanded.npy"), "wb") as f:
        for array in (series, logits.argmax(1).astype("i4"), logits):
            np.save(f, array)

# Few bits: X becomes codes, and the first rows of the labels' codes are those of the series.
for name, bits, length in (("views-few", 8, 21), ("views-few-4", 4, 21)):
    shape = (N, C, length if bits == 8 else (length + 1) // 2)
    packed = random.integers(0, 256, shape).astype("u1")
    if bits == 4:
        packed[..., -1] &= 15
    levels = np.stack([random.standard_normal((N, C, 1)), random.uniform(0.01, 0.2, (N, C, 1))]).astype("f4")
    levels[1, 0, 0] = 0
    packed[0, 0] = 0
    codes = random.integers(0, 256, (N + M, V if bits == 8 else (V + 1) // 2)).astype("u1")
    if bits == 4:
        codes[:, -1] &= 15
    values = codes if bits == 8 else np.stack([codes & 15, codes >> 4], -1).reshape(N + M, -1)[:, :V]
    values[np.arange(N + M), random.integers(0, V, N + M)] = 0  # the largest logit is 0
    if bits == 4:
        padded = np.concatenate([values, np.zeros((N + M, V % 2), "u1")], 1)
        codes = (padded[:, ::2] | padded[:, 1::2] << 4).astype("u1")
    views = np.array([2, N, 77, 0.25, 0.4, 0.5, 0.3, 0.5, 0.5, bits, 0.125, zlib.crc32(codes.tobytes())])
    path = os.path.join(here, name + ".npy")
    with open(path, "wb") as f:
        if name == "views-few":
            views = np.array([4, *views[1:], N + M])
            stored = shapecond._coded_labels(codes, views, V, y)[None]
        else:
            stored = codes
        for array in (packed, levels, np.array([bits, length], "f8"), y, views, stored):
            np.save(f, array)
    X = values_of(packed, levels, (bits, length))
    series, logits = expand(X, V, views[:12], codes[N:])
    soft = (-0.125 * values[:N]).astype("f4")
    with open(os.path.join(here, name + "-expanded.npy"), "wb") as f:
        for array in (np.concatenate([X, series]), np.concatenate([y, logits.argmax(1)]).astype("i4"),
                      np.concatenate([soft, logits])):
            np.save(f, array)
