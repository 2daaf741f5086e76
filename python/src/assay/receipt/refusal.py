"""Why a receipt shows nothing. None of these says that anybody cheated."""

from ..errors import AssayError


def malformed(why: str) -> AssayError:
    return AssayError(
        "RECEIPT_MALFORMED",
        f"The receipt cannot be read: {why}.",
        "Take the receipt again from where it came; a text that was cut or changed is no receipt.",
    )


def unproven(why: str) -> AssayError:
    """The proof does not lead from the trusted block to what the receipt says."""
    return AssayError(
        "RECEIPT_UNPROVEN",
        f"The receipt proves nothing: {why}.",
        "Ask for a receipt at the block that you trust, of the deployment that you trust.",
    )


def unmet(code: str, why: str) -> AssayError:
    """The storage says that the output is not final by this policy."""
    return AssayError(
        code,
        f"The receipt does not meet the policy: {why}.",
        "Do not use the output; wait for finality, or ask again with other terms.",
    )
