"""Labels for the text models: teachers, a second expert, augmented texts and soft targets.

Finished stages are kept, so that a run that was stopped goes on where it was, and models that use the same folder share
teachers and labels.
"""
import datetime
import os
import pickle
import time

import numpy as np

from text_data import drop_duplicates, without_urls

SPLIT_SEED, DEV = 20260101, 1000
TEACHER_SEEDS = (1,)
ROUNDS = 16
TEACHER_POWER, EXPERT_POWER = 1.2, .5


def log(*what):
    print(datetime.datetime.now().strftime("%H:%M:%S"), *what, flush=True)


def metrics(labels, predicted):
    from sklearn.metrics import confusion_matrix, f1_score
    return {"accuracy": round(100 * float((labels == predicted).mean()), 2),
            "macro_f1": round(100 * float(f1_score(labels, predicted, average="macro")), 2),
            "f1": [round(100 * float(f), 2) for f in f1_score(labels, predicted, average=None)],
            "confusion": confusion_matrix(labels, predicted).tolist(), "texts": len(labels)}


class Stages:
    """Results of finished stages, one pickle each."""

    def __init__(self, folder):
        self.folder = folder
        os.makedirs(folder, exist_ok=True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def get(self, name, make):
        path = self.path(name + ".pkl")
        if not os.path.exists(path):
            start = time.time()
            value = make()
            with open(path + ".part", "wb") as file:
                pickle.dump(value, file)
            os.replace(path + ".part", path)
            log(f"{name}: {time.time() - start:.0f} s")
        with open(path, "rb") as file:
            return pickle.load(file)


def split(texts, labels):
    """Development split of train: 1,000 texts, less those that equal a text of the rest."""
    order = np.random.default_rng(SPLIT_SEED).permutation(len(texts))
    dev, rest = order[:DEV], order[DEV:]
    kept, _ = drop_duplicates([texts[i] for i in dev], labels[dev], [texts[i] for i in rest])
    kept = set(kept)
    return rest, dev, np.array([i for i in dev if texts[i] in kept])


def teacher(stages, name, seed, texts, labels, classes):
    """Path of a fine-tuned teacher."""
    from text_teacher import train_teacher
    from text_teacher_onnx import export_teacher
    path = stages.path(f"{name}-{seed}.onnx")

    def make():
        words, params = train_teacher(texts, labels, classes, seed, log=log)
        export_teacher(words, params, path)
        return True

    stages.get(f"{name}-{seed}", make)
    return path


def expert(texts, labels):
    """Logistic regression on TF-IDF of words and characters."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline, make_union
    features = make_union(TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, min_df=2),
                          TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 5), sublinear_tf=True, min_df=3))
    return make_pipeline(features, LogisticRegression(C=10, max_iter=200)).fit(texts, labels)


def augmented(stages, name, texts, seed, path):
    """One noisy variant of every text, with the log-probabilities that a teacher gives it."""
    from text_augment import Augmenter
    from text_teacher import load_pretrained, pieces_of_words
    from text_teacher_onnx import log_probabilities

    def make():
        augmenter = Augmenter(texts, load_pretrained()[0], pieces_of_words, seed)
        variants = [augmenter.one(n) for n in range(len(texts))]
        return variants, log_probabilities(path, variants, log=log)

    return stages.get(name, make)


def soft(teacher_logp, expert_logp):
    mixed = np.exp(TEACHER_POWER * teacher_logp + EXPERT_POWER * expert_logp)
    return mixed / mixed.sum(1, keepdims=True)


def prepare(stages, task, texts, labels, rest, dev):
    """Ids, soft targets and origin (True: from the development texts) of everything that a student learns from."""
    from text_teacher_onnx import log_probabilities
    classes = task.shape.classes
    clean = [without_urls(t) or "." for t in texts]
    part = [clean[i] for i in rest]
    paths = [teacher(stages, "teacher", seed, part, labels[rest], classes) for seed in TEACHER_SEEDS]
    second = stages.get("expert", lambda: expert(part, labels[rest]))

    def both(name, texts, logp):
        return soft(logp, stages.get(name + "-expert", lambda: second.predict_log_proba(texts)))

    def ids_of(name, texts):
        return stages.get(f"{name}-ids{task.name}", lambda: task.ids(texts).astype(np.int16))

    sets = []
    own = stages.get("train-teacher", lambda: sum(log_probabilities(p, clean, log=log) for p in paths) / len(paths))
    target = .5 * np.eye(classes)[labels] + .5 * both("train", clean, own)
    from_dev = np.zeros(len(texts), bool)
    from_dev[dev] = True
    sets += [(ids_of("train", texts), target, from_dev)] * 2
    for n in range(ROUNDS):
        for kind, base, where in (("", 1000, rest), ("dev-", 2000, dev)):
            name = f"augmented-{kind}{n}"
            variants, logp = augmented(stages, name, [clean[i] for i in where], base + n, paths[n * len(paths) // ROUNDS])
            target = both(name, variants, logp)
            sets.append((ids_of(name, variants), target, np.full(len(variants), kind == "dev-")))
    quality = {
        "teachers alone": metrics(labels[dev], own[dev].argmax(1)),
        "logistic regression alone": metrics(labels[dev], second.predict([clean[i] for i in dev]))}
    return [np.concatenate(s) for s in zip(*sets)], quality
