"""Public signals of a proof (docs/PROTOCOL.md, Proofs)."""

from __future__ import annotations

import numpy as np
from eth_utils.crypto import keccak

from ..codecs import WORD
from ..errors import AssayError
from .calldata import codec_tensor, parse_calldata, raw_tensor
from .form import ElementType, Form, InputCodec, Opcode, OutputCodec, Program, Step
from .numbers import RANGES, Stored, integers, store, to_bytes
from .output import encode_output, has_form

PIECE = 31
"""bytes of a signal"""
BINDING = 19
"""bytes of the hash that binds a proof to its submitter"""


def binding(chain_id: int, proof_lane: bytes, model_id: bytes, submitter: bytes) -> bytes:
    words = (
        chain_id.to_bytes(WORD, "big"),
        proof_lane.rjust(WORD, b"\0"),
        model_id,
        submitter.rjust(WORD, b"\0"),
    )
    return keccak(b"".join(words))[:BINDING]


def public_signals(program: Program, selector: bytes, calldata: bytes, output: bytes, bound: bytes) -> list[int]:
    """The statement of a proof: that the program makes this output of these calldata.

    Raises AssayError CALLDATA_NOT_CANONICAL, OUTPUT_NOT_CANONICAL; SIGNALS_UNAVAILABLE for a program that reads or
    gives f32, or reads the claimed output.
    """
    codecs = [step for step in program.steps if step.opcode is Opcode.CODEC]
    if program.reads_claimed:
        raise AssayError("SIGNALS_UNAVAILABLE", "A program that reads the claimed output has no public signals.")
    if any(form.type is ElementType.F32 for form in (*(step.form for step in codecs), program.output)):
        raise AssayError("SIGNALS_UNAVAILABLE", "A program that reads or gives f32 has no public signals.")
    read = parse_calldata(program, selector, calldata)
    signals = [signal for step in codecs for signal in pieces(pack(program, step, codec_tensor(read, step)))]
    return signals + pieces(to_bytes(decode_output(program, output)) + bound)


def pieces(data: bytes) -> list[int]:
    return [int.from_bytes(data[at : at + PIECE], "big") for at in range(0, len(data), PIECE)]


def pack(program: Program, step: Step, tensor: Stored) -> bytes:
    """A CODEC step's elements as fields of one width."""
    if program.input_codec is InputCodec.RAW:
        return to_bytes(tensor)
    numbers = integers(tensor, ElementType.S32).reshape(-1).tolist()
    if program.input_codec is InputCodec.TEXT:
        width = -(-(step.k - 1).bit_length() // 8)
        return b"".join(number.to_bytes(width, "big") for number in numbers)
    return b"".join((number + 32_768).to_bytes(2, "big") for number in numbers)


def decode_output(program: Program, output: bytes) -> Stored:
    """The last step's tensor, in the step's dims.

    Raises AssayError OUTPUT_NOT_CANONICAL for what the output codec does not write.
    """
    form = program.output
    if has_form(program, output):
        tensor = read_output(program.output_codec, form, output)
        if tensor is not None and encode_output(program, tensor) == output:
            return tensor
    raise AssayError("OUTPUT_NOT_CANONICAL", "The return data are not what the output codec writes.")


def read_output(codec: OutputCodec, form: Form, output: bytes) -> Stored | None:
    """None for a number beyond the type."""
    content = output[2 * WORD :]
    if codec is OutputCodec.RAW:
        size = form.count * form.type.size
        # Only an input's floats are made canonical.
        if form.type is ElementType.F32:
            return raw_tensor(content[:size], Form(ElementType.S32, form.dims))
        return raw_tensor(content[:size], form)
    if codec is OutputCodec.INT16S:
        numbers = np.frombuffer(content, ">i2")[: form.count].astype(np.int64)
        return store(numbers.reshape(form.dims), form.type)
    values = [int.from_bytes(output[at : at + WORD], "big", signed=True) for at in range(0, len(output), WORD)]
    low, high = RANGES.get(form.type, (0, 255))
    if min(values) < low or max(values) > high:
        return None
    return store(np.array(values, np.int64).reshape(form.dims), form.type)
