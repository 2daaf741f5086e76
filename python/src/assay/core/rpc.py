"""Calls of the node: answers as values, faults as errors with the contracts' names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import aiohttp
from web3.exceptions import Web3Exception, Web3RPCError

from ..errors import AssayError
from . import abi
from .effects import Answer, Outcome, Rpc, Steps

NETWORK = (OSError, TimeoutError, aiohttp.ClientError, Web3Exception)


class Reverted(AssayError):
    """A contract refused a call."""

    def __init__(self, context: str, data: bytes) -> None:
        self.name, message = abi.revert_text(data)
        super().__init__(
            "CALL_REVERTED",
            f"Could not {context}: the contract refused with {message}.",
            details={"revert": self.name},
        )
        self.message = message


def rpc(context: str, method: str, *params: Any) -> Steps[Any]:
    """`context` says what is tried: "read the newest block".

    Raises AssayError CALL_REVERTED; RPC_UNREACHABLE, RPC_FAULT (retryable).
    """
    outcome: Outcome = yield Rpc(method, list(params))
    if isinstance(outcome, Answer):
        return outcome.value
    raise error_of(context, outcome.error) from outcome.error


def error_of(context: str, error: Exception) -> Exception:
    if isinstance(error, Web3RPCError):
        response = error.rpc_response or {}
        found: Any = response.get("error") or {}
        data = revert_data(found)
        if data is not None:
            return Reverted(context, data)
        why = str(found.get("message", error)) if isinstance(found, Mapping) else str(error)
        return AssayError(
            "RPC_FAULT",
            f"Could not {context}: {why}.",
            "Try again; if it stays, read the node's log.",
            retryable=True,
        )
    if isinstance(error, NETWORK):
        # Without its address: providers put keys there.
        return AssayError(
            "RPC_UNREACHABLE",
            f"Could not {context}: {type(error).__name__} from the node's connection.",
            "Check that a node runs at the provider's address.",
            retryable=True,
        )
    return error


def revert_data(error: object) -> bytes | None:
    """Nodes put revert data into `data`, as hex or one level deeper; without data the message tells."""
    if not isinstance(error, Mapping):
        return None
    data = error.get("data")
    if isinstance(data, Mapping):
        data = data.get("data")
    if isinstance(data, str) and data.startswith("0x") and len(data) >= 10:
        return bytes.fromhex(data[2:])
    return b"" if "execution reverted" in str(error.get("message", "")).lower() else None


def call(context: str, to: str, contract: str, function: str, *args: Any, block: Any = "latest") -> Steps[Any]:
    """`eth_call` of a function with one result. Raises AssayError as `rpc` does."""
    data = yield from call_bytes(context, to, abi.encode_call(contract, function, *args), block)
    return abi.decode_result(contract, function, data)


def call_bytes(context: str, to: str, data: bytes, block: Any = "latest", sender: str | None = None) -> Steps[bytes]:
    transaction = {"to": to, "data": "0x" + data.hex()} | ({"from": sender} if sender else {})
    answer = yield from rpc(context, "eth_call", transaction, block)
    return to_bytes(answer)


def to_bytes(value: Any) -> bytes:
    """Bytes of an answer, as text or, behind some middleware, as bytes."""
    return bytes.fromhex(value[2:]) if isinstance(value, str) else bytes(value)


def to_int(value: Any) -> int:
    return int(value, 16) if isinstance(value, str) else int(value)


def to_text(value: Any) -> str:
    """Bytes of an answer as hexadecimal text."""
    return "0x" + to_bytes(value).hex()
