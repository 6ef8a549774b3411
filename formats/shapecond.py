"""Datasets of shapecond from Python, with NumPy alone.

    import shapecond
    tiny = shapecond.condense(X, y)                 # runs the programs; X is (N, C, L) or (N, L)
    tiny["X"], tiny["y"], tiny["soft"]              # series, classes, logits of the teacher
    data = shapecond.load("tiny.npy")               # the same from a file
    series, logits = shapecond.expand(data)         # labelled views, if there are any

The file can be copied anywhere.  Formats: sc-dataset(5), slp(5).
"""
import os
import shutil
import struct
import subprocess
import tempfile
import warnings
import zlib

import numpy as np

__all__ = ["load", "save", "expand", "load_pool", "save_pool", "condense", "Condenser"]
__version__ = "0.1.0"

_ROLES = {"1i": "y", "1u": "y", "2f": "soft", "1U": "names", "0U": "notes", "1f": "views", "2u": "codes",
          "4f": "levels"}


# ---- Datasets: NPY arrays one after another (sc-dataset(5)) ----

def load(path):
    """All arrays of a dataset file by name: X, and as far as they are there y, groups, soft, names, notes,
    views, codes (of the views), levels and packing (of series that are stored in few bits or compressed; X has their values)."""
    with open(path, "rb") as file:
        if file.peek(6)[:6] != b"\x93NUMPY":
            raise ValueError(f"{path}: not a dataset file (sc-import makes one; of an .npz, numpy.load reads the arrays)")
        found = {"X": np.load(file, allow_pickle=False)}
        while file.peek(1):
            array = np.load(file, allow_pickle=False)
            array = array.astype(str) if array.dtype.kind == "S" else array
            role = _ROLES.get(f"{array.ndim}{array.dtype.kind}")
            if role == "y" and "y" in found:
                role = "groups"
            if role == "views" and len(array) in (2, 5, 6):
                role = "packing"
            if role is None or role in found:
                raise ValueError(f"{path}: an array of shape {array.shape} and type {array.dtype} is not part of a dataset")
            found[role] = array
    if ("levels" in found) != ("packing" in found):
        raise ValueError(f"{path}: series of few bits need both levels and packing")
    if "levels" in found and len(found["packing"]) == 5:
        raise ValueError(f"{path}: series that an earlier version compressed (with xz): make them again with sc-quantise --step")
    if "levels" in found and len(found["packing"]) == 6:
        found["X"] = _unpacked(found["X"], found["levels"], found["packing"], found.get("y"))
    elif "levels" in found:
        found["X"] = _values(found["X"], found["levels"], found["packing"])
    if "views" in found:
        views, series = found["views"], len(found["X"]) if found["views"][0] in (2, 4) else 0
        if "y" not in found or "codes" not in found:
            raise ValueError(f"{path}: views without labels of the series or codes")
        if views[0] >= 3:
            found["codes"] = _decoded_labels(found["codes"], views, _classes(found), found["y"][:series])
        if zlib.crc32(found["codes"].tobytes()) != views[11]:
            raise ValueError(f"{path}: damaged views: the checksum of the codes does not match")
        if views[9] == 4 and _classes(found) % 2:  # earlier versions may have anything in what is not used
            found["codes"] = found["codes"] & np.array([255] * (found["codes"].shape[1] - 1) + [15], "u1")
        if series:  # codes of the series, then of the views
            found["soft"] = _logits(found["codes"][:series], _classes(found), views)
            found["codes"] = found["codes"][series:]
    return found


def _halves(codes):
    return np.stack([codes & 15, codes >> 4], -1).reshape(*codes.shape[:-1], -1)


def _values(codes, levels, packing):
    bits, steps = packing
    codes = codes if codes.ndim == 3 else codes[:, None]
    codes = _halves(codes)[..., :int(steps)] if bits == 4 else codes
    return (levels[0].astype("f8") + levels[1].astype("f8") * codes).astype("f4")


# Compressed series: whole numbers, or those of a wavelet transform (CDF 9/7 by lifting).
_LIFT = -1.586134342059924, -0.052980118572961, 0.882911075530934, 0.443506852043971
_GAIN = 1.149604398860241


