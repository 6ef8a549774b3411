"""What sc-synth computes, as a loop in PyTorch, for tests/bench/condense.sh.

    condense.py TEACHER.tch POOL.slp|- START.npy STEPS RATE THREADS

Prints the seconds of the loop (without start-up and a warm-up of 20 steps) and the loss of the
start, which must be that of sc-synth."""
import math
import os
import struct
import sys
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

here = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(here, "..", "..", "pipelines", "examples"))
import torch_teacher  # noqa: E402


class Transform:
    """Distances to all shapelets of a pool, those of one channel and length in one go."""

    def __init__(self, path, length):
        data = open(path, "rb").read()
        count, values = struct.unpack_from("<I", data, 16)[0], struct.unpack_from("<Q", data, 32)[0]
        at, groups = 48 + 40 * count, {}
        all_values = np.frombuffer(data, "<f4", values, at)
        used = 0
        for k in range(count):
            channel, start, size, _, window = struct.unpack_from("<3IiI", data, 48 + 40 * k)
            places = torch.arange(length - size + 1)
            outside = (places - start).abs() > (length if window == 0xFFFFFFFF else window)
            groups.setdefault((channel, size), []).append(
                (k, torch.tensor(all_values[used:used + size].copy()), outside))
            used += size
        self.groups = [(channel, size, torch.stack([v for _, v, _ in g]),
                        torch.where(torch.stack([o for _, _, o in g]), math.inf, 0.0))
                       for (channel, size), g in groups.items()]
        order = [k for g in groups.values() for k, _, _ in g]
        self.order = torch.argsort(torch.tensor(order))

    def __call__(self, x):
        columns = []
        for channel, size, values, penalty in self.groups:
            places = x[:, channel].unfold(1, size, 1)[:, None]
            squares = ((places - values[None, :, None]) ** 2).sum(3) + penalty
            columns.append(squares.min(2).values.sqrt())
        return torch.cat(columns, 1)[:, self.order]


def main(teacher, pool, start, steps, rate, threads):
    torch.set_num_threads(int(threads))
    steps, rate = int(steps), float(rate)
    model = torch_teacher.load_tch(teacher)
    for parameter in model.parameters():
        parameter.requires_grad_(False)
    seen = []
    for module in model.modules():
        if isinstance(module, nn.BatchNorm1d):
            module.register_forward_hook(lambda m, i, o: seen.append((m, i[0])))
    with open(start, "rb") as file:
        begin, labels = torch.from_numpy(np.load(file)), torch.from_numpy(np.load(file)).long()
    transform = Transform(pool, begin.shape[2]) if pool != "-" else lambda x: None

    def run(count):
        x = begin.clone().requires_grad_()
        adam = torch.optim.Adam([x], rate, betas=(0.5, 0.9))
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(adam, count)
        best = math.inf
        for step in range(count):
            seen.clear()
            adam.zero_grad()
            logits = model(x, transform(x))
            loss = 0.99 * F.cross_entropy(logits, labels)
            for number, (m, z) in enumerate(seen):
                weight = 0.1 if number == 0 else 0.01
                loss = loss + weight * ((z.mean((0, 2)) - m.running_mean).norm() +
                                        (z.var((0, 2), unbiased=False) - m.running_var).norm())
            loss.backward()
            if step == 0:
                first = loss.item()
            if loss.item() < best:
                best, kept = loss.item(), x.detach().clone()
            adam.step()
            schedule.step()
        return first, kept

    run(20)
    began = time.perf_counter()
    first, _ = run(steps)
    print(f"{time.perf_counter() - began:.3f} {first:.4f}")


main(*sys.argv[1:])
