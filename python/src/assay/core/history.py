"""Past events of one request, and the output that they name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from eth_utils.address import to_checksum_address
from eth_utils.crypto import keccak

from ..errors import AssayError
from ..orders import decode_order
from ..types import Claim, Lane, Request
from . import abi
from .chain import Chain, logs_of, read_block
from .effects import Steps
from .rpc import to_bytes, to_int


@dataclass(frozen=True)
class Event:
    block: int
    log_index: int
    name: str
    args: dict[str, Any]


@dataclass(frozen=True)
class Candidate:
    """An output that a request may have."""

    output: bytes
    lane: int
    claim: Claim | None
    """the one of this output; None after truth without one that agreed"""


def history_of(chain: Chain, request_id: str, first: int | None = None) -> Steps[list[Event]]:
    """All events that name the id in an indexed argument, in order."""
    start = chain.deployment.block_number if first is None else first
    head = yield from read_block()
    # Every event of Assay has its ids in the first two indexed arguments.
    logs = yield from logs_of(chain, [None, request_id], start, head.number)
    logs += yield from logs_of(chain, [None, None, request_id], start, head.number)
    events = {}
    for log in logs:
        decoded = abi.decode_event([to_bytes(topic) for topic in log["topics"]], to_bytes(log["data"]))
        if decoded is not None:
            place = to_int(log["blockNumber"]), to_int(log["logIndex"])
            events[place] = Event(*place, *decoded)
    return [events[place] for place in sorted(events)]


def last_of(events: Sequence[Event], name: str) -> Event | None:
    return next((event for event in reversed(events) if event.name == name), None)


def candidate_of(events: Sequence[Event]) -> Candidate | None:
    """What truth settled, else what the last claim says."""
    truth, claimed = last_of(events, "Settled"), last_of(events, "Claimed")
    source = truth or claimed
    if source is None:
        return None
    output: bytes = source.args["output"]
    lane = truth.args["lane"] if truth else int(Lane.BOND)
    claim = claim_of(claimed.args["claim"]) if claimed else None
    if claim is not None and claim.output_hash != "0x" + keccak(output).hex():
        claim = None
    return Candidate(output, lane, claim)


def claim_of(values: Sequence[Any]) -> Claim:
    """A claim as eth_abi decodes it."""
    plain: list[Any] = []
    for value in values:
        if isinstance(value, bytes):
            plain.append("0x" + value.hex())
        else:
            plain.append(to_checksum_address(value) if isinstance(value, str) else value)
    return Claim(*plain)


def request_of(chain: Chain, request_id: str) -> Steps[tuple[Request, bytes]]:
    """A request and its input, from the event that filed it.

    Raises AssayError REQUEST_UNKNOWN; faults of the node.
    """
    events = yield from history_of(chain, request_id)
    filed = last_of(events, "Requested")
    if filed is None:
        raise AssayError(
            "REQUEST_UNKNOWN",
            f"There is no request {request_id} on chain {chain.deployment.chain_id}.",
            "Check the id and the deployment.",
        )
    request, data = decode_order("0x" + filed.args["modelId"].hex(), filed.args["order"])
    if chain.id_of(request) != request_id.lower():
        raise AssayError("RPC_FAULT", f"The node's event of request {request_id} is about another.", retryable=True)
    return request, data
