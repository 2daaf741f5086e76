"""Trains models/sentiment-words, with the labels of models/sentiment: teachers, augmentation, distillation, integers, export.

    python train.py --data ../shared/data --work /tmp/sentiment choose   # everything that is chosen, on a part of train
    python train.py --data ../shared/data --work /tmp/sentiment final    # the shipped file, and its one run on valid
    python train.py --data ../shared/data --work /tmp/sentiment          # both

Stages are kept in --work; with the folder of models/sentiment its teachers and labels are used again.
"""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../shared"))

from text_distill import Task, main  # noqa: E402
from text_onnx import export_words  # noqa: E402
from text_words import Recipe, Shape, Student, integer_scores  # noqa: E402

TASK = Task(
    folder=HERE, shape=Shape(), student_seeds=(1, 2, 3),
    recipes={"token dropout .25": Recipe(), "token dropout .4": Recipe(token_dropout=.4)},
    train=lambda shape, seed, *rest: Student(shape, seed).train(*rest), scores=integer_scores,
    export=lambda q, shape, path: export_words(q, shape.tokens, path),
    facts=lambda q: {"requantization shifts": [q["shift"], q["hidden_shift"]]}, name="-words")

if __name__ == "__main__":
    main(TASK)
