"""Compares the scores of an integer model with those of the float model: python evaluate.py

    python evaluate.py --windows '../../docs/*.md'         # writes texts.json: ids, and the float model's first choices
    python evaluate.py --logits scores.npy --unit UNIT     # writes eval.json, of scores of those texts

bench/derived-scores.ts makes scores.npy, [places, 49152], the texts one after the other, and prints UNIT. No text is a
part of calibration.txt."""

import argparse
import glob
import hashlib
import json
import os

import numpy as np
from calibrate import SITES, UNIT, Maxima
from reference import FILE, SmolLM2, checked_path, log_softmax

HERE = os.path.dirname(os.path.abspath(__file__))
TEXTS, EVALUATION = (os.path.join(HERE, name) for name in ("texts.json", "eval.json"))
# Ids of a text, of which each but the last is a place whose next id is scored.
WINDOW, WINDOWS = 257, 8
PROTOCOL = (
    "texts.json: ids of windows of this project's documents, and the float model's first choice behind each id but the last. "
    "metrics: the integer model that assay model derive makes, on the same ids; "
    "float: the model of the same weights in floats (reference.py). Perplexity is of each id but the first; "
    "same first choice in %; the divergence is KL(float || integer), the mean of all places, in nats."
)


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
    """Of each id but the first, in nats. @param log_p of each place"""
    return -log_p[np.arange(len(ids) - 1), ids[1:]]


def compare(ids, logits, expected, unit):
    """Scores of one text against the float model's.

    @param logits [places, vocabulary], integers; unit is what one of them is worth
    @param expected the float model's, likewise
    @return of each place: loss of both, whether the first choice is the same, and KL(float || integer); all in nats"""
    p, q = log_softmax(expected), log_softmax(np.asarray(logits) * np.float64(unit))
    return {"float": losses(p, ids), "integer": losses(q, ids), "same": p.argmax(1) == q.argmax(1),
            "kl": (np.exp(p) * (p - q)).sum(1)}


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


def scores_of(texts, model):
    """The float model's at each place of each text, one text after the other: those of one take 57 MB."""
    maxima = Maxima()
    hidden = np.split(model.hidden(texts, maxima.see), np.cumsum([len(ids) for ids in texts])[:-1])
    return (model.logits(x)[:-1] for x in hidden), maxima


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text + "\n")


def evaluation_of(texts, logits, expected, unit):
    """@param logits [places of all texts, vocabulary] @param expected the float model's of each text"""
    places = WINDOW - 1
    if len(logits) != len(texts) * places:
        raise SystemExit(f"{len(logits)} places have scores, {len(texts)} texts have {len(texts) * places}")
    rows = [compare(ids, logits[n * places : (n + 1) * places], scores, unit)
            for n, (ids, scores) in enumerate(zip(texts, expected, strict=True))]
    mean = {key: float(np.mean([row[key] for row in rows])) for key in rows[0]}
    with open(TEXTS, "rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    return {
        "protocol": PROTOCOL,
        "data": {"texts.json": sha256},
        "places": len(logits),
        "metrics": {
            "perplexity": round(np.exp(mean["integer"]), 3),
            "perplexity over the float model's": round(np.exp(mean["integer"] - mean["float"]), 4),
            "same first choice": round(100 * mean["same"], 2),
            "mean divergence": round(mean["kl"], 4),
        },
        "float": {"perplexity": round(np.exp(mean["float"]), 3)},
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", help=f"{FILE}; by default the one of the installed package")
    parser.add_argument("--windows", help="documents of which texts.json is made anew, a pattern of paths")
    parser.add_argument("--logits", help=".npy, scores of the integer model")
    parser.add_argument("--unit", type=float, help="what 1 of the logits is worth")
    parser.add_argument("--scales", help="scales.json: prints which values are above it")
    args = parser.parse_args()
    if (args.logits is None) != (args.unit is None):
        parser.error("--logits and --unit go together: bench/derived-scores.ts gives both")
    model = SmolLM2(checked_path(args.model))
    if args.windows:
        texts = windows_of(args.windows, model)
        expected, maxima = scores_of(texts, model)
        choices = [scores.argmax(1).tolist() for scores in expected]
        lines = [json.dumps({"ids": ids, "float": of}) for ids, of in zip(texts, choices, strict=True)]
        write(TEXTS, '{"texts": [\n' + ",\n".join(lines) + "\n]}")
    else:
        with open(TEXTS, encoding="utf-8") as file:
            texts = [text["ids"] for text in json.load(file)["texts"]]
        expected, maxima = scores_of(texts, model)
    if args.logits:
        found = evaluation_of(texts, np.load(args.logits, mmap_mode="r"), expected, args.unit)
        write(EVALUATION, json.dumps(found, indent=2))
        print(json.dumps(found["metrics"], indent=2))
    if args.scales:
        with open(args.scales, encoding="utf-8") as file:
            print_above(maxima, json.load(file))


if __name__ == "__main__":
    main()
