"""The jobs of engine.c with PyTorch: the same arguments and lines."""
import os
import resource
import sys
import time
import warnings

import torch
from torch import nn
from torch.nn import functional as F

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "pipelines",
                                "examples"))
import torch_teacher  # noqa: E402

warnings.filterwarnings("ignore", message="Using padding='same'")
SHAPES = {"FacesUCR": (1, 131, 14), "TwoPatterns": (1, 128, 4), "HAR": (9, 128, 6),
          "Electric": (1, 96, 7), "Sleep": (1, 3000, 5), "Tiselac": (10, 23, 9),
          "Pedestrian": (1, 24, 82)}
BATCH, RUNS, FEWEST_RUNS = 256, 40, 4
FAMILIES, FAMILY_BATCH = ("cnn", "fcn", "resnet", "inception", "tcn", "mlp"), 64
threads = int(sys.argv[1])
jobs = sys.argv[2:3] or ["train", "synthesis", "product", "small", "family"]
torch.set_num_threads(threads)
torch.manual_seed(1)


def network(channels, length, classes):
    layers = []
    for _ in range(3):
        layers += [nn.Conv1d(channels, 32, 3, padding=1), nn.BatchNorm1d(32), nn.ReLU(),
                   nn.MaxPool1d(2)]
        channels, length = 32, length // 2
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(32 * length, classes))


# As engine.c: processor time with one thread, else the clock on the wall.
now = time.process_time if threads == 1 else time.perf_counter


def time_of(step):
    step()
    steps, best, runs, begin = 1, 1e9, 0, now()
    while runs < FEWEST_RUNS or (runs < RUNS and now() - begin < 1.0):
        start = now()
        for _ in range(steps):
            step()
        took = now() - start
        if took < 0.005:
            steps *= 2
            continue
        best, runs = min(best, took / steps), runs + 1
    return best


def report(job, shape, value):
    print(job, shape, threads, f"{value:.6g}", flush=True)


def train_step(model, channels, length, classes, batch):
    optimiser = torch.optim.AdamW(model.parameters(), 1e-3, fused=True)
    x, y = torch.randn(batch, channels, length), torch.arange(batch) % classes

    def step():
        optimiser.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimiser.step()
    return step


def train(*shape):
    return BATCH / time_of(train_step(network(*shape), *shape, BATCH))


def synthesis(channels, length, classes):
    model = network(channels, length, classes).eval().requires_grad_(False)
    norms = [m for m in model if isinstance(m, nn.BatchNorm1d)]
    seen = []
    for m in norms:
        m.register_forward_hook(lambda m, i, o: seen.append(i[0]))
    x, y = torch.randn(classes, channels, length, requires_grad=True), torch.arange(classes)
    optimiser = torch.optim.Adam([x], 1e-3, fused=True)

    def step():
        seen.clear()
        optimiser.zero_grad()
        loss = 0.99 * F.cross_entropy(model(x), y)
        for number, (m, z) in enumerate(zip(norms, seen)):
            var, mean = torch.var_mean(z, (0, 2), correction=0)
            apart = (mean - m.running_mean).norm() + (var - m.running_var).norm()
            loss = loss + 0.01 * (10 if number == 0 else 1) * apart
        loss.backward()
        optimiser.step()
    return 1 / time_of(step)


def product_step(model, channels, length, classes, batch, second):
    parameters = list(model.parameters())
    direction = [torch.randn_like(p) for p in parameters]
    x, y = torch.randn(batch, channels, length), torch.arange(batch) % classes

    def step():
        grads = torch.autograd.grad(F.cross_entropy(model(x), y), parameters, create_graph=second)
        if second:
            dot = sum((g * v).sum() for g, v in zip(grads, direction))
            torch.autograd.grad(dot, parameters)
    return step


def product(*shape):
    return BATCH / time_of(product_step(network(*shape), *shape, BATCH, True))


class Plain(nn.Module):
    """A network of tests/golden/sequences.py without features, in single precision."""

    def __init__(self, model):
        super().__init__()
        self.model = model.float()

    def forward(self, x):
        return self.model(x, x[:, :0, 0])


def sequence_networks():
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden"))
    import sequences
    torch.set_default_dtype(torch.float32)
    channels, length, classes = SHAPES["HAR"]
    data = dict(channels=channels, length=length, classes=classes)
    return {"transformer": lambda: Plain(sequences.Transformer(**data)),
            "pre-norm": lambda: Plain(sequences.Transformer(
                heads=4, layers=2, patch=8, norm="layer", act="gelu", positions="learned",
                end="mean", **data)),
            "gru": lambda: Plain(sequences.GRU(**data))}


def fast_attention(fast):
    """The fastest attention that PyTorch has, or the one that can be differentiated twice."""
    import sequences
    from torch.nn.attention import SDPBackend
    sequences.ATTENTION = [SDPBackend.MATH, *([SDPBackend.FLASH_ATTENTION] if fast else [])]


def family():
    channels, length, classes = shape = SHAPES["HAR"]
    sequences = sequence_networks()
    for kind in sys.argv[3:] or (*FAMILIES, *sequences):
        def make():
            if kind in sequences:
                return sequences[kind]()
            return torch_teacher.Network(f"{kind} channels={channels} length={length} classes={classes}")
        fast_attention(True)
        for batch in (FAMILY_BATCH, 6, 30):
            report("family" if batch == FAMILY_BATCH else f"family-{batch}", kind,
                   batch / time_of(train_step(make(), *shape, batch)))
        fast_attention(False)
        report("family-product", kind,
               FAMILY_BATCH / time_of(product_step(make(), *shape, FAMILY_BATCH, True)))


def small():
    for batch in (6, 30, 60):
        for job, second in (("small", False), ("small-product", True)):
            step = product_step(network(*SHAPES["HAR"]), *SHAPES["HAR"], batch, second)
            report(job, f"HAR/{batch}", 1e6 * time_of(step))


if "small" in jobs:
    small()
if "family" in jobs:
    family()
for name, shape in SHAPES.items():
    for job in jobs:
        if job not in ("small", "family"):
            report(job, name, globals()[job](*shape))
report("peak-memory", "-", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
