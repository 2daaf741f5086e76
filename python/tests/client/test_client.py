"""The client against a chain, with a prover that answers."""

from __future__ import annotations

import asyncio
import dataclasses
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from eth_utils.crypto import keccak
from web3 import HTTPProvider, Web3

import assay
from assay import Assay, AssayError, AsyncAssay, Deployment, Lane, Policy, Terms, Trust
from assay.exact import Model as ExactModel

from .conftest import MODELS, setting

TEXT = "Profit beats forecasts"
FEE = 10**16


def error_of(action: Any) -> AssayError:
    with pytest.raises(AssayError) as caught:
        action()
    return caught.value


def exact(name: str, selector: bytes) -> ExactModel:
    folder = MODELS / name
    return ExactModel((folder / "program.bin").read_bytes(), (folder / "weights.bin").read_bytes(), selector)


def policy_of(final: assay.Final) -> Policy:
    request = final.request
    return Policy(request.model_id, request.input_hash, request.lanes, request.min_bond, request.window)


def trust_of(chain: Assay, final: assay.Final) -> Trust:
    deployment = chain.chain.deployment
    return Trust(deployment.chain_id, deployment.contracts["assay"], deployment.answer_seconds, final.block.hash)


def test_request_and_wait(chain: Assay) -> None:
    model = chain.open_model(MODELS / "sentiment")
    asked = chain.request(model, {"text": TEXT}, fee=FEE, lanes=Lane.BOND)
    early = error_of(lambda: chain.require_final(asked))
    assert early.code == "NOT_FINAL" and early.retryable and early.details["request_id"] == asked.request_id

    final = chain.wait(asked, timeout=90)
    assert (final.request_id, final.lane) == (asked.request_id, Lane.BOND)
    assert final.claim is not None and final.claim.output_hash == "0x" + keccak(final.output).hex()
    assert final.claim_id is not None and final.block.timestamp >= final.final_at
    # What the chain says is final is what this package computes.
    assert exact("sentiment", model.word.selector).run(asked.input) == final.output
    assert set(final.values) == {"label", "bearish", "neutral", "bullish"}

    # By the request's id alone, the codec's names stand for the manifest's.
    again = chain.require_final(asked.request_id)
    assert again.output == final.output and again.request == asked.request
    assert list(again.values.values()) == list(final.values.values())
    assert chain.require_final(asked.request_id, model=model).values == final.values

    deep = chain.wait(asked, Terms(min_bond=final.claim.bond, confirmations=2), timeout=30)
    assert deep.claim == final.claim and deep.block.number <= chain.w3.eth.block_number - 2
    unmet = error_of(lambda: chain.wait(asked, Terms(min_bond=final.claim.bond + 1), timeout=5))
    assert unmet.code in ("POLICY_UNMET", "NOT_FINAL")
    # Sent again, it changes nothing.
    chain.send(asked)


def test_receipt(chain: Assay, tmp_path: Path) -> None:
    model = chain.open_model(MODELS / "sentiment")
    final = chain.wait(chain.request(model, {"text": TEXT + "."}, fee=FEE, lanes=Lane.BOND), timeout=90)
    receipt = chain.receipt(final)
    text = assay.render_receipt(receipt)
    read = assay.parse_receipt(text)
    assert read == receipt
    trust, policy = trust_of(chain, final), policy_of(final)
    verdict = assay.verify_receipt(read, trust, policy)
    assert verdict.valid and verdict.request_id == final.request_id and verdict.claim_id == final.claim_id
    assert verdict.output == final.output and verdict.lane == Lane.BOND
    # Another implementation reads it, and this one what that one wrote: test/python/client.test.ts.
    Path(setting("ASSAY_TEST_RECEIPT")).write_text(
        json.dumps({"receipt": text, "blockHash": final.block.hash, "requestId": final.request_id})
    )

    code = chain.w3.eth.get_code(Web3.to_checksum_address(trust.assay))
    pinned = dataclasses.replace(trust, code_hash="0x" + keccak(bytes(code)).hex())
    assert assay.verify_receipt(read, pinned, policy).valid
    for changed, code_of in (
        (dataclasses.replace(trust, block_hash="0x" + "11" * 32), "RECEIPT_UNPROVEN"),
        (dataclasses.replace(trust, code_hash="0x" + "11" * 32), "RECEIPT_UNPROVEN"),
    ):
        assert refusal(read, changed, policy) == code_of
    # Another id: its word is shown to be absent, or not shown at all.
    assert refusal(read, dataclasses.replace(trust, chain_id=1), policy) in ("NOT_FINAL", "RECEIPT_UNPROVEN")
    for other, code_of in (
        (dataclasses.replace(policy, model_id="0x" + "11" * 32), "WRONG_MODEL"),
        (dataclasses.replace(policy, input_hash="0x" + "11" * 32), "WRONG_INPUT"),
        (dataclasses.replace(policy, lanes=Lane.PROOF), "WRONG_LANE"),
        (dataclasses.replace(policy, min_bond=1 << 95), "BOND_TOO_SMALL"),
        (dataclasses.replace(policy, min_window=1 << 30), "WINDOW_TOO_SHORT"),
    ):
        assert refusal(read, trust, other) == code_of
    assert refusal(dataclasses.replace(read, output=read.output + b"\0"), trust, policy) == "WRONG_OUTPUT"
    assert refusal(dataclasses.replace(read, claim=None), trust, policy) == "WRONG_CLAIM"
    for i in range(len(read.nodes)):
        fewer = dataclasses.replace(read, nodes=read.nodes[:i] + read.nodes[i + 1 :])
        assert refusal(fewer, trust, policy) == "RECEIPT_UNPROVEN"
    for byte in range(0, len(read.header), 7):
        header = bytearray(read.header)
        header[byte] ^= 1
        changed_header = dataclasses.replace(read, header=bytes(header))
        assert refusal(changed_header, trust, policy) in ("RECEIPT_MALFORMED", "RECEIPT_UNPROVEN")


