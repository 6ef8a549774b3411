"""Imports every classification dataset that comes with aeon and compares it with what aeon reads."""
import glob
import os
import subprocess
import warnings

import numpy as np

warnings.simplefilter("ignore")
import aeon.datasets  # noqa: E402

folder = os.path.join(os.path.dirname(aeon.datasets.__file__), "data")
checked = 0
for path in sorted(glob.glob(folder + "/*/*.ts") + glob.glob(folder + "/*/*.arff")):
    result = subprocess.run(["sc-import", path, "--lengths", "zero", "-o", "aeon.npy"],
                            capture_output=True, text=True)
    if result.returncode:
        assert "@targetLabel" in result.stderr or "time stamps" in result.stderr, result.stderr
        continue
    with open("aeon.npy", "rb") as file:
        x, y, names = np.load(file), np.load(file), np.load(file)
    load = aeon.datasets.load_from_ts_file if path.endswith(".ts") else aeon.datasets.load_from_arff_file
    series, labels = load(path)
    assert len(x) == len(series), path
    for ours, theirs in zip(x, series):
        theirs = np.asarray(theirs)
        assert np.array_equal(ours[:, :theirs.shape[1]], theirs.astype(np.float32)), path
        assert not ours[:, theirs.shape[1]:].any(), path
    # aeon writes labels in lower case, and numbers as the file has them.
    for ours, theirs in zip(names[y], labels):
        assert ours.lower() == theirs.lower() or float(ours) == float(theirs), path
    checked += 1
print(checked, "files agree")
assert checked
