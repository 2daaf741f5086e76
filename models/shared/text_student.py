"""The small text model: a width-3 convolution folded into a hash table, trained with numpy and scipy.

A token is the sum of its table rows, [left | centre | right] of F filters. Filter f at position i is
left of token i-1 + centre of token i + right of token i+1 + bias; the maximum over all positions, at least 0,
goes through one linear layer. Only the position of the maximum has a gradient, so the backward pass is short.
"""
from dataclasses import dataclass

import numpy as np
from scipy import sparse


@dataclass(frozen=True)
class Shape:
    tokens: int = 32
    grams: int = 10
    rows: int = 4096
    filters: int = 32
    classes: int = 3


@dataclass(frozen=True)
class Recipe:
    epochs: float = 5
    rate: float = 3e-3
    decay: float = .01
    batch: int = 128
    token_dropout: float = .1
    id_dropout: float = 0.
    head_dropout: float = .3
    qat_epochs: float = 1
    qat_rate: float = 3e-4
    average: float = .99  # decay of the running mean of the weights, taken over the second half
    unit_bits: int = 12  # scores are in units of 2^-unit_bits nat


def rows_matrix(ids):
    """Sparse [positions, rows] of ids [..., J]; id 0 is absent."""
    flat = ids.reshape(-1, ids.shape[-1])
    mask = flat > 0
    indptr = np.zeros(len(flat) + 1, np.int32)
    np.cumsum(mask.sum(1), out=indptr[1:])
    indices = flat[mask].astype(np.int32)
    return indices, indptr


class Adam:
    def __init__(self, params, decay):
        self.m = {k: np.zeros_like(v) for k, v in params.items()}
        self.v = {k: np.zeros_like(v) for k, v in params.items()}
        self.decay, self.t = decay, 0

    def update(self, params, grads, rate, b1=.9, b2=.999):
        self.t += 1
        for k, g in grads.items():
            m, v = self.m[k], self.v[k]
            m *= b1
            m += (1 - b1) * g
            v *= b2
            g = g * g
            g *= 1 - b2
            v += g
            d = np.sqrt(v)
            d *= (1 - b2 ** self.t) ** -.5
            d += 1e-8
            np.divide(m, d, out=d)
            d *= rate / (1 - b1 ** self.t)
            params[k] *= 1 - rate * self.decay
            params[k] -= d


@dataclass(frozen=True)
class Scales:
    """table = int8 * step (per filter); activation = uint8 * step * 2^shift; score = int32 * 2^-unit_bits."""
    step: np.ndarray
    shift: int
    unit_bits: int


def quantize(params, scales):
    """Integers of the exported model: table, bias, head, head_bias, shift."""
    step3 = np.tile(scales.step, 3)
    unit = 2.0 ** -scales.unit_bits
    gain = (scales.step * 2.0 ** scales.shift / unit)[:, None]
    return {
        "table": np.clip(np.rint(params["table"] / step3), -127, 127).astype(np.int8),
        "bias": np.rint(params["bias"] / scales.step).astype(np.int32),
        "head": np.clip(np.rint(params["head"] * gain), -127, 127).astype(np.int8),
        "head_bias": np.rint(params["head_bias"] / unit).astype(np.int32),
        "shift": scales.shift, "unit_bits": scales.unit_bits}


def integer_scores(q, ids):
    """Scores of the quantized model in integers only, int32 [texts, classes]."""
    out = []
    f = len(q["bias"])
    for at in range(0, len(ids), 256):
        part = ids[at:at + 256]
        e = q["table"][part].astype(np.int32).sum(2)
        h = e[:, :, f:2 * f] + q["bias"]
        h[:, 1:] += e[:, :-1, :f]
        h[:, :-1] += e[:, 1:, 2 * f:]
        acc = np.maximum(h.max(1), 0)
        half = (1 << q["shift"]) >> 1
        u = np.minimum((acc + half) >> q["shift"], 255)
        out.append(u @ q["head"].astype(np.int32) + q["head_bias"])
    return np.concatenate(out)


