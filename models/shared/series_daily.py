"""Quantiles of the next day's return: features, network, export and measurement.

One program form for all series: sums over 1, 4, 16 and 64 days of the return, the range, the
level and the absolute return, each divided by the volatility sigma, 16 bytes in all; a network
16-12-3 with bytes between; three ordered quantiles times sigma. Only constants differ.
"""

import numpy as np

from series_data import LIMIT, WINDOW_DAYS, div_trunc
from series_program import Graph

QUANTILES = np.array([0.1, 0.5, 0.9])
SPANS = [1, 4, 16, 64]
ROWS = ["return", "range", "level", "absolute return"]
FEATURES, HIDDEN = 16, 12
SIGMA_UNIT = 64  # sigma's multiplier in every divisor
OUTPUT_UNIT = 128  # one sigma is 100 * OUTPUT_UNIT units of the network's output; sigma is in 100 ppm
OUTPUT_LIMIT = 65_535  # OUTPUT_LIMIT * LIMIT < 2^31
SIGMA_SLOTS = [(2, 0), (3, 3)]  # level of the last day is always 0; |r| over 64 days follows from sigma and 16 days


def sums(x):
    """Windows int32 [n, 3, 64] to (sums int64 [n, 4, 4] as ROWS by SPANS, sigma int64 [n] >= 1)."""
    x = np.asarray(x, dtype=np.int64)
    x = np.concatenate([x, np.maximum(x[:, :1], -x[:, :1])], axis=1)
    f = np.stack([x[:, :, WINDOW_DAYS - s :].sum(axis=2) for s in SPANS], axis=2)
    return f, np.maximum(div_trunc(f[:, 3, 3] + 4 * f[:, 3, 2], 128), 1)


