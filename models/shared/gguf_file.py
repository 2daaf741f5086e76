"""Writes a GGUF file, version 3: entries, matrices of binary16 or of blocks of bytes, and vectors of binary32. The
package gguf leaves out lists that are empty, and a tokenizer without merges has one."""

import struct

import numpy as np

ALIGNMENT = 32
BLOCK = 32  # numbers of a row that lie together in Q8_0
U32, I32, F32, BOOL, STRING, ARRAY = 4, 5, 6, 7, 8, 9
FORMS = {U32: "<I", I32: "<i", F32: "<f", BOOL: "<?"}
# Of a tensor, by GGML's numbers.
TENSOR_F32, TENSOR_F16, TENSOR_Q8_0 = 0, 1, 8


def half(values):
    """What a tensor's numbers are in a file of binary16."""
    return np.asarray(values).astype(np.float16).astype(np.float32)


def q8_0_bytes(rows):
    """Blocks of a binary16 step and 32 signed bytes. All blocks of a row have one step, of the row's largest number:
    signed bytes by row, which integer models have, are then exactly those of the file.
    @param rows [rows, a multiple of 32]"""
    steps = (np.abs(rows).max(1, keepdims=True) / 127).astype("<f2")
    if not (steps > 0).all():
        raise ValueError("a row is all zeros, or too small for a binary16 step")
    numbers = np.clip(np.rint(rows / steps.astype(np.float32)), -127, 127).astype(np.int8)
    blocks = np.empty((len(rows), rows.shape[1] // BLOCK), [("step", "<f2"), ("numbers", np.int8, BLOCK)])
    blocks["step"], blocks["numbers"] = steps, numbers.reshape(*blocks.shape, BLOCK)
    return blocks.tobytes()


CONTENTS = {TENSOR_F32: lambda values: values.astype("<f4").tobytes(),
            TENSOR_F16: lambda values: values.astype("<f2").tobytes(), TENSOR_Q8_0: q8_0_bytes}


def _text(text):
    content = text.encode()
    return struct.pack("<Q", len(content)) + content


def _value(kind, value):
    return _text(value) if kind == STRING else struct.pack(FORMS[kind], value)


def _entry(name, kind, value):
    if isinstance(value, list):
        head = struct.pack("<IIQ", ARRAY, kind, len(value))
        return _text(name) + head + b"".join(_value(kind, each) for each in value)
    return _text(name) + struct.pack("<I", kind) + _value(kind, value)


def _padded(content):
    return content + bytes(-len(content) % ALIGNMENT)


def gguf_bytes(entries, tensors, matrices=TENSOR_F16):
    """@param entries (kind, value) by name
    @param tensors arrays by name, outermost dimension first; vectors are binary32
    @param matrices the type of the others"""
    infos, parts, at = b"", [], 0
    for name, values in tensors.items():
        dims = values.shape[::-1]
        code = TENSOR_F32 if len(dims) == 1 else matrices
        infos += _text(name) + struct.pack(f"<I{len(dims)}QIQ", len(dims), *dims, code, at)
        parts.append(_padded(CONTENTS[code](values)))
        at += len(parts[-1])
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(entries))
    head += b"".join(_entry(name, *entry) for name, entry in entries.items()) + infos
    return _padded(head) + b"".join(parts)


def byte_letters():
    """GPT-2's characters for the 256 bytes: a byte that is no printable character of Latin-1 is U+0100 and on."""
    others = [*range(33), *range(127, 161), 173]
    return [chr(256 + others.index(b) if b in others else b) for b in range(256)]
