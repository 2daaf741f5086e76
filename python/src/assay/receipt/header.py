"""Block headers: from a node's answer to RLP, whose hash is the block's, and from RLP to the fields that matter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from eth_utils.crypto import keccak

from .refusal import malformed
from .rlp import Item, decode_list, encode

FIELDS = (
    "parentHash", "sha3Uncles", "miner", "stateRoot", "transactionsRoot", "receiptsRoot", "logsBloom", "difficulty",
    "number", "gasLimit", "gasUsed", "timestamp", "extraData", "mixHash", "nonce", "baseFeePerGas", "withdrawalsRoot",
    "blobGasUsed", "excessBlobGas", "parentBeaconBlockRoot", "requestsHash",
)  # fmt: skip
"""in the header's order; those after nonce came with forks, one after the other"""
NUMBERS = {
    "difficulty", "number", "gasLimit", "gasUsed", "timestamp", "baseFeePerGas", "blobGasUsed", "excessBlobGas",
}  # fmt: skip
"""without leading zeros, in JSON and in RLP; the rest is bytes in both"""
STATE_ROOT, NUMBER, TIMESTAMP = 3, 8, 11


@dataclass(frozen=True)
class Header:
    hash: str
    number: int
    timestamp: int
    """seconds"""
    state_root: bytes


def encode_header(block: Mapping[str, object]) -> bytes:
    """RLP of a block as `eth_getBlockBy…` gives it; its hash is the block's only on a chain with this form."""
    fields: list[Item] = []
    for name in FIELDS:
        value = block.get(name)
        if value is None:
            continue
        digits = str(value)[2:]
        if name in NUMBERS:
            digits = digits.lstrip("0")
        fields.append(bytes.fromhex(digits if len(digits) % 2 == 0 else "0" + digits))
    return encode(fields)


def read_header(data: bytes) -> Header:
    """Raises AssayError RECEIPT_MALFORMED."""
    fields = decode_list(data, "the header")

    def field(index: int, most: int) -> bytes:
        value = fields[index] if index < len(fields) else None
        if not isinstance(value, bytes) or len(value) > most:
            raise malformed(f"the header's field {index} is not of at most {most} bytes")
        return value

    state_root = field(STATE_ROOT, 32)
    if len(state_root) != 32:
        raise malformed("the header's state root is no hash")
    number, timestamp = (int.from_bytes(field(index, most), "big") for index, most in ((NUMBER, 8), (TIMESTAMP, 6)))
    return Header("0x" + keccak(data).hex(), number, timestamp, state_root)
