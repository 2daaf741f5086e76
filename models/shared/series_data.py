"""Reads the price and load series and applies the two input codecs in Python.

The codecs here restate what the product computes from calldata, so that a model is trained
and measured on exactly the integers that it will be run on.
"""

import csv
import hashlib
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

import numpy as np

PRICE_SCALE = 10_000  # calldata prices are integers, price times 10^4
WINDOW_DAYS = 64  # returns in a window; calldata holds one price more
LIMIT = 32_767  # every element of both codecs lies in [-LIMIT, LIMIT]


def sha256(path):
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def scaled(text, scale=PRICE_SCALE):
    """A decimal string times `scale`, rounded half up (away from zero) to an integer."""
    return int((Decimal(text) * scale).quantize(Decimal(1), rounding=ROUND_HALF_UP))


def read_prices(path, date, high, low, close, first_date):
    """Rows of a daily csv from `first_date` (None: all) on.

    Returns (dates as YYYY-MM-DD, int array [rows, 3] of close, high, low times 10^4).
    """
    dates, rows = [], []
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            day = row[date][:10]
            if first_date is not None and day < first_date:
                continue
            dates.append(day)
            rows.append([scaled(row[close]), scaled(row[high]), scaled(row[low])])
    if dates != sorted(set(dates)):
        raise ValueError(f"{path}: dates are not strictly ascending")
    return dates, np.array(rows, dtype=np.int64)


def div_trunc(a, b):
    """Integer division that truncates toward zero, as Solidity and ONNX do. b >= 1."""
    return np.sign(a) * (np.abs(a) // b)


def codec_prices(closes, highs, lows):
    """prices(uint256[] closes, uint256[] highs, uint256[] lows), 65 each, to int32 [3, 64].

    Row 0: trunc(10^4 (c_t - c_{t-1}) / c_{t-1}); row 1: trunc(10^4 (h_t - l_t) / c_t);
    row 2: trunc(10^4 (c_64 - c_t) / c_t); t = 1..64. A divisor 0 gives 0; clamped to +-32,767.
    """
    c, h, l = (np.asarray(v, dtype=np.int64) for v in (closes, highs, lows))
    if not c.shape == h.shape == l.shape == (WINDOW_DAYS + 1,):
        raise ValueError(f"prices needs {WINDOW_DAYS + 1} closes, highs and lows, got {c.shape}, {h.shape}, {l.shape}")
    number = np.stack([c[1:] - c[:-1], h[1:] - l[1:], c[-1] - c[1:]]) * 10_000
    divisor = np.stack([c[:-1], c[1:], c[1:]])
    value = np.where(divisor == 0, 0, div_trunc(number, np.maximum(divisor, 1)))
    return np.clip(value, -LIMIT, LIMIT).astype(np.int32)


def windows(prices):
    """All windows with a next day. Returns (x int32 [n, 3, 64], y float64 [n], index of the last row of each).

    y is the next close's return in parts per million, 10^6 (c' - c) / c, from the integer prices.
    """
    last = np.arange(WINDOW_DAYS, len(prices) - 1)
    x = np.stack([codec_prices(*prices[i - WINDOW_DAYS : i + 1].T) for i in last])
    c = prices[:, 0].astype(np.float64)
    return x, 1e6 * (c[last + 1] - c[last]) / c[last], last


HOURLY_CHANNELS = ["HUFL", "HULL", "MUFL", "MULL", "LUFL", "LULL", "OT"]


def read_hourly(path, scale):
    """Returns (raw float64 [rows, 7], int64 [rows, 7] = raw times `scale`, rounded half up)."""
    raw, integer = [], []
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            raw.append([float(row[c]) for c in HOURLY_CHANNELS])
            integer.append([scaled(row[c], scale) for c in HOURLY_CHANNELS])
    integer = np.array(integer, dtype=np.int64)
    if np.abs(integer).max() > LIMIT:
        raise ValueError(f"{path}: a value times {scale} does not fit 16 bits")
    return np.array(raw), integer


def codec_int16s(values):
    """int16s(uint256[]): signed 16-bit numbers, 16 a word, the first in the most significant bits; rest of the last word 0."""
    flat = np.asarray(values, dtype=np.int64).ravel()
    if np.abs(flat).max() > LIMIT:
        raise ValueError("a number does not fit 16 bits")
    flat = np.concatenate([flat, np.zeros(-len(flat) % 16, dtype=np.int64)])
    return [int.from_bytes(word.astype(">i2").tobytes(), "big") for word in flat.reshape(-1, 16)]
