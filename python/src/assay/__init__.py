"""Use the output of a model that somebody else ran, without trusting who ran it. docs/PYTHON.md shows how.

`assay.exact` computes outputs and checks commitments offline; `assay.codecs` and `assay.orders` encode.
"""

from .client import Assay, AsyncAssay, connect, connect_async
from .core.final import Final, Terms
from .core.model import Model
from .core.request import Asked, RequestTerms
from .deployment import Deployment, read_deployment
from .errors import AssayError
from .receipt import Receipt, Trust, Verdict, parse_receipt, render_receipt, verify_receipt
from .types import Claim, Lane, Policy, Request

__all__ = [
    "Asked",
    "Assay",
    "AssayError",
    "AsyncAssay",
    "Claim",
    "Deployment",
    "Final",
    "Lane",
    "Model",
    "Policy",
    "Receipt",
    "Request",
    "RequestTerms",
    "Terms",
    "Trust",
    "Verdict",
    "connect",
    "connect_async",
    "parse_receipt",
    "read_deployment",
    "render_receipt",
    "verify_receipt",
]
