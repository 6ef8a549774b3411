#!/usr/bin/env python3
"""A teacher of your own for sc-synth, in NumPy alone (sc-teacher-command(7)).

    sc-synth --teacher-command 'numpy_teacher.py train.npy' --spc 10 train.npy -o tiny.npy

The network is a perceptron with one hidden layer, trained when the program starts; its statistics
are the mean and variance of each hidden unit over the training set.  To bring another network,
replace the class Teacher: all that the protocol needs is forward() and backward()."""
import io
import sys

import numpy as np


class Teacher:
    """z = x A + a, h = max(z, 0), logits = h B + b."""

    def __init__(self, x, y, hidden=64, steps=300, rate=3e-3, seed=0):
        random = np.random.default_rng(seed)
        x = x.reshape(len(x), -1).astype(np.float64)
        classes = y.max() + 1
        self.A = random.normal(size=(x.shape[1], hidden)) / np.sqrt(x.shape[1])
        self.B = random.normal(size=(hidden, classes)) / np.sqrt(hidden)
        self.a, self.b = np.zeros(hidden), np.zeros(classes)
        self.train(x, np.eye(classes)[y], steps, rate, random)
        z = x @ self.A + self.a
        self.mean, self.var = z.mean(0), z.var(0)

    def train(self, x, target, steps, rate, random):
        """Adam on the cross-entropy of batches of 256."""
        weights = [self.A, self.a, self.B, self.b]
        first, second = [[np.zeros_like(w) for w in weights] for _ in range(2)]
        for step in range(1, steps + 1):
            chosen = random.integers(len(x), size=256)
            p = np.exp(log_softmax(self.forward(x[chosen])))
            up = (p - target[chosen]) / len(chosen)
            down = up @ self.B.T * (self.z > 0)
            gradients = [x[chosen].T @ down, down.sum(0), self.h.T @ up, up.sum(0)]
            for w, g, m, v in zip(weights, gradients, first, second):
                m += 0.1 * (g - m)
                v += 0.001 * (g * g - v)
                w -= rate * m / (1 - 0.9**step) / (np.sqrt(v / (1 - 0.999**step)) + 1e-8)

    def forward(self, x):
        """Logits (N, V) of series (N, C, L)."""
        self.shape = x.shape
        self.z = x.reshape(len(x), -1) @ self.A + self.a
        self.h = np.maximum(self.z, 0)
        return self.h @ self.B + self.b

    def backward(self, up, weight, squared):
        """The gradient of sum(up * logits) + R with respect to the series of the last forward(), and
        R: how far mean and variance of the hidden units are from those of the training set."""
        down = up @ self.B.T * (self.z > 0)
        mean, var = self.z.mean(0), self.z.var(0)
        apart = 0.0
        for difference, slope in ((mean - self.mean, 1), (var - self.var, 2 * (self.z - mean))):
            norm = np.sqrt((difference**2).sum())
            apart += norm**2 if squared else norm
            gradient = 2 * difference if squared else difference / max(norm, 1e-12)
            down += weight * gradient * slope / len(self.z)
        return (down @ self.A.T).reshape(self.shape), weight * apart


def log_softmax(logits):
    logits = logits - logits.max(1, keepdims=True)
    return logits - np.log(np.exp(logits).sum(1, keepdims=True))


class Pipe:
    """Reads and nothing else: given standard input itself, NumPy would seek, which a pipe cannot."""
    read = sys.stdin.buffer.read


def receive():
    """The next array, or None at the end."""
    return np.lib.format.read_array(Pipe) if sys.stdin.buffer.peek(1) else None


def send(*arrays):
    answer = io.BytesIO()
    for array in arrays:
        np.save(answer, array)
    sys.stdout.buffer.write(answer.getvalue())
    sys.stdout.buffer.flush()


def main(path):
    with open(path, "rb") as file:
        x, y = np.load(file), np.load(file)
    teacher = Teacher(x, y)
    accuracy = (teacher.forward(x).argmax(1) == y).mean()
    print(f"numpy_teacher: {100 * accuracy:.1f} % of the training series are right", file=sys.stderr)
    while (request := receive()) is not None:
        word, *rest = str(request).split()
        options = dict(text.split("=") for text in rest if "=" in text)
        if word == "hello":
            shape = (int(options["channels"]), int(options["length"]))
            if rest[0] != "1" or shape != x.shape[1:] or options["features"] != "0":
                send(np.array(f"error {path} is of another shape, or there are shapelets"))
            else:
                send(np.array("ready 1"))
        elif word == "forward":
            send(teacher.forward(receive()).astype(np.float32))
        elif word == "backward":
            weight = float(options["weight"]) * float(options["first"])
            gradient, apart = teacher.backward(receive(), weight, options["norm"] == "squared")
            send(gradient.astype(np.float32), np.float32(apart))


if __name__ == "__main__":
    main(sys.argv[1]) if len(sys.argv) == 2 else sys.exit(__doc__)
