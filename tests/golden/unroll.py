"""PyTorch's answers for windows of a student's training (lib/match/unroll.h), by double backward in
double precision: the loss on real series and its gradients with respect to condensed series,
features and soft labels.

    python3 unroll.py              writes unroll.npy beside this script

The test that reads it, array by array in this order, is tests/unit/test_unroll.c."""
import math
import os
import sys

import numpy as np
import torch
from torch.nn import functional as F

torch.set_default_dtype(torch.float64)
DEPTH, WIDTH, CHANNELS, LENGTH, CLASSES, FEATURES = 2, 4, 2, 14, 3, 5
SERIES, REAL, STEPS, TRAINING, AGE = 6, 9, 3, 10, 4
RATE, MOMENTUM, TEMPERATURE = 0.05, 0.9, 4
EMBEDDING = FEATURES + WIDTH * (LENGTH >> DEPTH)


def shapes():
    """Parameters in the order of lib/nn (PyTorch's)."""
    channels = CHANNELS
    for _ in range(DEPTH):
        yield from ((WIDTH, channels, 3), (WIDTH,), (WIDTH,), (WIDTH,))
        channels = WIDTH
    yield from ((CLASSES, EMBEDDING), (CLASSES,))


COUNT = sum(int(np.prod(s)) for s in shapes())


def unpack(flat):
    at, out = 0, []
    for shape in shapes():
        size = int(np.prod(shape))
        out.append(flat[at:at + size].reshape(shape))
        at += size
    return out


def classify(flat, x, features, statistics=None):
    """Logits, and what the batch normalisations saw: mean and unbiased variance."""
    parameters, seen = unpack(flat), []
    for block in range(DEPTH):
        w, b, gamma, beta = parameters[4 * block:4 * block + 4]
        x = F.conv1d(x, w, b, padding=1)
        mean, variance = x.mean((0, 2)), x.var((0, 2), unbiased=True)
        seen.append((mean, variance))
        if statistics is None:
            variance = x.var((0, 2), unbiased=False)
        else:
            mean, variance = statistics[block]
        x = (x - mean[:, None]) / torch.sqrt(variance[:, None] + 1e-5)
        x = F.max_pool1d(F.relu(gamma[:, None] * x + beta[:, None]), 2)
    x = torch.cat([features, x.flatten(1)], 1)
    return F.linear(x, *parameters[-2:]), seen


def single(*shape):
    """Single precision, so that both sides start from the same numbers."""
    return torch.randn(*shape).float().double()


def window(out):
    flat = (0.4 * single(COUNT)).float().double()
    for block in range(DEPTH):
        gamma = unpack(flat)[4 * block + 2]
        gamma.add_(1).copy_(gamma.float().double())
    velocity = (0.1 * single(COUNT)).float().double()
    x = single(SERIES, CHANNELS, LENGTH).requires_grad_()
    features = single(SERIES, FEATURES).requires_grad_()
    targets = (3 * single(SERIES, CLASSES)).float().double().requires_grad_()
    real, real_features = single(REAL, CHANNELS, LENGTH), single(REAL, FEATURES)
    labels = torch.arange(REAL) % CLASSES
    out += [flat, velocity, x.detach(), features.detach(), targets.detach(), real, real_features]

    point = flat.clone().requires_grad_()
    for step in range(STEPS):
        logits, _ = classify(point, x, features)
        loss = TEMPERATURE ** 2 * F.kl_div(F.log_softmax(logits / TEMPERATURE, 1),
                                           F.log_softmax(targets / TEMPERATURE, 1),
                                           reduction="batchmean", log_target=True)
        gradient = torch.autograd.grad(loss, point, create_graph=True)[0]
        velocity = MOMENTUM * velocity + gradient
        rate = RATE * (1 + math.cos(math.pi * (AGE + step) / TRAINING)) / 2
        point = point - rate * velocity
    _, statistics = classify(point, x, features)
    logits, _ = classify(point, real, real_features, statistics)
    loss = F.cross_entropy(logits, labels)
    out += [loss, point, *torch.autograd.grad(loss, (x, features, targets))]


if __name__ == "__main__":
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))
    arrays = []
    torch.manual_seed(1)
    window(arrays)
    with open(os.path.join(folder, "unroll.npy"), "wb") as file:
        for array in arrays:
            np.save(file, array.detach().numpy().astype(np.float32).reshape(-1))
