#!/usr/bin/env python3
"""Models of other people, trained on a condensed dataset.

    sc-expand condensed.npy -o expanded.npy        # writes out its labelled views
    models.py expanded.npy test.npy [--models minirocket,forest] [--steps 2000] [--seed 0]

Prints one row for each model: model, accuracy in %, seconds of training and prediction.  Both files are datasets as
sc-dataset(5) has them, in the same scale.  Networks learn the soft labels where there are some: cross-entropy against
softmax(logits / 4), or softmax(logits) with more than 20 classes, which suits networks of all kinds; all other models
learn the class of the largest logit.

Needs numpy, and for the models of their names: scikit-learn, aeon (minirocket, rocket, dtw, catch22), torch.
"""
import argparse
import sys
import time
import warnings

import numpy as np

warnings.filterwarnings("ignore")  # of the libraries, about their own insides


def read_dataset(path):
    """X (N, C, L), y (N,) and soft labels (N, V) or None."""
    arrays = []
    if path.endswith(".npz"):  # as sc-export and shapecond write it
        with np.load(path) as found:
            X = found["X"].astype("f4")
            return X if X.ndim == 3 else X[:, None], found["y"], found["soft"] if "soft" in found else None
    with open(path, "rb") as f:
        while f.peek(1):
            arrays.append(np.load(f))
    kinds = {f"{a.ndim}{a.dtype.kind}": a for a in arrays[1:]}
    X = arrays[0].astype("f4")
    return X if X.ndim == 3 else X[:, None], kinds["1i"], kinds.get("2f")


# ---- Classical models: fit(X, y), predict(X); 2-D features ----

def flat(X):
    return X.reshape(len(X), -1)


def of_catch22(X):
    from aeon.transformations.collection.feature_based import Catch22
    return np.nan_to_num(Catch22(replace_nans=True).fit_transform(X.astype("f8")))


def ridge_on(transform):
    from sklearn.linear_model import RidgeClassifierCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    return make_pipeline(transform, StandardScaler(with_mean=False), RidgeClassifierCV(np.logspace(-3, 3, 10)))


def minirocket(seed):
    from aeon.transformations.collection.convolution_based import MiniRocket
    return ridge_on(MiniRocket(random_state=seed))


def rocket(seed):
    from aeon.transformations.collection.convolution_based import Rocket
    return ridge_on(Rocket(n_kernels=2000, random_state=seed))


def dtw(seed):
    from aeon.classification.distance_based import KNeighborsTimeSeriesClassifier
    return KNeighborsTimeSeriesClassifier(n_neighbors=1, distance="dtw", distance_params={"window": 0.1})


class OnFeatures:
    """A model of scikit-learn behind a function that makes features."""

    def __init__(self, features, model):
        self.features, self.model = features, model

    def fit(self, X, y):
        self.model.fit(self.features(X), y)

    def predict(self, X):
        return self.model.predict(self.features(X))


def forest(features):
    def make(seed):
        from sklearn.ensemble import RandomForestClassifier
        return OnFeatures(features, RandomForestClassifier(500, random_state=seed))
    return make


def boosting(features):
    def make(seed):
        from sklearn.ensemble import HistGradientBoostingClassifier
        return OnFeatures(features, HistGradientBoostingClassifier(max_iter=100, random_state=seed))
    return make


# ---- Networks of PyTorch ----

def resnet(channels, classes, length):
    """Wang et al. 2017: three residual blocks of kernels 8, 5 and 3, global average pooling."""
    import torch.nn as nn

    class Block(nn.Module):
        def __init__(self, before, after):
            super().__init__()
            layers, width = [], before
            for kernel in (8, 5, 3):
                layers += [nn.Conv1d(width, after, kernel, padding="same"), nn.BatchNorm1d(after), nn.ReLU()]
                width = after
            self.body = nn.Sequential(*layers[:-1])
            self.skip = nn.Sequential(nn.Conv1d(before, after, 1), nn.BatchNorm1d(after))

        def forward(self, x):
            return nn.functional.relu(self.body(x) + self.skip(x))

    return nn.Sequential(Block(channels, 64), Block(64, 128), Block(128, 128), nn.AdaptiveAvgPool1d(1), nn.Flatten(),
                         nn.Linear(128, classes))


