"""The client for `Web3` and the one for `AsyncWeb3`. They have the same methods; what those do is in `assay.core`."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from eth_account.signers.local import LocalAccount
from typing_extensions import Unpack
from web3 import AsyncWeb3, Web3
from web3.types import RPCEndpoint

from .core import chain as chains
from .core import infer as inferring
from .core.effects import Answer, Fault, Outcome, Rpc, Steps
from .core.final import Final, Terms, require_final, wait
from .core.model import Model, Values, open_model
from .core.promises import Promised, check_signed_claim
from .core.receipts import make_receipt
from .core.request import Asked, RequestTerms, prepare, send
from .deployment import Deployment
from .receipt import Receipt
from .types import SignedClaim

T = TypeVar("T")


def run(w3: Web3, steps: Steps[T]) -> T:
    """Performs effects, one after the other, and blocks."""
    outcome: Outcome | None = None
    while True:
        try:
            effect = steps.send(outcome)
        except StopIteration as stop:
            result: T = stop.value
            return result
        try:
            if isinstance(effect, Rpc):
                outcome = Answer(w3.manager.request_blocking(RPCEndpoint(effect.method), effect.params))
            else:
                time.sleep(effect.seconds)
                outcome = Answer(None)
        except Exception as error:
            outcome = Fault(error)


async def run_async(w3: AsyncWeb3[Any], steps: Steps[T]) -> T:
    """Performs effects, one after the other, and awaits."""
    outcome: Outcome | None = None
    while True:
        try:
            effect = steps.send(outcome)
        except StopIteration as stop:
            result: T = stop.value
            return result
        try:
            if isinstance(effect, Rpc):
                outcome = Answer(await w3.manager.coro_request(RPCEndpoint(effect.method), effect.params))
            else:
                await asyncio.sleep(effect.seconds)
                outcome = Answer(None)
        except Exception as error:
            outcome = Fault(error)


def connect(w3: Web3, deployment: Deployment, account: LocalAccount | str | None = None) -> Assay:
    """Checks that the node's chain has this deployment.

    `account` is a key that signs here, or an address for which the node or a middleware signs; without one the chain
    can only be read.

    Raises AssayError CHAIN_MISMATCH, CHAIN_REPLACED, CONTRACT_MISSING, CONSTANTS_MISMATCH, JUDGE_VERSION_MISMATCH;
    RPC_UNREACHABLE and RPC_FAULT, which are retryable, as every method that asks the node may.
    """
    return Assay(w3, run(w3, chains.connect(deployment, account)))


async def connect_async(
    w3: AsyncWeb3[Any], deployment: Deployment, account: LocalAccount | str | None = None
) -> AsyncAssay:
    """As `connect`."""
    return AsyncAssay(w3, await run_async(w3, chains.connect(deployment, account)))


class Assay:
    """A deployment, as somebody uses it who is not on the chain. `connect` makes one."""

    def __init__(self, w3: Web3, chain: chains.Chain) -> None:
        self.w3 = w3
        self.chain = chain

    def open_model(self, source: str | Path | Mapping[str, Any]) -> Model:
        """By its id, its manifest, or the manifest's path or folder.

        Raises AssayError MODEL_UNKNOWN, MANIFEST_INVALID.
        """
        return run(self.w3, open_model(self.chain, source))

    def infer(
        self, model: Model, values: Values, *, fast: bool = False, weights: bytes | None = None
    ) -> dict[str, Any]:
        """The output, computed by the chain in one `eth_call`; `weights` where nobody has published them.

        Raises AssayError INPUTS_INVALID, WEIGHTS_NOT_PUBLISHED, EXECUTION_REFUSED, LANE_UNAVAILABLE.
        """
        return run(self.w3, inferring.infer(self.chain, model, values, fast, weights))

    def prepare(self, model: Model, values: Values, **terms: Unpack[RequestTerms]) -> Asked:
        """A request that `send` sends: who keeps it may send it again after any fault, and pays once.

        Raises AssayError INPUTS_INVALID, WINDOW_TOO_SHORT, ACCOUNT_MISSING.
        """
        return run(self.w3, prepare(self.chain, model, values, terms))

    def send(self, asked: Asked) -> None:
        """Returns when the chain has the request. Raises AssayError REQUEST_REFUSED."""
        run(self.w3, send(self.chain, asked))

    def request(self, model: Model, values: Values, **terms: Unpack[RequestTerms]) -> Asked:
        """`prepare` and `send`. Raises AssayError as both do."""
        asked = self.prepare(model, values, **terms)
        self.send(asked)
        return asked

    def require_final(self, asked: Asked | str, terms: Terms = Terms(), *, model: Model | None = None) -> Final:
        """The output if it is final now. `asked` may be a request's id, whose values are then named by `model`.

        Raises AssayError NOT_FINAL, POLICY_UNMET, REQUEST_REFUNDED, REQUEST_UNANSWERED, REQUEST_UNKNOWN.
        """
        return run(self.w3, require_final(self.chain, asked, terms, model))

    def wait(
        self,
        asked: Asked | str,
        terms: Terms = Terms(),
        *,
        timeout: float | None = None,
        poll_seconds: float = 1.0,
        model: Model | None = None,
    ) -> Final:
        """`require_final`, once it is. Raises AssayError as that does; NOT_FINAL after `timeout` seconds."""
        return run(self.w3, wait(self.chain, asked, terms, timeout, poll_seconds, model))

    def receipt(self, final: Final) -> Receipt:
        """What shows offline that the output is final. Raises AssayError RECEIPT_UNPROVABLE, BLOCK_UNKNOWN."""
        return run(self.w3, make_receipt(self.chain, final))

    def check_signed_claim(
        self,
        signed: SignedClaim,
        signature: bytes,
        input: bytes,
        output: bytes,
        *,
        seconds_left: int = 0,
        promises: str | None = None,
    ) -> Promised:
        """Whether the chain would open a signed claim now, and its prover's stake is there: who can still show it in
        `seconds_left` seconds can count on it. `promises` is the contract's address where the deployment names none.

        Raises AssayError PROMISE_REFUSED, PROMISE_EXPIRED, PROMISES_WAIT, STAKE_TOO_SMALL, PROMISES_UNKNOWN,
        PROMISES_MISMATCH.
        """
        return run(self.w3, check_signed_claim(self.chain, signed, signature, input, output, seconds_left, promises))


class AsyncAssay:
    """As `Assay`, for `AsyncWeb3`. `connect_async` makes one."""

    def __init__(self, w3: AsyncWeb3[Any], chain: chains.Chain) -> None:
        self.w3 = w3
        self.chain = chain

    async def open_model(self, source: str | Path | Mapping[str, Any]) -> Model:
        return await run_async(self.w3, open_model(self.chain, source))

    async def infer(
        self, model: Model, values: Values, *, fast: bool = False, weights: bytes | None = None
    ) -> dict[str, Any]:
        return await run_async(self.w3, inferring.infer(self.chain, model, values, fast, weights))

    async def prepare(self, model: Model, values: Values, **terms: Unpack[RequestTerms]) -> Asked:
        return await run_async(self.w3, prepare(self.chain, model, values, terms))

    async def send(self, asked: Asked) -> None:
        await run_async(self.w3, send(self.chain, asked))

    async def request(self, model: Model, values: Values, **terms: Unpack[RequestTerms]) -> Asked:
        asked = await self.prepare(model, values, **terms)
        await self.send(asked)
        return asked

    async def require_final(self, asked: Asked | str, terms: Terms = Terms(), *, model: Model | None = None) -> Final:
        return await run_async(self.w3, require_final(self.chain, asked, terms, model))

    async def wait(
        self,
        asked: Asked | str,
        terms: Terms = Terms(),
        *,
        timeout: float | None = None,
        poll_seconds: float = 1.0,
        model: Model | None = None,
    ) -> Final:
        return await run_async(self.w3, wait(self.chain, asked, terms, timeout, poll_seconds, model))

    async def receipt(self, final: Final) -> Receipt:
        return await run_async(self.w3, make_receipt(self.chain, final))

    async def check_signed_claim(
        self,
        signed: SignedClaim,
        signature: bytes,
        input: bytes,
        output: bytes,
        *,
        seconds_left: int = 0,
        promises: str | None = None,
    ) -> Promised:
        steps = check_signed_claim(self.chain, signed, signature, input, output, seconds_left, promises)
        return await run_async(self.w3, steps)
