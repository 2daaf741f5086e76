"""Requests: from values to an order on the chain."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from eth_account.signers.local import LocalAccount
from eth_typing import HexStr
from eth_utils.crypto import keccak
from typing_extensions import Required, TypedDict
from web3 import Web3

from ..errors import AssayError
from ..orders import encode_order
from ..types import ZERO_ADDRESS, Request
from . import abi
from .chain import Chain, read_block
from .effects import Sleep, Steps
from .model import Model, Values
from .rpc import Reverted, rpc, to_int, to_text

RECEIPT_POLL_SECONDS = 0.25
HOUR = 3_600


@dataclass(frozen=True)
class Asked:
    """What was asked for. Keep it: an answer can be waited for, and the fee taken back, in another process."""

    request_id: str
    request: Request
    input: bytes
    """calldata"""
    model: Model


class RequestTerms(TypedDict, total=False):
    """What is offered and demanded. Amounts in wei, times in seconds."""

    fee: Required[int]
    """to whoever makes the output final"""
    lanes: int
    """bits of the lanes that are accepted; default: all of the model"""
    min_bond: int
    """least bond of a claim; default 0"""
    window: int
    """in which a claim can be challenged; default: the shortest, 4T"""
    expiry_seconds: int
    """in which a claim may be made; default: an hour"""


def prepare(chain: Chain, model: Model, values: Values, terms: RequestTerms) -> Steps[Asked]:
    """Fills in a request without sending it.

    Raises AssayError INPUTS_INVALID, WINDOW_TOO_SHORT, ACCOUNT_MISSING; faults of the node.
    """
    least = 4 * chain.deployment.answer_seconds
    window = terms.get("window", least)
    if window < least:
        raise AssayError(
            "WINDOW_TOO_SHORT",
            f"The window is {window} seconds, must be at least {least}, 4T.",
            "Leave it out for the shortest one.",
        )
    data = model.encode(values)
    block = yield from read_block()
    request = Request(
        requester=address_of(chain),
        model_id=model.model_id,
        input_hash="0x" + keccak(data).hex(),
        lanes=terms.get("lanes", model.word.lanes),
        fee=terms["fee"],
        delivery_fee=0,
        min_bond=terms.get("min_bond", 0),
        window=window,
        expiry=block.timestamp + terms.get("expiry_seconds", HOUR),
        exclusive_prover=ZERO_ADDRESS,
        exclusive_until=0,
        callback=ZERO_ADDRESS,
        callback_gas=0,
        salt=secrets.randbits(64),
    )
    return Asked(chain.id_of(request), request, data, model)


def address_of(chain: Chain) -> str:
    if chain.account is None:
        raise AssayError("ACCOUNT_MISSING", "Asking needs an account, and none was given.", "Give connect an account.")
    return chain.account if isinstance(chain.account, str) else str(chain.account.address)


def send(chain: Chain, asked: Asked) -> Steps[None]:
    """Sends a prepared request, once: sent again it changes nothing and costs nothing but the look.

    Raises AssayError REQUEST_REFUSED with the contract's reason; faults of the node, after which it may or may not be
    sent: send the same one again, or wait for it.
    """
    context = f"send request {asked.request_id}"
    order = encode_order(asked.request, asked.input)
    data = abi.encode_call("IAssay", "request", bytes.fromhex(asked.request.model_id[2:]), order)
    transaction = {
        "from": address_of(chain),
        "to": chain.assay,
        "value": hex(asked.request.fee + asked.request.delivery_fee),
        "data": "0x" + data.hex(),
    }
    try:
        yield from rpc(context, "eth_call", transaction, "latest")
        receipt = yield from transact(chain, context, transaction)
    except Reverted as error:
        if error.name == "AlreadyRequested":
            return
        raise refused(asked, error.message) from error
    if to_int(receipt["status"]) != 1:
        raise refused(asked, "its transaction was reverted")


def refused(asked: Asked, why: str) -> AssayError:
    return AssayError(
        "REQUEST_REFUSED",
        f"The chain refused request {asked.request_id}: {why}.",
        "Check input, lanes, window and the account's balance.",
        details={"request_id": asked.request_id},
    )


def transact(chain: Chain, context: str, transaction: Mapping[str, str]) -> Steps[Mapping[str, Any]]:
    """Signs with the account's key, or has the node or a middleware sign, and waits until the chain has it."""
    if isinstance(chain.account, LocalAccount):
        signed = yield from sign(chain, chain.account, context, transaction)
        sent = yield from rpc(context, "eth_sendRawTransaction", "0x" + signed.hex())
    else:
        sent = yield from rpc(context, "eth_sendTransaction", dict(transaction))
    while True:
        receipt: Mapping[str, Any] | None = yield from rpc(context, "eth_getTransactionReceipt", to_text(sent))
        if receipt is not None:
            return receipt
        yield Sleep(RECEIPT_POLL_SECONDS)


def sign(chain: Chain, account: LocalAccount, context: str, transaction: Mapping[str, str]) -> Steps[bytes]:
    gas = to_int((yield from rpc(context, "eth_estimateGas", dict(transaction))))
    nonce = yield from rpc(context, "eth_getTransactionCount", account.address, "pending")
    tip = to_int((yield from rpc(context, "eth_maxPriorityFeePerGas")))
    block = yield from rpc(context, "eth_getBlockByNumber", "latest", False)
    signed = account.sign_transaction(
        {
            "type": 2,
            "chainId": chain.deployment.chain_id,
            "nonce": to_int(nonce),
            "to": Web3.to_checksum_address(transaction["to"]),
            "value": int(transaction["value"], 16),
            "data": HexStr(transaction["data"]),
            # The request's second may have changed when it is mined.
            "gas": gas * 5 // 4,
            "maxFeePerGas": 2 * to_int(block["baseFeePerGas"]) + tip,
            "maxPriorityFeePerGas": tip,
        }
    )
    return bytes(signed.raw_transaction)