def transformer(channels, classes, length):
    """Patches of the series, learned positions, two encoder layers of four heads, the mean over patches."""
    import torch
    import torch.nn as nn
    patch = max(1, length // 32)

    class Transformer(nn.Module):
        def __init__(self):
            super().__init__()
            self.patches = nn.Conv1d(channels, 64, patch, stride=patch)
            self.positions = nn.Parameter(torch.randn(1, length // patch, 64) * 0.02)
            layer = nn.TransformerEncoderLayer(64, 4, 128, dropout=0.1, activation="gelu", batch_first=True,
                                               norm_first=True)
            self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
            self.head = nn.Sequential(nn.LayerNorm(64), nn.Linear(64, classes))

        def forward(self, x):
            return self.head(self.encoder(self.patches(x).transpose(1, 2) + self.positions).mean(1))

    return Transformer()


class Network:
    """Trains a network with AdamW, a cosine of the learning rate and batches of 64."""

    def __init__(self, make, seed, steps, soft):
        self.make, self.seed, self.steps, self.soft = make, seed, steps, soft

    def fit(self, X, y):
        import torch
        import torch.nn.functional as F
        torch.manual_seed(self.seed)
        classes = int(y.max()) + 1 if self.soft is None else self.soft.shape[1]
        self.net = self.make(X.shape[1], classes, X.shape[2])
        if self.soft is None:
            aims = F.one_hot(torch.tensor(y, dtype=torch.long), classes).float()
        else:
            aims = F.softmax(torch.tensor(self.soft.astype("f4")) / (4 if self.soft.shape[1] <= 20 else 1), 1)
        series = torch.tensor(X)
        optimiser = torch.optim.AdamW(self.net.parameters(), lr=3e-3, weight_decay=1e-4)
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, self.steps)
        done = 0
        while done < self.steps:
            for batch in torch.randperm(len(series)).split(64):
                if done == self.steps or (len(batch) < 2 <= len(series)):
                    continue
                loss = F.cross_entropy(self.net(series[batch]), aims[batch])
                optimiser.zero_grad()
                loss.backward()
                optimiser.step()
                schedule.step()
                done += 1

    def predict(self, X):
        import torch
        self.net.eval()
        with torch.no_grad():
            return torch.cat([self.net(part) for part in torch.tensor(X).split(256)]).argmax(1).numpy()


CLASSICAL = {
    "minirocket": minirocket,
    "rocket": rocket,
    "dtw": dtw,
    "forest": forest(flat),
    "boosting": boosting(flat),
    "forest-catch22": forest(of_catch22),
    "boosting-catch22": boosting(of_catch22),
}
NETWORKS = {"resnet": resnet, "transformer": transformer}


def main():
    every = [*CLASSICAL, *NETWORKS]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("train", help="condensed dataset, written out by sc-expand")
    parser.add_argument("test")
    parser.add_argument("--models", default=",".join(every), help="some of " + " ".join(every))
    parser.add_argument("--steps", type=int, default=2000, help="of the networks")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    names = args.models.split(",")
    unknown = [name for name in names if name not in every]
    if unknown:
        parser.error(f"there is no {' '.join(unknown)}, only {' '.join(every)}")

    X, y, soft = read_dataset(args.train)
    test_X, test_y, _ = read_dataset(args.test)
    if X.shape[1:] != test_X.shape[1:]:
        sys.exit(f"{args.test}: series of {test_X.shape[1:]}, but {args.train} has {X.shape[1:]}")
    print("model\taccuracy\tseconds")
    for name in names:
        start = time.monotonic()
        try:
            model = CLASSICAL[name](args.seed) if name in CLASSICAL else Network(NETWORKS[name], args.seed, args.steps, soft)
            model.fit(X, y)
            right = np.mean(model.predict(test_X) == test_y)
        except ImportError as error:
            print(f"{name}: {error}", file=sys.stderr)
            print(f"{name}\t-\t-", flush=True)
            continue
        print(f"{name}\t{100 * right:.2f}\t{time.monotonic() - start:.1f}", flush=True)


if __name__ == "__main__":
    main()
