"""Whether an output is final: the contract's own gate decides, not this program."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from ..errors import AssayError
from ..meaning import Reading
from ..types import NO_CLAIM, Claim, Lane, Policy, Request
from ..words import RequestWord, decode_claim_word, decode_request_word
from . import abi
from .chain import Block, Chain, read_block
from .effects import Sleep, Steps
from .history import Candidate, Event, candidate_of, history_of, last_of, request_of
from .model import Model, open_model
from .request import Asked
from .rpc import Reverted, call, call_bytes

REORG_DEPTH = 64
"""blocks that a re-org may take back"""


@dataclass(frozen=True)
class Final:
    """An output that is final, and how it became so."""

    request_id: str
    request: Request
    lane: Lane
    output: bytes
    """return data"""
    values: dict[str, Any]
    """the output by name"""
    meaning: Reading | None
    """what it says to people, by the model's manifest: for display only"""
    claim_id: str | None
    """None after truth without a claim that agreed"""
    claim: Claim | None
    final_at: int
    """second from which on nothing can change it"""
    block: Block
    """one at which it is final, with the demanded confirmations above it"""


@dataclass(frozen=True)
class Terms:
    """What is demanded of an output. None: what the request itself demands."""

    lanes: int | None = None
    min_bond: int | None = None
    min_window: int | None = None
    confirmations: int = 0
    """blocks that must lie above the one in which it is final"""

    def policy(self, request: Request) -> Policy:
        own = (request.lanes, request.min_bond, request.window)
        given = (self.lanes, self.min_bond, self.min_window)
        return Policy(
            request.model_id,
            request.input_hash,
            *(o if g is None else g for o, g in zip(own, given, strict=True)),
        )


@dataclass(frozen=True)
class Look:
    """What the chain says of a request at one block."""

    events: list[Event]
    block: Block
    word: RequestWord | None
    """None where the chain has not enough blocks yet"""
    final: Candidate | None
    is_below: bool = False
    """final, but by less than is demanded"""


def look(chain: Chain, request: Request, terms: Terms, first: int | None) -> Steps[Look]:
    request_id = chain.id_of(request)
    newest = yield from read_block()
    deep = newest.number - terms.confirmations
    block = newest if terms.confirmations == 0 or deep < 0 else (yield from read_block(deep))
    events = yield from history_of(chain, request_id, first)
    if deep < 0:
        return Look(events, block, None, None)
    at = {"blockHash": block.hash}
    number = yield from call("read the request", chain.assay, "IAssay", "requestWord", raw(request_id), block=at)
    word, candidate = decode_request_word(number), candidate_of(events)
    if candidate is None:
        return Look(events, block, word, None)
    if (yield from is_final_by(chain, request, candidate, terms.policy(request), at)):
        return Look(events, block, word, candidate)
    # A result that is booked will not get better.
    is_below = word.state == "DONE" and (yield from is_final_by(chain, request, candidate, Terms().policy(request), at))
    return Look(events, block, word, None, is_below)


def is_final_by(chain: Chain, request: Request, candidate: Candidate, policy: Policy, at: object) -> Steps[bool]:
    """Asks `requireFinal` at one block."""
    claim = candidate.claim or NO_CLAIM
    structs = [abi.tuple_of(struct) for struct in (request, claim, policy)]
    data = abi.encode_call("IAssay", "requireFinal", structs[0], structs[1], candidate.output, structs[2])
    try:
        yield from call_bytes("ask whether the output is final", chain.assay, data, at)
    except Reverted:
        return False
    return True


def raw(text: Any) -> bytes:
    return bytes.fromhex(text[2:])


