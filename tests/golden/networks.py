"""PyTorch's answers for networks of lib/nn, computed in double precision, as golden files.

    python3 networks.py [FOLDER [NAME.npy ...]]
                                   writes networks.npy (cnn), families.npy (fcn, resnet, and cnn with
                                   end=) and later.npy (inception, tcn, mlp), or those named, into
                                   the folder of this script or that one
    check_432.py                   uses it for all networks of the paper's search space
    check_families.py              and for random ones of all families

The test that reads it is tests/unit/test_nn_golden.c."""
import functools
import itertools
import os
import sys

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "pipelines",
                                "examples"))
import torch_teacher  # noqa: E402

torch.set_default_dtype(torch.float64)
NORMS = ("none", "batch", "instance", "layer")
ACTS = ("sigmoid", "relu", "leaky")
POOLS = ("none", "max", "mean")


def normalisation(norm, width, length):
    return {"none": lambda: [], "batch": lambda: [nn.BatchNorm1d(width)],
            "instance": lambda: [nn.GroupNorm(width, width)],
            "layer": lambda: [nn.LayerNorm([width, length])]}[norm]()


def activation(act):
    return {"sigmoid": nn.Sigmoid, "relu": nn.ReLU, "leaky": nn.LeakyReLU, "gelu": nn.GELU}[act]()


def describe(family, **words):
    return " ".join([family] + [f"{name}={value}" for name, value in words.items()])


def end_of(end, x):
    """(N, C, L) as the classifier sees it."""
    return {"flatten": lambda: x.flatten(1), "mean": lambda: x.mean(2),
            "max": lambda: F.adaptive_max_pool1d(x, 1).flatten(1)}[end]()


