"""The packed words of requests, claims and models (docs/PROTOCOL.md, sections 1 and 2)."""

from __future__ import annotations

from dataclasses import dataclass

from .errors import AssayError
from .exact.form import InputCodec, OutputCodec

REQUEST_STATES = ("NONE", "OPEN", "BUSY", "DONE", "REFUNDED")
CLAIM_STATES = ("NONE", "ACTIVE", "FINAL", "FALLEN")
REQUEST_BITS = 136
"""of the request word that have a meaning for readers; the contract keeps copies above them"""


@dataclass(frozen=True)
class RequestWord:
    state: str
    lane: int
    """of the final result, 0 before"""
    attempt: int


@dataclass(frozen=True)
class ClaimWord:
    """Times in seconds since 1970; 0 where there is none yet."""

    state: str
    window_end: int
    last_event: int
    hard_end: int
    pending: int
    """owed answers"""

    def final_at(self, answer_seconds: int) -> int:
        """First second in which it is final if it owes nothing."""
        if self.last_event == 0:
            return self.window_end
        return max(self.window_end, min(self.last_event + answer_seconds + 1, self.hard_end))

    def is_final(self, answer_seconds: int, now: int) -> bool:
        if self.state != "ACTIVE":
            return self.state == "FINAL"
        return self.pending == 0 and now >= self.final_at(answer_seconds)


@dataclass(frozen=True)
class ModelWord:
    """A model as it is registered."""

    lanes: int
    selector: bytes
    max_calldata: int
    output_length: int
    input_codec: InputCodec
    output_codec: OutputCodec
    input_size: int


def bits(word: int, first: int, count: int) -> int:
    return word >> first & ((1 << count) - 1)


def decode_request_word(word: int) -> RequestWord:
    """Raises AssayError WORD_INVALID for a state that has no name."""
    return RequestWord(named(REQUEST_STATES, bits(word, 0, 8), "request"), bits(word, 8, 8), bits(word, 24, 32))


def decode_claim_word(word: int) -> ClaimWord:
    """Raises AssayError WORD_INVALID for a state that has no name."""
    return ClaimWord(
        state=named(CLAIM_STATES, bits(word, 224, 8), "claim"),
        window_end=bits(word, 0, 40),
        last_event=bits(word, 40, 40),
        hard_end=bits(word, 80, 40),
        pending=bits(word, 192, 32),
    )


def decode_model_word(word: int) -> ModelWord | None:
    """None for a model that is not registered. Raises AssayError WORD_INVALID for a codec that has no name."""
    if word == 0:
        return None
    input_codec, output_codec = bits(word, 160, 8), bits(word, 168, 8)
    if not (1 <= input_codec <= 4 and 1 <= output_codec <= 3):
        raise invalid("model", f"codecs {input_codec} and {output_codec}")
    return ModelWord(
        lanes=bits(word, 8, 8),
        selector=bits(word, 64, 32).to_bytes(4, "big"),
        max_calldata=bits(word, 96, 32),
        output_length=bits(word, 128, 32),
        input_codec=InputCodec(input_codec),
        output_codec=OutputCodec(output_codec),
        input_size=bits(word, 176, 32),
    )


def demands_of(model_word: int) -> int:
    """d: the most demands from a trace's root to one of its words."""
    return bits(model_word, 16, 8)


def named(names: tuple[str, ...], code: int, what: str) -> str:
    if code >= len(names):
        raise invalid(what, f"state {code}")
    return names[code]


def invalid(what: str, why: str) -> AssayError:
    return AssayError(
        "WORD_INVALID",
        f"The chain's {what} word cannot be read: {why} is unknown.",
        "Check that the deployment names contracts of this version.",
    )
