"""Trains models/sentiment from nothing: teachers, second expert, augmentation, distillation, integers, export.

    python train.py --data ../shared/data --work /tmp/sentiment choose   # everything that is chosen, on a part of train
    python train.py --data ../shared/data --work /tmp/sentiment final    # the shipped file, and its one run on valid
    python train.py --data ../shared/data --work /tmp/sentiment          # both

Stages are kept in --work, so that a run that was stopped goes on where it was. Facts go to eval.json beside this file.
"""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../shared"))

from text_distill import Task, main  # noqa: E402
from text_onnx import export_convolution  # noqa: E402
from text_student import Recipe, Shape, Student, integer_scores  # noqa: E402

TASK = Task(
    folder=HERE, shape=Shape(), recipes={"id dropout .1": Recipe(epochs=5, id_dropout=.1)},
    train=lambda shape, seed, *rest: Student(shape, seed).train(*rest), scores=integer_scores,
    export=lambda q, shape, path: export_convolution(q, shape.tokens, 1 + shape.grams, path),
    facts=lambda q: {"requantization shift": q["shift"]})

if __name__ == "__main__":
    main(TASK)
