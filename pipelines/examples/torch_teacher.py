#!/usr/bin/env python3
"""Teachers between PyTorch and shapecond (tch(5)).

    from torch_teacher import Network, save_tch, load_tch
    save_tch("teacher.tch", model)              # a trained Network
    model = load_tch("teacher.tch")             # one that sc-teacher trained

Run as a program it writes a teacher with random weights, or prints a teacher's logits:

    torch_teacher.py make TEACHER.tch 'cnn depth=2 width=8 channels=1 length=24 classes=3' [SEED]
    torch_teacher.py logits TEACHER.tch X.npy LOGITS.npy"""
import sys

import numpy as np
import torch
from torch import nn


def normalisation(o, width, length):
    return {"none": lambda: [], "batch": lambda: [nn.BatchNorm1d(width)],
            "instance": lambda: [nn.GroupNorm(width, width)],
            "layer": lambda: [nn.LayerNorm([width, length])]}[o["norm"]]()


def activation(o):
    return {"relu": nn.ReLU, "leaky": nn.LeakyReLU, "sigmoid": nn.Sigmoid, "gelu": nn.GELU}[o["act"]]()


class Residual(nn.Module):
    """A block of `resnet`."""

    def __init__(self, o, first, channels, width):
        super().__init__()
        self.act = activation(o)
        widens = [nn.Conv1d(channels, width, 1)] if first or channels != width else []
        for i in (1, 2, 3):
            self.add_module(f"conv{i}", nn.Conv1d(channels, width, o[f"kernel{i}"], padding="same"))
            self.add_module(f"norm{i}", (normalisation(o, width, o["length"]) or [nn.Identity()])[0])
            channels = width
        self.shortcut = nn.Sequential(*widens, *normalisation(o, width, o["length"]))

    def forward(self, x):
        h = self.act(self.norm1(self.conv1(x)))
        h = self.norm3(self.conv3(self.act(self.norm2(self.conv2(h)))))
        return self.act(h + self.shortcut(x))


class Inception(nn.Module):
    """A module of `inception`; every third has the shortcut from the input of the first of three."""

    def __init__(self, o, channels, start):
        super().__init__()
        width, seen = o["width"], channels
        if o["bottleneck"] and channels > 1:
            self.bottleneck = nn.Conv1d(channels, o["bottleneck"], 1, bias=False)
            seen = o["bottleneck"]
        for i in (1, 2, 3):
            self.add_module(f"conv{i}", nn.Conv1d(seen, width, o[f"kernel{i}"], padding="same",
                                                  bias=False))
        self.pool = nn.MaxPool1d(3, stride=1, padding=1)
        self.conv4 = nn.Conv1d(channels, width, 1, bias=False)
        self.norm = (normalisation(o, 4 * width, o["length"]) or [nn.Identity()])[0]
        self.act = activation(o)
        if start:
            self.shortcut = nn.Sequential(nn.Conv1d(start, 4 * width, 1, bias=False),
                                          *normalisation(o, 4 * width, o["length"]))

    def forward(self, pair):
        x, start = pair
        b = self.bottleneck(x) if hasattr(self, "bottleneck") else x
        h = torch.cat([self.conv1(b), self.conv2(b), self.conv3(b), self.conv4(self.pool(x))], 1)
        y = self.act(self.norm(h))
        if not hasattr(self, "shortcut"):
            return y, start
        y = self.act(y + self.shortcut(start))
        return y, y


class Causal(nn.Conv1d):
    """A convolution that sees no later step."""

    def forward(self, x):
        reach = (self.kernel_size[0] - 1) * self.dilation[0]
        return super().forward(nn.functional.pad(x, (reach, 0)))


class Temporal(nn.Module):
    """A block of `tcn`."""

    def __init__(self, o, block):
        super().__init__()
        channels, width = o["channels"] if block == 0 else o["width"], o["width"]
        self.act = activation(o)
        for i in (1, 2):
            self.add_module(f"conv{i}", Causal(channels if i == 1 else width, width, o["kernel"],
                                               dilation=2 ** block))
            self.add_module(f"norm{i}", (normalisation(o, width, o["length"]) or [nn.Identity()])[0])
        self.shortcut = nn.Conv1d(channels, width, 1) if block == 0 else nn.Identity()

    def forward(self, x):
        h = self.act(self.norm1(self.conv1(x)))
        h = self.act(self.norm2(self.conv2(h)))
        return self.act(h + self.shortcut(x))


