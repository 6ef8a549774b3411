#!/usr/bin/env python3
"""Any classifier of scikit-learn as the teacher, without gradients (sc-teacher-command(7)).

    shapecond --teacher-command 'sklearn_teacher.py train.npy' train.npy -o tiny.npy

Logits are the logarithms of its probabilities.  To bring another model, replace the line that makes it."""
import sys

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier

from numpy_teacher import receive, send


def main(path):
    with open(path, "rb") as file:
        x, y = np.load(file), np.load(file)
    model = ExtraTreesClassifier(500, random_state=0, n_jobs=-1).fit(x.reshape(len(x), -1), y)
    while (request := receive()) is not None:
        word = str(request).split()[0]
        if word == "hello":
            send(np.array("ready 1"))
        elif word == "forward":
            series = receive()
            shares = model.predict_proba(series.reshape(len(series), -1))
            send(np.log(shares + 1e-3).astype(np.float32))
        else:
            sys.exit("sklearn_teacher: has no gradients; sc-views and shapecond do not ask for them")


if __name__ == "__main__":
    main(sys.argv[1]) if len(sys.argv) == 2 else sys.exit(__doc__)
