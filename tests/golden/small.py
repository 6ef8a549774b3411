"""The small network of matching.py and unroll.py: its parameters, flat in the order of lib/nn, which is
PyTorch's, and the numbers that both sides start from."""
import os
import sys

import numpy as np
import torch

torch.set_default_dtype(torch.float64)
DEPTH, WIDTH, CHANNELS, LENGTH, CLASSES, KERNEL = 2, 4, 2, 14, 3, 3
EMBEDDING = WIDTH * (LENGTH >> DEPTH)


def shapes(features):
    channels = CHANNELS
    for _ in range(DEPTH):
        yield from ((WIDTH, channels, KERNEL), (WIDTH,), (WIDTH,), (WIDTH,))
        channels = WIDTH
    yield from ((CLASSES, features + EMBEDDING), (CLASSES,))


def count(features=0):
    return sum(int(np.prod(s)) for s in shapes(features))


def unpack(flat, features=0):
    at, out = 0, []
    for shape in shapes(features):
        size = int(np.prod(shape))
        out.append(flat[at:at + size].reshape(shape))
        at += size
    return out


def single(*shape):
    """Single precision, so that both sides start from the same numbers."""
    return torch.randn(*shape).float().double()


def lift_gains(parameters):
    """Adds 1 to the gains of the normalisations, in place."""
    for block in range(DEPTH):
        gain = parameters[4 * block + 2]
        gain.add_(1).copy_(gain.float().double())


def write(name, arrays):
    """Beside this script, or into the folder that the command names."""
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(folder, name), "wb") as file:
        for array in arrays:
            np.save(file, array.detach().numpy().astype(np.float32).reshape(-1))
