"""PyTorch's answers for transformer and gru (and act=gelu), as networks.py gives them for the others.

    python3 sequences.py           writes sequences.npy beside this script
    python3 sequences.py FILE N    writes N random descriptions instead, for test_nn_golden FILE

Dropout is 0 in all of them: PyTorch draws other masks.  tests/unit/test_nn.c has finite differences
through dropout."""
import itertools
import os
import random
import sys

import torch
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel

import networks
from networks import case, describe, end_of, write

ACTS = ("relu", "leaky", "sigmoid", "gelu")


def in_order(module, *names):
    """Modules in the order in which they run, which is the order of our flat arrays."""
    for name in names:
        module._modules[name] = module._modules.pop(name)
    return module


class PaperLayer(nn.Module):
    """nn.TransformerEncoderLayer with BatchNorm in place of LayerNorm, after each residual."""

    def __init__(self, width, heads, ff, act):
        super().__init__()
        self.self_attn = nn.MultiheadAttention(width, heads, batch_first=True)
        self.norm1 = nn.BatchNorm1d(width)
        self.linear1, self.linear2 = nn.Linear(width, ff), nn.Linear(ff, width)
        self.norm2 = nn.BatchNorm1d(width)
        self.act = act

    def forward(self, x):
        x = x + self.self_attn(x, x, x, need_weights=False)[0]
        x = self.norm1(x.transpose(1, 2)).transpose(1, 2)
        x = x + self.linear2(self.act(self.linear1(x)))
        return self.norm2(x.transpose(1, 2)).transpose(1, 2)


class PaperEncoder(nn.Module):
    def __init__(self, layers, width, heads, ff, act):
        super().__init__()
        self.layers = nn.ModuleList(PaperLayer(width, heads, ff, act) for _ in range(layers))
        self.norm = nn.BatchNorm1d(width)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.norm(x.transpose(1, 2)).transpose(1, 2)


class Transformer(nn.Module):
    """What `transformer ...` means."""

    def __init__(self, width=64, heads=1, layers=1, ff=128, patch=1, norm="batch", act="relu",
                 positions="none", end="max", channels=1, length=128, classes=2, features=0):
        super().__init__()
        self.text = describe("transformer", width=width, heads=heads, layers=layers, ff=ff,
                             patch=patch, norm=norm, act=act, dropout=0, positions=positions,
                             end=end, channels=channels, length=length, classes=classes,
                             features=features)
        self.patch, self.norm, self.end, self.act = patch, norm, end, networks.activation(act)
        steps = length // patch
        self.embedding = nn.Linear(patch * channels, width)
        if positions == "learned":
            self.positions = nn.Embedding(steps, width)
        if norm == "batch":
            self.encoder = PaperEncoder(layers, width, heads, ff, self.act)
        else:
            layer = nn.TransformerEncoderLayer(width, heads, ff, dropout=0, activation=self.act,
                                               batch_first=True, norm_first=True)
            self.encoder = nn.TransformerEncoder(layer, layers, nn.LayerNorm(width),
                                                 enable_nested_tensor=False)
            for layer in self.encoder.layers:
                in_order(layer, "norm1", "self_attn", "norm2", "linear1", "linear2")
        self.classifier = nn.Linear(features + width * (steps if end == "flatten" else 1), classes)

    def forward(self, x, shapelets):
        steps = x.shape[2] // self.patch
        x = x.transpose(1, 2)[:, :steps * self.patch].reshape(len(x), steps, -1)
        x = self.embedding(x)
        if self.norm == "batch":
            x = self.act(x)
        if hasattr(self, "positions"):
            x = x + self.positions.weight
        with sdpa_kernel(ATTENTION):
            x = self.encoder(x)
        if self.norm == "batch":
            x = self.act(x)
        return self.classifier(torch.cat([shapelets, end_of(self.end, x.transpose(1, 2))], 1))


class GRU(nn.Module):
    """What `gru ...` means."""

    def __init__(self, hidden=64, layers=1, end="last", channels=1, length=128, classes=2,
                 features=0):
        super().__init__()
        self.text = describe("gru", hidden=hidden, layers=layers, end=end, channels=channels,
                             length=length, classes=classes, features=features)
        self.end = end
        self.rnn = nn.GRU(channels, hidden, layers, batch_first=True)
        for layer, kind, what in itertools.product(range(layers), ("ih", "hh"), ("weight", "bias")):
            name = f"{what}_{kind}_l{layer}"
            self.rnn._parameters[name] = self.rnn._parameters.pop(name)
        self.classifier = nn.Linear(features + hidden, classes)

    def forward(self, x, shapelets):
        x = self.rnn(x.transpose(1, 2))[0].transpose(1, 2)
        x = x[:, :, -1] if self.end == "last" else end_of(self.end, x)
        return self.classifier(torch.cat([shapelets, x], 1))


