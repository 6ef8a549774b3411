"""Makes packed.npy and packed-time.npy, compressed series with and without a wavelet transform, by formats/shapecond.py, and
packed-values.npy and packed-time-values.npy, their values by the Python of sc-dataset(5).  Usage: python tests/golden/packed.py"""
import os
import re
import sys

import numpy as np

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(here, "..", "..", "formats"))
import shapecond

page = open(os.path.join(here, "..", "..", "man", "sc-dataset.5")).read()
code = {}
for block in re.findall(r"\.Bd -literal -offset indent\n(.*?)\.Ed", page, re.S):
    if "def unpack" in block:
        exec("import numpy as np\n" + block.replace("\\e", "\\"), code)

# Two lanes; the last channel resembles the first one.
rng = np.random.default_rng(1)
N, C, L = 40, 3, 37
for name, depth, step in ("packed", 3, 0.25), ("packed-time", 0, 0.002):
    levels = np.array([[0.5, -20, 3], [step, 30 * step, 4 * step]], "f4")[:, None, :, None]
    codes = rng.normal(0, 3 if depth else 300, (N, C, L)).round()
    codes[:, 2] = codes[:, 0] + rng.normal(0, 1, (N, L)).round()
    codes[::3, 1, 10:30] = codes[::3, 1, 10:11]
    packing = np.array([2, N, C, L, depth, 1])
    X = code["unpack"](codes, levels, packing)
    path = os.path.join(here, name + ".npy")
    shapecond.save(path, X, np.arange(N) % 3, levels=levels, packing=packing)
    assert shapecond.load(path)["X"].tobytes() == X.tobytes()
    np.save(os.path.join(here, name + "-values.npy"), X)
