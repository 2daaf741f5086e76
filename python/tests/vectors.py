"""The vectors of the repository (docs/EXACT.md, section 9)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from eth_abi.abi import decode

ROOT = Path(__file__).parents[2]
VECTORS = ROOT / "test" / "vectors"
OPENING = "(bytes32[],bytes32[])"


def load(name: str) -> Any:
    return json.loads((VECTORS / f"{name}.json").read_text())


def structs(name: str, form: str) -> list[tuple[Any, ...]]:
    """All structs of a file, each abi.encode of one."""
    return [decode([form], bytes.fromhex(text[2:]))[0] for text in load(name)["vectors"]]


def from_hex(text: str) -> bytes:
    return bytes.fromhex(text[2:])
