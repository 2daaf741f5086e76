"""Writes a GGUF file, version 3: entries, matrices of binary16, and gains of binary32. The package gguf leaves out lists that are empty, and
a tokenizer without merges has one."""

import struct

import numpy as np

ALIGNMENT = 32
U32, I32, F32, STRING, ARRAY = 4, 5, 6, 8, 9
FORMS = {U32: "<I", I32: "<i", F32: "<f"}
TYPES = {1: (0, "<f4"), 2: (1, "<f2")}  # of a tensor, by its dimensions


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


def gguf_bytes(entries, tensors):
    """@param entries (kind, value) by name @param tensors arrays by name, outermost dimension first"""
    infos, data = b"", b""
    for name, values in tensors.items():
        dims = values.shape[::-1]
        code, form = TYPES[len(dims)]
        infos += _text(name) + struct.pack(f"<I{len(dims)}QIQ", len(dims), *dims, code, len(data))
        data += _padded(values.astype(form).tobytes())
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(entries))
    head += b"".join(_entry(name, *entry) for name, entry in entries.items()) + infos
    return _padded(head) + data


def half(values):
    """What a tensor's numbers are in the file."""
    return np.asarray(values).astype(np.float16).astype(np.float32)


def byte_letters():
    """GPT-2's characters for the 256 bytes: a byte that is no printable character of Latin-1 is U+0100 and on."""
    others = [*range(33), *range(127, 161), 173]
    return [chr(256 + others.index(b) if b in others else b) for b in range(256)]
