"""The one class of errors: something could not be done or decided. A verdict is a value, never an error."""

from __future__ import annotations

from collections.abc import Mapping


class AssayError(Exception):
    """An error that names the value, the limit and the next step.

    Callers branch on `code`, which stays; the sentences are for people.
    """

    def __init__(
        self,
        code: str,
        short_message: str,
        next_step: str = "",
        *,
        retryable: bool = False,
        details: Mapping[str, object] | None = None,
    ) -> None:
        super().__init__(f"{short_message} {next_step}".strip())
        self.code = code
        """upper case with underscores, for instance CALLDATA_NOT_CANONICAL"""
        self.short_message = short_message
        self.next_step = next_step
        self.retryable = retryable
        """true if the same call can succeed later: a fault of network, node or load"""
        self.details: Mapping[str, object] = details or {}
