"""Whether somebody can count on a signed claim: what the contract says, and whether stake is there (docs/PROMISES.md,
section 4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..errors import AssayError
from ..promises.signed_claim import require_time, signer_of
from ..types import SignedClaim
from ..words import demands_of
from . import abi
from .chain import Block, Chain, read_block
from .effects import Steps
from .rpc import Reverted, call, call_bytes

FEE_ROOM = 4
"""a base fee so many times the block's still lets the claim open at once"""


@dataclass(frozen=True)
class Promised:
    """A signed claim that its prover's stake is behind."""

    digest: str
    signer: str
    end: int
    """last second in which it can be shown"""
    bond: int
    """of its claim if it is opened at this block's base fee, wei"""
    deposit: int
    """that whoever opens it puts down, wei"""
    block: Block


def promises_of(chain: Chain, given: str | None) -> str:
    """Raises AssayError PROMISES_UNKNOWN."""
    address = given or chain.deployment.contracts.get("promises")
    if address is None:
        raise AssayError(
            "PROMISES_UNKNOWN",
            f"The deployment on chain {chain.deployment.chain_id} names no contract Promises.",
            "Name its address, as whoever deployed says it.",
        )
    return address


def check_signed_claim(
    chain: Chain,
    signed: SignedClaim,
    signature: bytes,
    input: bytes,
    output: bytes,
    seconds_left: int,
    promises: str | None,
) -> Steps[Promised]:
    """All at one block.

    Raises AssayError PROMISES_UNKNOWN, PROMISES_MISMATCH; PROMISE_REFUSED with the contract's reason; PROMISE_EXPIRED;
    PROMISES_WAIT and STAKE_TOO_SMALL (both retryable); faults of the node.
    """
    contract = promises_of(chain, promises)
    block = yield from read_block()
    at = {"blockHash": block.hash}

    def ask(function: str, *args: Any) -> Steps[Any]:
        return call("read promises", contract, "IPromises", function, *args, block=at)

    game = yield from ask("assay")
    if game.lower() != chain.assay.lower():
        raise AssayError(
            "PROMISES_MISMATCH",
            f"The contract Promises at {contract} is of Assay {game}, the deployment has {chain.assay}.",
            "Take both addresses from whoever deployed.",
        )
    reader = yield from ask("reader")
    fields = abi.tuple_of(signed)
    context = "ask whether the signed claim can be opened"
    try:
        # Nodes compute calls without a gas price at a base fee of 0: the bond that this one returns is too low there.
        asked = abi.encode_call("IPromises", "check", fields, signature, input, output)
        yield from call_bytes(context, contract, asked, at)
        asked = abi.encode_call("IPromiseReader", "readSigned", fields, input, output)
        read = yield from call_bytes(context, reader, asked, at)
    except Reverted as error:
        raise AssayError(
            "PROMISE_REFUSED",
            f"The chain refuses the signed claim: {error.message}.",
            "Do not use the output; ask the prover again, or another one.",
            details={"revert": error.name},
        ) from error
    digest, end, word = abi.decode_results("IPromiseReader", "readSigned", read)
    require_time(signed, block.timestamp, seconds_left)
    account = abi.named("IPromises", "accountOf", (yield from ask("accountOf", signed.prover)))
    if any(account["head"]):
        head = abi.named("IPromises", "signedState", (yield from ask("signedState", account["head"])))
        require_moving(signed, block.timestamp - head["queuedAt"], chain.deployment.answer_seconds)
    depth = demands_of(word)
    needed = max(signed.min_bond, least_bond(chain, depth, FEE_ROOM * block.base_fee))
    if account["free"] < needed:
        raise AssayError(
            "STAKE_TOO_SMALL",
            f"Prover {signed.prover} has {account['free']} wei of free stake, needed are {needed}.",
            "Wait until its claims are closed, or ask another prover.",
            retryable=True,
        )
    stake = sum(account[part] for part in ("free", "leaving", "away", "slots"))
    bond = max(least_bond(chain, depth, block.base_fee), min(signed.min_bond, stake))
    text = "0x" + digest.hex()
    return Promised(text, signer_of(text, signature), end, bond, bond // 10, block)


def require_moving(signed: SignedClaim, waited: int, most: int) -> None:
    if waited > most:
        raise AssayError(
            "PROMISES_WAIT",
            f"A signed claim of {signed.prover} has waited for stake for {waited} seconds, at most {most} are right.",
            "Wait until its queue moves, or ask another prover.",
            retryable=True,
        )


def least_bond(chain: Chain, depth: int, base_fee: int) -> int:
    """Of any claim on a model of this depth."""
    constants = chain.deployment
    gas = constants.gas_base + constants.gas_per_demand * depth
    return 20 * gas * max(constants.gas_price_floor, 5 * base_fee)