def _lifted(s, d, factors):
    before = [np.maximum(np.arange(s.shape[-1]) - 1, 0), np.minimum(np.arange(s.shape[-1]), d.shape[-1] - 1)]
    after = [np.minimum(np.arange(d.shape[-1]) + i, s.shape[-1] - 1) for i in (0, 1)]
    for to_s, factor in factors:
        if to_s:
            s = s + factor * (d[..., before[0]] + d[..., before[1]])
        else:
            d = d + factor * (s[..., after[0]] + s[..., after[1]])
    return s, d


def _synthesised(w, levels):
    lengths = [w.shape[-1]]
    for _ in range(levels):
        lengths.append(-(-lengths[-1] // 2))
    for length, half in list(zip(lengths, lengths[1:]))[::-1]:
        s, d = _lifted(w[..., :half] / _GAIN, w[..., half:length] * _GAIN,
                       [(i % 2 == 1, -_LIFT[i]) for i in (3, 2, 1, 0)])
        w = w.copy()
        w[..., 0:length:2], w[..., 1:length:2] = s, d
    return w


def _analysed(w, levels):
    w, length = w.copy(), w.shape[-1]
    for _ in range(levels):
        half = -(-length // 2)
        s, d = _lifted(w[..., 0:length:2], w[..., 1:length:2], [(i % 2 == 1, _LIFT[i]) for i in range(4)])
        w[..., :half], w[..., half:length] = s * _GAIN, d / _GAIN
        length = half
    return w


def _unpacked(data, levels, packing, y):
    version, N, C, L, depth, classes = map(int, packing)
    if version != 2:
        raise ValueError(f"compressed series of version {version} are not known")
    if classes and y is None:
        raise ValueError("compressed series that cannot be read without their labels")
    if min(N, C, L) < 1 or N * C * L > 12000 * len(data) or not 0 <= depth <= 5:
        raise ValueError(f"damaged packing: {len(data)} bytes cannot hold ({N}, {C}, {L}) values")
    codes = np.zeros((N, C, L), "i8")
    _walk_series(codes, y if classes else np.zeros(N, int), depth, data[:C], data[C:])
    w = _synthesised(codes.astype("f8"), depth)
    return (levels[0].astype("f8") + levels[1].astype("f8") * w).astype("f4")


def _packed(X, levels, packing, y):
    low, step = np.asarray(levels, "f8")
    depth = int(packing[4])
    w = _analysed((X.astype("f8") - low) / np.where(step > 0, step, 1), depth)
    codes = np.clip(np.rint(w), -32767, 32767).astype("i8")
    values = (low + step * _synthesised(codes.astype("f8"), depth)).astype("f4")
    if np.any(np.abs(values - X) > 0.01 * step + np.spacing(np.abs(X.astype("f4")))):
        raise ValueError("X has values that its levels do not hold; without levels and packing it is stored as floats")
    references = _references(codes, depth)
    coded = _walk_series(codes, np.zeros(len(X), int) if y is None else y, depth, references)
    return [np.concatenate([references, coded]), np.array([2, *X.shape, depth, y is not None], "<f8"),
            np.asarray(levels, "<f4")]


def _codes(X, levels, bits):
    low, step = np.asarray(levels, "f8")
    codes = np.clip(np.rint((X - low) / np.where(step > 0, step, 1)), 0, 2**bits - 1)
    if np.any(np.abs(low + step * codes - X) > step + np.spacing(np.abs(X.astype("f4")))):
        raise ValueError("X has values that its levels do not hold; without levels and packing it is stored as floats")
    return codes


def _logits(codes, classes, views):
    bits, step = views[9:11]
    return (-step * (_halves(codes) if bits == 4 else codes)[:, :classes]).astype("f4")


def _pack(codes, bits):
    codes = codes.astype("u1")
    if bits == 8:
        return codes
    codes = np.concatenate([codes, np.zeros_like(codes[..., :codes.shape[-1] % 2])], -1)
    return codes[..., ::2] | codes[..., 1::2] << 4


def _classes(data):
    names, soft = data.get("names"), data.get("soft")
    return len(names) if names is not None else soft.shape[1] if soft is not None else int(data["y"].max()) + 1


def save(path, X, y=None, groups=None, soft=None, names=None, notes=None, views=None, codes=None, levels=None,
         packing=None):
    """Writes a dataset file.  y may hold any labels: those that are not numbers from 0 are numbered in order, and
    their texts are the names of the classes.  levels and packing are for series that load() has read with them; they
    are stored to within a hundredth of a step or float32's precision."""
    X = np.asarray(X)
    if X.ndim == 2:
        X = X[:, None]
    if X.ndim != 3 or not X.size:
        raise ValueError(f"X must have the shape (N, C, L) or (N, L), not {X.shape}")
    arrays = [X.astype("<f4")]
    compressed = levels is not None and len(packing) == 6
    if levels is not None and not compressed:
        bits = packing[0]
        arrays = [_pack(_codes(X, levels, bits), bits), np.asarray(levels, "<f4"), np.array([bits, X.shape[2]], "<f8")]
    if y is not None:
        y = np.asarray(y)
        if y.shape != X.shape[:1]:
            raise ValueError(f"y must have the shape ({len(X)},), not {y.shape}")
        if y.dtype.kind not in "iu" or y.min() < 0:
            classes, y = np.unique(y.astype(str) if y.dtype.kind == "O" else y, return_inverse=True)
            names = classes.astype(str) if names is None else names
        classes = len(names) if names is not None else np.shape(soft)[1] if soft is not None else int(y.max()) + 1
        small = compressed and classes <= 256
        y = y.astype("u1" if small else "<i4")
    if compressed:
        arrays = _packed(X, levels, packing, y)
    if y is not None:
        arrays.append(y)
    if groups is not None:
        if y is None:
            raise ValueError("groups need y")
        arrays.append(np.unique(np.asarray(groups), return_inverse=True)[1].astype("<u4"))
    # Soft labels are codes where there are views, unless they alone tell the number of classes.
    coded = views is not None and soft is not None and (names is not None or int(y.max()) + 1 == np.shape(soft)[1])
    if soft is not None and not coded:
        arrays.append(np.asarray(soft, "<f4"))
    if names is not None:
        arrays.append(np.asarray(names, str))
    if notes is not None:
        notes = str(notes)
        short = packing is not None and notes and notes.isascii()
        arrays.append(np.array(notes.encode() if short else notes))
    if views is not None:
        views, codes = np.array(views, "<f8"), np.array(codes, "u1")
        if views[9] == 4 and classes % 2:
            codes[:, -1] &= 15
        if coded:
            bits, step = views[9:11]
            below = np.max(soft, 1, keepdims=True) - np.asarray(soft, "f8")
            below = np.minimum(np.floor(below / (step or 1) + 0.5), 2**bits - 1)
            codes = np.concatenate([_pack(below, bits), codes])
        views = np.array([4 if coded else 3, *views[1:11], zlib.crc32(codes.tobytes()), len(codes)], "<f8")
        arrays += [views, _coded_labels(codes, views, classes, y[:len(X) if coded else 0])[None]]
    with open(path, "wb") as file:
        for array in arrays:
            np.save(file, array, allow_pickle=False)


# ---- The coder of compressed series and of label codes (sc-dataset(5)) ----

_CODER_LOG = np.floor(256 * np.log(np.arange(1, 2561)) + 0.5).astype("i8")
_CODER_P = np.clip(np.floor(32768 / (1 + np.exp(-np.arange(-2047, 2048) / 256)) + 0.5), 16, 32752).astype("i8")
_WORDS = [pow(0x9e3779b1, i + 1, 2**32) for i in range(12)]
_WHERE, _NEAR, _ABOVE, _TIME, _ROUGH, _LAST, _LAST_BUT_ONE, _REFERENCE, _PLACE, _CLASS, _CHANGE, _CHANGE_BEFORE = range(12)


def _word(word, numbers):
    return np.asarray(numbers, "i8").astype("u4") * np.uint32(_WORDS[word])


class _Coder:
    """Reads numbers from bytes, or writes them if there are none; all lanes at once."""

    def __init__(self, lanes, inputs, data=None):
        self.counts = np.zeros((inputs << 18, 2), "i4")
        self.weights = np.full((34, 8, inputs), 20000, "i8")
        self.first_slots = np.arange(inputs) << 18
        self.contexts, self.sets = np.zeros((lanes, inputs), "u4"), np.zeros(lanes, int)
        self.states, self.events, self.words = np.full(lanes, 65536, "i8"), [], None
        if data is not None:
            if len(data) < 4 * lanes or len(data) % 2:
                raise ValueError("damaged codes: they end too early")
            self.states[:] = np.frombuffer(data[:4 * lanes].tobytes(), "<u4")
            self.words, self.next = np.frombuffer(data[4 * lanes:].tobytes(), "<u2"), 0

    def decide(self, kind, lanes, node, bits):
        hashed = self.contexts[lanes] + (np.asarray(node, "u4") * np.uint32(0x9e3779b1))[..., None]
        slots = ((hashed ^ hashed >> 15) * np.uint32(0x85ebca6b) >> 14) + self.first_slots
        stretch = _CODER_LOG[2 * self.counts[slots]]
        stretch, sets = stretch[..., 1] - stretch[..., 0], self.sets[lanes]
        mixed = (self.weights[kind, sets] * stretch).sum(1) >> 16
        p = _CODER_P[np.clip(mixed, -2047, 2047) + 2047]
        if self.words is None:
            bits = bits.astype(int)
            self.events.append((lanes, p, bits))
        else:
            x = self.states[lanes]
            rest = x & 32767
            bits = (rest < p).astype(int)
            x = np.where(bits, p, 32768 - p) * (x >> 15) + rest - np.where(bits, 0, p)
            short = x < 65536
            words = self.words[self.next:self.next + short.sum()]
            self.next += short.sum()
            if len(words) < short.sum():
                raise ValueError("damaged codes: they end too early")
            x[short] = x[short] << 16 | words
            self.states[lanes] = x
        np.add.at(self.weights, (kind, sets), (stretch * (bits * 32768 - p)[:, None] + 32768) >> 16)
        np.add.at(self.counts, (slots, bits[:, None]), 1)
        counts = self.counts[slots]
        full = counts.sum(-1) > 1023
        self.counts[slots[full]] = counts[full] >> 1
        return bits

    def numbers(self, numbers):
        lanes, size = np.arange(len(numbers)), np.abs(numbers)
        active = lanes[self.decide(0, lanes, 0 * lanes, size > 0) > 0]
        negative, longer, known = 0 * lanes, 0 * lanes, 0 * lanes
        negative[active] = self.decide(1, active, 1 + 0 * active, numbers[active] < 0)
        known[active] = 1
        for i in range(17):
            if not len(active):
                break
            if i == 16:
                raise ValueError("damaged codes: a number is too large")
            active = active[self.decide(2 + i, active, 2 + 2 * i + negative[active], size[active] >> (i + 1) > 0) > 0]
            longer[active] = i + 1
        for i in range(1, longer.max() + 1):
            active = lanes[longer >= i]
            node = 64 + 2 * (longer[active] << 16 | known[active]) + negative[active]
            bits = self.decide(17 + i, active, node, size[active] >> (longer[active] - i) & 1)
            known[active] = known[active] << 1 | bits
        return np.where(negative, -known, known)

    def codes(self, codes, width):
        lanes = np.arange(len(codes))
        known = 1 + 0 * lanes
        for i in range(1, width + 1):
            known = known << 1 | self.decide(17 + i, lanes, known, codes >> (width - i) & 1)
        return known - (1 << width)

    def finish(self):
        if self.words is not None:
            if self.next < len(self.words) or np.any(self.states != 65536):
                raise ValueError("damaged codes")
            return None
        words = []
        for lanes, p, bits in self.events[::-1]:
            x, share = self.states[lanes], np.where(bits, p, 32768 - p)
            full = x >= share << 17
            words.append(x[full][::-1] & 65535)
            x[full] >>= 16
            self.states[lanes] = (x // share << 15) + x % share + np.where(bits, 0, p)
        words = np.concatenate(words)[::-1]
        return np.frombuffer(self.states.astype("<u4").tobytes() + words.astype("<u2").tobytes(), "u1")


def _rough(numbers):
    return np.searchsorted([1, 2, 3, 5, 8, 14, 30], np.abs(numbers), "right")


def _places(length, depth):
    """Of each coefficient: its band, how many of the band are before it, and which one of the coarser band is above."""
    ends = [length]
    for _ in range(depth):
        ends.insert(0, -(-ends[0] // 2))
    t, ends = np.arange(length), np.array([0, 0] + ends)
    band = np.searchsorted(ends[2:], t, "right")
    before = t - np.where(band > 0, ends[band + 1], 0)
    size = ends[band + 1] - ends[band]
    above = ends[band] + np.minimum(np.where(band > 1, before // 2, before), size - 1)
    return band, before, np.where(band > 0, above, 0)


def _references(codes, depth):
    """For each channel, how many channels before is the one that is most like it; 0: none."""
    first = np.argmax(_places(codes.shape[2], depth)[0] > 0) if depth else 0
    rows = codes[:300, :, first:].astype("f8")
    found = np.zeros(codes.shape[1], "u1")
    for c in range(codes.shape[1]):
        best, own = 0, 1e-9 + (rows[:, c]**2).sum()
        for distance in range(1, min(c, 32) + 1):
            other = rows[:, c - distance]
            agreement = (rows[:, c] * other).sum()**2 / (own * (1e-9 + (other**2).sum()))
            if agreement > best:
                best, found[c] = agreement, distance
    return found


def _walk_series(codes, y, depth, references, data=None):
    """Fills codes (N, C, L) from bytes, or returns the bytes of them."""
    N, C, L = codes.shape
    lanes = min(max(N // 16, 1), 256)
    coder = _Coder(lanes, 6 if depth else 7, data)
    references = np.asarray(references, int)
    places = _places(L, depth) if depth else None
    if np.any(references > np.arange(C)) or len(references) < C:
        raise ValueError("damaged codes: a channel follows one before the first")
    for first in range(0, N, lanes):
        group, classes = codes[first:first + lanes], np.asarray(y[first:first + lanes], "i8")
        for c in range(C):
            rows, other = group[:, c], group[:, c - references[c]] if references[c] else np.zeros_like(group[:, 0])
            run, last_other = np.zeros(len(rows), int), np.zeros(len(rows), int)
            for t in range(L):
                place = _word(_PLACE, c * L + t) + _word(_CLASS, classes)
                if depth:
                    contexts, sets = _coefficient_contexts(rows, other, c, t, place, *places)
                    coder.contexts[:len(rows)], coder.sets[:len(rows)] = np.transpose(contexts), sets
                    rows[:, t] = coder.numbers(rows[:, t])
                    continue
                last = rows[:, t - 1] if t else np.zeros(len(rows), "i8")
                contexts, sets = _value_contexts(rows, other, c, t, classes, place, last, run, last_other)
                coder.contexts[:len(rows)], coder.sets[:len(rows)] = np.transpose(contexts), sets
                rows[:, t] = last + coder.numbers(rows[:, t] - last)
                if t:
                    stays = rows[:, t] == last
                    run, last_other = np.where(stays, np.minimum(run + 1, 15), 0), np.where(stays, last_other, last)
    return coder.finish()


def _coefficient_contexts(rows, other, channel, t, place, bands, before, above):
    none, band = np.zeros(len(rows), "i8"), bands[t]
    last = rows[:, t - 1] if before[t] > 0 else none
    last_but_one = rows[:, t - 2] if before[t] > 1 else none
    over = np.abs(rows[:, above[t]]) if band else none
    near = 2 * np.abs(last) + np.abs(last_but_one)
    if band > 1:
        near = near + over
        if bands[above[t] + 1] == band - 1:
            near = near + np.abs(rows[:, above[t] + 1]) // 2
    near = _rough(near)
    where, above_word = _word(_WHERE, 8 * channel + band), _word(_ABOVE, _rough(over))
    return [where + _word(_NEAR, near) + above_word,
            _word(_TIME, t) + _word(_ROUGH, _rough(last)) + above_word,
            where + _word(_LAST, last) + _word(_LAST_BUT_ONE, last_but_one),
            where + _word(_NEAR, near) + _word(_REFERENCE, other[:, t]),
            place,
            place + _word(_NEAR, near)], near


def _value_contexts(rows, other, channel, t, classes, place, last, run, last_other):
    none = np.zeros(len(rows), "i8")
    second, third, fourth = (rows[:, t - i] if t >= i else none for i in (2, 3, 4))
    change = other[:, t] - (other[:, t - 1] if t else 0)
    channel = _word(_WHERE, channel)
    where, class_word = channel + _word(_LAST, last), _word(_CLASS, classes)
    return [where + _word(_NEAR, last_other) + _word(_ROUGH, run),
            where + _word(_LAST_BUT_ONE, second),
            where + _word(_LAST_BUT_ONE, second) + _word(_TIME, third) + _word(_ABOVE, fourth),
            channel + _word(_CHANGE, last - second) + _word(_CHANGE_BEFORE, second - third),
            where + class_word + _word(_REFERENCE, change),
            place + _word(_LAST, last),
            where + _word(_ROUGH, run) + class_word], np.minimum(run, 7)


def _walk_labels(codes, y, width, data=None):
    """Fills codes (rows, classes) from bytes, or returns the bytes of them; the first rows have the classes y."""
    lanes = min(max(len(codes) // 100, 1), 32)
    coder = _Coder(lanes, 6, data)
    for first in range(0, len(codes), lanes):
        rows = codes[first:first + lanes]
        count, own = len(rows), np.arange(first, first + len(rows)) < len(y)
        top = np.full(count, -1)
        top[own] = y[first:first + lanes]
        total, second = np.zeros(count, "i8"), np.full(count, -1)
        least, least_second, last, last_but_one = (np.full(count, 16) for _ in range(4))
        for v in range(rows.shape[1]):
            mean = 2 * total // v if v else np.full(count, 32)
            of, near, mean = _word(_TIME, v) + _word(_CLASS, top + 1), _word(_NEAR, least), _word(_ROUGH, mean)
            coder.contexts[:count] = np.transpose([
                of + _word(_WHERE, own),
                of + near,
                _word(_TIME, v) + _word(_LAST, last) + _word(_LAST_BUT_ONE, last_but_one),
                of + mean,
                mean + _word(_LAST, last) + near,
                of + _word(_ABOVE, second + 1) + _word(_REFERENCE, least_second)])
            coder.sets[:count] = (top >= 0) + 2 * (least == 0)
            rows[:, v] = coder.codes(rows[:, v], width)
            code = rows[:, v] >> (width - 4)
            total, least, last_but_one, last = total + code, np.minimum(least, code), last, code
            found = ~own & (code == 0) & (top < 0)
            better = ~found & (top != v) & (code < least_second)
            top = np.where(found, v, top)
            second, least_second = np.where(better, v, second), np.where(better, code, least_second)
    return coder.finish()


def _decoded_labels(data, views, classes, y):
    bits, count = int(views[9]), int(views[12])
    codes = np.zeros((count, classes), "i8")
    _walk_labels(codes, y, bits, data.ravel())
    return _pack(codes, bits)


def _coded_labels(codes, views, classes, y):
    bits = int(views[9])
    return _walk_labels((_halves(codes) if bits == 4 else codes)[:, :classes].astype("i8"), y, bits)


# ---- Labelled views: the arithmetic of sc-expand(1), to the bit ----

def _philox(seed, streams, count):
    m, b = np.mgrid[:streams, :-(-count // 4)].astype("u8")
    c = [b, np.full_like(b, 30), m & 0xffffffff, m >> 32]
    k0, k1 = seed & 0xffffffff, seed >> 32
    for _ in range(10):
        p, q = c[0] * 0xd2511f53, c[2] * 0xcd9e8d57
        c = [q >> 32 ^ c[1] ^ k0, q & 0xffffffff,
             p >> 32 ^ c[3] ^ k1, p & 0xffffffff]
        k0, k1 = (k0 + 0x9e3779b9) % 2**32, (k1 + 0xbb67ae85) % 2**32
    return np.stack(c, -1).reshape(streams, -1)[:, :count] * 2.0**-32

def _expand(X, classes, views, codes):
    (N, C, L), M = X.shape, len(codes)
    seed, shift, crop, warp, gain, mix, cut = views[2:9]
    centre = np.array([np.cumsum(X[:, c].astype("f8"))[-1]
                       for c in range(C)])[:, None] / (N * L)
    t, h, most = np.arange(L), max(L - 1, 1) / 4, np.floor(shift * L)
    j = np.minimum(np.floor(t / h), 3)
    a, j = t / h - j, j.astype(int)

    def one(u):
        k = np.floor(u[:, 1] * (2 * most + 1)) - most
        r = 1 - crop * u[:, 2]
        s = (1 - r) * (L - 1) * u[:, 3]
        d = np.zeros((M, 5))
        d[:, 1:4] = warp * (2 * u[:, 4:7] - 1) * h
        d = (1 - a) * d[:, j] + a * d[:, j + 1]
        q = np.clip(s[:, None] + r[:, None] * (t + d), 0, L - 1)
        i = np.floor(q)
        f, i = (q - i)[:, None], (i + k[:, None]).astype(int)[:, None]
        x = X[(u[:, 0] * N).astype(int)].astype("f8")
        v = ((1 - f) * np.take_along_axis(x, i % L, 2)
             + f * np.take_along_axis(x, (i + 1) % L, 2))
        return centre + (1 + gain * (2 * u[:, 7:, None] - 1)) * (v - centre)

    n = 7 + C
    u = _philox(int(seed), M, 3 * n + C + 4)
    first, second, third = one(u[:, :n]), one(u[:, n:2*n]), one(u[:, -3-n:-3])
    w = u[:, 2*n+1:2*n+1+C, None]
    mixed = (u[:, 2*n] < mix)[:, None, None]
    x = np.where(mixed, w * first + (1 - w) * second, first)
    long = 1 + (u[:, -2] * L * 0.5).astype(int)
    begin = (u[:, -1] * (L - long + 1)).astype(int)
    inside = (t >= begin[:, None]) & (t < (begin + long)[:, None])
    inside &= (u[:, -3] < cut)[:, None]
    x = np.where(inside[:, None], third, x)
    return x.astype("f4"), _logits(codes, classes, views)


def expand(data):
    """The series (M, C, L) and logits (M, V) of the labelled views of a dataset that load() has read."""
    if "views" not in data:
        raise ValueError("the dataset has no labelled views")
    X = data["X"] if data["X"].ndim == 3 else data["X"][:, None]
    return _expand(X, _classes(data), data["views"], data["codes"])


# ---- Shapelet pools (slp(5)) ----

_MAGIC = b"\x89SLP\r\n\x1a\n"


def load_pool(path):
    """A pool as a dictionary: channels, steps, classes, notes, length_normalised, and shapelets, a list of
    dictionaries with values, channel, start, length, label, window (None: full scan), source, gain, threshold and,
    in a standardised pool, offset and scale."""
    with open(path, "rb") as file:
        data = file.read()
    if data[:8] != _MAGIC:
        raise ValueError(f"{path}: not a shapelet pool")
    if len(data) < 52 or zlib.crc32(data[:-4]) != struct.unpack("<I", data[-4:])[0]:
        raise ValueError(f"{path}: damaged")
    version, flags, count, channels, steps, classes, total, notes, _ = struct.unpack("<6IQ2I", data[8:48])
    if version != 1:
        raise ValueError(f"{path}: version {version} is not known")
    values = np.frombuffer(data, "<f4", total, 48 + 40 * count)
    scaling = np.frombuffer(data, "<f4", 2 * count if flags & 2 else 0, 48 + 40 * count + 4 * total)
    shapelets, at = [], 0
    for i in range(count):
        channel, start, length, label, window, _, source, gain, threshold = struct.unpack_from(
            "<3IiIIQ2f", data, 48 + 40 * i)
        shapelet = dict(values=values[at:at + length].copy(), channel=channel, start=start, length=length, label=label,
                        window=None if window == 0xffffffff else window, source=source, gain=gain, threshold=threshold)
        if flags & 2:
            shapelet.update(offset=scaling[2 * i], scale=scaling[2 * i + 1])
        shapelets.append(shapelet)
        at += length
    text = data[len(data) - 4 - notes:-4].decode()
    return dict(channels=channels, steps=steps, classes=classes, notes=text, length_normalised=bool(flags & 1),
                shapelets=shapelets)


def save_pool(path, pool):
    """Writes what load_pool() has read, or a dictionary like it."""
    shapelets = pool["shapelets"]
    scaled = bool(shapelets) and "offset" in shapelets[0]
    values = [np.asarray(s["values"], "<f4") for s in shapelets]
    notes = pool.get("notes", "").encode()
    data = _MAGIC + struct.pack("<6IQ2I", 1, bool(pool.get("length_normalised")) + 2 * scaled, len(shapelets),
                                pool["channels"], pool["steps"], pool["classes"], sum(map(len, values)), len(notes), 0)
    for s, v in zip(shapelets, values):
        window = 0xffffffff if s["window"] is None else s["window"]
        data += struct.pack("<3IiIIQ2f", s["channel"], s["start"], len(v), s["label"], window, 0, s["source"],
                            s["gain"], s["threshold"])
    data += b"".join(v.tobytes() for v in values)
    if scaled:
        data += b"".join(struct.pack("<2f", s["offset"], s["scale"]) for s in shapelets)
    data += notes
    with open(path, "wb") as file:
        file.write(data + struct.pack("<I", zlib.crc32(data)))


# ---- Condensing ----

def condense(X, y, spc=None, *, groups=None, seed=0, options=(), program=None, quiet=True):
    """Condenses labelled series with shapecond(1), to spc per class if that is said, and returns the arrays of the result by name.
    Labels of any kind are fine: result["names"][result["y"]] are those of the series, as text.  groups, such as the
    persons that series are from, are held out as a whole to judge the result.  options are more
    arguments of the program, such as ["--threads", "4"], or without spc ["--bytes", "40k"]; program is its path, if
    it is not in PATH."""
    program = program or shutil.which("shapecond")
    if not program:
        raise FileNotFoundError("shapecond is not in PATH: make install puts it there")
    with tempfile.TemporaryDirectory() as folder:
        train, tiny = os.path.join(folder, "train.npy"), os.path.join(folder, "tiny.npy")
        numbers = None if groups is None else np.unique(np.asarray(groups).astype(str), return_inverse=True)[1]
        save(train, X, y, numbers)
        shape = np.shape(X)
        if len(shape) == 3 and shape[1] > shape[2]:
            warnings.warn(f"more channels ({shape[1]}) than steps ({shape[2]}): if X is (N, steps, channels), "
                          "pass np.swapaxes(X, 1, 2)", stacklevel=2)
        size = [] if spc is None else ["--spc", str(spc)]
        command = [program, *size, "--seed", str(seed), *map(str, options), "-o", tiny, train]
        # The programs of the stages are beside it.
        path = os.path.dirname(os.path.abspath(program)) + os.pathsep + os.environ.get("PATH", "")
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE if quiet else None,
                              env={**os.environ, "PATH": path}, text=True)
        if done.returncode:
            raise RuntimeError(f"shapecond failed: {(done.stderr or '').strip() or done.returncode}")
        return load(tiny)


class Condenser:
    """condense() in the style of scikit-learn and imbalanced-learn:

        X_tiny, y_tiny = Condenser(spc=10).fit_resample(X, y)

    The result has the labels of y.  soft_ are the logits of the teacher, in the order of classes_."""

    def __init__(self, spc=None, seed=0, options=(), program=None):
        self.spc, self.seed, self.options, self.program = spc, seed, options, program

    def get_params(self, deep=True):
        return dict(spc=self.spc, seed=self.seed, options=self.options, program=self.program)

    def set_params(self, **params):
        for name, value in params.items():
            if name not in self.get_params():
                raise ValueError(f"no parameter is called {name!r}")
            setattr(self, name, value)
        return self

    def fit_resample(self, X, y):
        X, y = np.asarray(X), np.asarray(y)
        self.classes_, numbers = np.unique(y.astype(str) if y.dtype.kind == "O" else y, return_inverse=True)
        self.data_ = condense(X, numbers, self.spc, seed=self.seed, options=self.options, program=self.program)
        self.soft_ = self.data_.get("soft")
        series = self.data_["X"]
        return series[:, 0] if X.ndim == 2 and series.ndim == 3 else series, self.classes_[self.data_["y"]]