def feature_form(x, spread=32):
    """Constants that give every feature mean 128 and standard deviation `spread` on the windows x.

    feature = clip((sum * K + N) / (64 * sigma + E) + O, 0, 255), all [4, 4].
    """
    f, sigma = sums(x)
    ratio = f / (SIGMA_UNIT * sigma)[:, None, None]
    span = np.array([SPANS] * 4)
    k = np.clip(np.round(spread / np.maximum(ratio.std(axis=0), 1e-9)), 1, (2**31 - 1) // (LIMIT * span) // 2).astype(np.int64)
    n, e = np.zeros((4, 4), np.int64), np.zeros((4, 4), np.int64)
    for slot, pivot in zip(SIGMA_SLOTS, (0.25, 0.9)):
        centre = max(1, int(np.quantile(sigma, pivot)))
        k[slot], e[slot] = 0, SIGMA_UNIT * centre
        n[slot] = round(spread / max((1 / (SIGMA_UNIT * (sigma + centre))).std(), 1e-12))
    o = np.round(128 - div_trunc(f * k + n, SIGMA_UNIT * sigma[:, None, None] + e).mean(axis=0)).astype(np.int64)
    return {"k": k, "n": n, "e": e, "o": o}


def features(x, form):
    """Windows int32 [n, 3, 64] to bytes as int64 [n, 16], and sigma [n]."""
    f, sigma = sums(x)
    value = div_trunc(f * form["k"] + form["n"], SIGMA_UNIT * sigma[:, None, None] + form["e"]) + form["o"]
    return np.clip(value, 0, 255).reshape(-1, FEATURES), sigma


def build(form, net, doc):
    """The ONNX model. net: w1 int8 [16, 12], b1 int32 [12], bits, w2 int8 [12, 3], b2 int32 [3]."""
    g = Graph("forecast-daily")
    r = g.slice("prices", 0, 0, 1, "returns")
    zero = g.const("zero", 0)
    absolute = g.node("Max", [r, g.node("Sub", [zero, r], "negated")], "absolute")
    a64 = g.sum(absolute, 1, "absolute_sum64")
    s64 = g.node("Concat", [g.sum("prices", 1, "prices_sum64"), a64], "sum64", axis=0)
    last16 = [g.slice(t, 1, 48, 64, f"{t}_last16") for t in ("prices", absolute)]
    x16 = g.node("Concat", last16, "last16", axis=0)
    s16 = g.sum(x16, 1, "sum16")
    x4 = g.slice(x16, 1, 12, 16, "last4")
    s4 = g.sum(x4, 1, "sum4")
    x1 = g.slice(x4, 1, 3, 4, "last1")
    f = g.node("Concat", [x1, s4, s16, s64], "sums", axis=1)
    a16 = g.slice(s16, 0, 3, 4, "absolute_sum16")
    total = g.node("Add", [g.node("Mul", [a16, g.const("four", 4)], "absolute_sum16_by4"), a64], "sigma_sum")
    sigma = g.node("Max", [g.node("Div", [total, g.const("days", 128)], "sigma_mean"), g.const("one", 1)], "sigma")
    number = g.node("Add", [g.node("Mul", [f, g.const("k", form["k"])], "sums_by_k"), g.const("n", form["n"])], "numerator")
    divisor = g.node("Add", [g.node("Mul", [sigma, g.const("sigma_unit", SIGMA_UNIT)], "sigma_scaled"), g.const("e", form["e"])], "divisor")
    ratio = g.node("Add", [g.node("Div", [number, divisor], "ratio"), g.const("o", form["o"])], "centred")
    byte = g.reshape(g.to_uint8(g.clip(ratio, 0, 255, "clipped"), "bytes"), [1, FEATURES], "features")
    hidden = g.node("Add", [g.matmul(byte, net["w1"], 128, "dot1"), g.const("b1", net["b1"].reshape(1, -1))], "acc1")
    hidden = g.requantize(hidden, net["bits"], None, "hidden")
    out = g.node("Add", [g.matmul(hidden, net["w2"], 0, "dot2"), g.const("b2", net["b2"].reshape(1, -1))], "acc2")
    m = OUTPUT_LIMIT
    out = g.node("Max", [out, g.const("part_min", [[-m, -m, 0]])], "part_low")
    out = g.node("Min", [out, g.const("part_max", [[0, m, m]])], "parts")  # minus the lower width, the median, the upper width
    median = g.slice(out, 1, 1, 2, "median")
    median = g.node("Mul", [median, g.const("around", [[1, 0, 1]])], "median_around")
    q = g.clip(g.node("Add", [out, median], "ordered"), -m, m, "in_sigmas")
    q = g.node("Div", [g.node("Mul", [q, sigma], "scaled"), g.const("output_unit", OUTPUT_UNIT)], "ppm")
    g.reshape(q, [3], "quantiles")
    return g.model([("prices", [3, WINDOW_DAYS])], [("quantiles", [3])], doc)


def forward(x, form, net):
    """Integer evaluation over many windows at once: int64 [n, 3] in parts per million."""
    u, sigma = features(x, form)
    acc = (u - 128) @ net["w1"].astype(np.int64) + net["b1"]
    h = np.clip((acc + (1 << (net["bits"] - 1))) >> net["bits"], 0, 255)
    m = OUTPUT_LIMIT
    out = np.clip(h @ net["w2"].astype(np.int64) + net["b2"], [-m, -m, 0], [0, m, m])
    q = np.clip(out + out[:, 1:2] * np.array([1, 0, 1]), -m, m)
    return div_trunc(q * sigma[:, None], OUTPUT_UNIT)


def pinball(y, q):
    """Mean pinball loss of each quantile. y [n] and q [n, 3] in parts per million."""
    d = np.asarray(y, dtype=np.float64)[:, None] - q
    return np.maximum(QUANTILES * d, (QUANTILES - 1) * d).mean(axis=0)


def skill(y, q, base):
    """Percent by which the summed pinball loss of q is below that of base."""
    return 100 * (1 - pinball(y, q).sum() / pinball(y, base).sum())
