"""Verifies a receipt offline, as `requireFinal` would have decided in the block whose hash is trusted.

What this shows: at that block, the storage of the contract at `assay` says that the output is final, by the policy.
What it cannot show, and the caller therefore states: that the block is the chain's and stays it; that the contract is
Assay with this answer time (`code_hash` pins its code); and, as on chain, that the assumptions of the lane hold.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from eth_utils.crypto import keccak

from ..errors import AssayError
from ..types import Lane, Policy, id_of
from ..words import REQUEST_BITS, decode_claim_word, decode_request_word
from .header import Header, read_header
from .receipt import Receipt
from .refusal import malformed, unmet, unproven
from .rlp import decode, decode_list
from .trie import Witness

WORD = 32
REQUESTS, CLAIMS, RESULTS = 0, 1, 5
"""slots of Assay's mappings from an id to one word"""


@dataclass(frozen=True)
class Trust:
    """What a verifier knows from elsewhere."""

    chain_id: int
    assay: str
    answer_seconds: int
    """T, which the contract's constructor fixed"""
    block_hash: str
    """of a block that is the chain's"""
    code_hash: str | None = None
    """keccak256 of the code at `assay`; None: whoever named the address answers for it"""


@dataclass(frozen=True)
class Verdict:
    """If `valid`, what the receipt shows; else `error` says why it shows nothing by this trust and policy."""

    valid: bool
    error: AssayError | None = None
    """RECEIPT_MALFORMED, RECEIPT_UNPROVEN, or the rule of the policy that is not met"""
    request_id: str = ""
    claim_id: str | None = None
    """None after truth without a claim that agreed"""
    lane: int = 0
    output: bytes = b""
    block: Header | None = None
    """the trusted one"""


def verify_receipt(receipt: Receipt, trust: Trust, policy: Policy) -> Verdict:
    """Never raises for a receipt, whatever is in it."""
    try:
        return check(receipt, trust, policy)
    except AssayError as error:
        return Verdict(False, error)


def check(receipt: Receipt, trust: Trust, policy: Policy) -> Verdict:
    """In the order of `requireFinal`, after the way to the storage."""
    request, claim = receipt.request, receipt.claim
    block = read_header(receipt.header)
    if block.hash != trust.block_hash.lower():
        raise unproven(f"its header is of block {block.hash}, the trusted block is {trust.block_hash}")
    read = storage_of(receipt, trust, block)
    if request.model_id != policy.model_id:
        raise unmet("WRONG_MODEL", f"it is about model {request.model_id}, not {policy.model_id}")
    if request.input_hash != policy.input_hash:
        raise unmet("WRONG_INPUT", f"it is about the input {request.input_hash}, not {policy.input_hash}")
    request_id = id_of(trust.chain_id, trust.assay, request)
    word = decode_request_word(read(REQUESTS, request_id) & ((1 << REQUEST_BITS) - 1))
    if word.state not in ("BUSY", "DONE"):
        raise unmet("NOT_FINAL", f"request {request_id} is {word.state}")
    lane = int(Lane.BOND) if word.state == "BUSY" else word.lane
    # Zero while the request is BUSY.
    settled = read(RESULTS, request_id)
    output_hash, claim_id = "0x" + settled.to_bytes(WORD, "big").hex(), None
    if settled == 0:
        if claim is None or claim.request_id != request_id:
            raise unmet("WRONG_CLAIM", f"request {request_id} needs a claim of its own")
        claim_id = id_of(trust.chain_id, trust.assay, claim)
        claim_word = decode_claim_word(read(CLAIMS, claim_id))
        if not claim_word.is_final(trust.answer_seconds, block.timestamp):
            owed = f"{claim_word.state} with {claim_word.pending} answers owed at {block.timestamp}"
            raise unmet("NOT_FINAL", f"claim {claim_id} is {owed}")
        output_hash = claim.output_hash
    found = "0x" + keccak(receipt.output).hex()
    if found != output_hash:
        raise unmet("WRONG_OUTPUT", f"the output's hash is {found}, the final one {output_hash}")
    check_policy(lane, 0 if claim is None else claim.bond, request.window, policy)
    return Verdict(True, None, request_id, claim_id, lane, receipt.output, block)


def check_policy(lane: int, bond: int, window: int, policy: Policy) -> None:
    if not policy.lanes & lane:
        raise unmet("WRONG_LANE", f"it is final in lane {lane}, the policy takes {policy.lanes}")
    if lane != Lane.BOND:
        return
    if bond < policy.min_bond:
        raise unmet("BOND_TOO_SMALL", f"its bond is {bond} wei of {policy.min_bond}")
    if window < policy.min_window:
        raise unmet("WINDOW_TOO_SHORT", f"its window is {window} s of {policy.min_window}")


def slot_of(mapping: int, key: str) -> bytes:
    """Where the contract keeps a mapping's word."""
    return keccak(bytes.fromhex(key[2:]) + mapping.to_bytes(WORD, "big"))


def storage_of(receipt: Receipt, trust: Trust, block: Header) -> Callable[[int, str], int]:
    """Reads words of the contract's mappings at the block."""
    witness = Witness(receipt.nodes)
    account = witness.read(block.state_root, keccak(bytes.fromhex(trust.assay[2:])))
    if account is None:
        raise unproven(f"there is no account {trust.assay} at the block")
    fields = decode_list(account, "the account")
    if len(fields) != 4 or not isinstance(fields[2], bytes) or not isinstance(fields[3], bytes):
        raise malformed("the account has other fields")
    storage_root, code_hash = fields[2], "0x" + fields[3].hex()
    if trust.code_hash is not None and code_hash != trust.code_hash.lower():
        raise unproven(f"the code at {trust.assay} has hash {code_hash}, trusted is {trust.code_hash}")

    def read(mapping: int, key: str) -> int:
        value = witness.read(storage_root, keccak(slot_of(mapping, key)))
        if value is None:
            return 0
        word = decode(value, "a storage word")
        if not isinstance(word, bytes) or len(word) > WORD:
            raise malformed("a storage word is no word")
        return int.from_bytes(word, "big")

    return read