def refusal(receipt: assay.Receipt, trust: Trust, policy: Policy) -> str:
    verdict = assay.verify_receipt(receipt, trust, policy)
    assert not verdict.valid and verdict.error is not None
    return verdict.error.code


def test_infer_numbers_by_name(chain: Assay) -> None:
    model = chain.open_model(MODELS / "credit")
    manifest = json.loads((MODELS / "credit" / "manifest.json").read_text())
    names = [number["name"] for number in manifest["assay"]["inputs"][0]["numbers"]]
    values = dict.fromkeys(names, 1)
    found = chain.infer(model, values)
    data = model.encode(values)
    assert found == model.decode(exact("credit", model.word.selector).run(data))
    assert chain.infer(model, values, weights=(MODELS / "credit" / "weights.bin").read_bytes()) == found
    by_id = chain.open_model(model.model_id)
    assert list(chain.infer(by_id, {"int16s": [1] * 18}).values()) == list(found.values())

    bad = error_of(lambda: chain.infer(model, values | {names[0]: 9}))
    assert bad.code == "INPUTS_INVALID" and f"{names[0]} is 9" in bad.short_message
    assert error_of(lambda: chain.infer(model, {**values, "shoeSize": 1})).code == "INPUTS_INVALID"


def test_infer_arrays(chain: Assay) -> None:
    """512 hours of seven channels in, 96 out, as arrays."""
    model = chain.open_model(MODELS / "forecast-hourly")
    window = np.arange(512 * 7).reshape(512, 7) % 3000
    data = model.encode({"window": window})
    forecast = model.decode(exact("forecast-hourly", model.word.selector).run(data))["forecast"]
    assert forecast.shape == (96, 7) and forecast.dtype == np.int16
    unpublished = error_of(lambda: chain.infer(model, {"window": window}))
    assert unpublished.code == "WEIGHTS_NOT_PUBLISHED"
    for wrong in (window[1:], window * 1e6, "window"):
        assert error_of(lambda: model.encode({"window": wrong})).code == "INPUTS_INVALID"


def test_settled_by_execution(chain: Assay) -> None:
    """Final without a claim: the prover settles a request that takes no other lane."""
    model = chain.open_model(MODELS / "credit")
    manifest = json.loads((MODELS / "credit" / "manifest.json").read_text())
    values = {number["name"]: number.get("minimum", 0) for number in manifest["assay"]["inputs"][0]["numbers"]}
    final = chain.wait(chain.request(model, values, fee=10**17, lanes=Lane.EXECUTION), timeout=90)
    assert final.lane == Lane.EXECUTION and final.claim is None and final.claim_id is None
    assert final.values == chain.infer(model, values)
    receipt = chain.receipt(final)
    verdict = assay.verify_receipt(receipt, trust_of(chain, final), policy_of(final))
    assert verdict.valid and verdict.claim_id is None and verdict.lane == Lane.EXECUTION


