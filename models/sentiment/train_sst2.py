"""The architecture of models/sentiment on SST-2, to compare it with published figures; nothing of it is shipped.

    python train_sst2.py --data ../shared/data --work /tmp/sst2   # students on dev, then one run of the best on test

Train: the sentences of stsa.binary.train and the labelled phrases of GLUE. A teacher learns from the sentences and a part
of the phrases; it labels noisy variants of the sentences, in which words that no sentence holds take part too.
"""
import argparse
import datetime
import json
import os
import sys
from dataclasses import asdict

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../shared"))

from text_data import sha256, text_ids  # noqa: E402
from text_labels import Stages, log, teacher  # noqa: E402
from text_student import Recipe, Shape, Student, integer_scores  # noqa: E402

SHAPE = Shape(classes=2)
RECIPES = {"id dropout .2": Recipe(epochs=4, id_dropout=.2)}
TEACHER_SEED, TEACHER_PHRASES = 1, 3_000
AUGMENT_SEED, ROUNDS = 3000, 12
FILES = ("stsa.binary.train", "stsa.binary.dev", "stsa.binary.test", "glue_phrases_train.tsv")


def sentences(path):
    with open(path, encoding="utf-8") as file:
        pairs = [line.rstrip("\n").split(" ", 1) for line in file]
    return [t for _, t in pairs], np.array([int(n) for n, _ in pairs])


def phrases(path):
    with open(path, encoding="utf-8") as file:
        pairs = [line.rstrip("\n").rsplit("\t", 1) for line in file][1:]
    return [t.strip() for t, _ in pairs], np.array([int(n) for _, n in pairs])


def variants(texts):
    """ROUNDS noisy variants of each text."""
    from text_augment import Augmenter
    from text_teacher import load_pretrained, pieces_of_words, whole_words
    augmenter = Augmenter(texts, load_pretrained()[0], pieces_of_words, AUGMENT_SEED, extra=whole_words())
    return [augmenter.one(n) for _ in range(ROUNDS) for n in range(len(texts))]


def accuracy(scores, gold):
    return round(100 * float((scores.argmax(1) == gold).mean()), 2)


def prepare(stages, train, more, dev):
    """Ids and soft targets of everything that a student learns from, and the teacher's accuracy on dev."""
    from text_teacher_onnx import log_probabilities
    part = np.random.default_rng(TEACHER_SEED).permutation(len(more[0]))[:TEACHER_PHRASES]
    path = teacher(stages, "sst2-teacher", TEACHER_SEED, train[0] + [more[0][n] for n in part],
                   np.concatenate([train[1], more[1][part]]), SHAPE.classes)

    def labelled(name, texts):
        logp = stages.get(f"sst2-{name}-teacher", lambda: log_probabilities(path, texts, log=log))
        ids = stages.get(f"sst2-{name}-ids", lambda: text_ids(texts, SHAPE.tokens, SHAPE.grams, SHAPE.rows).astype(np.int16))
        return ids, np.exp(logp)

    known = train[0] + more[0]
    ids, probability = labelled("known", known)
    target = .5 * np.eye(2)[np.concatenate([train[1], more[1]])] + .5 * probability
    augmented = labelled("augmented", stages.get("sst2-augmented", lambda: variants(train[0])))
    return (np.concatenate([ids, augmented[0]]), np.concatenate([target, augmented[1]]),
            accuracy(log_probabilities(path, dev[0], log=log), dev[1]))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", default=os.path.join(HERE, "../../../shared/data"))
    parser.add_argument("--work", default=os.path.join(HERE, "../../build/sentiment"))
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    folder, stages = os.path.join(args.data, "sst2"), Stages(args.work)
    train, dev, test = (sentences(os.path.join(folder, f"stsa.binary.{p}")) for p in ("train", "dev", "test"))
    more = phrases(os.path.join(folder, "glue_phrases_train.tsv"))
    held = set(dev[0]) | set(test[0])
    kept = [n for n, t in enumerate(more[0]) if t not in held]
    more = [more[0][n] for n in kept], more[1][kept]
    ids, target, of_teacher = prepare(stages, train, more, dev)
    log("teacher dev", of_teacher)
    dev_ids, test_ids = (text_ids(t, SHAPE.tokens, SHAPE.grams, SHAPE.rows) for t in (dev[0], test[0]))
    trained = {name: stages.get(f"sst2-student-{name}-{args.seed}".replace(" ", "-"),
                                lambda: Student(SHAPE, args.seed).train(ids, target, recipe, log))
               for name, recipe in RECIPES.items()}
    found = {name: accuracy(integer_scores(q, dev_ids), dev[1]) for name, q in trained.items()}
    log("dev", found)
    best = max(found, key=found.get)
    result = accuracy(integer_scores(trained[best], test_ids), test[1])
    log("test", result)
    facts_path = os.path.join(HERE, "eval.json")
    facts = json.load(open(facts_path)) if os.path.exists(facts_path) else {}
    runs = facts.get("sst2", {}).get("test_runs", [])
    facts["sst2"] = {
        "what": "same architecture, integers, with a teacher; not shipped",
        "data": {f"sst2/{n}": sha256(os.path.join(folder, n)) for n in FILES}, "train texts": len(train[0]) + len(more[0]),
        "variants": ROUNDS * len(train[0]), "teacher": {"seed": TEACHER_SEED, "phrases": TEACHER_PHRASES, "dev accuracy": of_teacher},
        "stsa.binary.dev accuracy by recipe": found, "chosen recipe": best, "recipe": asdict(RECIPES[best]), "seed": args.seed,
        "test_runs": runs + [{"date": datetime.date.today().isoformat(), "note": "with a teacher",
                              "stsa.binary.test accuracy": result}],
        "baselines": {"naive Bayes": 82.9, "CNN-rand": 83.5, "CNN-nonstatic": 87.0}}
    with open(facts_path, "w") as file:
        json.dump(facts, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()
