"""Requests, claims and what is demanded of an output (docs/PROTOCOL.md, sections 2 and 4)."""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import IntFlag
from typing import TypeAlias, TypeVar

from eth_utils.address import to_checksum_address
from eth_utils.crypto import keccak

WORD = 32
ZERO_ADDRESS = "0x" + "00" * 20
ZERO_HASH = "0x" + "00" * 32


class Lane(IntFlag):
    """Bits of the lanes in which an output becomes final."""

    EXECUTION = 1
    PROOF = 2
    BOND = 4


@dataclass(frozen=True)
class Request:
    """An order for one output of one model on one input. Amounts in wei, times in seconds since 1970."""

    requester: str
    model_id: str
    input_hash: str
    """keccak256 of the calldata, selector included"""
    lanes: int
    fee: int
    """to whoever makes the output final"""
    delivery_fee: int
    min_bond: int
    window: int
    """seconds in which a claim can be challenged"""
    expiry: int
    """last second in which a claim may be made"""
    exclusive_prover: str
    exclusive_until: int
    callback: str
    callback_gas: int
    salt: int
    """tells apart what one requester asks twice"""


@dataclass(frozen=True)
class Claim:
    """A prover's bonded statement of what the output of a request is."""

    request_id: str
    model_id: str
    attempt: int
    prover: str
    operator: str
    output_hash: str
    """keccak256 of the return data"""
    bond: int
    ticket_bond: int
    gas_price: int


@dataclass(frozen=True)
class SignedClaim:
    """What a prover signs off the chain: the answer to an input, with its stake behind it. Times in seconds."""

    prover: str
    model_id: str
    input_hash: str
    output_hash: str
    requester: str
    """who asked; no rule reads it"""
    issued_at: int
    expiry: int
    min_bond: int
    """least bond of its claim as far as the stake goes, wei"""
    salt: int
    """tells apart what one prover says twice"""


@dataclass(frozen=True)
class Batch:
    """Many claims whose data were posted at once."""

    prover: str
    model_id: str
    window: int
    """seconds in which leaves can be opened"""
    count: int
    """leaves"""
    root: str


@dataclass(frozen=True)
class Policy:
    """What a consumer demands of an output before it uses it."""

    model_id: str
    input_hash: str
    lanes: int
    min_bond: int
    min_window: int


NO_CLAIM = Claim(ZERO_HASH, ZERO_HASH, 0, ZERO_ADDRESS, ZERO_ADDRESS, ZERO_HASH, 0, 0, 0)
"""what stands for "no claim" where a call takes one"""

BYTES = {"address": 20, "hash": 32}
REQUEST_FIELDS: tuple[int | str, ...] = (
    "address", "hash", "hash", 8, 96, 96, 96, 32, 40, "address", 40, "address", 32, 64,
)  # fmt: skip
"""kind of each field: an address, a hash, or a number of so many bits"""
CLAIM_FIELDS: tuple[int | str, ...] = ("hash", "hash", 32, "address", "address", "hash", 96, 96, 64)
POLICY_FIELDS: tuple[int | str, ...] = ("hash", "hash", 8, 96, 32)

SIGNED_FIELDS: tuple[int | str, ...] = ("address", "hash", "hash", "hash", "address", 40, 40, 96, 64)
BATCH_FIELDS: tuple[int | str, ...] = ("address", "hash", 32, 16, "hash")

Struct = TypeVar("Struct", Request, Claim, Policy, SignedClaim, Batch)
AnyStruct: TypeAlias = Request | Claim | Policy | SignedClaim | Batch
FIELDS: dict[type, tuple[int | str, ...]] = {
    Request: REQUEST_FIELDS,
    Claim: CLAIM_FIELDS,
    Policy: POLICY_FIELDS,
    SignedClaim: SIGNED_FIELDS,
    Batch: BATCH_FIELDS,
}


def kinds_of(struct: type[AnyStruct]) -> tuple[int | str, ...]:
    return FIELDS[struct]


def values_of(struct: AnyStruct) -> tuple[int | str, ...]:
    """The fields in order, as eth_abi takes a tuple."""
    return tuple(getattr(struct, field.name) for field in fields(struct))


def encode_struct(struct: AnyStruct) -> bytes:
    """abi.encode: every field is static and fills one word."""
    words = []
    for value, kind in zip(values_of(struct), kinds_of(type(struct)), strict=True):
        if isinstance(value, int):
            words.append(value.to_bytes(WORD, "big"))
        else:
            words.append(bytes.fromhex(value[2:]).rjust(WORD, b"\0"))
        assert isinstance(value, str) == isinstance(kind, str)
    return b"".join(words)


def decode_struct(struct: type[Struct], data: bytes) -> Struct:
    """The inverse of `encode_struct`."""
    values: list[int | str] = []
    for i, kind in enumerate(kinds_of(struct)):
        word = data[WORD * i : WORD * (i + 1)]
        if kind == "address":
            values.append(to_checksum_address(word[-20:]))
        else:
            values.append("0x" + word.hex() if kind == "hash" else int.from_bytes(word, "big"))
    return struct(*values)  # type: ignore[arg-type]


def place_of(chain_id: int, contract: str) -> bytes:
    """A contract of one chain, which ids and digests begin with."""
    return chain_id.to_bytes(WORD, "big") + bytes.fromhex(contract[2:]).rjust(WORD, b"\0")


def id_of(chain_id: int, contract: str, struct: Request | Claim | Batch) -> str:
    """Id of a request, a claim or a batch in the game of one contract: a hash of its content."""
    return "0x" + keccak(place_of(chain_id, contract) + encode_struct(struct)).hex()
