"""PyTorch's answers for windows of a student's training (lib/match/unroll.h), by double backward in
double precision: the loss on real series and its gradients with respect to condensed series,
features and soft labels.

    python3 unroll.py              writes unroll.npy beside this script

The test that reads it, array by array in this order, is tests/unit/test_unroll.c."""
import math

import torch
from torch.nn import functional as F

from small import CHANNELS, CLASSES, DEPTH, KERNEL, LENGTH, count, lift_gains, single, unpack, write

SERIES, REAL, STEPS, TRAINING, AGE, FEATURES = 6, 9, 3, 10, 4, 5
RATE, MOMENTUM, TEMPERATURE = 0.05, 0.9, 4
COUNT = count(FEATURES)


def classify(flat, x, features, statistics=None):
    """Logits, and what the batch normalisations saw: mean and unbiased variance."""
    parameters, seen = unpack(flat, FEATURES), []
    for block in range(DEPTH):
        w, b, gamma, beta = parameters[4 * block:4 * block + 4]
        x = F.conv1d(x, w, b, padding=KERNEL // 2)
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


def window(out):
    flat = (0.4 * single(COUNT)).float().double()
    lift_gains(unpack(flat, FEATURES))
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
    arrays = []
    torch.manual_seed(1)
    window(arrays)
    write("unroll.npy", arrays)
