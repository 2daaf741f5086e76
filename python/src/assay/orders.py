"""Orders: how a request is filed (docs/PROTOCOL.md, section 2)."""

from __future__ import annotations

from eth_utils.address import to_checksum_address
from eth_utils.crypto import keccak

from .errors import AssayError
from .types import ZERO_ADDRESS, Request

BOND, EXCLUSIVE, DELIVERY = 1, 2, 4
"""bits of the first byte, for the parts behind the head"""
HEAD_BYTES = 31
PART_BYTES = {BOND: 12, EXCLUSIVE: 25, DELIVERY: 36}
REQUESTER_BYTES = 20


def encode_order(request: Request, data: bytes) -> bytes:
    """The order of a request, from its sender's account. `data` is the model's calldata.

    Raises AssayError INPUT_MISMATCH if the request is about another input: it would get another id.
    """
    input_hash = "0x" + keccak(data).hex()
    if input_hash != request.input_hash:
        raise AssayError(
            "INPUT_MISMATCH",
            f"The input's hash is {input_hash}, and the request names {request.input_hash}.",
            "Set the request's input_hash to keccak256 of the input.",
        )
    parts, optional = 0, b""
    if request.min_bond:
        parts |= BOND
        optional += amount(request.min_bond)
    if int(request.exclusive_prover, 16) or request.exclusive_until:
        parts |= EXCLUSIVE
        optional += address(request.exclusive_prover) + request.exclusive_until.to_bytes(5, "big")
    if int(request.callback, 16) or request.callback_gas or request.delivery_fee:
        parts |= DELIVERY
        optional += address(request.callback) + request.callback_gas.to_bytes(4, "big") + amount(request.delivery_fee)
    head = bytes([parts, request.lanes]) + request.window.to_bytes(4, "big") + request.expiry.to_bytes(5, "big")
    return head + amount(request.fee) + request.salt.to_bytes(8, "big") + optional + data


def amount(value: int) -> bytes:
    return value.to_bytes(12, "big")


def address(text: str) -> bytes:
    return bytes.fromhex(text[2:])


def decode_order(model_id: str, filed: bytes) -> tuple[Request, bytes]:
    """Request and input of an event Requested: the requester's 20 bytes, then the order.

    Raises AssayError ORDER_MALFORMED for what the contract refuses.
    """
    order = filed[REQUESTER_BYTES:]
    parts = order[0] if order else 0
    required = HEAD_BYTES + sum(size for part, size in PART_BYTES.items() if parts & part)
    if len(order) < required or parts > 7:
        raise AssayError(
            "ORDER_MALFORMED",
            f"An order of {len(order)} bytes with parts {parts} is malformed: parts are at most 7, "
            f"these need {required} bytes.",
            "Read it from an event of the Assay contract.",
        )
    fields = Reader(order[1:])
    lanes, window, expiry, fee, salt = (fields.number(size) for size in (1, 4, 5, 12, 8))
    min_bond = fields.number(12) if parts & BOND else 0
    prover, until = (fields.address(), fields.number(5)) if parts & EXCLUSIVE else (ZERO_ADDRESS, 0)
    callback, gas, delivery_fee = ZERO_ADDRESS, 0, 0
    if parts & DELIVERY:
        callback, gas, delivery_fee = fields.address(), fields.number(4), fields.number(12)
    request = Request(
        requester=to_checksum_address(filed[:REQUESTER_BYTES]),
        model_id=model_id,
        input_hash="0x" + keccak(fields.rest).hex(),
        lanes=lanes,
        fee=fee,
        delivery_fee=delivery_fee,
        min_bond=min_bond,
        window=window,
        expiry=expiry,
        exclusive_prover=prover,
        exclusive_until=until,
        callback=callback,
        callback_gas=gas,
        salt=salt,
    )
    return request, fields.rest


class Reader:
    """Big-endian fields, one after the other."""

    def __init__(self, data: bytes) -> None:
        self.rest = data

    def take(self, size: int) -> bytes:
        taken, self.rest = self.rest[:size], self.rest[size:]
        return taken

    def number(self, size: int) -> int:
        return int.from_bytes(self.take(size), "big")

    def address(self) -> str:
        return to_checksum_address(self.take(20))
