"""Chooses, trains, exports and measures a text model for the financial tweets.

A model's train.py describes itself as a Task and calls main().
"""
import argparse
import datetime
import importlib.metadata
import json
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass

import numpy as np

import text_onnx
from text_data import drop_duplicates, read_tweets, sha256, text_ids
from text_labels import SPLIT_SEED, Stages, TEACHER_SEEDS, log, metrics, prepare, split

HERE = os.path.dirname(os.path.abspath(__file__))
BIASES = [round(.1 * n, 1) for n in range(-10, 4)]
BASELINES = {
    "majority": [65.6, 26.4], "AFINN lexicon": [51.5, 44.9], "naive Bayes, 1-2-grams": [82.2, 74.3],
    "TF-IDF logistic regression": [83.0, 76.0], "FinBERT-tone (110 M parameters, its model card)": [88.4, None]}
RULE = r"valid texts that equal a train text after removing every match of /https?:\/\/\S+/g and trimming white space are dropped"


@dataclass(frozen=True)
class Task:
    """A model to train.

    train(shape, seed, ids, target, recipe, log) -> integers q; scores(q, ids) -> int32 [texts, classes];
    export(q, shape, path) -> the file's operators; facts(q): what eval.json says of q.
    """
    folder: str
    shape: object
    recipes: dict
    train: Callable
    scores: Callable
    export: Callable
    facts: Callable
    student_seeds: tuple = (1, 2)
    final_seed: int = 1
    name: str = ""  # prefix of the stages that no other model shares

    def ids(self, texts):
        return text_ids(texts, self.shape.tokens, self.shape.grams, self.shape.rows)


def with_bias(q, neutral):
    """Adds nats to the score of neutral."""
    bias = q["head_bias"].copy()
    bias[1] += round(neutral * 2 ** q["unit_bits"])
    return {**q, "head_bias": bias}


def choose(stages, task, texts, labels, rest, dev, kept):
    """Students without the development texts; the recipe and the class bias are those of the best mean on dev."""
    (ids, target, from_dev), quality = prepare(stages, task, texts, labels, rest, dev)
    ids, target = ids[~from_dev], target[~from_dev]
    dev_ids = task.ids([texts[i] for i in kept])
    runs = {}
    for name, recipe in task.recipes.items():
        for seed in task.student_seeds:
            key = f"student{task.name}-{name}-{seed}".replace(" ", "-")
            q = stages.get(key, lambda: task.train(task.shape, seed, ids, target, recipe, None))
            scores = task.scores(q, dev_ids)
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


def final(stages, task, args, texts, labels, rest, dev, chosen):
    (ids, target, _), _ = prepare(stages, task, texts, labels, rest, dev)
    recipe = task.recipes[chosen["chosen recipe"]]
    q = stages.get(f"student{task.name}-final", lambda: task.train(task.shape, task.final_seed, ids, target, recipe, log))
    q = with_bias(q, chosen["chosen neutral bias"])
    path = os.path.join(args.out, "model.onnx")
    nodes = task.export(q, task.shape, path)
    valid_path = os.path.join(args.data, "twitter_financial_news/sent_valid.csv")
    valid, valid_labels = drop_duplicates(*read_tweets(valid_path), texts)
    valid_ids = task.ids(valid)
    result = text_onnx.run(path, valid_ids)
    scores = task.scores(q, valid_ids)
    assert (result[:, 1:] == scores).all() and (result[:, 0] == scores.argmax(1)).all(), "file and integers differ"
    return {"nodes": nodes, "bytes": os.path.getsize(path), "sha256": sha256(path), "score unit": f"2^-{q['unit_bits']} nat",
            **task.facts(q), "recipe": asdict(recipe), "shape": asdict(task.shape), "seed": task.final_seed,
            "valid": metrics(valid_labels, result[:, 0])}


def main(task):
    parser = argparse.ArgumentParser()
    parser.add_argument("what", nargs="?", choices=("choose", "final", "all"), default="all")
    parser.add_argument("--data", default=os.path.join(HERE, "../../../shared/data"))
    parser.add_argument("--work", default=os.path.join(HERE, "../../build/sentiment"))
    parser.add_argument("--out", default=task.folder)
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
        "seeds": {"split": SPLIT_SEED, "teachers": TEACHER_SEEDS, "students": task.student_seeds, "shipped student": task.final_seed},
        "versions": {n: importlib.metadata.version(n) for n in
                     ("numpy", "scipy", "jax", "optax", "scikit-learn", "onnx", "onnxruntime", "tokenizers")}}
    if args.what in ("choose", "all"):
        facts["development"] = choose(stages, task, texts, labels, rest, dev, kept)
    if args.what in ("final", "all"):
        shipped = final(stages, task, args, texts, labels, rest, dev, facts["development"])
        facts["shipped"] = shipped
        known = [r for r in facts["valid_runs"] if r.get("sha256") == shipped["sha256"]]
        if not known:
            facts["valid_runs"].append({"date": datetime.date.today().isoformat(), "sha256": shipped["sha256"], **shipped["valid"]})
        log(shipped["valid"])
    with open(facts_path, "w") as file:
        json.dump(facts, file, indent=1)
        file.write("\n")
