"""`python -m assay.exact`, and the guard of the floating-point unit."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from assay import AssayError
from assay.codecs import encode_text
from assay.exact import Model, execute

from ..vectors import ROOT

SENTIMENT = ROOT / "models" / "sentiment"


def ask(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "assay.exact", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_run(tmp_path: Path) -> None:
    data = encode_text(bytes.fromhex("67df395d"), "Profit beats forecasts")
    calldata = tmp_path / "calldata"
    calldata.write_bytes(data)
    program, weights = SENTIMENT / "program.bin", SENTIMENT / "weights.bin"
    found = ask("run", program, weights, calldata, calldata)
    output = Model(program.read_bytes(), weights.read_bytes(), data[:4]).run(data)
    assert found.stdout.split() == ["0x" + output.hex()] * 2 and found.returncode == 0
    for wrong, code, words in (
        (["run", program, weights, "nowhere"], 1, "nowhere"),
        (["run", weights, weights, calldata], 1, "program breaks a rule"),
        (["run", program, calldata, calldata], 1, "bytes of weights"),
        (["run", program, weights], 2, "usage"),
        (["dance"], 2, "usage"),
    ):
        refused = ask(*wrong)
        assert refused.returncode == code and words in refused.stderr


def test_flushed_subnormals_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the product had been flushed."""
    execute.require_subnormals()
    monkeypatch.setattr(execute, "LEAST", np.zeros(1, np.float32))
    with pytest.raises(AssayError, match="flushes subnormal"):
        execute.require_subnormals()
