"""The lines by which implementations are compared (docs/CONFORMANCE.md)."""

from __future__ import annotations

import io
import json
from collections import Counter

from assay.exact.lines import COMMANDS, answer, serve

from ..vectors import VECTORS


def test_cases_of_every_area() -> None:
    counts: Counter[str] = Counter()
    for text in (VECTORS / "conformance.jsonl").read_text().splitlines():
        case = json.loads(text)
        found = answer(case["line"])
        assert found.split(" ")[0] == "refused" if case["answer"] == "refused" else found == case["answer"], text[:200]
        counts[case["area"]] += 1
    print(f"conformance: {sum(counts.values())} cases of {len(counts)} areas")
    assert len(counts) >= 20


def test_other_lines_are_refused() -> None:
    for line in (
        "",
        " ",
        "run",
        "program",
        "program 0x0",
        "program zz",
        "program 0x 0x",
        "lines 0x",
        "none 0x00",
    ):
        assert answer(line).startswith("refused "), line
    out = io.StringIO()
    serve(["lines\n", "\n"], out)
    first, second = out.getvalue().splitlines()
    assert first == " ".join(["ok", "lines", *COMMANDS]) and second.startswith("refused ")
