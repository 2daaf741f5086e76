"""Hourly forecast: one rank-12 linear map from 512 hours to 96, shared by the seven channels.

Values are integers in hundredths of the raw unit. The window minus its mean becomes bytes
(a power of two of hundredths a step, one for each channel), the map is two int8 matrices with a
byte between, and the result is brought back by a division by a power of two for each channel.
"""

import numpy as np

from series_data import LIMIT, div_trunc
from series_program import Graph

SCALE = 100  # integers are hundredths of the raw unit
HOURS, HORIZON, CHANNELS, RANK = 512, 96, 7, 12
TRAIN_END, DEV_END, TEST_END = 8_640, 11_520, 14_400


def build(net, doc):
    """net: shift [7], v int8 [512, 12], b int32 [12], bits, w int8 [12, 96], divisor [7]."""
    g = Graph("forecast-hourly")
    mean = g.node("Div", [g.sum("window", 0, "sum"), g.const("hours", HOURS)], "mean")
    # Bytes are centred on 128: the centre is added before the shift, so that rounding is a plain shift.
    centre = g.const("centre", [128 << s for s in net["shift"]])
    offset = g.node("Sub", [mean, centre], "offset")
    u = g.requantize(g.node("Sub", ["window", offset], "deviation"), net["shift"], 1, "bytes")
    u = g.node("Transpose", [u], "channels_first", perm=[1, 0])
    h = g.node("Add", [g.matmul(u, net["v"], 128, "dot1"), g.const("b", np.asarray(net["b"]).reshape(1, -1))], "acc1")
    h = g.requantize(h, net["bits"], None, "hidden")
    y = g.node("Transpose", [g.matmul(h, net["w"], 128, "dot2")], "hours_first", perm=[1, 0])
    y = g.node("Div", [y, g.const("divisor", net["divisor"])], "change")
    g.clip(g.node("Add", [y, mean], "level"), -LIMIT, LIMIT, "forecast")
    return g.model([("window", [HOURS, CHANNELS])], [("forecast", [HORIZON, CHANNELS])], doc)


def to_bytes(window, shift):
    """Windows int64 [n, 512, 7] to bytes minus 128, int64 [n, 7, 512], and means [n, 1, 7]."""
    mean = div_trunc(window.sum(axis=1, keepdims=True), HOURS)
    u = (window - mean + (128 << shift) + (1 << (shift - 1))) >> shift
    return np.clip(u, 0, 255).transpose(0, 2, 1) - 128, mean


def to_hidden(u, net):
    """Integer products as float64 matrix products, exact below 2^53."""
    acc = np.rint(u.astype(np.float64) @ net["v"].astype(np.float64)).astype(np.int64) + net["b"]
    return np.clip((acc + (1 << (net["bits"] - 1))) >> net["bits"], 0, 255) - 128


def forward(window, net):
    """Integer evaluation of windows int64 [n, 512, 7]: int64 [n, 96, 7]."""
    u, mean = to_bytes(window, np.asarray(net["shift"]))
    y = (to_hidden(u, net) @ net["w"].astype(np.int64)).transpose(0, 2, 1)
    return np.clip(div_trunc(y, np.asarray(net["divisor"])) + mean, -LIMIT, LIMIT)


def origins(start, end):
    """First forecast rows t of all windows whose 96 target rows lie in [start, end)."""
    return np.arange(start, end - HORIZON + 1)


def window_at(values, t):
    return np.stack([values[i - HOURS : i] for i in np.atleast_1d(t)])


def target_at(values, t):
    return np.stack([values[i : i + HORIZON] for i in np.atleast_1d(t)])


def errors(predict, integer, raw, mean, std, start, end):
    """(MSE, MAE) on z-scored values over all windows with targets in [start, end).

    predict: int64 [n, 512, 7] to hundredths [n, 96, 7]; truth is the raw csv value; each window, hour and channel counts the same.
    """
    squared = absolute = count = 0
    for t in np.array_split(origins(start, end), 24):
        d = (predict(window_at(integer, t)) / SCALE - target_at(raw, t)) / std
        squared, absolute, count = squared + (d**2).sum(), absolute + np.abs(d).sum(), count + d.size
    return squared / count, absolute / count


def fit_float(integer, mean, std, ridge, rank):
    """Closed form on the train part: (in [512, rank], out [rank, 96]) on z-scored deviations from the window's mean."""
    x, y = train_pairs(integer, mean, std)
    w = np.linalg.solve(x.T @ x + ridge * np.eye(HOURS), x.T @ y)
    fitted = x @ w
    _, v = np.linalg.eigh(fitted.T @ fitted)
    v = v[:, ::-1][:, :rank]
    return w @ v, v.T


def train_pairs(integer, mean, std):
    """All train windows of all channels, z-scored and minus the window's mean: x [n, 512], y [n, 96]."""
    z = (integer[:TRAIN_END] / SCALE - mean) / std
    t = origins(HOURS, TRAIN_END)
    x = np.concatenate([np.lib.stride_tricks.sliding_window_view(z[:, c], HOURS)[t - HOURS] for c in range(CHANNELS)])
    y = np.concatenate([np.lib.stride_tricks.sliding_window_view(z[:, c], HORIZON)[t] for c in range(CHANNELS)])
    level = x.mean(axis=1, keepdims=True)
    return x - level, y - level


def quantize(first, second, integer, mean, std, step, reach):
    """int8 network from the float map.

    step: wanted byte step in standard deviations (rounded to a power of two of hundredths for each channel);
    reach: hidden byte at the 99.99 % quantile of the strongest component on train.
    """
    shift = np.maximum(1, np.round(np.log2(step * SCALE * std)).astype(np.int64))
    unit = (1 << shift) / (SCALE * std)  # one byte step in standard deviations, [7]
    t = origins(HOURS, TRAIN_END)
    u, _ = to_bytes(window_at(integer, t[::4]), shift)
    score = np.quantile(np.abs((u * unit[None, :, None]).reshape(-1, HOURS) @ first), 0.9999, axis=0)  # [rank], in deviations
    in_bytes = np.quantile(np.abs(u.reshape(-1, HOURS) @ first), 0.9999, axis=0)
    # Strong components get bytes and weights of full range; the range of weaker ones is shared out evenly between both.
    balance = np.sqrt(score / score.max())
    want = reach * balance / in_bytes  # hidden bytes for each unit of (byte steps @ first)
    peak = np.abs(first).max(axis=0)
    bits = int(np.floor(np.log2((127 / (peak * want)).min())))
    v = np.round(first * want * 2**bits)
    gain = second / want[:, None]  # times hidden bytes gives byte steps
    power = int(np.floor(np.log2(127 / np.abs(gain).max())))
    net = {"shift": shift, "v": v.astype(np.int64), "bits": bits, "w": np.round(gain * 2**power).astype(np.int64)}
    net["b"] = np.full(RANK, 128 << bits, dtype=np.int64)
    net["divisor"] = np.array([2 ** (power - s) if power >= s else 0 for s in shift], dtype=np.int64)
    return net