@pytest.mark.asyncio
async def test_async(async_chain: AsyncAssay, chain: Assay) -> None:
    """Two requests at once, by the async client."""
    model = await async_chain.open_model(MODELS / "sentiment")
    asked = [await async_chain.request(model, {"text": f"{TEXT} {i}"}, fee=FEE, lanes=Lane.BOND) for i in (1, 2)]
    finals = await asyncio.gather(*(async_chain.wait(one, timeout=90) for one in asked))
    assert [final.request_id for final in finals] == [one.request_id for one in asked]
    for one, final in zip(asked, finals, strict=True):
        later = chain.require_final(one)
        assert later == dataclasses.replace(final, block=later.block)
    receipt = await async_chain.receipt(finals[0])
    assert assay.verify_receipt(receipt, trust_of(chain, finals[0]), policy_of(finals[0])).valid
    credit = await async_chain.open_model(chain.open_model(MODELS / "credit").model_id)
    found = await async_chain.infer(credit, {"int16s": [2] * 18})
    assert found == chain.infer(credit, {"int16s": [2] * 18})
    with pytest.raises(AssayError, match="is unknown"):
        await async_chain.infer(credit, {"int32s": []})


def test_connect_refuses(w3: Web3, deployment: Deployment) -> None:
    cases: tuple[tuple[dict[str, Any], str], ...] = (
        ({"chain_id": 1}, "CHAIN_MISMATCH"),
        ({"judge_version": 3}, "JUDGE_VERSION_MISMATCH"),
        ({"block_hash": "0x" + "11" * 32}, "CHAIN_REPLACED"),
        ({"block_number": 1 << 40}, "CHAIN_REPLACED"),
        ({"answer_seconds": 9}, "CONSTANTS_MISMATCH"),
        ({"contracts": {**deployment.contracts, "interpreter": "0x" + "11" * 20}}, "CONTRACT_MISSING"),
    )
    for changes, code in cases:
        assert error_of(lambda: assay.connect(w3, dataclasses.replace(deployment, **changes))).code == code


def test_faults(chain: Assay, deployment: Deployment, tmp_path: Path) -> None:
    away = Web3(HTTPProvider("http://127.0.0.1:9/secret", exception_retry_configuration=None))
    unreachable = error_of(lambda: assay.connect(away, deployment))
    assert unreachable.code == "RPC_UNREACHABLE" and unreachable.retryable and "secret" not in str(unreachable)
    model = chain.open_model(MODELS / "sentiment")
    cases: tuple[tuple[Callable[[], object], str], ...] = (
        (lambda: chain.open_model("0x" + "11" * 32), "MODEL_UNKNOWN"),
        (lambda: chain.open_model(tmp_path), "MANIFEST_INVALID"),
        (lambda: chain.open_model({"assay": {"modelId": model.model_id}, "abi": []}), "MANIFEST_INVALID"),
        (lambda: chain.require_final("0x" + "11" * 32), "REQUEST_UNKNOWN"),
        (lambda: chain.prepare(model, {"text": TEXT}, fee=1, window=1), "WINDOW_TOO_SHORT"),
        (lambda: chain.prepare(model, {"text": "x" * 2000}, fee=1), "INPUTS_INVALID"),
        (lambda: chain.request(model, {"text": TEXT}, fee=1, lanes=8), "REQUEST_REFUSED"),
        (lambda: assay.read_deployment(tmp_path / "none"), "DEPLOYMENT_MISSING"),
    )
    for action, code in cases:
        assert error_of(action).code == code
    reader = assay.connect(chain.w3, deployment)
    assert error_of(lambda: reader.prepare(model, {"text": TEXT}, fee=1)).code == "ACCOUNT_MISSING"
    broken = tmp_path / "deployment.json"
    broken.write_text("{}")
    assert error_of(lambda: assay.read_deployment(broken)).code == "DEPLOYMENT_INVALID"


def test_account_of_the_node(w3: Web3, deployment: Deployment) -> None:
    """An address alone: the node signs."""
    # web3.py's type of accounts is an empty tuple.
    accounts: Sequence[str] = w3.eth.accounts
    chain = assay.connect(w3, deployment, accounts[9])
    model = chain.open_model(MODELS / "sentiment")
    asked = chain.request(model, {"text": TEXT}, fee=FEE)
    assert asked.request.requester == accounts[9]
    assert chain.wait(asked, timeout=90).values.keys() == {"label", "bearish", "neutral", "bullish"}


def test_logs_in_ranges(rpc_url: str, deployment: Deployment) -> None:
    """A node that takes few blocks a question is asked for fewer."""

    class Narrow(HTTPProvider):
        widest = 0

        def make_request(self, method: Any, params: Any) -> Any:
            if method == "eth_getLogs":
                width = int(params[0]["toBlock"], 16) - int(params[0]["fromBlock"], 16) + 1
                if width > 3:
                    error = {"code": -32005, "message": "block range is too large"}
                    return {"jsonrpc": "2.0", "id": 1, "error": error}
                self.widest = max(self.widest, width)
            return super().make_request(method, params)

    provider = Narrow(rpc_url)
    chain = assay.connect(Web3(provider), deployment)
    assert error_of(lambda: chain.require_final("0x" + "11" * 32)).code == "REQUEST_UNKNOWN"
    assert 0 < provider.widest <= 3
