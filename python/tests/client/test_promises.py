"""Signed claims on the contract Promises: this package's checks against what the chain itself says."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from eth_account import Account
from eth_account.messages import encode_typed_data
from eth_account.signers.local import LocalAccount
from eth_utils.crypto import keccak
from web3 import Web3

import assay
from assay import Assay, AssayError, AsyncAssay, SignedClaim, verify_signed_claim
from assay.core import abi
from assay.promises import digest_of, end_of, signer_of

from .conftest import MODELS
from .test_client import error_of, exact

ETHER = 10**18
ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
TYPES = {
    "SignedClaim": [
        {"name": "prover", "type": "address"},
        {"name": "modelId", "type": "bytes32"},
        {"name": "inputHash", "type": "bytes32"},
        {"name": "outputHash", "type": "bytes32"},
        {"name": "requester", "type": "address"},
        {"name": "issuedAt", "type": "uint40"},
        {"name": "expiry", "type": "uint40"},
        {"name": "minBond", "type": "uint96"},
        {"name": "salt", "type": "uint64"},
    ]
}


@dataclass(frozen=True)
class Place:
    """The contract Promises, a prover that has stake there, and its key."""

    chain: Assay
    promises: str
    prover: LocalAccount
    key: LocalAccount

    def send(self, function: str, *args: Any, value: int = 0) -> None:
        w3 = self.chain.w3
        data = abi.encode_call("IPromises", function, *args)
        transaction: dict[str, Any] = {
            "from": self.prover.address,
            "to": self.promises,
            "data": "0x" + data.hex(),
            "value": value,
            "nonce": w3.eth.get_transaction_count(self.prover.address, "pending"),
            "gas": 5_000_000,
            "gasPrice": 10 * w3.eth.gas_price,
            "chainId": w3.eth.chain_id,
        }
        sent = w3.eth.send_raw_transaction(self.prover.sign_transaction(transaction).raw_transaction)
        assert w3.eth.wait_for_transaction_receipt(sent, timeout=60)["status"] == 1, function

    def now(self) -> int:
        return int(self.chain.w3.eth.get_block("latest")["timestamp"])

    def typed(self, signed: SignedClaim) -> Any:
        """What a wallet is asked to sign, which encodes it by itself."""
        domain = {
            "name": "Assay Promises",
            "version": "1",
            "chainId": self.chain.w3.eth.chain_id,
            "verifyingContract": self.promises,
        }
        names = [field["name"] for field in TYPES["SignedClaim"]]
        message = dict(zip(names, abi.tuple_of(signed), strict=True))
        return encode_typed_data(domain, TYPES, message)

    def sign(self, signed: SignedClaim) -> bytes:
        return bytes(self.key.sign_message(self.typed(signed)).signature)


@dataclass(frozen=True)
class Promise:
    signed: SignedClaim
    input: bytes
    output: bytes


@pytest.fixture(scope="module")
def place(chain: Assay, account: LocalAccount) -> Place:
    found = Place(chain, chain.chain.deployment.contracts["promises"], account, Account.create())
    found.send("deposit", account.address, value=ETHER)
    found.send("setSigner", found.key.address, found.now() + 3_600)
    return found


@pytest.fixture
def promise(place: Place) -> Promise:
    """A right answer of sentiment, which is good for a quarter of an hour."""
    model = place.chain.open_model(MODELS / "sentiment")
    data = model.encode({"text": "Profit beats forecasts"})
    output = exact("sentiment", model.word.selector).run(data)
    now = place.now()
    signed = SignedClaim(
        prover=place.prover.address,
        model_id=model.model_id,
        input_hash="0x" + keccak(data).hex(),
        output_hash="0x" + keccak(output).hex(),
        requester=place.prover.address,
        issued_at=now,
        expiry=now + 900,
        min_bond=ETHER // 10,
        salt=time.time_ns(),
    )
    return Promise(signed, data, output)


def test_check_and_verify(place: Place, promise: Promise) -> None:
    signed, now = promise.signed, promise.signed.issued_at
    chain_id = place.chain.w3.eth.chain_id
    digest = digest_of(chain_id, place.promises, signed)
    message = place.typed(signed)
    assert digest == "0x" + keccak(b"\x19" + message.version + message.header + message.body).hex()
    signature = place.sign(signed)
    found = place.chain.check_signed_claim(
        signed, signature, promise.input, promise.output, seconds_left=60, promises=place.promises
    )
    assert (found.digest, found.signer, found.end) == (digest, place.key.address, end_of(signed))
    assert found.bond >= signed.min_bond and found.deposit == found.bond // 10

    def verify(changed: SignedClaim = signed, by: bytes = signature, **other: Any) -> assay.SignedVerdict:
        given: dict[str, Any] = {
            "chain_id": chain_id,
            "promises": place.promises,
            "input": promise.input,
            "output": promise.output,
            "keys": {place.key.address.lower(): now},
            "now": now,
        } | other
        return verify_signed_claim(changed, by, **given)

    assert verify() == assay.SignedVerdict(True, None, digest, place.key.address, end_of(signed))
    assert verify(now=end_of(signed) - 60, seconds_left=60).valid
    later = dataclasses.replace(signed, expiry=now + 2 * 86_400)
    assert verify(later, place.sign(later)).end == now + 86_400
    r, s, v = signature[:32], int.from_bytes(signature[32:64], "big"), signature[64]
    malleable = r + (ORDER - s).to_bytes(32, "big") + bytes([55 - v])
    changed = dataclasses.replace(signed, salt=signed.salt ^ 1)
    for verdict, code in (
        (verify(input=promise.input + b"\0"), "WRONG_INPUT"),
        (verify(output=promise.output[:-1] + b"\1"), "WRONG_OUTPUT"),
        (verify(by=malleable), "SIGNATURE_INVALID"),
        (verify(by=signature[:64]), "SIGNATURE_INVALID"),
        (verify(by=signature + b"\0"), "SIGNATURE_INVALID"),
        (verify(by=signature[:64] + bytes([v - 27])), "SIGNATURE_INVALID"),
        (verify(by=bytes(65)), "SIGNATURE_INVALID"),
        (verify(changed), "SIGNER_NOT_BOUND"),
        (verify(chain_id=chain_id + 1), "SIGNER_NOT_BOUND"),
        (verify(promises=place.prover.address), "SIGNER_NOT_BOUND"),
        (verify(keys={place.key.address: now - 1}), "SIGNER_NOT_BOUND"),
        (verify(keys={}), "SIGNER_NOT_BOUND"),
        (verify(now=now - 1), "NOT_YET_ISSUED"),
        (verify(now=end_of(signed) - 59, seconds_left=60), "PROMISE_EXPIRED"),
    ):
        assert not verdict.valid and verdict.error is not None and verdict.error.code == code


def test_signature_of_no_key() -> None:
    """r and s with s·R = z·G need no key: the point at infinity, which the chain refuses, must be no signer."""
    digest = "0x" + "00" * 31 + "05"
    generator = 0x79BE667EF9DCBBAC55A06295CE870B07029BFCDB2DCE28D959F2815B16F81798
    assert error_of(lambda: signer_of(digest, generator.to_bytes(32, "big") + b"\0" * 31 + b"\5\x1b")).code == (
        "SIGNATURE_INVALID"
    )


def test_refusals(place: Place, promise: Promise, w3: Web3) -> None:
    def check(changed: SignedClaim, **other: Any) -> Callable[[], object]:
        given: dict[str, Any] = {
            "signature": place.sign(changed),
            "input": promise.input,
            "output": promise.output,
            "seconds_left": 60,
            "promises": place.promises,
        }
        return lambda: place.chain.check_signed_claim(changed, **(given | other))

    signed = promise.signed
    replace = dataclasses.replace
    stranger = Account.create()
    for action, code, revert in (
        (check(signed, output=promise.output + b"\0"), "PROMISE_REFUSED", "OutputMismatch"),
        (check(signed, input=promise.input[:-1]), "PROMISE_REFUSED", "InputHashMismatch"),
        (check(replace(signed, prover=stranger.address)), "PROMISE_REFUSED", "SignerNotBound"),
        (check(replace(signed, issued_at=signed.issued_at + 3_000)), "PROMISE_REFUSED", "NotYetIssued"),
        (check(replace(signed, expiry=1)), "PROMISE_REFUSED", "PromiseExpired"),
        (check(replace(signed, model_id="0x" + "11" * 32)), "PROMISE_REFUSED", "UnknownModel"),
        (check(signed, signature=place.sign(signed)[:64]), "PROMISE_REFUSED", "SignatureLengthWrong"),
        (check(signed, seconds_left=1_000), "PROMISE_EXPIRED", None),
        (check(replace(signed, min_bond=2 * ETHER)), "STAKE_TOO_SMALL", None),
    ):
        error = error_of(action)
        assert (error.code, error.details.get("revert")) == (code, revert), error
        assert error.retryable == (code == "STAKE_TOO_SMALL")
    deployment = place.chain.chain.deployment
    older = {name: at for name, at in deployment.contracts.items() if not name.startswith("promise")}
    before = assay.connect(w3, dataclasses.replace(deployment, contracts=older))
    given = (signed, place.sign(signed), promise.input, promise.output)
    assert error_of(lambda: before.check_signed_claim(*given)).code == "PROMISES_UNKNOWN"
    assert before.check_signed_claim(*given, promises=place.promises).signer == place.key.address
    # What answers to the same functions without being this Assay's.
    with pytest.raises(AssayError):
        place.chain.check_signed_claim(
            signed, place.sign(signed), promise.input, promise.output, promises=place.chain.chain.assay
        )


@pytest.mark.asyncio
async def test_queue(async_chain: AsyncAssay, place: Place, promise: Promise) -> None:
    """A claim that takes all stake, one that waits for it, and one that is offered then."""
    first, second, third = (
        dataclasses.replace(promise.signed, min_bond=ETHER, salt=promise.signed.salt + i) for i in (1, 2, 3)
    )
    for signed in (first, second):
        fields = abi.tuple_of(signed)
        place.send("open", fields, place.sign(signed), promise.input, promise.output, value=ETHER // 2)
    queued_at = place.now()
    deadline = time.monotonic() + 60
    while place.now() <= queued_at + place.chain.chain.deployment.answer_seconds:
        assert time.monotonic() < deadline, "the chain makes no blocks"
        time.sleep(0.1)
    with pytest.raises(AssayError) as caught:
        await async_chain.check_signed_claim(
            third, place.sign(third), promise.input, promise.output, promises=place.promises
        )
    assert caught.value.code == "PROMISES_WAIT" and caught.value.retryable
    with pytest.raises(AssayError, match="AlreadyOpened"):
        place.chain.check_signed_claim(
            second, place.sign(second), promise.input, promise.output, promises=place.promises
        )
