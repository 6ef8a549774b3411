"""Compares imported real datasets with their sources: check_import.py DATA IMPORTED."""
import os
import sys

import numpy as np

data, imported = sys.argv[1:]


def load(name):
    path = os.path.join(imported, name + ".npy")
    arrays = []
    with open(path, "rb") as file:
        while file.tell() < os.path.getsize(path):
            arrays.append(np.load(file))
    return arrays[:3]


def check(name, series, labels):
    x, y, names = load(name)
    assert x.dtype == np.float32 and y.dtype == np.int32, name
    assert np.array_equal(x, series.astype(np.float32).reshape(x.shape)), name + ": series"
    values = np.unique(labels)
    assert np.array_equal(values[y], labels), name + ": labels"
    assert list(names) == [str(int(v)) for v in values], name + ": names"


for name in "FacesUCR TwoPatterns ElectricDevices GunPoint ItalyPowerDemand TiselacNDVI".split():
    end = ".txt" if name == "TiselacNDVI" else ".tsv"
    rows = []
    for part in "_TRAIN", "_TEST":
        with open(os.path.join(data, name, name + part + end)) as file:
            rows += [[float(field) for field in line.split()] for line in file]
    rows = np.array(rows)
    check(name, rows[:, 1:], rows[:, 0])
for name in "HAR Sleep Pedestrian".split():
    folder = os.path.join(data, name, name)
    check(name, np.load(folder + "_X.npy"), np.load(folder + "_y.npy"))
