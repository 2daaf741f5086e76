"""The claimed output as a tensor (docs/EXACT.md, section 5)."""

from __future__ import annotations

import numpy as np

from ..codecs import WORD
from ..errors import AssayError
from .calldata import raw_tensor
from .form import ElementType, OutputCodec, Program
from .numbers import Stored, from_bytes, store


def claimed_tensor(program: Program, output: bytes) -> Stored:
    """What stands in the places of the elements, whatever stands around them.

    Raises AssayError OUTPUT_LENGTH for bytes that no claim on the model can state.
    """
    if len(output) != program.output_length:
        raise AssayError(
            "OUTPUT_LENGTH",
            f"The claimed output has {len(output)} bytes, the model's have {program.output_length}.",
            "Give the return data that the claim states.",
        )
    form = program.output
    if program.output_codec is OutputCodec.WORDS:
        words = np.frombuffer(output, np.uint8).reshape(form.count, WORD)
        if form.type is ElementType.S32:
            return from_bytes(words[:, -4:].tobytes(), form)
        return words[:, -1].reshape(form.dims) ^ np.uint8(128 if form.type is ElementType.S8 else 0)
    content = output[2 * WORD :]
    if program.output_codec is OutputCodec.INT16S:
        numbers = np.frombuffer(content, ">i2")[: form.count].astype(np.int64)
        return store(numbers.reshape(form.dims), form.type)
    return raw_tensor(content[: form.count * form.type.size], form)
