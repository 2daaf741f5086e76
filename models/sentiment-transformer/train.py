"""Trains models/sentiment-transformer and writes its files: weights.gguf, scales.json and eval.json.

    python train.py --data ../../../shared/data --work /tmp/sentiment-transformer

Teachers, MiniLM-L6 fine-tuned on tweets, and a logistic regression label the tweets and noisy variants of them; of these
students learn, the same network again, and their weights are averaged: first without the 1,000 train tweets of the
development split, which choose the neutral score's bias, then with them, for the files. Finished stages are kept in
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

from text_augment import Augmenter
from text_data import drop_duplicates, read_tweets, sha256, without_urls
from text_labels import SPLIT_SEED, Stages, expert, log, metrics, soft, split
from text_teacher import fine_tune, first, load_pretrained, log_probabilities_of, pieces_of_words, train_teacher

HERE = os.path.dirname(os.path.abspath(__file__))
TEACHER_SEEDS, STUDENT_SEEDS, AUGMENT_SEED = (1, 2), (11, 12), 100
EPOCHS, VARIANTS = 2, 2  # of a student; variants of each text an epoch, no epoch's like another's
BIASES = [round(.1 * n, 1) for n in range(-10, 4)]
DATA = "twitter_financial_news"
PROTOCOL = ("Everything is chosen on the development split, by trainings that do not read it; the shipped weights are "
            "of the same trainings on all of train. metrics: the shipped integer program, in %, by assay model eval; "
            "float: the float model of the same file, and float_classes what it finds each text to be; valid_runs: every "
            "run on valid that was ever made.")
DUPLICATES = "valid texts that equal a train text once URLs are removed (models/shared/text_data.py) are dropped"
PACKAGES = ("numpy", "scipy", "jax", "optax", "safetensors", "scikit-learn", "tokenizers")


class Trainings:
    """The trainings on some texts. @param part a name of the texts"""

    def __init__(self, stages, part, texts, labels):
        self.stages, self.part, self.texts, self.labels = stages, part, texts, labels

    def kept(self, name, make):
        return self.stages.get(f"{self.part}-{name}", make)

    def teachers(self):
        """Parameters, one a seed."""
        return [self.kept(f"teacher-{seed}", lambda seed=seed: train_teacher(
            self.texts, self.labels, len(CLASSES), seed, pool=first, most=MOST, log=log)[1]) for seed in TEACHER_SEEDS]

    def label(self, texts):
        """Probabilities of the classes [texts, classes] by all teachers and the logistic regression."""
        plain = [without_urls(text) or "." for text in self.texts]
        second = self.kept("expert", lambda: expert(plain, self.labels))
        words = load_pretrained()[0]
        found = [log_probabilities_of(words, params, texts, pool=first, most=MOST) for params in self.teachers()]
        return soft(sum(found) / len(found), second.predict_log_proba([without_urls(text) or "." for text in texts]))

    def epochs(self):
        """Each text, half by its own label and half as it is labelled, and its variants."""
        own = self.kept("labels", lambda: self.label(self.texts))
        targets = .5 * np.eye(len(CLASSES))[self.labels] + .5 * own
        found = []
        for epoch in range(EPOCHS):
            augmenter = Augmenter(self.texts, load_pretrained()[0], pieces_of_words, AUGMENT_SEED + epoch)
            variants = [augmenter.one(n) for _ in range(VARIANTS) for n in range(len(self.texts))]
            found.append((self.texts + variants, np.concatenate([targets, self.label(variants)])))
        return found

    def students(self):
        """Parameters, one a seed."""
        epochs = self.kept("epochs", self.epochs)
        return [self.kept(f"student-{seed}", lambda seed=seed: fine_tune(
            epochs, seed, pool=first, most=MOST, name=f"{self.part} student", log=log)[1]) for seed in STUDENT_SEEDS]


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

    alone = {seed: figures(labels, logits(run)) for seed, run in zip(STUDENT_SEEDS, runs, strict=True)}
    found = logits(mean(runs))
    by_bias = {bias: figures(labels, found + [0, bias, 0]) for bias in BIASES}
    chosen = max(BIASES, key=lambda bias: by_bias[bias]["accuracy"] + by_bias[bias]["macro_f1"])
    return {"texts": len(texts), "rule": "largest sum of accuracy and macro-F1",
            "accuracy and macro-F1 by seed": {str(seed): short(m) for seed, m in alone.items()},
            "accuracy and macro-F1 of the mean by neutral bias": {str(bias): short(m) for bias, m in by_bias.items()},
            "chosen neutral bias": chosen, "float": by_bias[chosen]}


def earlier_runs(folder):
    """What is written of runs on valid: each one stays."""
    path = os.path.join(folder, "eval.json")
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        return json.load(file)["valid_runs"]


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
    first_runs = Trainings(stages, "rest", [texts[i] for i in rest], labels[rest]).students()
    chosen = development(args.work, words, first_runs, [texts[i] for i in kept], labels[kept])
    runs = Trainings(stages, "all", texts, labels).students()
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
        "seeds": {"split": SPLIT_SEED, "teachers": TEACHER_SEEDS, "variants": AUGMENT_SEED, "students": STUDENT_SEEDS},
        "versions": {name: importlib.metadata.version(name) for name in PACKAGES},
        "development": chosen, "metrics": {}, "float": found,
        "float_classes": "".join(str(c) for c in logits.argmax(1)),
        "valid_runs": [*earlier_runs(args.out), {"date": datetime.date.today().isoformat(), "sha256": digest, **found}]}
    with open(os.path.join(args.out, "eval.json"), "w", encoding="utf-8") as file:
        file.write(json.dumps(facts, indent=1) + "\n")
    log(f"{time.time() - began:.0f} s", found)


if __name__ == "__main__":
    main()
