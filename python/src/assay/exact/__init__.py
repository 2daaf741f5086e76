"""Exact inference: programs, runs, commitments and openings, as docs/EXACT.md and docs/PROTOCOL.md define them.

It computes what a model's output is, and judges nothing: that is what the contracts do.
"""

from .commit import model_id, model_word, trace_root, weights_root
from .element import Judgement, judge_element
from .execute import Model
from .form import ElementType, Form, Layout, Opcode, Program, Step, Weight
from .openings import OpenedOutput, Opening, open_output
from .reveal import check_reveal, tops_root
from .validate import decode_program

__all__ = [
    "ElementType",
    "Form",
    "Judgement",
    "Layout",
    "Model",
    "Opcode",
    "OpenedOutput",
    "Opening",
    "Program",
    "Step",
    "Weight",
    "check_reveal",
    "decode_program",
    "judge_element",
    "model_id",
    "model_word",
    "open_output",
    "tops_root",
    "trace_root",
    "weights_root",
]
