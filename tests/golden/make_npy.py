#!/usr/bin/env python3
"""Writes npy-read.bin and npy-write.bin with NumPy: what libnpy-c must read, and what it must write
to the byte.  Run in this folder; the files are kept in the repository."""
import numpy as np

SHAPE = (2, 3, 4)
k = np.arange(24)


def values(kind):
    """Element k of the array, as the C test computes it too."""
    if kind == "b":
        return k % 3 == 0
    if kind == "u":
        return k * 3
    if kind == "i":
        return k - 5
    return (k - 5) / 4


with open("npy-read.bin", "wb") as f:
    for kind, sizes in (("b", (1,)), ("i", (1, 2, 4, 8)), ("u", (1, 2, 4, 8)), ("f", (2, 4, 8))):
        for size in sizes:
            for byte_order in "<>":
                for order in "CF":
                    for version in ((1, 0), (2, 0), (3, 0)):
                        x = values(kind).reshape(SHAPE).astype(f"{byte_order}{kind}{size}")
                        x = np.asarray(x, order=order)
                        np.lib.format.write_array(f, x, version=version)
    for byte_order in "<>":
        names = np.array(["a", "", "Gr\u00fc\u00dfe", "\u65e5\u672c", "\U0001f600!"])
        np.lib.format.write_array(f, names.astype(f"{byte_order}U7"))

with open("npy-write.bin", "wb") as f:
    np.save(f, (np.arange(24, dtype="<f4") / 4).reshape(SHAPE))
    np.save(f, np.arange(5, dtype="<i4"))
    np.save(f, np.zeros((0, 3), dtype="|u1"))
    np.save(f, np.float64(2.5))
    np.save(f, np.array(["a", "", "Gr\u00fc\u00dfe", "\U0001f600!"]))
    np.save(f, np.array("one line\nanother"))