class Student:
    def __init__(self, shape, seed):
        self.shape, self.rng = shape, np.random.default_rng(seed)
        f = shape.filters
        self.params = {
            "table": self.rng.normal(0, .02, (shape.rows, 3 * f)).astype(np.float32),
            "bias": np.zeros(f, np.float32),
            "head": self.rng.normal(0, .3, (f, shape.classes)).astype(np.float32),
            "head_bias": np.zeros(shape.classes, np.float32)}
        self.params["table"][0] = 0
        self.scales = None

    def _filters(self, params, ids):
        """Filter outputs [B, L, F] and the sparse rows; L covers every position that can differ from empty."""
        batch, length = ids.shape[:2]
        indices, indptr = rows_matrix(ids)
        rows = sparse.csr_matrix((np.ones(len(indices), np.float32), indices, indptr), shape=(batch * length, self.shape.rows))
        e = (rows @ params["table"]).reshape(batch, length, -1)
        f = self.shape.filters
        h = e[:, :, f:2 * f] + params["bias"]
        h[:, 1:] += e[:, :-1, :f]
        h[:, :-1] += e[:, 1:, 2 * f:]
        return h, rows

    def _cut(self, ids):
        used = np.flatnonzero((ids[:, :, 0] > 0).any(0))
        last = (used[-1] + 1 if len(used) else 0) + 2
        return ids[:, :min(last, self.shape.tokens)]

    def _step(self, params, ids, target, recipe):
        """Mean cross entropy and its gradients. With scales set, the forward pass is that of the integer model."""
        ids = self._cut(ids).copy()
        rng, f, batch = self.rng, self.shape.filters, len(ids)
        ids[rng.random(ids.shape[:2], np.float32) < recipe.token_dropout] = 0
        if recipe.id_dropout:
            ids[rng.random(ids.shape, np.float32) < recipe.id_dropout] = 0
        used = params
        if self.scales is not None:
            q, s = quantize(params, self.scales), self.scales
            used = {"table": q["table"] * np.tile(s.step, 3).astype(np.float32), "bias": (q["bias"] * s.step).astype(np.float32),
                    "head": (q["head"] / (s.step * 2. ** (s.shift + s.unit_bits))[:, None]).astype(np.float32),
                    "head_bias": params["head_bias"]}
        h, rows = self._filters(used, ids)
        at = h.argmax(1)
        top = np.take_along_axis(h, at[:, None], 1)[:, 0]
        live = top > 0
        m = np.maximum(top, 0)
        if self.scales is not None:
            big = (self.scales.step * 2.0 ** self.scales.shift).astype(np.float32)
            live &= top < 255 * big
            m = np.minimum(np.floor(m / big + np.float32(.5)), 255) * big
        keep = (rng.random(m.shape, np.float32) >= recipe.head_dropout) / np.float32(1 - recipe.head_dropout)
        m = m * keep
        logits = m @ used["head"] + used["head_bias"]
        logits -= logits.max(1, keepdims=True)
        logp = logits - np.log(np.exp(logits).sum(1, keepdims=True))
        dl = (np.exp(logp) * target.sum(1, keepdims=True) - target) / batch
        dm = (dl @ used["head"].T) * keep * live
        de = np.zeros((batch, h.shape[1] + 2, 3 * f), np.float32)  # one position of margin at each end
        b, c = np.arange(batch)[:, None], np.arange(f)[None]
        de[b, at, c] = dm
        de[b, at + 1, f + c] = dm
        de[b, at + 2, 2 * f + c] = dm
        dt = rows.T @ de[:, 1:-1].reshape(-1, 3 * f)
        grads = {"table": dt, "bias": dm.sum(0), "head": m.T @ dl, "head_bias": dl.sum(0)}
        return -(target * logp).sum(1).mean(), grads

    def _run(self, ids, target, recipe, epochs, rate, floor, log):
        n = len(ids)
        steps = int(epochs * n / recipe.batch)
        adam = Adam(self.params, recipe.decay)
        order, loss = np.empty(0, int), 0.
        for step in range(steps):
            if len(order) < recipe.batch:
                order = self.rng.permutation(n)
            pick, order = order[:recipe.batch], order[recipe.batch:]
            value, grads = self._step(self.params, ids[pick], target[pick], recipe)
            now = rate * (floor + (1 - floor) * .5 * (1 + np.cos(np.pi * step / steps)))
            adam.update(self.params, grads, now)
            loss += value
            if step == steps // 2:
                mean = {k: v.copy() for k, v in self.params.items()}
            elif step > steps // 2:
                for k, v in self.params.items():
                    mean[k] += (1 - recipe.average) * (v - mean[k])
            if log and (step + 1) % 1000 == 0:
                log(f"student: step {step + 1}/{steps} loss {loss / 1000:.4f}")
                loss = 0.
        self.params = mean

    def pooled(self, ids):
        out = []
        for at in range(0, len(ids), 512):
            h, _ = self._filters(self.params, ids[at:at + 512])
            out.append(np.maximum(h.max(1), 0))
        return np.concatenate(out)

    def scores(self, ids):
        return self.pooled(ids) @ self.params["head"] + self.params["head_bias"]

    def calibrate(self, ids, recipe):
        """Chooses the steps of the table and the shift from the largest weights and the activations of `ids`."""
        p, f = self.params, self.shape.filters
        largest = np.quantile(np.abs(p["table"][1:]).reshape(-1, 3, f), .9999, axis=(0, 1))
        high = np.quantile(self.pooled(ids), .9995, axis=0)
        # The unit of the scores is fixed, so a head weight must fit: head * step * 2^shift <= 127 units.
        best = None
        for shift in range(0, 8):
            step = np.maximum(largest / 127, high / (255 * 2.0 ** shift))
            room = 127 * 2.0 ** -recipe.unit_bits / (np.abs(p["head"]).max(1) * 2.0 ** shift)
            cost = np.maximum(step * 127 / largest, 1).mean() + (np.minimum(step, room) < step).mean() * 10
            if best is None or cost < best[0]:
                best = cost, step, shift
        _, step, shift = best
        self.scales = Scales(step.astype(np.float64), shift, recipe.unit_bits)

    def train(self, ids, target, recipe, log=None):
        """Binary32 training, then calibration, then quantization-aware training. Returns the integers."""
        target = target.astype(np.float32)
        self.scales = None
        self._run(ids, target, recipe, recipe.epochs, recipe.rate, .01, log)
        sample = ids[self.rng.permutation(len(ids))[:20000]]
        self.calibrate(sample, recipe)
        if recipe.qat_epochs:
            self._run(ids, target, recipe, recipe.qat_epochs, recipe.qat_rate, .02, log)
        return quantize(self.params, self.scales)