class Network(nn.Module):
    """What `cnn ...` means: depth blocks of convolution, normalisation, activation and pooling, then
    one linear layer on shapelet features followed by the flattened result."""

    def __init__(self, depth=3, width=32, kernel=3, norm="batch", act="relu", pool="max",
                 channels=1, length=128, classes=2, features=0, end=None):
        super().__init__()
        self.text = (f"cnn depth={depth} width={width} kernel={kernel} norm={norm} act={act} "
                     f"pool={pool} channels={channels} length={length} classes={classes} "
                     f"features={features}" + (f" end={end}" if end else ""))
        self.end = end or "flatten"
        layers = []
        for _ in range(depth):
            layers.append(nn.Conv1d(channels, width, kernel, padding=kernel // 2))
            if norm == "batch":
                layers.append(nn.BatchNorm1d(width))
            elif norm == "instance":
                layers.append(nn.GroupNorm(width, width))
            elif norm == "layer":
                layers.append(nn.LayerNorm([width, length]))
            layers.append(activation(act))
            if pool != "none":
                layers.append({"max": nn.MaxPool1d, "mean": nn.AvgPool1d}[pool](2))
                length //= 2
            channels = width
        self.features = nn.Sequential(*layers)
        steps = length if self.end == "flatten" else 1
        self.classifier = nn.Linear(features + width * steps, classes)

    def forward(self, x, shapelets):
        return self.classifier(torch.cat([shapelets, end_of(self.end, self.features(x))], 1))


class FCN(nn.Module):
    """What `fcn ...` means: three blocks of convolution, normalisation and activation (Wang et al.
    2017), then the mean over time."""

    def __init__(self, width=128, kernel1=8, kernel2=5, kernel3=3, norm="batch", act="relu",
                 end="mean", channels=1, length=128, classes=2, features=0):
        super().__init__()
        self.text = describe("fcn", width=width, kernel1=kernel1, kernel2=kernel2, kernel3=kernel3,
                             norm=norm, act=act, end=end, channels=channels, length=length,
                             classes=classes, features=features)
        self.end = end
        layers = []
        for out, kernel in ((width, kernel1), (2 * width, kernel2), (width, kernel3)):
            layers += [nn.Conv1d(channels, out, kernel, padding="same"),
                       *normalisation(norm, out, length), activation(act)]
            channels = out
        self.features = nn.Sequential(*layers)
        self.classifier = nn.Linear(features + width * (length if end == "flatten" else 1), classes)

    def forward(self, x, shapelets):
        return self.classifier(torch.cat([shapelets, end_of(self.end, self.features(x))], 1))


class Residual(nn.Module):
    def __init__(self, first, channels, width, kernels, norm, act, length):
        super().__init__()
        for i, kernel in enumerate(kernels, 1):
            self.add_module(f"conv{i}", nn.Conv1d(channels if i == 1 else width, width, kernel,
                                                  padding="same"))
            self.add_module(f"norm{i}", nn.Sequential(*normalisation(norm, width, length))
                            if norm == "none" else normalisation(norm, width, length)[0])
        widens = [nn.Conv1d(channels, width, 1)] if first or channels != width else []
        self.shortcut = nn.Sequential(*widens, *normalisation(norm, width, length))
        self.act = activation(act)

    def forward(self, x):
        h = self.act(self.norm1(self.conv1(x)))
        h = self.norm3(self.conv3(self.act(self.norm2(self.conv2(h)))))
        return self.act(h + self.shortcut(x))


class ResNet(nn.Module):
    """What `resnet ...` means: residual blocks (Wang et al. 2017), then the mean over time."""

    def __init__(self, blocks=3, width=64, kernel1=8, kernel2=5, kernel3=3, norm="batch",
                 act="relu", end="mean", channels=1, length=128, classes=2, features=0):
        super().__init__()
        self.text = describe("resnet", blocks=blocks, width=width, kernel1=kernel1, kernel2=kernel2,
                             kernel3=kernel3, norm=norm, act=act, end=end, channels=channels,
                             length=length, classes=classes, features=features)
        self.end = end
        parts = []
        for block in range(blocks):
            out = width if block == 0 else 2 * width
            parts.append(Residual(block == 0, channels, out, (kernel1, kernel2, kernel3), norm, act,
                                  length))
            channels = out
        self.blocks = nn.Sequential(*parts)
        self.classifier = nn.Linear(features + channels * (length if end == "flatten" else 1),
                                    classes)

    def forward(self, x, shapelets):
        return self.classifier(torch.cat([shapelets, end_of(self.end, self.blocks(x))], 1))


class Described(torch_teacher.Network):
    """The other families, as torch_teacher.py has them."""

    def __init__(self, kind, **words):
        super().__init__(describe(kind, **{"channels": 1, **words}))


FAMILIES = {"cnn": Network, "fcn": FCN, "resnet": ResNet,
            **{kind: functools.partial(Described, kind) for kind in ("inception", "tcn", "mlp")}}


def flat(tensors):
    return torch.cat([t.reshape(-1) for t in tensors]) if tensors else torch.zeros(0)


def running(model):
    return flat([b for n, b in model.named_buffers() if "num_batches" not in n])


def loss_of(kind, temperature, scale, logits, labels, targets):
    log_p = F.log_softmax(logits / temperature, 1)
    if kind == "labels":
        value = F.nll_loss(log_p, labels)
    elif kind == "soft":
        value = -(targets * log_p).sum(1).mean()
    else:
        value = F.kl_div(log_p, F.log_softmax(targets / temperature, 1), reduction="batchmean",
                         log_target=True)
    return scale * value


def matching(model, x, shapelets, weight, first, squared):
    """Logits in inference mode and the batch statistics' distance from the running ones."""
    seen = []
    hooks = [m.register_forward_hook(lambda m, i, o: seen.append((m, i[0])))
             for m in model.modules() if isinstance(m, nn.BatchNorm1d)]
    logits = model(x, shapelets)
    for hook in hooks:
        hook.remove()
    total = torch.zeros(())
    for number, (m, z) in enumerate(seen):
        z = z.transpose(0, 1).flatten(1)
        mean, var = z.mean(1), z.var(1, unbiased=False)
        apart = [mean - m.running_mean, var - m.running_var]
        terms = [(d * d).sum() if squared else d.norm() for d in apart]
        total = total + weight * (first if number == 0 else 1) * sum(terms)
    return logits, total


def closest_kink(model, x, shapelets):
    """The smallest distance of a value from where its activation, or a maximum over steps, changes its
    mind: closer than single precision can tell, derivatives are a matter of rounding."""
    distances = []

    def activated(module, inputs, output):
        away = inputs[0].abs()[inputs[0] != 0]  # sums of zeros are zero in any precision
        distances.append(away.min().item() if away.numel() else 1.0)

    def pooled(module, inputs, output):
        window, x = module.kernel_size, F.pad(inputs[0], (module.padding, module.padding), value=-9e9)
        top = x.unfold(2, window, module.stride).topk(2, dim=3).values
        apart = (top[..., 0] - top[..., 1])[top[..., 0] != top[..., 1]]
        distances.append(apart.min().item() if apart.numel() else 1.0)

    kinked = {nn.ReLU: activated, nn.LeakyReLU: activated, nn.MaxPool1d: pooled}
    hooks = [m.register_forward_hook(kinked[type(m)]) for m in model.modules() if type(m) in kinked]
    with torch.no_grad():
        model(x, shapelets)
    for hook in hooks:
        hook.remove()
    return min(distances, default=1.0)


def optimise(model, name, x, shapelets, labels, steps=10):
    """Parameters after some steps of training on one batch."""
    make = {"sgd": lambda p: torch.optim.SGD(p, 0.05, momentum=0.9, weight_decay=1e-3),
            "adam": lambda p: torch.optim.Adam(p, 0.01, betas=(0.5, 0.9), weight_decay=1e-2),
            "adamw": lambda p: torch.optim.AdamW(p, 0.01, weight_decay=1e-2)}
    optimiser = make[name](model.parameters())
    for _ in range(steps):
        optimiser.zero_grad()
        F.cross_entropy(model(x, shapelets), labels).backward()
        optimiser.step()
    return flat([p.detach() for p in model.parameters()])


def case(seed, samples, training=True, loss="labels", temperature=1.0, scale=1.0, squared=False,
         optimisers=(), tangents=True, family="cnn", margin=0.0, noise=0.3,
         **architecture):
    """All answers for one network and one batch: a dictionary of arrays; None if it comes closer to a kink
    than the margin."""
    torch.manual_seed(seed)
    model = FAMILIES[family](**architecture)
    channels, length = architecture.get("channels", 1), architecture.get("length", 128)
    classes, features = architecture.get("classes", 2), architecture.get("features", 0)
    # Single precision, so that both sides start from the same numbers.
    single = lambda *shape: torch.randn(*shape).float().double()
    with torch.no_grad():
        for name, p in model.named_parameters():
            if p.dim() == 1 or (not name.startswith("classifier") and p.dim() == 2):
                p += noise * torch.randn_like(p)
            p.copy_(p.float().double())
        for name, b in model.named_buffers():
            if "num_batches" not in name:
                b.copy_((b + 0.3 * torch.rand_like(b)).float().double())
    x, shapelets = single(samples, channels, length), single(samples, features)
    labels = torch.randint(classes, (samples,))
    targets = single(samples, classes)
    if loss == "soft":
        targets = targets.abs()
    out = {"x": x, "features": shapelets, "targets": targets,
           "parameters": flat([p.detach() for p in model.parameters()]), "buffers": running(model)}
    out = {k: v.clone() for k, v in out.items()}
    start = {k: v.clone() for k, v in model.state_dict().items()}
    if margin:
        for mode in (training, False):
            if closest_kink(model.train(mode), x, shapelets) < margin:
                return None
        model.load_state_dict(start)

    model.train(training)
    inputs = list(model.parameters()) + [t.requires_grad_() for t in (x, shapelets, targets)]
    logits = model(x, shapelets)
    value = loss_of(loss, temperature, scale, logits, labels, targets)
    grads = torch.autograd.grad(value, inputs, create_graph=True, allow_unused=True)
    grads = [torch.zeros_like(i) if g is None else g for g, i in zip(grads, inputs)]
    count = len(inputs) - 3
    out.update(logits=logits, loss=value, d_parameters=flat(grads[:count]), d_x=grads[count],
               d_features=grads[count + 1], d_targets=grads[count + 2],
               buffers_after=running(model).clone())
    if tangents:
        directions = [single(*i.shape) for i in inputs]
        out.update(v_parameters=flat(directions[:count]), v_x=directions[count],
                   v_features=directions[count + 1], v_targets=directions[count + 2])
        dot = sum((g * v).sum() for g, v in zip(grads, directions) if g.requires_grad)
        second = torch.autograd.grad(dot, inputs, allow_unused=True)
        second = [torch.zeros_like(i) if g is None else g for g, i in zip(second, inputs)]
        out.update(r_parameters=flat(second[:count]), r_x=second[count],
                   r_features=second[count + 1], r_targets=second[count + 2])
    if any(isinstance(m, nn.BatchNorm1d) for m in model.modules()):
        model.load_state_dict(start)
        model.eval()
        logits, apart = matching(model, x, shapelets, 0.01, 10.0, squared)
        d_x, d_features = torch.autograd.grad(
            0.99 * F.cross_entropy(logits, labels) + apart, (x, shapelets), allow_unused=True)
        out.update(match=apart, match_x=d_x)
    for name in optimisers:
        model.load_state_dict(start)
        model.train()
        out["after_" + name] = optimise(model, name, x.detach(), shapelets.detach(), labels)
    out = {k: v.detach().numpy().astype(np.float32) for k, v in out.items()}
    out["labels"] = labels.numpy().astype(np.int32)
    out["options"] = np.array([training, temperature, scale, squared], np.float32)
    out["text"] = [model.text, loss]
    return out


def write(stream, arrays):
    """A case: a text (architecture, loss, then the name and size of each array), and one flat array."""
    text = list(arrays.pop("text")) + [f"{name} {a.size}" for name, a in arrays.items()]
    np.save(stream, np.array("\n".join(text)))
    np.save(stream, np.concatenate([a.reshape(-1) for a in arrays.values()]).astype(np.float32))


def golden():
    """A spread of the search space, small, with every loss and every optimiser in it."""
    losses = itertools.cycle([("labels", 1.0, 1.0), ("kl", 4.0, 16.0), ("soft", 1.5, 2.0)])
    for seed, (norm, act, pool) in enumerate(itertools.product(NORMS, ACTS, POOLS)):
        loss, temperature, scale = next(losses)
        yield case(
            seed, samples=5, depth=2, width=(3, 4, 5)[seed % 3], norm=norm, act=act, pool=pool,
            channels=1 + seed % 3, length=11, classes=3, features=(0, 2)[seed % 2],
            training=seed % 4 != 3, loss=loss, temperature=temperature, scale=scale,
            squared=seed % 2 == 0,
            # Adam turns the noise in gradients that are exactly zero (a bias before batch or instance
            # normalisation) into full steps, so it can be compared only without them.
            optimisers={"none": ("sgd", "adam", "adamw"), "layer": ("adam", "adamw"),
                        "batch": ("sgd",), "instance": ("sgd",)}[norm] if pool != "mean" else ())
    yield case(100, samples=3, depth=1, width=33, channels=9, length=6, classes=5)
    yield case(101, samples=4, depth=2, width=6, kernel=5, channels=2, length=10, classes=3)
    yield case(102, samples=4, depth=2, width=6, kernel=1, channels=2, length=9, classes=3)
    # The edges: one series, one step, one class; steps that every pooling drops; more taps than steps;
    # extreme temperatures; more blocks than one, strips of every width.
    for seed, norm in enumerate(NORMS, 110):
        yield case(seed, samples=1, depth=2, width=3, norm=norm, length=9, classes=2, features=1)
        yield case(seed, samples=3, depth=2, width=3, norm=norm, act="sigmoid", pool="none", length=1,
                   classes=1, loss=("soft", "kl", "labels")[seed % 3], temperature=0.05)
        yield case(seed, samples=2, depth=3, width=4, norm=norm, act="leaky",
                   pool=("max", "mean")[seed % 2], length=15, classes=2)
        yield case(seed, samples=3, depth=1, width=2, norm=norm, kernel=7, length=5, classes=3,
                   pool="mean", loss="kl", temperature=6.0, scale=36.0)
    yield case(120, samples=19, depth=1, width=2, length=4, classes=19, features=3)
    yield case(121, samples=2, depth=1, width=3, channels=17, length=3, classes=26, pool="none")
    yield case(122, samples=2, depth=1, width=17, channels=10, length=4, classes=3)


def families():
    """Global pooling, fcn and resnet: every normalisation, activation and end, odd and even kernels."""
    losses = itertools.cycle([("labels", 1.0, 1.0), ("kl", 4.0, 16.0), ("soft", 1.5, 2.0)])
    data = dict(length=11, classes=3)
    seed = 200
    for norm, act, end in itertools.product(NORMS, ACTS, ("mean", "max")):
        loss, temperature, scale = next(losses)
        seed += 1
        # Two channels or more: a shortcut from one alone is undone by the normalisation, and what is
        # left of its gradients is rounding.
        common = dict(norm=norm, act=act, end=end, channels=2 + seed % 2, features=(0, 2)[seed % 2],
                      training=seed % 4 != 3, loss=loss, temperature=temperature, scale=scale,
                      squared=seed % 2 == 0, **data)
        yield case(seed, samples=5, depth=2, width=4, pool=POOLS[seed % 3], **common)
        yield case(seed, samples=5, family="fcn", width=3, **common)
        yield case(seed, samples=4, family="resnet", width=3, blocks=3 if norm == "batch" else 2,
                   **common)
    yield case(250, samples=4, family="fcn", width=9, end="flatten", channels=2, kernel1=2, kernel2=4,
               kernel3=6, optimisers=("sgd",), **data)
    yield case(251, samples=4, family="resnet", width=17, blocks=2, end="flatten", channels=34,
               kernel1=4, kernel2=1, kernel3=2, **data)
    yield case(252, samples=3, family="resnet", width=2, blocks=1, length=3, classes=2)
    yield case(253, samples=3, family="fcn", width=2, length=1, classes=2, norm="none")
    yield case(254, samples=19, family="resnet", width=2, blocks=2, length=9, classes=4, features=3)
    yield case(255, samples=5, family="resnet", width=4, norm="none", blocks=2, length=9, classes=4,
               optimisers=("sgd", "adam", "adamw"))
    yield case(256, samples=2, family="fcn", width=3, length=150, classes=2, act="sigmoid")
    # Blocks of several samples, whose values have a halo where a shortcut normalises them.
    yield case(257, samples=19, family="resnet", width=2, blocks=3, length=9, classes=3, channels=2)


def later():
    """inception, tcn and mlp: every normalisation and activation, kernels longer than the series,
    channels that leave rows to be filled up, dilations that reach out of the series."""
    losses = itertools.cycle([("labels", 1.0, 1.0), ("kl", 4.0, 16.0), ("soft", 1.5, 2.0)])
    seed = 300
    for norm, act in itertools.product(NORMS, ACTS):
        loss, temperature, scale = next(losses)
        seed += 1
        common = dict(act=act, channels=2 + seed % 2, features=(0, 2)[seed % 2], length=11,
                      classes=3, training=seed % 4 != 3, loss=loss, temperature=temperature,
                      scale=scale, squared=seed % 2 == 0)
        yield case(seed, samples=5, family="inception", norm=norm, depth=3, width=3, bottleneck=2,
                   kernel1=6, kernel2=3, kernel3=2, end=("mean", "max", "flatten")[seed % 3],
                   **common)
        yield case(seed, samples=5, family="tcn", norm=norm, depth=3, width=4, kernel=3,
                   end=("mean", "max", "flatten", "last")[seed % 4], **common)
        if norm in ("none", "batch"):
            yield case(seed, samples=6, family="mlp", norm=norm, depth=2, width=5, **common)
    # Two residual connections and a module without one, the paper's kernels, no bottleneck.
    yield case(340, samples=5, family="inception", depth=7, width=2, bottleneck=3, kernel1=8,
               kernel2=4, kernel3=2, channels=3, length=13, classes=3, act="sigmoid")
    yield case(341, samples=4, family="inception", depth=2, width=5, length=60, classes=2)
    yield case(342, samples=3, family="inception", depth=1, width=17, bottleneck=0, kernel1=5,
               kernel2=3, kernel3=1, channels=4, length=6, classes=3)
    yield case(343, samples=3, family="inception", depth=3, width=4, bottleneck=1, kernel1=4,
               kernel2=3, kernel3=2, length=1, classes=2, norm="none", act="leaky")
    yield case(344, samples=19, family="inception", depth=3, width=2, bottleneck=2, kernel1=4,
               kernel2=3, kernel3=2, channels=2, length=9, classes=4, features=3)
    yield case(345, samples=5, family="inception", depth=3, width=2, bottleneck=2, kernel1=4,
               kernel2=3, kernel3=2, channels=2, length=9, classes=4, norm="none",
               optimisers=("sgd", "adam", "adamw"))
    yield case(346, samples=4, family="tcn", depth=5, width=3, kernel=4, length=20, classes=3)
    yield case(347, samples=4, family="tcn", depth=2, width=17, kernel=2, channels=5, length=70,
               classes=3, act="sigmoid")
    yield case(348, samples=3, family="tcn", depth=3, width=3, kernel=1, length=1, classes=2,
               norm="none")
    yield case(349, samples=19, family="tcn", depth=3, width=3, kernel=3, length=9, channels=2,
               classes=4, features=2)
    yield case(350, samples=5, family="tcn", depth=3, width=4, kernel=3, length=15, classes=3,
               norm="none", optimisers=("sgd", "adam", "adamw"))
    yield case(351, samples=20, family="mlp", depth=3, width=33, channels=3, length=7, classes=4,
               features=2, optimisers=("sgd", "adam", "adamw"))
    yield case(352, samples=2, family="mlp", depth=1, width=3, length=1, classes=1)


if __name__ == "__main__":
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))
    for name, cases in (("networks.npy", golden), ("families.npy", families), ("later.npy", later)):
        if sys.argv[2:] and name not in sys.argv[2:]:
            continue
        with open(os.path.join(folder, name), "wb") as file:
            for arrays in cases():
                write(file, arrays)