networks.FAMILIES.update(transformer=Transformer, gru=GRU)
ATTENTION = [SDPBackend.MATH]  # the others have no second derivatives
LOSSES = [("labels", 1.0, 1.0), ("kl", 4.0, 16.0), ("soft", 1.5, 2.0)]


def random_case(seed):
    """Any description, small."""
    r = random.Random(seed)
    loss, temperature, scale = r.choice(LOSSES)
    common = dict(samples=r.randint(2, 20), channels=r.randint(1, 5), length=r.randint(4, 24),
                  classes=r.randint(2, 5), features=r.choice([0, 0, 2]), loss=loss,
                  temperature=temperature, scale=scale, squared=r.random() < 0.5)
    if r.random() < 0.4:
        return case(seed, family="gru", hidden=r.choice([1, 3, 8, 16, 17]), layers=r.randint(1, 3),
                    end=r.choice(["last", "max", "mean"]), **common)
    heads = r.choice([1, 1, 2, 3])
    # Four channels at least: what LayerNorm leaves of the gradient of two is rounding.
    return case(seed, family="transformer", heads=heads, width=heads * r.choice([4, 5, 8]),
                layers=r.randint(1, 2), ff=r.choice([5, 8, 16]), patch=r.randint(1, 3),
                norm=r.choice(["batch", "layer"]), act=r.choice(["sigmoid", "gelu"]),
                positions=r.choice(["none", "learned"]), end=r.choice(["mean", "flatten"]),
                training=r.random() < 0.7, **common)


def sequences():
    losses = itertools.cycle(LOSSES)
    data = dict(length=11, classes=3)
    seed = 700
    for norm, act, positions in itertools.product(("batch", "layer"), ACTS, ("none", "learned")):
        loss, temperature, scale = next(losses)
        seed += 1
        yield case(seed, samples=5, family="transformer", width=6, heads=1 + seed % 3, ff=7,
                   layers=1 + seed % 2, patch=(1, 2, 3)[seed % 3], norm=norm, act=act,
                   positions=positions, end=("mean", "max", "flatten")[seed % 3],
                   channels=1 + seed % 2, features=(0, 2)[seed % 2], training=seed % 4 != 3,
                   loss=loss, temperature=temperature, scale=scale, squared=seed % 2 == 0, **data)
    # The paper's, of its own width; the usual one; more steps than rows are worked on together.
    yield case(330, samples=3, family="transformer", channels=3, length=9, classes=4)
    yield case(331, samples=3, family="transformer", width=16, heads=4, layers=2, ff=24, patch=4,
               norm="layer", act="gelu", positions="learned", end="mean", channels=2, length=27,
               classes=3, features=1)
    yield case(332, samples=2, family="transformer", width=3, ff=2, length=131, classes=2,
               norm="layer", end="mean", act="gelu")
    yield case(333, samples=19, family="transformer", width=4, heads=2, ff=3, length=5, classes=3)
    yield case(334, samples=2, family="transformer", width=2, ff=2, length=1, classes=2,
               norm="layer")
    # Without Adam: the bias of the keys has a gradient of exactly 0, see golden() in networks.py.
    yield case(335, samples=4, family="transformer", width=6, heads=3, ff=5, norm="layer",
               act="gelu", end="mean", optimisers=("sgd",), **data)
    for end, hidden, layers in itertools.product(("last", "max", "mean"), (3, 16, 17), (1, 2)):
        loss, temperature, scale = next(losses)
        seed += 1
        yield case(seed, samples=5, family="gru", hidden=hidden, layers=layers, end=end,
                   channels=1 + seed % 3, features=(0, 2)[seed % 2], loss=loss,
                   temperature=temperature, scale=scale, **data)
    yield case(380, samples=19, family="gru", hidden=4, length=9, classes=3)
    yield case(381, samples=1, family="gru", hidden=2, layers=3, length=1, classes=2)
    yield case(382, samples=4, family="gru", hidden=5, optimisers=("sgd", "adam", "adamw"), **data)
    for seed, (norm, pool) in enumerate(itertools.product(networks.NORMS, networks.POOLS), 390):
        yield case(seed, samples=4, family="cnn", depth=2, width=4, norm=norm, act="gelu", pool=pool,
                   channels=2, **data)


if __name__ == "__main__":
    if len(sys.argv) == 3:
        path, cases = sys.argv[1], (random_case(seed) for seed in range(int(sys.argv[2])))
    else:
        path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "sequences.npy")
        cases = sequences()
    with open(path, "wb") as file:
        for arrays in cases:
            write(file, arrays)