def require_final(chain: Chain, asked: Asked | str, terms: Terms, model: Model | None = None) -> Steps[Final]:
    """The output of a request if it is final now; `asked` may be the request's id alone.

    Raises AssayError NOT_FINAL, POLICY_UNMET, REQUEST_REFUNDED, REQUEST_UNANSWERED, REQUEST_UNKNOWN; faults of the
    node.
    """
    request, model = yield from subject_of(chain, asked, model)
    seen = yield from look(chain, request, terms, None)
    found = yield from final_of(chain, request, model, seen)
    if found is None:
        raise not_final(chain, request, seen)
    return found


def wait(
    chain: Chain,
    asked: Asked | str,
    terms: Terms,
    timeout: float | None,
    poll_seconds: float,
    model: Model | None,
) -> Steps[Final]:
    """As `require_final`, once it is.

    Raises AssayError as `require_final` does; NOT_FINAL after `timeout` seconds, naming the claim.
    """
    deadline = None if timeout is None else time.monotonic() + timeout
    request, model = yield from subject_of(chain, asked, model)
    first: int | None = None
    while True:
        seen = yield from look(chain, request, terms, first)
        found = yield from final_of(chain, request, model, seen)
        if found is not None:
            return found
        # Nothing happens to a request before it is there; a re-org may move it.
        if first is None and seen.events:
            first = max(0, seen.events[0].block - REORG_DEPTH)
        rest = poll_seconds if deadline is None else deadline - time.monotonic()
        if rest <= 0:
            raise not_final(chain, request, seen)
        yield Sleep(min(poll_seconds, rest))


def subject_of(chain: Chain, asked: Asked | str, model: Model | None) -> Steps[tuple[Request, Model]]:
    if isinstance(asked, Asked):
        return asked.request, model or asked.model
    request, _ = yield from request_of(chain, asked)
    return request, model or (yield from open_model(chain, request.model_id))


def final_of(chain: Chain, request: Request, model: Model, seen: Look) -> Steps[Final | None]:
    request_id = chain.id_of(request)
    if seen.is_below:
        raise AssayError(
            "POLICY_UNMET",
            f"Request {request_id} is final, but not by what is demanded of it.",
            "Ask again with these terms in the request.",
        )
    if seen.final is None:
        if seen.word is not None and seen.word.state == "REFUNDED":
            raise ended("REQUEST_REFUNDED", f"Request {request_id} was refunded.")
        if seen.word is not None and seen.word.state == "OPEN" and seen.block.timestamp > request.expiry:
            raise ended("REQUEST_UNANSWERED", f"Nobody answered request {request_id} before it expired.")
        return None
    claim = seen.final.claim
    claim_id = None if claim is None else chain.id_of(claim)
    settled = last_of(seen.events, "Settled")
    if settled is not None:
        final_at = (yield from read_block(settled.block)).timestamp
    else:
        assert claim_id is not None
        word = yield from call("read the claim", chain.assay, "IAssay", "claimWord", raw(claim_id))
        final_at = decode_claim_word(word).final_at(chain.deployment.answer_seconds)
    return Final(
        request_id=request_id,
        request=request,
        lane=Lane(seen.final.lane),
        output=seen.final.output,
        values=model.decode(seen.final.output),
        meaning=model.read(seen.final.output),
        claim_id=claim_id,
        claim=claim,
        final_at=final_at,
        block=seen.block,
    )


def ended(code: str, short_message: str) -> AssayError:
    return AssayError(
        code,
        short_message,
        "Ask again with a higher fee or a later expiry; `assay refund` takes the fees back.",
    )


def not_final(chain: Chain, request: Request, seen: Look) -> AssayError:
    request_id, candidate = chain.id_of(request), candidate_of(seen.events)
    claim_id = chain.id_of(candidate.claim) if candidate is not None and candidate.claim is not None else None
    what = (
        f"Request {request_id} has no claim"
        if claim_id is None
        else f"Claim {claim_id} on request {request_id} is not final"
    )
    return AssayError(
        "NOT_FINAL",
        f"{what} yet.",
        "Wait again for the same request: it goes on without you.",
        retryable=True,
        details={"request_id": request_id, "claim_id": claim_id},
    )
