"""Promises: answers that provers sign off the chain, or post in batches, with their stake behind them.
docs/PROMISES.md has the rules; `Assay.check_signed_claim` asks the chain what cannot be seen offline.
"""

from ..types import Batch, SignedClaim
from .batch import batch_id, batch_path, batch_root, check_member, compact_leaf, expand_leaf, split_batch
from .signed_claim import SignedVerdict, digest_of, end_of, signer_of, verify_signed_claim

__all__ = [
    "Batch",
    "SignedClaim",
    "SignedVerdict",
    "batch_id",
    "batch_path",
    "batch_root",
    "check_member",
    "compact_leaf",
    "digest_of",
    "end_of",
    "expand_leaf",
    "signer_of",
    "split_batch",
    "verify_signed_claim",
]
