"""The tensors that codecs int16s and raw join, by the names of the manifest (docs/EXACT.md, section 8)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from .codecs import encode_int16s, inputs_invalid, int16s_of

INT16 = (-32_768, 32_767)


@dataclass(frozen=True)
class NamedNumber:
    name: str
    minimum: int
    maximum: int


@dataclass(frozen=True)
class NamedTensor:
    name: str
    type: str
    """ONNX's"""
    dims: tuple[int, ...]
    offset: int
    """first number (int16s), or byte (raw), in the calldata's content; of an output its first element"""
    numbers: tuple[NamedNumber, ...]
    """a name for each of its numbers, where it has them"""

    @property
    def count(self) -> int:
        return prod(self.dims)

    @staticmethod
    def parse(entry: Mapping[str, Any]) -> NamedTensor:
        numbers = [
            NamedNumber(str(n["name"]), int(n.get("minimum", INT16[0])), int(n.get("maximum", INT16[1])))
            for n in entry.get("numbers", ())
        ]
        dims = tuple(int(dim) for dim in entry["dims"])
        return NamedTensor(
            str(entry["name"]), str(entry.get("type", "int32")), dims, int(entry["offset"]), tuple(numbers)
        )

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of its elements in calldata, little-endian. There is no int64: what ONNX declares so is given as int32."""
        return np.dtype("int32" if self.type == "int64" else self.type).newbyteorder("<")


def encode_numbers(selector: bytes, values: Mapping[str, Any], tensors: Sequence[NamedTensor], size: int) -> bytes:
    """Calldata of codec int16s. Raises AssayError INPUTS_INVALID."""
    require_names(values, [name for t in tensors for name in ([n.name for n in t.numbers] or [t.name])])
    packed = np.zeros(size, np.int16)
    for tensor in tensors:
        if tensor.numbers:
            found = np.array([number_of(values[number.name], number) for number in tensor.numbers], np.int16)
        else:
            found = int16s_of(shaped(values[tensor.name], tensor)).reshape(-1)
        packed[tensor.offset : tensor.offset + tensor.count] = found
    return encode_int16s(selector, packed)


def encode_tensors(values: Mapping[str, Any], tensors: Sequence[NamedTensor], size: int) -> bytes:
    """Content of codec raw. Raises AssayError INPUTS_INVALID."""
    require_names(values, [tensor.name for tensor in tensors])
    content = bytearray(size)
    for tensor in tensors:
        given = shaped(values[tensor.name], tensor)
        cast = given.astype(tensor.dtype)
        # binary32 rounds what NumPy holds in binary64; an integer that another type would change is refused.
        if tensor.dtype.kind != "f" and (cast != given).any():
            raise inputs_invalid(f"{tensor.name} has values that are no {tensor.dtype.name}")
        content[tensor.offset : tensor.offset + cast.nbytes] = cast.tobytes()
    return bytes(content)


def require_names(values: Mapping[str, Any], names: Sequence[str]) -> None:
    unknown, missing = values.keys() - set(names), set(names) - values.keys()
    if unknown or missing:
        why = f"{min(unknown)} is unknown" if unknown else f"{min(missing)} is missing"
        raise inputs_invalid(why, f"Give {', '.join(names)}.")


def number_of(value: Any, number: NamedNumber) -> int:
    is_whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not is_whole or not number.minimum <= value <= number.maximum:
        limits = f"a whole number from {number.minimum} to {number.maximum}"
        raise inputs_invalid(f"{number.name} is {value!r}, must be {limits}")
    return int(value)


def shaped(value: Any, tensor: NamedTensor) -> np.ndarray[tuple[int, ...], np.dtype[Any]]:
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise inputs_invalid(f"{tensor.name} is no array of {list(tensor.dims)}") from error
    if array.shape != tensor.dims or array.dtype.kind not in "iufb":
        raise inputs_invalid(f"{tensor.name} is {array.dtype} {list(array.shape)}, must be numbers {list(tensor.dims)}")
    return array


def numbers_by_name(packed: bytes, tensors: Sequence[NamedTensor]) -> dict[str, Any]:
    """Tensors of codec int16s."""
    numbers = np.frombuffer(packed, ">i2").astype(np.int16)
    return {t.name: numbers[t.offset : t.offset + t.count].reshape(t.dims) for t in tensors}


def tensors_by_name(content: bytes, tensors: Sequence[NamedTensor]) -> dict[str, Any]:
    """Tensors of codec raw: the last step's tensor has one type, s32 where those of integer outputs differ."""
    size = len(content) // sum(tensor.count for tensor in tensors)
    found = {}
    for tensor in tensors:
        kind = tensor.dtype if tensor.dtype.itemsize == size else np.dtype("<i4")
        at = tensor.offset * size
        found[tensor.name] = np.frombuffer(content[at : at + tensor.count * size], kind).reshape(tensor.dims)
    return found
