"""What sc-match computes, as loops in PyTorch, for tests/bench/match.sh.

    match.py dc TRAIN.npy STEPS BATCH THREADS
    match.py mtt TRAIN.npy STEPS STUDENT_STEPS THREADS EXPERTS.npy EXPERT_EPOCHS

One series per class.  Prints the seconds of the loop, without start-up and a warm-up of 2 steps (with
one thread: of processor time), and the loss of the first step."""
import sys
import time

import numpy as np
import torch
from torch import nn
from torch.func import functional_call
from torch.nn import functional as F


def network(channels, length, classes):
    """cnn depth=3 width=32 norm=batch act=relu pool=max"""
    layers, width = [], channels
    for _ in range(3):
        layers += [nn.Conv1d(width, 32, 3, padding=1), nn.BatchNorm1d(32), nn.ReLU(), nn.MaxPool1d(2)]
        width, length = 32, length // 2
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(32 * length, classes))


def distance(real, synthetic):
    total = 0
    for r, s in zip(real, synthetic):
        if r.dim() > 1:
            r, s = r.reshape(r.shape[0], -1), s.reshape(s.shape[0], -1)
            total = total + (1 - (r * s).sum(1) / (r.norm(dim=1) * s.norm(dim=1) + 1e-6)).sum()
    return total


def freeze(model, x):
    """Batch normalisation takes its statistics from these series."""
    for m in model.modules():
        if isinstance(m, nn.BatchNorm1d):
            m.momentum = 1.0
    model.train()
    with torch.no_grad():
        model(x)
    model.eval()


def dc_step(x, members, series, batch, shape):
    model = network(*shape)
    draw = lambda v, n: series[members[v][torch.randperm(len(members[v]))[:n]]]
    freeze(model, torch.cat([draw(v, 16) for v in range(shape[2])]))
    parameters, total = list(model.parameters()), 0
    for v in range(shape[2]):
        real = draw(v, batch)
        loss = F.cross_entropy(model(real), torch.full((len(real),), v))
        wanted = torch.autograd.grad(loss, parameters)
        loss = F.cross_entropy(model(x[v:v + 1]), torch.full((1,), v))
        given = torch.autograd.grad(loss, parameters, create_graph=True)
        total = total + distance(wanted, given)
    return total


def mtt_step(x, rate, labels, model, names, shapes, points, steps, epochs):
    expert = points[np.random.randint(len(points))]
    first = np.random.randint(len(expert) - epochs)
    start, end = torch.tensor(expert[first]), torch.tensor(expert[first + epochs])
    point = start.clone().requires_grad_()
    for _ in range(steps):
        parts, at = {}, 0
        for name, shape in zip(names, shapes):
            size = int(np.prod(shape))
            parts[name] = point[at:at + size].view(shape)
            at += size
        loss = F.cross_entropy(functional_call(model, parts, (x,)), labels)
        point = point - rate * torch.autograd.grad(loss, point, create_graph=True)[0]
    return ((point - end) ** 2).sum() / ((start - end) ** 2).sum()


def main(method, train, steps, inner, threads, experts=None, epochs="1"):
    torch.set_num_threads(int(threads))
    torch.manual_seed(0)
    clock = time.process_time if threads == "1" else time.perf_counter
    with open(train, "rb") as file:
        series, y = torch.tensor(np.load(file)), torch.tensor(np.load(file).astype(np.int64))
    classes = int(y.max()) + 1
    members = [torch.nonzero(y == v)[:, 0] for v in range(classes)]
    shape = (series.shape[1], series.shape[2], classes)
    x = torch.stack([series[m[0]] for m in members]).requires_grad_()
    rate = torch.tensor(0.02, requires_grad=True)
    optimiser = torch.optim.Adam([x, rate], 1e-3)
    if method == "mtt":
        with open(experts, "rb") as file:
            np.load(file)
            points = np.load(file)
        model = network(*shape).train()
        for m in model.modules():
            if isinstance(m, nn.BatchNorm1d):
                m.track_running_stats, m.running_mean, m.running_var = False, None, None
        names = [n for n, _ in model.named_parameters()]
        shapes = [p.shape for p in model.parameters()]
        labels = torch.arange(classes)
        step = lambda: mtt_step(x, rate, labels, model, names, shapes, points, int(inner), int(epochs))
    else:
        step = lambda: dc_step(x, members, series, int(inner), shape)
    first = None
    for i in range(int(steps) + 2):
        if i == 2:
            began = clock()
        loss = step()
        first = loss.item() if first is None else first
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    print(f"{clock() - began:.4f} {first:.4f}")


main(*sys.argv[1:])
