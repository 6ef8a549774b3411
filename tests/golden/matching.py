"""PyTorch's answers for the losses of sc-match (lib/match), by double backward in double precision:
gradient matching, distribution matching, and trajectories with one and two towers.

    python3 matching.py            writes matching.npy beside this script

The test that reads it, array by array in this order, is tests/unit/test_match_golden.c."""
import torch
from torch.nn import functional as F

from small import CHANNELS, CLASSES, DEPTH, KERNEL, LENGTH, WIDTH, count, lift_gains, single, unpack, write

COUNT = count()


def encode(parameters, x, running=None):
    """Convolution, batch normalisation (of the batch, or by running statistics), ReLU, pooling."""
    for block in range(DEPTH):
        w, b, gamma, beta = parameters[4 * block:4 * block + 4]
        x = F.conv1d(x, w, b, padding=KERNEL // 2)
        if running is None:
            x = F.batch_norm(x, None, None, gamma, beta, training=True)
        else:
            mean, var = running[2 * block:2 * block + 2]
            x = F.batch_norm(x, mean, var, gamma, beta, training=False)
        x = F.max_pool1d(F.relu(x), 2)
    return x.flatten(1)


def spectrum(x):
    """Half-complex order, as lib/match/spectrum.h has it."""
    f = torch.fft.rfft(x, norm="ortho")
    return torch.cat([f.real, f.imag[..., 1:(LENGTH + 1) // 2].flip(-1)], -1)


def embed(flat, x):
    """One tower, or two side by side."""
    if flat.numel() == COUNT:
        return encode(unpack(flat), x)
    return torch.cat([encode(unpack(flat[:COUNT]), x),
                      encode(unpack(flat[COUNT:]), spectrum(x))], 1)


def classify(flat, x):
    towers = [unpack(part) for part in flat.split(COUNT)]
    weight = torch.cat([tower[-2] for tower in towers], 1)
    return F.linear(embed(flat, x), weight, towers[0][-1])


def start_parameters(towers):
    flat = (0.4 * single(towers * COUNT)).float().double()
    for tower in range(towers):
        parts = unpack(flat[tower * COUNT:(tower + 1) * COUNT])
        lift_gains(parts)
        if tower > 0:
            parts[-1].zero_()
    return flat


def gradient_distance(real, synthetic):
    total = 0
    for r, s in zip(real, synthetic):
        if r.dim() > 1:
            r, s = r.reshape(r.shape[0], -1), s.reshape(s.shape[0], -1)
            total = total + (1 - (r * s).sum(1) / (r.norm(dim=1) * s.norm(dim=1) + 1e-6)).sum()
    return total


def classwise(out):
    """dc with an augmentation (dsa), and dm with it, for one class."""
    flat = start_parameters(1)
    running = [t for _ in range(DEPTH) for t in (single(WIDTH), single(WIDTH).abs() + 0.5)]
    running = [t.float().double() for t in running]
    real, synthetic = single(6, CHANNELS, LENGTH), single(2, CHANNELS, LENGTH)
    gain, noise = single(CHANNELS), single(CHANNELS, LENGTH)
    out += [flat, torch.cat(running), real, synthetic, gain, noise]

    augment = lambda x: x.flip(-1) * gain[:, None] + noise
    parameters = [p.clone().requires_grad_() for p in unpack(flat)]
    x = synthetic.clone().requires_grad_()

    def gradient(series):
        logits = F.linear(encode(parameters, augment(series), running), *parameters[-2:])
        loss = F.cross_entropy(logits, torch.full((len(series),), 1))
        return torch.autograd.grad(loss, parameters, create_graph=True)

    loss = gradient_distance([g.detach() for g in gradient(real)], gradient(x))
    out += [loss, torch.autograd.grad(loss, x)[0]]
    mean = lambda series: encode(parameters, augment(series), running).mean(0)
    loss = ((mean(real) - mean(x)) ** 2).sum()
    out += [loss, torch.autograd.grad(loss, x)[0]]


def trajectory(out, towers, soft, views, weight):
    """Three steps of a student; the gradients of series, soft labels and step size."""
    start = start_parameters(towers)
    end = (start + 0.05 * single(towers * COUNT)).float().double()
    if towers > 1:
        end[-CLASSES:] = 0
    x = single(2 * CLASSES, CHANNELS, LENGTH).requires_grad_()
    targets = single(2 * CLASSES, CLASSES).requires_grad_()
    rate = torch.tensor(0.125, requires_grad=True)
    labels = torch.arange(CLASSES).repeat_interleave(2)
    bins = LENGTH // 2 + 1
    factors = [single(3, 2 * CLASSES, CHANNELS, bins) for _ in range(2)]
    out += [start, end, x.detach(), targets.detach(), rate.detach(), *factors]

    batch = x
    if views:
        changed = [torch.fft.irfft(torch.fft.rfft(x) * torch.complex(re, im), n=LENGTH)
                   for re, im in zip(*factors)]
        batch = torch.cat([x, *changed])
    repeats = len(batch) // len(x)
    point = start.clone().requires_grad_()
    for _ in range(3):
        log_p = F.log_softmax(classify(point, batch), 1)
        if soft:
            loss = F.kl_div(log_p, F.log_softmax(targets, 1).repeat(repeats, 1),
                            reduction="batchmean", log_target=True)
        else:
            loss = F.nll_loss(log_p, labels.repeat(repeats))
        gradient = torch.autograd.grad(loss, point, create_graph=True)[0]
        if towers > 1:
            gradient = torch.cat([gradient[:-CLASSES], torch.zeros(CLASSES)])
        point = point - rate * gradient
    loss = ((point - end) ** 2).sum() / ((start - end) ** 2).sum()
    if weight:
        loss = loss + weight * ((embed(point, x) - embed(end, x)) ** 2).mean()
    d_x, d_targets, d_rate = torch.autograd.grad(loss, (x, targets, rate), allow_unused=True)
    out += [loss, d_x, d_rate] + ([d_targets] if soft else [])


if __name__ == "__main__":
    arrays = []
    torch.manual_seed(1)
    classwise(arrays)
    trajectory(arrays, 1, False, False, 0)
    trajectory(arrays, 1, True, False, 0)
    trajectory(arrays, 2, False, True, 0.7)
    write("matching.npy", arrays)
