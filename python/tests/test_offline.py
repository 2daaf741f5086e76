"""What needs no chain: values, orders, receipts' form."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import numpy as np
import pytest

from assay import AssayError, Request, parse_receipt
from assay.codecs import encode_int16s, encode_prices, encode_raw, encode_text
from assay.core.model import Model
from assay.exact.form import InputCodec, OutputCodec
from assay.meaning import read_output
from assay.orders import decode_order, encode_order
from assay.receipt import rlp
from assay.tensors import NamedTensor
from assay.types import ZERO_ADDRESS
from assay.words import ModelWord

from .vectors import VECTORS, from_hex

SELECTOR = bytes.fromhex("aabbccdd")
REQUEST = Request(
    "0x" + "11" * 20,
    "0x" + "22" * 32,
    "0x" + "33" * 32,
    7,
    5,
    0,
    0,
    60,
    1000,
    ZERO_ADDRESS,
    0,
    ZERO_ADDRESS,
    0,
    9,
)


def code_of(action: Any) -> str:
    with pytest.raises(AssayError) as caught:
        action()
    return caught.value.code


def raw_model(inputs: list[dict[str, Any]], outputs: list[dict[str, Any]], size: int) -> Model:
    word = ModelWord(4, SELECTOR, 0, 0, InputCodec.RAW, OutputCodec.RAW, size)
    entry = ({"name": "output", "type": "bytes"},)
    return Model(
        "0x",
        "",
        word,
        ("data",),
        entry,
        tuple(map(NamedTensor.parse, inputs)),
        tuple(map(NamedTensor.parse, outputs)),
    )


def test_raw_tensors_by_name() -> None:
    model = raw_model(
        [
            {"name": "x", "type": "float32", "dims": [2, 2], "offset": 0},
            {"name": "ids", "type": "int64", "dims": [3], "offset": 16},
            {"name": "mask", "type": "bool", "dims": [2], "offset": 28},
        ],
        [
            {"name": "y", "type": "int64", "dims": [2], "offset": 0},
            {"name": "z", "type": "uint8", "dims": [1], "offset": 2},
        ],
        30,
    )
    x = np.array([[1.5, -2], [0.1, 3]])
    data = model.encode({"x": x, "ids": [1, -1, 2], "mask": [True, False]})
    content = data[4 + 64 :]
    assert content[:16] == x.astype("<f4").tobytes()
    assert content[16:28] == np.array([1, -1, 2], "<i4").tobytes() and content[28:30] == b"\x01\x00"
    # One type for all outputs: s32, as those of the integers differ.
    returned = encode_raw(b"", np.array([7, -8, 9], "<i4").tobytes())
    values = model.decode(returned)
    assert values["y"].tolist() == [7, -8] and values["z"].tolist() == [9]
    for wrong in (
        {"ids": [1 << 40, 0, 0]},
        {"ids": [0.5, 0, 0]},
        {"x": x[0]},
        {"x": [[1], [2, 3]]},
        {"mask": "no"},
    ):
        given = {"x": x, "ids": [1, 2, 3], "mask": [True, True], **wrong}
        assert code_of(lambda: model.encode(given)) == "INPUTS_INVALID"
    assert code_of(lambda: model.encode({"x": x})) == "INPUTS_INVALID"
    assert code_of(lambda: model.decode(b"")) == "OUTPUT_INVALID"


def test_encoders() -> None:
    assert encode_text(SELECTOR, "é")[4 + 32 : 4 + 66] == (2).to_bytes(32, "big") + "é".encode()
    assert encode_raw(SELECTOR, b"") == SELECTOR + (32).to_bytes(32, "big") + bytes(32)
    assert encode_int16s(SELECTOR, [-1, 2])[4 + 64 :] == b"\xff\xff\x00\x02" + bytes(28)
    assert len(encode_prices(SELECTOR, [1, 2], [3, 4], [5, 6])) == 4 + 96 + 3 * 96
    for action in (
        lambda: encode_int16s(SELECTOR, [1.5]),
        lambda: encode_int16s(SELECTOR, [40_000]),
        lambda: encode_int16s(SELECTOR, ["1"]),
        lambda: encode_prices(SELECTOR, [1], [1, 2], [1]),
        lambda: encode_prices(SELECTOR, [-1], [1], [1]),
    ):
        assert code_of(action) == "INPUTS_INVALID"


def test_orders() -> None:
    assert code_of(lambda: encode_order(REQUEST, b"other")) == "INPUT_MISMATCH"
    assert code_of(lambda: decode_order(REQUEST.model_id, bytes(50))) == "ORDER_MALFORMED"
    assert code_of(lambda: decode_order(REQUEST.model_id, bytes(20) + b"\x08" + bytes(80))) == "ORDER_MALFORMED"


def test_rlp() -> None:
    items: tuple[rlp.Item, ...] = (
        b"",
        b"\0",
        b"\x7f",
        b"\x80",
        bytes(55),
        bytes(56),
        bytes(70_000),
        [],
        [b"a", [b"", [bytes(60)]]],
    )
    for item in items:
        assert rlp.decode(rlp.encode(item), "it") == item
    for data in (
        b"",
        b"\x81\x7f",
        b"\xb8\x01a",
        b"\x82a",
        b"\xc2a",
        b"\xb9\x00\x38" + bytes(56),
        b"a" * 2,
        b"\xc1" * 200,
    ):
        assert code_of(lambda: rlp.decode(data, "it")) == "RECEIPT_MALFORMED"


def receipt_with(**changes: Any) -> str:
    request = {
        "requester": "0x" + "11" * 20, "modelId": "0x" + "22" * 32, "inputHash": "0x" + "33" * 32, "lanes": 7,
        "fee": "5", "deliveryFee": "0", "minBond": "0", "window": 60, "expiry": 1000, "exclusiveProver": ZERO_ADDRESS,
        "exclusiveUntil": 0, "callback": ZERO_ADDRESS, "callbackGas": 0, "salt": "9",
    }  # fmt: skip
    top = {"format": "assay-receipt-1", "request": request, "output": "0x", "header": "0x", "nodes": []}
    for name, value in changes.items():
        (request if name in request else top)[name] = value
    return json.dumps(top)


def test_receipt_form() -> None:
    read = parse_receipt(receipt_with())
    assert read.claim is None and dataclasses.replace(read.request, requester=REQUEST.requester) == REQUEST
    wrong: tuple[dict[str, Any], ...] = (
        {"format": "assay-receipt-2"},
        {"fee": 5},
        {"fee": "05"},
        {"fee": str(1 << 96)},
        {"lanes": 256},
        {"lanes": True},
        {"lanes": "7"},
        {"requester": "0x" + "11" * 19},
        {"callback": "0xAb" + "00" * 19},
        {"modelId": "0x" + "AA" * 32},
        {"output": "0x0"},
        {"output": "0xAA"},
        {"nodes": ["0x"] * 257},
        {"nodes": "0x"},
        {"extra": 1},
        {"claim": {}},
    )
    for changes in wrong:
        assert code_of(lambda: parse_receipt(receipt_with(**changes))) == "RECEIPT_MALFORMED"
    for text in ("", "[]", "[" * 100_000, '{"format": "assay-receipt-1"}'):
        assert code_of(lambda: parse_receipt(text)) == "RECEIPT_MALFORMED"


def test_meanings_are_those_of_the_typescript_reader() -> None:
    # Numbers of JSON are doubles there.
    vectors = json.loads((VECTORS / "meanings.json").read_text(), parse_int=float)
    found = {True: 0, False: 0}
    for vector in vectors:
        section = whole(vector["section"])
        if vector["reading"] is None:
            with pytest.raises(AssayError) as refused:
                read_output(section, from_hex(vector["output"]))
            assert refused.value.code == "OUTPUT_INVALID"
        else:
            assert read_output(section, from_hex(vector["output"])) == vector["reading"], vector
        found[vector["reading"] is None] += 1
    assert min(found.values()) > 20


def whole(value: Any) -> Any:
    """Places and counts as integers again; scales may stay what they are."""
    if isinstance(value, dict):
        return {name: one if name == "scale" else whole(one) for name, one in value.items()}
    if isinstance(value, list):
        return [whole(one) for one in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def test_no_meaning_without_a_manifest() -> None:
    assert read_output({"codec": {"output": "words"}, "outputLength": 32, "outputs": []}, bytes(32)) is None
