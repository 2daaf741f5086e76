"""A receipt as an object and as JSON text, in which integers of more than 53 bits are decimal text."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields

from eth_utils.address import is_checksum_address, to_checksum_address

from ..types import Claim, Request, Struct, kinds_of
from .refusal import malformed

FORMAT = "assay-receipt-1"
MAX_BRACKETS = 4
"""the receipt, its request, its claim, its nodes"""
MAX_NODES = 256
MAX_OUTPUT_BYTES = 1 << 19
MAX_HEADER_BYTES = 1 << 13
MAX_NODE_BYTES = 1 << 11
HASH = re.compile(r"0x[0-9a-f]{64}")
ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}")
BYTES = re.compile(r"0x(?:[0-9a-f]{2})*")
AMOUNT = re.compile(r"0|[1-9][0-9]{0,38}")
SAFE_BITS = 53
"""a number of more bits is text in JSON"""


@dataclass(frozen=True)
class Receipt:
    request: Request
    claim: Claim | None
    """None after truth without a claim that agreed"""
    output: bytes
    """return data"""
    header: bytes
    """RLP"""
    nodes: tuple[bytes, ...]
    """RLP of each"""


def camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(part.capitalize() for part in rest)


def render_receipt(receipt: Receipt) -> str:
    """As JSON, which `parse_receipt` reads."""
    value: dict[str, object] = {"format": FORMAT, "request": plain(receipt.request)}
    if receipt.claim is not None:
        value["claim"] = plain(receipt.claim)
    value |= {name: "0x" + getattr(receipt, name).hex() for name in ("output", "header")}
    value["nodes"] = ["0x" + node.hex() for node in receipt.nodes]
    return json.dumps(value, separators=(",", ":")) + "\n"


def plain(struct: Request | Claim) -> dict[str, object]:
    found: dict[str, object] = {}
    for field, kind in zip(fields(struct), kinds_of(type(struct)), strict=True):
        value = getattr(struct, field.name)
        found[camel(field.name)] = str(value) if isinstance(kind, int) and kind > SAFE_BITS else value
    return found


def parse_receipt(text: str) -> Receipt:
    """Raises AssayError RECEIPT_MALFORMED, naming the first field that is wrong."""
    # Before it is read: a text that nests deep enough ends some versions of Python.
    if text.count("[") + text.count("{") > MAX_BRACKETS:
        raise malformed("it nests deeper, or holds more, than any receipt")
    try:
        value = json.loads(text)
    except ValueError as error:
        raise malformed("it is not JSON") from error
    given = object_of(value, "it", {"format", "request", "output", "header", "nodes"}, {"claim"})
    if given["format"] != FORMAT:
        raise malformed(f"its format is {given['format']!r}, must be {FORMAT}")
    nodes = given["nodes"]
    if not isinstance(nodes, list) or len(nodes) > MAX_NODES:
        raise malformed(f"nodes: is no list of at most {MAX_NODES}")
    return Receipt(
        request=struct_of(Request, given["request"], "request"),
        claim=struct_of(Claim, given["claim"], "claim") if "claim" in given else None,
        output=bytes_of(given["output"], "output", MAX_OUTPUT_BYTES),
        header=bytes_of(given["header"], "header", MAX_HEADER_BYTES),
        nodes=tuple(bytes_of(node, f"nodes.{i}", MAX_NODE_BYTES) for i, node in enumerate(nodes)),
    )


def object_of(value: object, where: str, required: set[str], optional: set[str]) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise malformed(f"{where} is no object")
    if not required <= value.keys() <= required | optional:
        raise malformed(f"{where} has the fields {', '.join(map(str, value))}")
    return value


def bytes_of(value: object, where: str, most: int) -> bytes:
    if not isinstance(value, str) or len(value) > 2 + 2 * most or BYTES.fullmatch(value) is None:
        raise malformed(f"{where}: is no bytes as lower-case hex, at most {most}")
    return bytes.fromhex(value[2:])


def struct_of(struct: type[Struct], value: object, where: str) -> Struct:
    names = [field.name for field in fields(struct)]
    given = object_of(value, where, {camel(name) for name in names}, set())
    read = [
        field_of(given[camel(name)], kind, f"{where}.{camel(name)}")
        for name, kind in zip(names, kinds_of(struct), strict=True)
    ]
    return struct(*read)  # type: ignore[arg-type]


def field_of(value: object, kind: int | str, where: str) -> int | str:
    if kind == "hash":
        if isinstance(value, str) and HASH.fullmatch(value):
            return value
        raise malformed(f"{where}: is no hash (32 bytes as lower-case hex)")
    if kind == "address":
        is_text = isinstance(value, str) and ADDRESS.fullmatch(value) is not None
        if is_text and (value == str(value).lower() or is_checksum_address(value)):
            return to_checksum_address(str(value))
        raise malformed(f"{where}: is no address")
    assert isinstance(kind, int)
    if kind > SAFE_BITS:
        if not (isinstance(value, str) and AMOUNT.fullmatch(value)):
            raise malformed(f"{where}: is no decimal integer in quotes")
        number = int(value)
    else:
        if not isinstance(value, int) or isinstance(value, bool):
            raise malformed(f"{where}: is no integer")
        number = value
    if not 0 <= number < 1 << kind:
        raise malformed(f"{where}: is not of at most {kind} bits")
    return number
