"""Where a system is deployed and with which constants: the text of deployments/<chain id>.json."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eth_utils.address import is_address, to_checksum_address

from .errors import AssayError


@dataclass(frozen=True)
class Deployment:
    chain_id: int
    judge_version: int
    contracts: Mapping[str, str]
    """addresses by name; `assay` and `registry` are there"""
    answer_seconds: int
    """T"""
    gas_price_floor: int
    gas_base: int
    gas_per_demand: int
    block_number: int
    """where Assay was created: events start here"""
    block_hash: str


def read_deployment(path: str | Path) -> Deployment:
    """Reads the file that `assay deploy` writes.

    Raises AssayError DEPLOYMENT_MISSING, DEPLOYMENT_INVALID.
    """
    try:
        text = Path(path).read_text()
    except OSError as error:
        raise AssayError(
            "DEPLOYMENT_MISSING",
            f"There is no deployment file {path}.",
            "Take the file from whoever deployed.",
        ) from error
    try:
        return parse_deployment(json.loads(text))
    except (ValueError, KeyError, TypeError) as error:
        raise AssayError(
            "DEPLOYMENT_INVALID",
            f"The deployment file {path} cannot be used: {type(error).__name__} {error}.",
            "Take the file from whoever deployed.",
        ) from error


def parse_deployment(value: Any) -> Deployment:
    """Raises ValueError, KeyError or TypeError for another form."""
    contracts = {name: checked_address(name, address) for name, address in value["contracts"].items()}
    for name in ("assay", "registry"):
        if name not in contracts:
            raise ValueError(f"it names no {name}")
    constants = value["constants"]
    return Deployment(
        chain_id=int(value["chainId"]),
        judge_version=int(value["judgeVersion"]),
        contracts=contracts,
        answer_seconds=int(constants["answerSeconds"]),
        gas_price_floor=int(constants["gasPriceFloor"]),
        gas_base=int(constants["gasBase"]),
        gas_per_demand=int(constants["gasPerDemand"]),
        block_number=int(value["block"]["number"]),
        block_hash=str(value["block"]["hash"]),
    )


def checked_address(name: str, text: str) -> str:
    if not is_address(text):
        raise ValueError(f"{name}: {text} is no address")
    return to_checksum_address(text)