class BatchNormSteps(nn.BatchNorm1d):
    """Of (N, L, C)."""

    def forward(self, x):
        return super().forward(x.transpose(1, 2)).transpose(1, 2)


class Encoder(nn.Module):
    """The encoder of `transformer`: with norm=batch as in the paper."""

    def __init__(self, o):
        super().__init__()
        layers, paper = [], o["norm"] == "batch"
        for _ in range(o["layers"]):
            layers.append(nn.TransformerEncoderLayer(
                o["width"], o["heads"], o["ff"], dropout=float(o["dropout"]), batch_first=True,
                activation=activation(o), norm_first=not paper))
            if paper:
                layers[-1].norm1 = BatchNormSteps(o["width"])
                layers[-1].norm2 = BatchNormSteps(o["width"])
        self.layers = nn.ModuleList(layers)
        self.norm = (BatchNormSteps if paper else nn.LayerNorm)(o["width"])

    def forward(self, x):
        fast = torch.backends.mha.get_fastpath_enabled()
        torch.backends.mha.set_fastpath_enabled(False)  # it takes every norm for a LayerNorm
        for layer in self.layers:
            x = layer(x)
        torch.backends.mha.set_fastpath_enabled(fast)
        return self.norm(x)


class Network(nn.Module):
    """The network that a line like `cnn depth=3 width=32 ...` describes."""

    kernels = dict(kernel1=8, kernel2=5, kernel3=3)
    common = dict(norm="batch", act="relu")
    defaults = {"cnn": dict(depth=3, width=32, kernel=3, **common, pool="max", end="flatten"),
                "fcn": dict(width=128, **kernels, **common, end="mean"),
                "resnet": dict(blocks=3, width=64, **kernels, **common, end="mean"),
                "inception": dict(depth=6, width=32, kernel1=40, kernel2=20, kernel3=10,
                                  bottleneck=32, **common, end="mean"),
                "tcn": dict(depth=5, width=32, kernel=7, **common, end="last"),
                "mlp": dict(depth=3, width=500, norm="none", act="relu"),
                "transformer": dict(width=64, heads=1, layers=1, ff=128, patch=1, **common,
                                    dropout="0.1", positions="none", end="max"),
                "gru": dict(hidden=64, layers=1, end="last")}

    def __init__(self, text):
        super().__init__()
        kind, *words = text.split()
        assert kind in self.defaults, f"unknown network {kind}"
        given = (word.split("=") for word in words)
        o = {**self.defaults[kind], "features": 0,
             **{k: int(v) if v.isdigit() else v for k, v in given}}
        self.kind, self.options = kind, o
        silent = [("features", 0), ("end", "flatten") if kind == "cnn" else None]
        self.text = " ".join([kind] + [f"{k}={v}" for k, v in o.items() if (k, v) not in silent])
        width, length = getattr(self, kind)(o)
        self.classifier = nn.Linear(
            o["features"] + width * (length if o.get("end") == "flatten" else 1), o["classes"])

    def cnn(self, o):
        channels, length, width, layers = o["channels"], o["length"], o["width"], []
        for _ in range(o["depth"]):
            layers.append(nn.Conv1d(channels, width, o["kernel"], padding=o["kernel"] // 2))
            layers += [*normalisation(o, width, length), activation(o)]
            if o["pool"] != "none":
                layers.append({"max": nn.MaxPool1d, "mean": nn.AvgPool1d}[o["pool"]](2))
                length //= 2
            channels = width
        self.features = nn.Sequential(*layers)
        return width, length

    def fcn(self, o):
        channels, length, layers = o["channels"], o["length"], []
        for i, width in ((1, o["width"]), (2, 2 * o["width"]), (3, o["width"])):
            layers += [nn.Conv1d(channels, width, o[f"kernel{i}"], padding="same"),
                       *normalisation(o, width, length), activation(o)]
            channels = width
        self.features = nn.Sequential(*layers)
        return channels, length

    def resnet(self, o):
        widths = [o["channels"], o["width"]] + [2 * o["width"]] * (o["blocks"] - 1)
        self.blocks = nn.Sequential(*(Residual(o, i == 0, widths[i], widths[i + 1])
                                      for i in range(o["blocks"])))
        return widths[-1], o["length"]

    def inception(self, o):
        wide = 4 * o["width"]
        self.blocks = nn.Sequential(*(
            Inception(o, o["channels"] if i == 0 else wide,
                      0 if i % 3 != 2 else o["channels"] if i == 2 else wide)
            for i in range(o["depth"])))
        return wide, o["length"]

    def tcn(self, o):
        self.blocks = nn.Sequential(*(Temporal(o, i) for i in range(o["depth"])))
        return o["width"], o["length"]

    def mlp(self, o):
        values, layers = o["channels"] * o["length"], []
        for _ in range(o["depth"]):
            layers += [nn.Linear(values, o["width"]),
                       *normalisation(o, o["width"], 1), activation(o)]
            values = o["width"]
        self.features = nn.Sequential(*layers)
        return values, 1

    def transformer(self, o):
        steps = o["length"] // o["patch"]
        self.act = activation(o)
        self.embedding = nn.Linear(o["patch"] * o["channels"], o["width"])
        if o["positions"] == "learned":
            self.positions = nn.Embedding(steps, o["width"])
        self.encoder = Encoder(o)
        return o["width"], steps

    def gru(self, o):
        self.rnn = nn.GRU(o["channels"], o["hidden"], o["layers"], batch_first=True)
        return o["hidden"], o["length"]

    def encode_patches(self, x):
        """(N, C, L) as (N, width, patches)."""
        o, paper = self.options, self.options["norm"] == "batch"
        steps = o["length"] // o["patch"]
        x = x.transpose(1, 2)[:, :steps * o["patch"]].reshape(len(x), steps, -1)
        x = self.embedding(x)
        x = self.act(x) if paper else x
        x = self.encoder(x + self.positions.weight if hasattr(self, "positions") else x)
        return (self.act(x) if paper else x).transpose(1, 2)

    def encode(self, x):
        """(N, C, L) as (N, width, length), or (N, width) of an mlp."""
        if self.kind == "inception":
            return self.blocks((x, x))[0]
        if self.kind == "transformer":
            return self.encode_patches(x)
        if self.kind == "gru":
            return self.rnn(x.transpose(1, 2))[0].transpose(1, 2)
        if self.kind == "mlp":
            return self.features(x.flatten(1))
        return self.blocks(x) if hasattr(self, "blocks") else self.features(x)

    def forward(self, x, shapelets=None):
        """x: (N, C, L); shapelets: (N, K) features from sc-strans, where the network has them."""
        h = self.encode(x)
        flat = {"flatten": lambda: h.flatten(1), "mean": lambda: h.mean(2),
                "max": lambda: h.max(2).values,
                "last": lambda: h[:, :, -1]}[self.options.get("end", "flatten")]()
        return self.classifier(flat if shapelets is None else torch.cat([shapelets, flat], 1))


def save_tch(path, model, note="written by PyTorch"):
    state = model.state_dict()
    with open(path, "wb") as file:
        lines = ["%TCH 1", f"network {model.text}", f"note {note}"]
        lines += [f"tensor {name}" for name in state] + ["end", ""]
        file.write("\n".join(lines).encode())
        for tensor in state.values():
            np.save(file, tensor.numpy())


def load_tch(path):
    with open(path, "rb") as file:
        lines = iter(lambda: file.readline().decode().rstrip("\n"), "end")
        words = [line.split(" ", 1) for line in lines]
        names = [rest for word, rest in words[1:] if word == "tensor"]
        text = next(rest for word, rest in words[1:] if word == "network")
        state = {name: torch.from_numpy(np.load(file)) for name in names}
    model = Network(text)
    model.load_state_dict(state)
    return model.eval()


def main(job, path, *rest):
    if job == "make":
        torch.manual_seed(int(rest[1]) if len(rest) > 1 else 0)
        model = Network(rest[0])
        for _ in range(5):  # so that the running statistics are not those of a new network
            model.train()(torch.randn(16, model.options["channels"], model.options["length"]))
        save_tch(path, model.eval())
    elif job == "logits":
        with torch.no_grad():
            np.save(rest[1], load_tch(path)(torch.from_numpy(np.load(rest[0]))).numpy())
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(*sys.argv[1:]) if len(sys.argv) > 3 else sys.exit(__doc__)
