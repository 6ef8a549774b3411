"""Golden files of labelled views: views.npy, a small dataset with views of 8 bits, views-4.npy of 4 bits, and
what the Python of sc-dataset(5) makes of them.  Usage: python tests/golden/views.py"""
import os
import re
import zlib

import numpy as np

here = os.path.dirname(os.path.abspath(__file__))
page = open(os.path.join(here, "..", "..", "man", "sc-dataset.5")).read()
exec("".join(part for part in re.findall(r"^\.Bd.*?\n(.*?)^\.Ed", page, re.M | re.S) if "def expand" in part))

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
