"""Reads an output by its manifest's `meaning`: one line for people, and the values that it is made of.

For display: nothing commits to it, and whoever writes the manifest chooses the words.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from .errors import AssayError

Reading = Mapping[str, Any]
"""JSON throughout, as the TypeScript SDK gives it: `kind`, `text`, and by kind `label`, `index`, `probability` and
`classes`, or `quantiles`, or `shown`; docs/IMPORT.md has the forms"""

MINUS = "\N{MINUS SIGN}"
WORD = 32


def read_output(section: Mapping[str, Any], output: bytes) -> Reading | None:
    """`section` is the `assay` of a manifest. None where it says nothing of the output's meaning.

    Raises AssayError OUTPUT_INVALID for bytes that no tensor of this model encodes to.
    """
    meaning = section.get("meaning")
    if meaning is None:
        return None
    numbers = numbers_of(section, output)
    if meaning["kind"] == "classes":
        return read_classes(meaning, numbers)
    return read_quantiles(meaning, numbers) if meaning["kind"] == "quantiles" else read_shown(meaning, numbers)


def numbers_of(section: Mapping[str, Any], output: bytes) -> list[int]:
    length = section["outputLength"]
    if len(output) != length:
        raise invalid(f"it has {len(output)} bytes, must have {length}")
    if section["codec"]["output"] == "words":
        return [int.from_bytes(output[at : at + WORD], "big", signed=True) for at in range(0, length, WORD)]
    if section["codec"]["output"] != "int16s":
        raise invalid("its codec has no numbers")
    count = max((entry["offset"] + math.prod(entry["dims"]) for entry in section["outputs"]), default=0)
    words = -(-count // 16)
    # uint256[] as canonical ABI: where it begins, how many words, the words.
    head = (WORD).to_bytes(WORD, "big") + words.to_bytes(WORD, "big")
    content = output[len(head) :]
    if output[: len(head)] != head or len(content) != WORD * words:
        raise invalid(f"it is no list of {words} words")
    if any(content[2 * count :]):
        raise invalid(f"behind its {count} numbers it is not zero")
    return [int.from_bytes(content[at : at + 2], "big", signed=True) for at in range(0, 2 * count, 2)]


def read_classes(meaning: Mapping[str, Any], numbers: Sequence[int]) -> Reading:
    labels: Sequence[str] = meaning["labels"]
    held: Sequence[int] = []
    if "scores" in meaning:
        first = meaning["scores"]["first"]
        held = numbers[first : first + meaning["scores"]["count"]]
    chosen = numbers[meaning["index"]] if "index" in meaning else held.index(max(held)) if held else 0
    probabilities = softmax(held, meaning["scale"]) if "scale" in meaning else []
    is_known = 0 <= chosen < len(labels)
    name = labels[chosen] if is_known else f"class {shown_decimal(chosen, 0)}, which has no name"
    own = probabilities[chosen] if is_known and chosen < len(probabilities) else None
    reading: dict[str, Any] = {"kind": "classes", "text": name if own is None else f"{name} ({percent_text(own)})"}
    if is_known:
        reading |= {"index": chosen, "label": name}
    if own is not None:
        reading["probability"] = four_decimals(own)
    reading["classes"] = [
        {"label": label} | ({"probability": four_decimals(probabilities[i])} if i < len(probabilities) else {})
        for i, label in enumerate(labels)
    ]
    return reading


def softmax(scores: Sequence[int], scale: float) -> list[float]:
    """exp(score_i / scale) / sum, in doubles: their differences are exact, so that nothing overflows."""
    return [1 / sum(exponential(float(one - own) / scale) for one in scores) for own in scores]


def exponential(power: float) -> float:
    try:
        return math.exp(power)
    except OverflowError:
        return math.inf


def four_decimals(probability: float) -> float:
    return math.floor(10_000 * probability + 0.5) / 10_000


def percent_text(probability: float) -> str:
    """One decimal. What is not certain is never called 100 %, nor what is possible 0 %."""
    tenths = math.floor(1_000 * probability + 0.5)
    if tenths >= 1_000:
        return "> 99.9 %"
    return "< 0.1 %" if tenths == 0 else f"{plain_decimal(tenths, 1)} %"


def read_quantiles(meaning: Mapping[str, Any], numbers: Sequence[int]) -> Reading:
    first = meaning.get("first", 0)
    values = [
        {"percent": percent} | shown_value(numbers[first + i], meaning)
        for i, percent in enumerate(meaning["quantiles"])
    ]
    text = with_suffix(" … ".join(value["text"] for value in values), meaning)
    return {"kind": "quantiles", "text": text} | unit_of(meaning) | {"quantiles": values}


def read_shown(meaning: Mapping[str, Any], numbers: Sequence[int]) -> Reading:
    shown = [
        {key: one[key] for key in ("name",) if key in one} | shown_value(numbers[one["place"]], meaning)
        for one in meaning["show"]
    ]
    text = ", ".join(f"{one['name']} {one['text']}" if "name" in one else one["text"] for one in shown)
    return {"kind": "numbers", "text": with_suffix(text, meaning)} | unit_of(meaning) | {"shown": shown}


def shown_value(number: int, form: Mapping[str, Any]) -> dict[str, Any]:
    decimals = form.get("decimals", 0)
    units = rounded(number, form.get("scale", 1), decimals)
    text = shown_decimal(units, decimals, form.get("sign", False))
    return {
        "value": float(plain_decimal(units, decimals)),
        "text": f"{text} {form['unit']}" if "unit" in form else text,
    }


def rounded(number: int, scale: float, decimals: int) -> int:
    """number / scale in units of 10^-decimals, half away from zero; the scale by its shortest decimal form."""
    over, under = Decimal(repr(float(scale))).as_integer_ratio()
    size = abs(number) * int(10**decimals) * under
    quotient = (2 * size + over) // (2 * over)
    return -quotient if number < 0 else quotient


def plain_decimal(units: int, decimals: int) -> str:
    digits = str(abs(units)).rjust(decimals + 1, "0")
    point = len(digits) - decimals
    fraction = f".{digits[point:]}" if decimals else ""
    return f"{'-' if units < 0 else ''}{digits[:point]}{fraction}"


def shown_decimal(units: int, decimals: int, sign: bool = False) -> str:
    plain = plain_decimal(abs(units), decimals)
    if units < 0:
        return f"{MINUS}{plain}"
    return f"+{plain}" if sign and units > 0 else plain


def with_suffix(text: str, form: Mapping[str, Any]) -> str:
    return f"{text} {form['suffix']}" if "suffix" in form else text


def unit_of(form: Mapping[str, Any]) -> dict[str, Any]:
    return {"unit": form["unit"]} if "unit" in form else {}


def invalid(why: str) -> AssayError:
    return AssayError(
        "OUTPUT_INVALID",
        f"The output cannot be read as the model's manifest says: {why}.",
        "Check that the output and the manifest belong to one model.",
    )
