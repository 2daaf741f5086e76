"""The connection to one deployment on one chain, checked once at the start."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from eth_account.signers.local import LocalAccount

from ..deployment import Deployment
from ..errors import AssayError
from ..exact.commit import JUDGE_VERSION
from ..types import Claim, Request, id_of
from .effects import Steps
from .rpc import call, rpc, to_bytes, to_int, to_text

WIDEST = 100_000
"""blocks of the first question for logs; nodes that take fewer say so"""
TOO_MUCH = (
    "range",
    "limit",
    "exceed",
    "more than",
    "too many",
    "too large",
    "response size",
    "timeout",
    "timed out",
)


@dataclass
class Chain:
    deployment: Deployment
    account: LocalAccount | str | None
    """who asks: a key, or an address for which the node or a middleware signs"""
    log_range: int = field(default=WIDEST)
    """blocks of one question for logs, as far as is known of this node"""

    @property
    def assay(self) -> str:
        return self.deployment.contracts["assay"]

    def id_of(self, struct: Request | Claim) -> str:
        return id_of(self.deployment.chain_id, self.assay, struct)

    def contract(self, name: str) -> str:
        """Raises AssayError LANE_UNAVAILABLE for a deployment without it."""
        address = self.deployment.contracts.get(name)
        if address is None:
            raise AssayError(
                "LANE_UNAVAILABLE",
                f"The deployment on chain {self.deployment.chain_id} names no {name}: it has no EXECUTION lane.",
                "Use another lane, or a deployment of this version.",
            )
        return address


@dataclass(frozen=True)
class Block:
    number: int
    hash: str
    timestamp: int
    base_fee: int = 0
    """wei a unit of gas"""


def read_block(which: str | int = "latest") -> Steps[Block]:
    tag = hex(which) if isinstance(which, int) else which
    found: Mapping[str, Any] | None = yield from rpc("read a block", "eth_getBlockByNumber", tag, False)
    if found is None:
        raise AssayError("BLOCK_UNKNOWN", f"The node has no block {which}.", "Ask again.", retryable=True)
    base_fee = to_int(found.get("baseFeePerGas", 0))
    return Block(to_int(found["number"]), to_text(found["hash"]), to_int(found["timestamp"]), base_fee)


def connect(deployment: Deployment, account: LocalAccount | str | None) -> Steps[Chain]:
    """Checks that chain id, code, block and constants are those of the deployment.

    Raises AssayError JUDGE_VERSION_MISMATCH, CHAIN_MISMATCH, CONTRACT_MISSING, CHAIN_REPLACED, CONSTANTS_MISMATCH;
    faults of the node.
    """
    if deployment.judge_version > JUDGE_VERSION:
        raise mismatch(
            "JUDGE_VERSION_MISMATCH",
            f"judge version {deployment.judge_version}, known are versions up to {JUDGE_VERSION}",
        )
    chain_id = to_int((yield from rpc("ask the node for its chain id", "eth_chainId")))
    if chain_id != deployment.chain_id:
        raise mismatch("CHAIN_MISMATCH", f"the node is on chain {chain_id}, the deployment on {deployment.chain_id}")
    for name, address in deployment.contracts.items():
        if not to_bytes((yield from rpc(f"read the code of {name}", "eth_getCode", address, "latest"))):
            raise mismatch("CONTRACT_MISSING", f"there is no contract at {address}, where the deployment has {name}")
    head = yield from read_block()
    found = (yield from read_block(deployment.block_number)).hash if head.number >= deployment.block_number else "none"
    if found != deployment.block_hash.lower():
        raise mismatch("CHAIN_REPLACED", f"block {deployment.block_number} is {found}, not {deployment.block_hash}")
    chain = Chain(deployment, account)
    for function, value in (
        ("answerSeconds", deployment.answer_seconds),
        ("gasPriceFloor", deployment.gas_price_floor),
        ("gasBase", deployment.gas_base),
        ("gasPerDemand", deployment.gas_per_demand),
    ):
        actual = yield from call("read Assay's constants", chain.assay, "IAssay", function)
        if actual != value:
            raise mismatch("CONSTANTS_MISMATCH", f"{function} is {actual}, the deployment says {value}")
    return chain


def mismatch(code: str, why: str) -> AssayError:
    return AssayError(
        code,
        f"This deployment is not what the node has: {why}.",
        "Take the deployment file that belongs to the chain.",
    )


def logs_of(chain: Chain, topics: list[Any], first: int, last: int) -> Steps[list[Mapping[str, Any]]]:
    """Logs of Assay, asked for in ranges that the node takes."""
    found: list[Mapping[str, Any]] = []
    while first <= last:
        end = min(first + chain.log_range - 1, last)
        query = {"address": [chain.assay], "fromBlock": hex(first), "toBlock": hex(end), "topics": topics}
        try:
            found.extend((yield from rpc("read events", "eth_getLogs", query)))
        except AssayError as error:
            is_too_much = any(words in error.short_message.lower() for words in TOO_MUCH)
            if error.code != "RPC_FAULT" or first == end or not is_too_much:
                raise
            chain.log_range = max(1, (end - first + 1) // 2)
        else:
            first = end + 1
    return found
