"""Use the output of a model that somebody else ran, without trusting who ran it. docs/PYTHON.md shows how.

`assay.exact` computes outputs and checks commitments offline; `assay.codecs` and `assay.orders` encode;
`assay.promises` is about what provers sign off the chain.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .deployment import Deployment, read_deployment
from .errors import AssayError
from .promises import SignedVerdict, verify_signed_claim
from .receipt import Receipt, Trust, Verdict, parse_receipt, render_receipt, verify_receipt
from .types import Batch, Claim, Lane, Policy, Request, SignedClaim

if TYPE_CHECKING:
    from .client import Assay, AsyncAssay, connect, connect_async
    from .core.final import Final, Terms
    from .core.model import Model
    from .core.promises import Promised
    from .core.request import Asked, RequestTerms

__all__ = [
    "Asked",
    "Assay",
    "AssayError",
    "AsyncAssay",
    "Batch",
    "Claim",
    "Deployment",
    "Final",
    "Lane",
    "Model",
    "Policy",
    "Promised",
    "Receipt",
    "Request",
    "RequestTerms",
    "SignedClaim",
    "SignedVerdict",
    "Terms",
    "Trust",
    "Verdict",
    "connect",
    "connect_async",
    "parse_receipt",
    "read_deployment",
    "render_receipt",
    "verify_receipt",
    "verify_signed_claim",
]

ONLINE = {
    "client": ("Assay", "AsyncAssay", "connect", "connect_async"),
    "core.final": ("Final", "Terms"),
    "core.model": ("Model",),
    "core.promises": ("Promised",),
    "core.request": ("Asked", "RequestTerms"),
}
"""what needs web3.py, whose import takes longer than most that is done offline: loaded when it is first named"""


def __getattr__(name: str) -> Any:
    for module, names in ONLINE.items():
        if name in names:
            return getattr(import_module(f".{module}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
