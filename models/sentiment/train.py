"""Trains models/sentiment from nothing: teachers, second expert, augmentation, distillation, integers, export.

    python train.py --data ../shared/data --work /tmp/sentiment choose   # everything that is chosen, on a part of train
    python train.py --data ../shared/data --work /tmp/sentiment final    # the shipped file, and its one run on valid
    python train.py --data ../shared/data --work /tmp/sentiment          # both

Stages are kept in --work, so that a run that was stopped goes on where it was. Facts go to eval.json beside this file.
"""
import argparse
import datetime
import importlib.metadata
import json
import os
import pickle
import sys
import time
from dataclasses import asdict

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../shared"))

import text_onnx  # noqa: E402
from text_data import drop_duplicates, read_tweets, sha256, text_ids, without_urls  # noqa: E402
from text_student import Recipe, Shape, Student, integer_scores  # noqa: E402

SPLIT_SEED, DEV = 20260101, 1000
TEACHER_SEEDS = (1,)
ROUNDS = 16
STUDENT_SEEDS = (1, 2)
FINAL_SEED = 1
SHAPE = Shape()
RECIPES = {"id dropout .1": Recipe(epochs=5, id_dropout=.1)}
BIASES = [round(.1 * n, 1) for n in range(-10, 4)]
TEACHER_POWER, EXPERT_POWER = 1.2, .5
BASELINES = {
    "majority": [65.6, 26.4], "AFINN lexicon": [51.5, 44.9], "naive Bayes, 1-2-grams": [82.2, 74.3],
    "TF-IDF logistic regression": [83.0, 76.0], "FinBERT-tone (110 M parameters, its model card)": [88.4, None]}
RULE = r"valid texts that equal a train text after removing every match of /https?:\/\/\S+/g and trimming white space are dropped"


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


def teacher(stages, seed, texts, labels):
    from text_teacher import export_teacher, train_teacher
    path = stages.path(f"teacher-{seed}.onnx")

    def make():
        words, params = train_teacher(texts, labels, SHAPE.classes, seed, log=log)
        export_teacher(words, params, path)
        return True

    stages.get(f"teacher-{seed}", make)
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
    from text_teacher import load_pretrained, log_probabilities, word_pieces

    def make():
        augmenter = Augmenter(texts, load_pretrained()[0], lambda words: [ids[1:-1] for ids in word_pieces(words)], seed)
        variants = [augmenter.one(n) for n in range(len(texts))]
        return variants, log_probabilities(path, variants, log=log)

    return stages.get(name, make)


def soft(teacher_logp, expert_logp):
    mixed = np.exp(TEACHER_POWER * teacher_logp + EXPERT_POWER * expert_logp)
    return mixed / mixed.sum(1, keepdims=True)


