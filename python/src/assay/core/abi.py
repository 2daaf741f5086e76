"""Functions, events and errors of the contracts, by their generated ABIs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from eth_abi.abi import decode, encode
from eth_abi.exceptions import DecodingError
from eth_utils.abi import collapse_if_tuple
from eth_utils.crypto import keccak

from ..types import AnyStruct, kinds_of, values_of

Entry = Mapping[str, Any]


@cache
def contracts() -> Mapping[str, Sequence[Entry]]:
    text = files("assay").joinpath("generated/abis.json").read_text()
    found: Mapping[str, Sequence[Entry]] = json.loads(text)
    return found


def types_of(parameters: Sequence[Entry]) -> list[str]:
    return [collapse_if_tuple(dict(parameter)) for parameter in parameters]


def signature_hash(entry: Entry) -> bytes:
    return keccak(text=f"{entry['name']}({','.join(types_of(entry['inputs']))})")


@cache
def function_of(contract: str, name: str) -> Entry:
    return next(e for e in contracts()[contract] if e["type"] == "function" and e["name"] == name)


def encode_call(contract: str, name: str, *args: Any) -> bytes:
    entry = function_of(contract, name)
    return signature_hash(entry)[:4] + encode(types_of(entry["inputs"]), args)


def decode_result(contract: str, name: str, data: bytes) -> Any:
    """The one result of a function."""
    return decode_results(contract, name, data)[0]


def decode_results(contract: str, name: str, data: bytes) -> tuple[Any, ...]:
    return decode(types_of(function_of(contract, name)["outputs"]), data)


def named(contract: str, name: str, values: Sequence[Any]) -> dict[str, Any]:
    """The fields of a struct that is the one result of a function."""
    (struct,) = function_of(contract, name)["outputs"]
    return {field["name"]: value for field, value in zip(struct["components"], values, strict=True)}


def tuple_of(struct: AnyStruct) -> tuple[Any, ...]:
    """A struct as it is encoded."""
    kinds = kinds_of(type(struct))
    pairs = zip(values_of(struct), kinds, strict=True)
    return tuple(bytes.fromhex(str(value)[2:]) if kind == "hash" else value for value, kind in pairs)


@cache
def events() -> Mapping[bytes, Entry]:
    return {signature_hash(e): e for e in contracts()["IAssay"] if e["type"] == "event"}


def decode_event(topics: Sequence[bytes], data: bytes) -> tuple[str, dict[str, Any]] | None:
    """Name and arguments of an event of Assay; None for another one."""
    entry = events().get(topics[0]) if topics else None
    if entry is None:
        return None
    indexed = [i for i in entry["inputs"] if i["indexed"]]
    plain = [i for i in entry["inputs"] if not i["indexed"]]
    args = {
        i["name"]: decode([kind], topic)[0]
        for i, kind, topic in zip(indexed, types_of(indexed), topics[1:], strict=True)
    }
    args |= {i["name"]: value for i, value in zip(plain, decode(types_of(plain), data), strict=True)}
    return entry["name"], args


@cache
def errors() -> Mapping[bytes, Entry]:
    entries = [e for abi in contracts().values() for e in abi if e["type"] == "error"]
    return {signature_hash(e)[:4]: e for e in entries}


def revert_text(data: bytes) -> tuple[str, str]:
    """Name of a contract's error, and `name(argument: value, …)`."""
    entry = errors().get(data[:4])
    try:
        if entry is not None:
            values = decode(types_of(entry["inputs"]), data[4:])
            named = [f"{i['name']}: {shown(v)}" for i, v in zip(entry["inputs"], values, strict=True)]
            return entry["name"], f"{entry['name']}({', '.join(named)})"
        if data[:4] == bytes.fromhex("08c379a0"):
            return "Error", f"Error({decode(['string'], data[4:])[0]})"
    except DecodingError:
        pass
    # A stranger's contract may revert with a megabyte.
    return "UnknownRevert", f"UnknownRevert(0x{data[:128].hex()})"


def shown(value: object) -> str:
    return "0x" + value.hex() if isinstance(value, bytes) else str(value)
