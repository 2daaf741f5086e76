"""Trains models/sentiment-transformer and writes its files: weights.gguf, scales.json and eval.json.

    python train.py --data ../../../shared/data --work /tmp/sentiment-transformer

MiniLM-L6 is fine-tuned on tweets once a seed, and the weights are averaged: first without the 1,000 train tweets of the
development split, which choose the neutral score's bias, then with them, for the files. Finished trainings are kept in
--work, so that a run that was stopped goes on where it was.
"""

import argparse
import datetime
import importlib.metadata
import json
import os
import sys
import time

import jax
import numpy as np
from export import CLASSES, MOST, write_scales, write_weights
from reference import WEIGHTS, Classifier

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../shared"))

from text_data import drop_duplicates, read_tweets, sha256
from text_labels import SPLIT_SEED, Stages, log, metrics, split
from text_teacher import first, load_pretrained, train_teacher

HERE = os.path.dirname(os.path.abspath(__file__))
SEEDS = (1, 2)
BIASES = [round(.1 * n, 1) for n in range(-10, 4)]
DATA = "twitter_financial_news"
PROTOCOL = ("Everything is chosen on the development split, by trainings that do not read it; the shipped weights are "
            "of the same trainings on all of train. metrics: the shipped integer program, in %, by assay model eval; "
            "float: the float model of the same file, and float_classes what it finds each text to be; valid_runs: every "
            "run on valid that was ever made.")
DUPLICATES = "valid texts that equal a train text once URLs are removed (models/shared/text_data.py) are dropped"
PACKAGES = ("numpy", "scipy", "jax", "optax", "safetensors", "scikit-learn", "tokenizers")


def trained(stages, part, texts, labels):
    """Parameters of one training a seed. @param part a name of the texts"""
    return [stages.get(f"{part}-{seed}", lambda seed=seed: train_teacher(
        texts, labels, len(CLASSES), seed, pool=first, most=MOST, log=log)[1]) for seed in SEEDS]


def mean(runs):
    return jax.tree.map(lambda *arrays: np.mean(arrays, 0, dtype=np.float64).astype(np.float32), *runs)


def with_bias(params, neutral):
    """Adds nats to the score of neutral."""
    head = params["head"]
    return {**params, "head": {**head, "b": head["b"] + np.array([0, neutral, 0], np.float32)}}


def figures(labels, logits):
    return metrics(labels, logits.argmax(1))


def short(found):
    return [found["accuracy"], found["macro_f1"]]


def development(folder, words, runs, texts, labels):
    """What each training, and their mean, reaches on the development split, and the bias with the largest sum of
    accuracy and macro-F1."""
    def logits(params):
        write_weights(folder, words, params)
        model = Classifier(folder)
        return model.logits(model.ids(texts))

    alone = {seed: figures(labels, logits(run)) for seed, run in zip(SEEDS, runs, strict=True)}
    found = logits(mean(runs))
    by_bias = {bias: figures(labels, found + [0, bias, 0]) for bias in BIASES}
    chosen = max(BIASES, key=lambda bias: by_bias[bias]["accuracy"] + by_bias[bias]["macro_f1"])
    return {"texts": len(texts), "rule": "largest sum of accuracy and macro-F1",
            "accuracy and macro-F1 by seed": {str(seed): short(m) for seed, m in alone.items()},
            "accuracy and macro-F1 of the mean by neutral bias": {str(bias): short(m) for bias, m in by_bias.items()},
            "chosen neutral bias": chosen, "float": by_bias[chosen]}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", default=os.path.join(HERE, "../../../shared/data"))
    parser.add_argument("--work", default=os.path.join(HERE, "../../build/sentiment-transformer"))
    parser.add_argument("--out", default=HERE)
    args = parser.parse_args()
    began = time.time()
    paths = {name: os.path.join(args.data, DATA, name) for name in ("sent_train.csv", "sent_valid.csv")}
    texts, labels = read_tweets(paths["sent_train.csv"])
    rest, _, kept = split(texts, labels)
    stages, words = Stages(args.work), load_pretrained()[0]
    first_runs = trained(stages, "rest", [texts[i] for i in rest], labels[rest])
    chosen = development(args.work, words, first_runs, [texts[i] for i in kept], labels[kept])
    runs = trained(stages, "all", texts, labels)
    write_weights(args.out, words, with_bias(mean(runs), chosen["chosen neutral bias"]))
    write_scales(args.out, texts)
    valid, valid_labels = drop_duplicates(*read_tweets(paths["sent_valid.csv"]), texts)
    model = Classifier(args.out)
    logits = model.logits(model.ids(valid))
    found = figures(valid_labels, logits)
    digest = sha256(os.path.join(args.out, WEIGHTS))
    facts = {
        "protocol": PROTOCOL,
        "data": {f"{DATA}/{name}": sha256(path) for name, path in paths.items()}, "duplicates": DUPLICATES,
        "classes": CLASSES,
        "seeds": {"split": SPLIT_SEED, "trainings": SEEDS},
        "versions": {name: importlib.metadata.version(name) for name in PACKAGES},
        "development": chosen, "metrics": {}, "float": found,
        "float_classes": "".join(str(c) for c in logits.argmax(1)),
        "valid_runs": [{"date": datetime.date.today().isoformat(), "sha256": digest, **found}]}
    with open(os.path.join(args.out, "eval.json"), "w", encoding="utf-8") as file:
        file.write(json.dumps(facts, indent=1) + "\n")
    log(f"{time.time() - began:.0f} s", found)


if __name__ == "__main__":
    main()
