"""PyTorch's answers for synthesis, in double precision: the objective of lib/condense/objective.h,
its gradient, and series after some steps of Adam.  Writes, beside this script, synthesis.tch (a
teacher with shapelet features), synthesis.slp (its pool) and synthesis.npy:

    start (SPC * V, C, L), rounds of one series for each class, then for norms plain and squared, and
    for statistics over all series and over one round:
    values (batches, 3): loss, weighted cross-entropy, R;  logits;  gradient of the series;
    after some steps: best loss (batches,);  the series at it;  their logits

The test that reads them is tests/unit/test_synthesise.c."""
import math
import os
import struct
import sys
import zlib

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(here, "..", "..", "pipelines", "examples"))
import torch_teacher  # noqa: E402

CLASSES, ROUNDS, CHANNELS, LENGTH = 3, 3, 2, 20
STEPS, RATE, WEIGHT_CE, WEIGHT_BN, FIRST = 12, 0.05, 0.99, 0.01, 10.0
FULL = 0xFFFFFFFF
# channel, start, window, values
POOL = [(0, 3, 2, 5), (1, 0, 4, 4), (0, 13, FULL, 7), (1, 9, 0, 6)]


def write_pool(path, pool):
    """slp(5)."""
    values = b"".join(v.astype("<f4").tobytes() for _, _, _, v in pool)
    data = b"\x89SLP\r\n\x1a\n" + struct.pack(
        "<6IQ2I", 1, 0, len(pool), CHANNELS, LENGTH, CLASSES, len(values) // 4, 0, 0)
    for channel, start, window, v in pool:
        data += struct.pack("<3Ii2IQ2f", channel, start, len(v), -1, window, 0, 0, 0.5, 1.0)
    data += values
    with open(path, "wb") as file:
        file.write(data + struct.pack("<I", zlib.crc32(data)))


def transform(x, pool):
    """Distances (N, K): the least over the places where a shapelet is tried."""
    columns = []
    for channel, start, window, values in pool:
        last = LENGTH - len(values)
        low, high = (0, last) if window == FULL else (max(start - window, 0), min(start + window, last))
        places = x[:, channel].unfold(1, len(values), 1)[:, low:high + 1]
        squares = ((places - torch.from_numpy(values).double()) ** 2).sum(2)
        columns.append(squares.min(1).values.sqrt())
    return torch.stack(columns, 1)


def objective(model, pool, x, labels, squared):
    seen = []
    hooks = [m.register_forward_hook(lambda m, i, o: seen.append((m, i[0])))
             for m in model.modules() if isinstance(m, nn.BatchNorm1d)]
    logits = model(x, transform(x, pool))
    for hook in hooks:
        hook.remove()
    apart = 0
    for number, (m, z) in enumerate(seen):
        for d in (z.mean((0, 2)) - m.running_mean, z.var((0, 2), unbiased=False) - m.running_var):
            norm = (d * d).sum() if squared else d.norm()
            apart = apart + WEIGHT_BN * (FIRST if number == 0 else 1) * norm
    entropy = WEIGHT_CE * F.cross_entropy(logits, labels)
    return entropy + apart, entropy, apart, logits


def optimise(model, pool, start, labels, squared):
    """Adam as the published code uses it; the state with the lowest loss, and that loss."""
    x = start.clone().requires_grad_()
    adam = torch.optim.Adam([x], RATE, betas=(0.5, 0.9))
    best = math.inf
    for step in range(STEPS + 1):
        loss, _, _, logits = objective(model, pool, x, labels, squared)
        if loss.item() < best:
            best, kept = loss.item(), (x.detach().clone(), logits.detach())
        if step < STEPS:
            adam.param_groups[0]["lr"] = RATE * (1 + math.cos(math.pi * step / STEPS)) / 2
            adam.zero_grad()
            loss.backward()
            adam.step()
    return (torch.tensor(best),) + kept


def main():
    generator = np.random.default_rng(5)
    pool = [(c, s, w, generator.normal(size=n).astype(np.float32)) for c, s, w, n in POOL]
    write_pool(os.path.join(here, "synthesis.slp"), pool)
    torch.manual_seed(5)
    model = torch_teacher.Network(f"cnn depth=2 width=5 channels={CHANNELS} length={LENGTH} "
                                  f"classes={CLASSES} features={len(pool)}")
    for _ in range(5):
        x = torch.randn(16, CHANNELS, LENGTH)
        model.train()(x, transform(x.double(), pool).float())
    torch_teacher.save_tch(os.path.join(here, "synthesis.tch"), model)
    model.eval().double()
    start = torch.from_numpy(generator.normal(size=(ROUNDS * CLASSES, CHANNELS, LENGTH))
                             .astype(np.float32)).double()
    labels = torch.arange(CLASSES).repeat(ROUNDS)
    with open(os.path.join(here, "synthesis.npy"), "wb") as file:
        save = lambda t: np.save(file, t.detach().numpy().astype(np.float32))
        save(start)
        for squared in (False, True):
            for rounds in (1, ROUNDS):
                values, logits, slopes, after = [], [], [], []
                for batch, classes in zip(start.chunk(rounds), labels.chunk(rounds)):
                    x = batch.clone().requires_grad_()
                    loss, entropy, apart, out = objective(model, pool, x, classes, squared)
                    slopes.append(torch.autograd.grad(loss, x)[0])
                    values.append(torch.stack([loss, entropy, apart]))
                    logits.append(out)
                    after.append(optimise(model, pool, batch, classes, squared))
                save(torch.stack(values))
                save(torch.cat(logits))
                save(torch.cat(slopes))
                best, x, out = zip(*after)
                save(torch.stack(best))
                save(torch.cat(x))
                save(torch.cat(out))


main()