def prepare(stages, texts, labels, rest, dev):
    """Ids, soft targets and origin (True: from the development texts) of everything that a student learns from."""
    from text_teacher import log_probabilities
    clean = [without_urls(t) or "." for t in texts]
    part = [clean[i] for i in rest]
    paths = [teacher(stages, seed, part, labels[rest]) for seed in TEACHER_SEEDS]
    second = stages.get("expert", lambda: expert(part, labels[rest]))

    def both(name, texts, logp):
        return soft(logp, stages.get(name + "-expert", lambda: second.predict_log_proba(texts)))

    sets = []
    own = stages.get("train-teacher", lambda: sum(log_probabilities(p, clean, log=log) for p in paths) / len(paths))
    target = .5 * np.eye(SHAPE.classes)[labels] + .5 * both("train", clean, own)
    ids = stages.get("train-ids", lambda: text_ids(texts, SHAPE.tokens, SHAPE.grams, SHAPE.rows).astype(np.int16))
    from_dev = np.zeros(len(texts), bool)
    from_dev[dev] = True
    sets += [(ids, target, from_dev)] * 2
    for n in range(ROUNDS):
        for kind, base, where in (("", 1000, rest), ("dev-", 2000, dev)):
            name = f"augmented-{kind}{n}"
            variants, logp = augmented(stages, name, [clean[i] for i in where], base + n, paths[n * len(paths) // ROUNDS])
            target = both(name, variants, logp)
            ids = stages.get(name + "-ids", lambda v=variants: text_ids(v, SHAPE.tokens, SHAPE.grams, SHAPE.rows).astype(np.int16))
            sets.append((ids, target, np.full(len(ids), kind == "dev-")))
    quality = {
        "teachers alone": metrics(labels[dev], own[dev].argmax(1)),
        "logistic regression alone": metrics(labels[dev], second.predict([clean[i] for i in dev]))}
    return [np.concatenate(s) for s in zip(*sets)], quality


def with_bias(q, neutral):
    """Adds nats to the score of neutral."""
    bias = q["head_bias"].copy()
    bias[1] += round(neutral * 2 ** q["unit_bits"])
    return {**q, "head_bias": bias}


def choose(stages, texts, labels, rest, dev, kept):
    """Students without the development texts; the recipe and the class bias are those of the best mean on dev."""
    (ids, target, from_dev), quality = prepare(stages, texts, labels, rest, dev)
    ids, target = ids[~from_dev], target[~from_dev]
    dev_ids = text_ids([texts[i] for i in kept], SHAPE.tokens, SHAPE.grams, SHAPE.rows)
    runs = {}
    for name, recipe in RECIPES.items():
        for seed in STUDENT_SEEDS:
            key = f"student-{name}-{seed}".replace(" ", "-")
            q = stages.get(key, lambda: Student(SHAPE, seed).train(ids, target, recipe))
            scores = integer_scores(q, dev_ids)
            found = {}
            for bias in BIASES:
                shifted = scores + np.array([0, round(bias * 2 ** q["unit_bits"]), 0])
                m = metrics(labels[kept], shifted.argmax(1))
                found[str(bias)] = [m["accuracy"], m["macro_f1"]]
            runs.setdefault(name, []).append({"seed": seed, "accuracy and macro-F1 by neutral bias": found})
            log(name, seed, found["0.0"])
    mean = {(name, str(b)): np.mean([r["accuracy and macro-F1 by neutral bias"][str(b)] for r in found], 0)
            for name, found in runs.items() for b in BIASES}
    (name, bias), best = max(mean.items(), key=lambda kv: kv[1].sum())
    log("chosen:", name, bias, best)
    return {"texts": len(kept), "rule": "largest sum of mean accuracy and mean macro-F1 over the seeds", "runs": runs,
            "quality of the labellers": quality, "chosen recipe": name, "chosen neutral bias": float(bias),
            "mean accuracy and macro-F1": [round(float(v), 2) for v in best]}


def final(stages, args, texts, labels, rest, dev, chosen):
    (ids, target, _), _ = prepare(stages, texts, labels, rest, dev)
    recipe = RECIPES[chosen["chosen recipe"]]
    q = stages.get("student-final", lambda: Student(SHAPE, FINAL_SEED).train(ids, target, recipe, log))
    q = with_bias(q, chosen["chosen neutral bias"])
    path = os.path.join(args.out, "model.onnx")
    nodes = text_onnx.export(q, SHAPE.tokens, 1 + SHAPE.grams, path)
    valid_path = os.path.join(args.data, "twitter_financial_news/sent_valid.csv")
    valid, valid_labels = drop_duplicates(*read_tweets(valid_path), texts)
    valid_ids = text_ids(valid, SHAPE.tokens, SHAPE.grams, SHAPE.rows)
    result = text_onnx.run(path, valid_ids)
    scores = integer_scores(q, valid_ids)
    assert (result[:, 1:] == scores).all() and (result[:, 0] == scores.argmax(1)).all(), "file and integers differ"
    return {"nodes": nodes, "bytes": os.path.getsize(path), "sha256": sha256(path), "score unit": f"2^-{q['unit_bits']} nat",
            "requantization shift": q["shift"], "recipe": asdict(recipe), "shape": asdict(SHAPE), "seed": FINAL_SEED,
            "valid": metrics(valid_labels, result[:, 0])}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("what", nargs="?", choices=("choose", "final", "all"), default="all")
    parser.add_argument("--data", default=os.path.join(HERE, "../../../shared/data"))
    parser.add_argument("--work", default=os.path.join(HERE, "../../build/sentiment"))
    parser.add_argument("--out", default=HERE)
    args = parser.parse_args()
    stages = Stages(args.work)
    train_path = os.path.join(args.data, "twitter_financial_news/sent_train.csv")
    texts, labels = read_tweets(train_path)
    rest, dev, kept = split(texts, labels)
    facts_path = os.path.join(args.out, "eval.json")
    facts = json.load(open(facts_path)) if os.path.exists(facts_path) else {"valid_runs": []}
    facts.setdefault("valid_runs", [])
    facts |= {
        "data": {"twitter_financial_news/" + n: sha256(os.path.join(args.data, "twitter_financial_news", n))
                 for n in ("sent_train.csv", "sent_valid.csv")},
        "classes": ["bearish", "neutral", "bullish"], "duplicates": RULE, "baselines_accuracy_macro_f1": BASELINES,
        "seeds": {"split": SPLIT_SEED, "teachers": TEACHER_SEEDS, "students": STUDENT_SEEDS, "shipped student": FINAL_SEED},
        "versions": {n: importlib.metadata.version(n) for n in
                     ("numpy", "scipy", "jax", "optax", "scikit-learn", "onnx", "onnxruntime", "tokenizers")}}
    if args.what in ("choose", "all"):
        facts["development"] = choose(stages, texts, labels, rest, dev, kept)
    if args.what in ("final", "all"):
        shipped = final(stages, args, texts, labels, rest, dev, facts["development"])
        facts["shipped"] = shipped
        known = [r for r in facts["valid_runs"] if r.get("sha256") == shipped["sha256"]]
        if not known:
            facts["valid_runs"].append({"date": datetime.date.today().isoformat(), "sha256": shipped["sha256"], **shipped["valid"]})
        log(shipped["valid"])
    with open(facts_path, "w") as file:
        json.dump(facts, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()
