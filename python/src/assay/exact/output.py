"""The last tensor to return data, and what a claimed output is judged by (docs/EXACT.md, section 5)."""

from __future__ import annotations

import numpy as np

from ..codecs import WORD, dynamic_bytes, int16_words
from .form import ElementType, OutputCodec, Program
from .numbers import Stored, integers


def encode_output(program: Program, tensor: Stored) -> bytes:
    """Return data of the last step's tensor."""
    return encode_tensor(program.output_codec, program.output.type, tensor)


def encode_tensor(codec: OutputCodec, kind: ElementType, tensor: Stored) -> bytes:
    content = content_of(codec, kind, tensor)
    if codec is OutputCodec.WORDS:
        return content
    if codec is OutputCodec.INT16S:
        return int16_words(np.frombuffer(content, ">i2").astype(np.int16))
    return dynamic_bytes(content)


def content_of(codec: OutputCodec, kind: ElementType, tensor: Stored) -> bytes:
    """All elements as return data hold them, joined."""
    if codec is OutputCodec.WORDS:
        numbers = integers(tensor, kind).reshape(-1)
        return b"".join(int(value).to_bytes(WORD, "big", signed=True) for value in numbers)
    if codec is OutputCodec.INT16S:
        return np.clip(integers(tensor, kind), -32_768, 32_767).astype(">i2").tobytes()
    if kind.size == 4:
        return tensor.astype("<u4").tobytes()
    if kind is ElementType.S8:
        return (tensor ^ np.uint8(128)).tobytes()
    return ((tensor != 0).astype(np.uint8) if kind is ElementType.BOOL else tensor).tobytes()


def place_of(program: Program, element: int) -> tuple[int, int]:
    """First and last + 1 byte of an element in return data."""
    if program.output_codec is OutputCodec.WORDS:
        return WORD * element, WORD * (element + 1)
    size = 2 if program.output_codec is OutputCodec.INT16S else program.output.type.size
    start = 2 * WORD + size * element
    return start, start + size


def has_form(program: Program, output: bytes) -> bool:
    """Whether return data have the exact length, the words in front of the elements, and zeros behind the last one."""
    if len(output) != program.output_length:
        return False
    if program.output_codec is OutputCodec.WORDS:
        return True
    end = place_of(program, program.output.count - 1)[1]
    size = (len(output) - 2 * WORD) // WORD if program.output_codec is OutputCodec.INT16S else end - 2 * WORD
    head = WORD.to_bytes(WORD, "big") + size.to_bytes(WORD, "big")
    return output.startswith(head) and not any(output[end:])
