"""Receipts: that an output is final, with all that shows it to whoever trusts one block's hash."""

from .receipt import FORMAT, Receipt, parse_receipt, render_receipt
from .verify import Trust, Verdict, verify_receipt

__all__ = ["FORMAT", "Receipt", "Trust", "Verdict", "parse_receipt", "render_receipt", "verify_receipt"]
