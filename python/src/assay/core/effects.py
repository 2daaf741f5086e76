"""Effects, and their outcomes."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar


@dataclass(frozen=True)
class Rpc:
    """A call of the node."""

    method: str
    params: list[Any]


@dataclass(frozen=True)
class Sleep:
    seconds: float


@dataclass(frozen=True)
class Answer:
    value: Any


@dataclass(frozen=True)
class Fault:
    """An exception of web3.py or of the network below it."""

    error: Exception


Effect: TypeAlias = Rpc | Sleep
Outcome: TypeAlias = Answer | Fault
T = TypeVar("T")
Steps: TypeAlias = Generator[Effect, Any, T]
"""what is sent to it is the outcome of its last effect"""
