"""Signed claims, their digests and their signatures (docs/PROMISES.md, section 7)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from eth_keys.datatypes import Signature
from eth_keys.exceptions import BadSignature
from eth_utils.address import to_checksum_address
from eth_utils.crypto import keccak
from eth_utils.exceptions import ValidationError

from ..errors import AssayError
from ..types import SignedClaim, encode_struct, place_of

DOMAIN = keccak(text="EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)")
NAME, VERSION = keccak(text="Assay Promises"), keccak(text="1")
SIGNED_CLAIM = keccak(
    text="SignedClaim(address prover,bytes32 modelId,bytes32 inputHash,bytes32 outputHash,address requester,"
    "uint40 issuedAt,uint40 expiry,uint96 minBond,uint64 salt)"
)
MAX_LIFE = 86_400
"""seconds from issue to end, at most"""
BYTES = 65
ORDER = 0xFFFFFFFF_FFFFFFFF_FFFFFFFF_FFFFFFFE_BAAEDCE6_AF48A03B_BFD25E8C_D0364141


def digest_of(chain_id: int, promises: str, signed: SignedClaim) -> str:
    """What the prover's key signs, for a chain's contract Promises."""
    domain = keccak(DOMAIN + NAME + VERSION + place_of(chain_id, promises))
    content = keccak(SIGNED_CLAIM + encode_struct(signed))
    return "0x" + keccak(b"\x19\x01" + domain + content).hex()


def end_of(signed: SignedClaim) -> int:
    """Last second in which it can be shown."""
    return min(signed.expiry, signed.issued_at + MAX_LIFE)


def signer_of(digest: str, signature: bytes) -> str:
    """Address of the key that signed; `signature` is r, s and v.

    Raises AssayError SIGNATURE_INVALID for whatever the contract refuses.
    """
    if len(signature) != BYTES:
        raise invalid(f"it has {len(signature)} bytes, must have {BYTES}")
    r, s, v = int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:64], "big"), signature[64]
    if v not in (27, 28):
        raise invalid(f"it ends with {v}, must end with 27 or 28")
    if not 1 <= r < ORDER or not 1 <= s <= ORDER // 2:
        raise invalid("its r or s is zero or not below the order, or its s above half of it")
    try:
        key = Signature(vrs=(v - 27, r, s)).recover_public_key_from_msg_hash(bytes.fromhex(digest[2:]))
    except (BadSignature, ValidationError) as error:
        raise invalid("it is of no key") from error
    return to_checksum_address(key.to_canonical_address())


def invalid(why: str) -> AssayError:
    return AssayError(
        "SIGNATURE_INVALID",
        f"The signature proves nothing: {why}.",
        "Ask for the signature as the prover's key made it: r, s and v, 65 bytes.",
    )


@dataclass(frozen=True)
class SignedVerdict:
    """If `valid`, whose signed claim it is; else `error` says what is not met."""

    valid: bool
    error: AssayError | None = None
    """SIGNATURE_INVALID, SIGNER_NOT_BOUND, WRONG_INPUT, WRONG_OUTPUT, NOT_YET_ISSUED, PROMISE_EXPIRED"""
    digest: str = ""
    signer: str = ""
    end: int = 0
    """last second in which it can be shown"""


def verify_signed_claim(
    signed: SignedClaim,
    signature: bytes,
    *,
    chain_id: int,
    promises: str,
    input: bytes,
    output: bytes,
    keys: Mapping[str, int],
    now: int,
    seconds_left: int = 0,
) -> SignedVerdict:
    """All that can be told without a node: hashes, signature, key and time. Never raises for a signed claim.

    `keys` are the addresses that the prover has bound, each with the last second of what it signs; who knows none asks
    the chain (`Assay.check_signed_claim`), which also says whether there is stake. `now` is the caller's clock, and
    `seconds_left` what it needs until the end to show the claim on the chain.
    """
    try:
        return check(signed, signature, chain_id, promises, input, output, keys, now, seconds_left)
    except AssayError as error:
        return SignedVerdict(False, error)


def check(
    signed: SignedClaim,
    signature: bytes,
    chain_id: int,
    promises: str,
    input: bytes,
    output: bytes,
    keys: Mapping[str, int],
    now: int,
    seconds_left: int,
) -> SignedVerdict:
    for code, what, content, expected in (
        ("WRONG_INPUT", "input", input, signed.input_hash),
        ("WRONG_OUTPUT", "output", output, signed.output_hash),
    ):
        found = "0x" + keccak(content).hex()
        if found != expected.lower():
            raise unmet(code, f"the {what}'s hash is {found}, the claim is about {expected}")
    digest = digest_of(chain_id, promises, signed)
    signer, end = signer_of(digest, signature), end_of(signed)
    until = {key.lower(): last for key, last in keys.items()}.get(signer.lower())
    if until is None or signed.issued_at > until:
        how = "is none of the prover's keys" if until is None else f"binds what was issued until {until}"
        raise unmet("SIGNER_NOT_BOUND", f"{signer} {how}, and it was issued at {signed.issued_at}")
    require_time(signed, now, seconds_left)
    return SignedVerdict(True, None, digest, signer, end)


def require_time(signed: SignedClaim, now: int, seconds_left: int) -> None:
    """Raises AssayError NOT_YET_ISSUED, PROMISE_EXPIRED."""
    if now < signed.issued_at:
        raise unmet("NOT_YET_ISSUED", f"it is issued at {signed.issued_at}, and it is {now}")
    if now + seconds_left > end_of(signed):
        raise unmet("PROMISE_EXPIRED", f"it ends at {end_of(signed)}, and {seconds_left} s after {now} are needed")


def unmet(code: str, why: str) -> AssayError:
    return AssayError(
        code,
        f"The signed claim does not hold: {why}.",
        "Do not use the output; ask the prover again, or another one.",
    )
