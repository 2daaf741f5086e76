"""Makes receipts, with a node that answers `eth_getProof`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import AssayError
from ..receipt.header import encode_header
from ..receipt.receipt import Receipt
from ..receipt.verify import CLAIMS, REQUESTS, RESULTS, Trust, slot_of, verify_receipt
from ..types import Policy
from .chain import Chain
from .effects import Steps
from .final import Final
from .rpc import rpc, to_bytes


def make_receipt(chain: Chain, final: Final) -> Steps[Receipt]:
    """A receipt at the block in which the output was found final. Nodes keep the state of old blocks for a while only,
    most of them 128 blocks.

    Raises AssayError BLOCK_UNKNOWN; RECEIPT_UNPROVABLE (retryable) if what the node gave does not verify; faults of the
    node.
    """
    request, context = final.request, f"prove request {final.request_id}"
    block: Mapping[str, Any] | None = yield from rpc(context, "eth_getBlockByHash", final.block.hash, False)
    if block is None:
        raise AssayError(
            "BLOCK_UNKNOWN",
            f"The node has no block {final.block.hash}.",
            "Wait for the request again: the chain has moved.",
            retryable=True,
        )
    slots = [slot_of(REQUESTS, final.request_id), slot_of(RESULTS, final.request_id)]
    if final.claim_id is not None:
        slots.append(slot_of(CLAIMS, final.claim_id))
    proof = yield from rpc(context, "eth_getProof", chain.assay, ["0x" + slot.hex() for slot in slots], block["number"])
    nodes = [*proof["accountProof"], *(node for word in proof["storageProof"] for node in word["proof"])]
    receipt = Receipt(
        request=request,
        claim=final.claim,
        output=final.output,
        header=encode_header(block),
        nodes=tuple(dict.fromkeys(map(to_bytes, nodes))),
    )
    deployment = chain.deployment
    trust = Trust(deployment.chain_id, chain.assay, deployment.answer_seconds, final.block.hash)
    policy = Policy(request.model_id, request.input_hash, request.lanes, request.min_bond, request.window)
    verdict = verify_receipt(receipt, trust, policy)
    if verdict.error is not None:
        raise AssayError(
            "RECEIPT_UNPROVABLE",
            f"Block {final.block.hash} does not show that request {final.request_id} is final: "
            f"{verdict.error.short_message}",
            "Ask again at a newer block, or of a node whose headers have the form of Ethereum's.",
            retryable=True,
        )
    return receipt
