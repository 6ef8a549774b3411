"""Makes packed.npy and packed-time.npy, compressed series with and without a wavelet transform, by formats/shapecond.py, and
packed-values.npy and packed-time-values.npy, their values by the reader of sc-dataset(5).  Usage: python tests/golden/packed.py"""
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
    if "def read_dataset" in block or "def unpack" in block:
        exec("import numpy as np\n" + block.replace("\\e", "\\"), code)

rng = np.random.default_rng(1)
for name, depth, step in ("packed", 3, 0.25), ("packed-time", 0, 0.002):
    levels = np.array([[0.5, -20], [step, 30 * step]], "f4")[:, None, :, None]
    codes = rng.normal(0, 3 if depth else 300, (6, 2, 37)).round()
    w = shapecond._synthesised(codes, depth)
    X = (levels[0].astype("f8") + levels[1].astype("f8") * w).astype("f4")
    path = os.path.join(here, name + ".npy")
    shapecond.save(path, X, np.arange(6) % 3, levels=levels, packing=np.array([1, 6, 2, 37, depth]))
    found = code["read_dataset"](path)["X"]
    assert found.tobytes() == X.tobytes()
    np.save(os.path.join(here, name + "-values.npy"), found)
