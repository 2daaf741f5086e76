"""The architecture of models/sentiment on SST-2, to compare it with published figures; nothing of it is shipped.

    python train_sst2.py --data ../shared/data          # students of several seeds on dev, then one run on test

Train: the sentences of stsa.binary.train and the labelled phrases of GLUE. No teacher.
"""
import argparse
import datetime
import json
import os
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../shared"))

from text_data import sha256, text_ids  # noqa: E402
from text_student import Recipe, Shape, Student, integer_scores  # noqa: E402

SHAPE = Shape(classes=2)
RECIPES = {
    "id dropout .1": Recipe(epochs=5, id_dropout=.1),
    "id dropout .3": Recipe(epochs=5, id_dropout=.3, token_dropout=.2)}
FILES = ("stsa.binary.train", "stsa.binary.dev", "stsa.binary.test", "glue_phrases_train.tsv")


def sentences(path):
    with open(path, encoding="utf-8") as file:
        pairs = [line.rstrip("\n").split(" ", 1) for line in file]
    return [t for _, t in pairs], np.array([int(n) for n, _ in pairs])


def phrases(path):
    with open(path, encoding="utf-8") as file:
        pairs = [line.rstrip("\n").rsplit("\t", 1) for line in file][1:]
    return [t.strip() for t, _ in pairs], np.array([int(n) for _, n in pairs])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", default=os.path.join(HERE, "../../../shared/data"))
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    folder = os.path.join(args.data, "sst2")
    train, dev, test = (sentences(os.path.join(folder, f"stsa.binary.{p}")) for p in ("train", "dev", "test"))
    held = set(dev[0]) | set(test[0])
    more = phrases(os.path.join(folder, "glue_phrases_train.tsv"))
    kept = [n for n, t in enumerate(more[0]) if t not in held]
    texts = train[0] + [more[0][n] for n in kept]
    labels = np.concatenate([train[1], more[1][kept]])
    target = np.eye(2)[labels] * .95 + .025
    ids, dev_ids = (text_ids(t, SHAPE.tokens, SHAPE.grams, SHAPE.rows) for t in (texts, dev[0]))

    def accuracy(q, where, gold):
        return round(100 * float((integer_scores(q, where).argmax(1) == gold).mean()), 2)

    trained = {}
    for name, recipe in RECIPES.items():
        trained[name] = Student(SHAPE, args.seed).train(ids, target, recipe)
        print(name, "dev", accuracy(trained[name], dev_ids, dev[1]), flush=True)
    found = {name: accuracy(q, dev_ids, dev[1]) for name, q in trained.items()}
    best = max(found, key=found.get)
    result = accuracy(trained[best], text_ids(test[0], SHAPE.tokens, SHAPE.grams, SHAPE.rows), test[1])
    print("test", result)
    facts_path = os.path.join(HERE, "eval.json")
    facts = json.load(open(facts_path)) if os.path.exists(facts_path) else {}
    runs = facts.get("sst2", {}).get("test_runs", [])
    facts["sst2"] = {
        "what": "same architecture, integers, trained without a teacher; not shipped",
        "data": {f"sst2/{n}": sha256(os.path.join(folder, n)) for n in FILES}, "train texts": len(texts),
        "stsa.binary.dev accuracy by recipe": found, "chosen recipe": best, "seed": args.seed,
        "test_runs": runs + [{"date": datetime.date.today().isoformat(), "stsa.binary.test accuracy": result}],
        "baselines": {"naive Bayes": 82.9, "CNN-rand": 83.5, "CNN-nonstatic": 87.0}}
    with open(facts_path, "w") as file:
        json.dump(facts, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()
