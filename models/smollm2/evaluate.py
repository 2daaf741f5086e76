"""Compares the scores of an integer model with those of the float model: python evaluate.py

    python evaluate.py                                     # perplexity of the float model on windows of docs/*.md
    python evaluate.py --ids ids.json                      # and writes the windows' token ids, a list of lists
    python evaluate.py --ids ids.json --logits scores.npy  # reads the ids, and compares the scores made of them

scores.npy holds [tokens, 49152], the windows one after the other; fewer windows than ids.json has are enough, if they
are its first ones. No window is a part of calibration.txt."""

import argparse
import glob
import json
import os
from functools import partial

import numpy as np
from calibrate import SITES, UNIT, Maxima
from reference import FILE, SmolLM2, checked_path, log_softmax

HERE = os.path.dirname(os.path.abspath(__file__))
WINDOW, WINDOWS = 288, 6


def windows_of(pattern, model):
    """Ids of a window from the middle of each of WINDOWS documents, spread evenly over their sorted names."""
    found = []
    for path in sorted(glob.glob(pattern)):
        with open(path, encoding="utf-8") as file:
            ids = model.ids(file.read())
        if len(ids) >= WINDOW:
            found.append((path, ids))
    if len(found) < WINDOWS:
        raise SystemExit(f"{pattern} has {len(found)} documents of {WINDOW} tokens, {WINDOWS} are needed")
    chosen = [found[n * len(found) // WINDOWS] for n in range(WINDOWS)]
    print("windows from", ", ".join(os.path.basename(path) for path, _ in chosen))
    return [ids[(begin := (len(ids) - WINDOW) // 2) : begin + WINDOW] for _, ids in chosen]


def losses(log_p, ids):
    """Of each token but the first, in nats."""
    return -log_p[np.arange(len(ids) - 1), ids[1:]]


def compare(ids, logits, expected, unit=1.0):
    """Scores of one text against the float model's.

    @param logits [tokens, vocabulary], integers or floats; unit is what one of them is worth
    @param expected the float model's, likewise
    @return of each predicted token: loss of both, and of each token: whether the first choice is the same, and
        KL(float || integer); all in nats"""
    if logits.shape != expected.shape:
        raise SystemExit(f"logits of shape {logits.shape}, the float model's are {expected.shape}")
    p, q = log_softmax(expected), log_softmax(np.asarray(logits) * np.float64(unit))
    return {"float": losses(p, ids), "integer": losses(q, ids), "same": p.argmax(1) == q.argmax(1),
            "kl": (np.exp(p) * (p - q)).sum(1)}


def perplexity(parts):
    return float(np.exp(np.mean(np.concatenate(parts))))


def print_above(maxima, scales):
    """Prints where the float model's values are larger than the scales, which is what an integer model has to clip."""
    for site in SITES:
        found = []
        for layer, of in enumerate(scales["layers"]):
            values = maxima.v[layer] if site == "v" else maxima.tokens[layer, site]
            found.append(values * UNIT / np.array(of[site]))
        found = np.array(found)
        above = found > 1
        layers = above.reshape(len(above), -1).any(1).sum()
        print(f"{site}: up to {found.max():.3f} of the scale, above it in {layers} layers, "
              f"{100 * above.mean():.4f} % of {'values' if site == 'v' else 'tokens'}")


def print_comparison(ids, logits, expected, unit):
    """@param ids, expected of each window; logits of all of them or of the first ones, one after the other"""
    rows, begin = [], 0
    for window, of_float in zip(ids, expected, strict=True):
        if begin == len(logits):
            break
        rows.append(compare(window, logits[begin : begin + len(window)], of_float(), unit))
        begin += len(window)
    of = {key: [row[key] for row in rows] for key in rows[0]}
    print(f"{len(rows)} windows, {begin} tokens")
    print(f"perplexity: float {perplexity(of['float']):.3f}, integer {perplexity(of['integer']):.3f}")
    print(f"same first choice: {100 * np.mean(np.concatenate(of['same'])):.2f} %")
    print(f"mean KL(float || integer): {np.mean(np.concatenate(of['kl'])):.5f} nat")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", help=f"{FILE}; by default the one of the installed package")
    parser.add_argument("--text", default=os.path.join(HERE, "../../docs/*.md"), help="documents, a pattern of paths")
    parser.add_argument("--ids", help="where the windows' ids are written to, or read from if there are logits")
    parser.add_argument("--logits", help=".npy, scores of the integer model")
    parser.add_argument("--unit", type=float, default=1.0, help="what 1 of the logits is worth")
    parser.add_argument("--scales", help="scales.json: also prints which values are above it")
    args = parser.parse_args()
    if args.logits and not args.ids:
        parser.error("--logits needs --ids, the ids that the logits were made of")
    model = SmolLM2(checked_path(args.model))
    if args.logits:
        with open(args.ids, encoding="utf-8") as file:
            ids = json.load(file)
    else:
        ids = windows_of(args.text, model)
        if args.ids:
            with open(args.ids, "w", encoding="utf-8") as file:
                file.write(json.dumps(ids) + "\n")
    maxima = Maxima()
    hidden = np.split(model.hidden(ids, maxima.see), np.cumsum([len(window) for window in ids])[:-1])
    # Scores are made when they are asked for: those of one window take 57 MB, and twice that in binary64.
    expected = [partial(model.logits, x) for x in hidden]
    if args.logits:
        print_comparison(ids, np.load(args.logits, mmap_mode="r"), expected, args.unit)
    else:
        found = [losses(log_softmax(scores()), window) for scores, window in zip(expected, ids, strict=True)]
        print("perplexity by window:", ", ".join(f"{perplexity([part]):.2f}" for part in found))
        print(f"perplexity: float {perplexity(found):.3f}")
    if args.scales:
        with open(args.scales, encoding="utf-8") as file:
            print_above(maxima, json.load(file))


if __name__ == "__main__":
    main()
