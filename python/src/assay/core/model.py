"""A registered model as it is called: values by name in, values by name out."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eth_abi.abi import decode
from eth_abi.exceptions import DecodingError

from ..codecs import encode_prices, encode_raw, encode_text, inputs_invalid
from ..errors import AssayError
from ..exact.form import InputCodec, OutputCodec
from ..meaning import Reading, read_output
from ..tensors import NamedTensor, encode_numbers, encode_tensors, numbers_by_name, tensors_by_name
from ..words import ModelWord, decode_model_word
from .abi import Entry, signature_hash, types_of
from .chain import Chain
from .effects import Steps
from .rpc import call

Values = Mapping[str, Any]
INPUT_NAMES = {
    InputCodec.TEXT: ("text",),
    InputCodec.PRICES: ("closes", "highs", "lows"),
    InputCodec.INT16S: ("int16s",),
    InputCodec.RAW: ("data",),
}
"""of a model of which only the id is known"""


@dataclass(frozen=True)
class Model:
    model_id: str
    description: str
    """"" for a model of which only the id is known"""
    word: ModelWord
    """as registered: lanes, lengths, codecs"""
    input_names: tuple[str, ...]
    """of the function's parameters"""
    outputs: tuple[Entry, ...]
    """the function's, as its ABI has them"""
    inputs: tuple[NamedTensor, ...]
    """what codecs int16s and raw join; none where the manifest does not say"""
    output_tensors: tuple[NamedTensor, ...]
    readable: Mapping[str, Any] | None = None
    """the manifest's `assay`, which says how an output is read; None for a model of which only the id is known"""

    def encode(self, values: Values) -> bytes:
        """Calldata.

        Codec text takes a str, prices three lists of integers, each by its parameter's name. Codecs int16s and raw take
        arrays (NumPy's or nested lists) by the names of the manifest's inputs, or its numbers' names; without a
        manifest int16s one array and raw bytes.

        Raises AssayError INPUTS_INVALID, naming the value and what it must be.
        """
        word = self.word
        if word.input_codec is InputCodec.INT16S:
            return encode_numbers(
                word.selector,
                values,
                self.inputs or (flat(self.input_names[0], word.input_size),),
                word.input_size,
            )
        if word.input_codec is InputCodec.RAW and self.inputs:
            return encode_raw(word.selector, encode_tensors(values, self.inputs, word.input_size))
        given = in_order(values, self.input_names)
        if word.input_codec is InputCodec.PRICES:
            for name, prices in zip(self.input_names, given, strict=True):
                if not isinstance(prices, Sequence) or len(prices) != word.input_size:
                    raise inputs_invalid(f"{name} is no list of {word.input_size} prices")
            return encode_prices(word.selector, *given)
        content = given[0].encode() if isinstance(given[0], str) else given[0]
        exact = word.input_codec is InputCodec.RAW
        if (
            not isinstance(content, bytes)
            or len(content) > word.input_size
            or (exact and len(content) != word.input_size)
        ):
            what = "bytes, exactly" if exact else "text, at most"
            raise inputs_invalid(f"{self.input_names[0]} must be {what} {word.input_size} bytes")
        return (encode_raw if exact else encode_text)(word.selector, content)

    def decode(self, output: bytes) -> dict[str, Any]:
        """Return data by the names of the outputs: integers, or arrays of NumPy; of codec raw without a manifest bytes.

        Raises AssayError OUTPUT_INVALID for return data of another form.
        """
        try:
            types = types_of(self.outputs)
            values = decode(types, output)
        except (DecodingError, ValueError) as error:
            raise AssayError(
                "OUTPUT_INVALID",
                f"The return data cannot be read: {error}.",
                "Check that the manifest is the model's.",
            ) from error
        names = [str(entry.get("name") or i) for i, entry in enumerate(self.outputs)]
        if self.word.output_codec is OutputCodec.INT16S:
            packed = b"".join(int(word).to_bytes(32, "big") for word in values[0])
            return numbers_by_name(packed, self.output_tensors or (flat(names[0], len(packed) // 2),))
        if self.word.output_codec is OutputCodec.RAW and self.output_tensors:
            return tensors_by_name(values[0], self.output_tensors)
        return dict(zip(names, values, strict=True))

    def read(self, output: bytes) -> Reading | None:
        """What return data say to people; None where the manifest does not say.

        Raises AssayError OUTPUT_INVALID for return data of another form.
        """
        return None if self.readable is None else read_output(self.readable, output)


def flat(name: str, count: int) -> NamedTensor:
    return NamedTensor(name, "int32", (count,), 0, ())


def in_order(values: Values, names: Sequence[str]) -> list[Any]:
    """Raises AssayError INPUTS_INVALID for a name that is unknown or missing."""
    for name in values:
        if name not in names:
            raise inputs_invalid(f"{name} is unknown", f"Give {', '.join(names)}.")
    for name in names:
        if name not in values:
            raise inputs_invalid(f"{name} is missing", f"Give {', '.join(names)}.")
    return [values[name] for name in names]


def open_model(chain: Chain, source: str | Path | Mapping[str, Any]) -> Steps[Model]:
    """`source` is an id, whose names are then the codecs', or a manifest: its JSON object, its path, or its folder.

    Raises AssayError MODEL_UNKNOWN, MANIFEST_INVALID; faults of the node.
    """
    if isinstance(source, str) and source.startswith("0x"):
        return (yield from registered(chain, source))
    manifest = source if isinstance(source, Mapping) else read_manifest(Path(source))
    try:
        plain = yield from registered(chain, manifest["assay"]["modelId"])
        selector = plain.word.selector
        function = next((entry for entry in manifest["abi"] if signature_hash(entry)[:4] == selector), None)
        if function is None:
            raise invalid(f"it has no function with the registered selector 0x{selector.hex()}")
        return Model(
            model_id=plain.model_id,
            description=str(manifest["description"]),
            word=plain.word,
            input_names=tuple(str(entry["name"] or i) for i, entry in enumerate(function["inputs"])),
            outputs=tuple(function["outputs"]),
            inputs=tuple(map(NamedTensor.parse, manifest["assay"].get("inputs", ()))),
            output_tensors=tuple(map(NamedTensor.parse, manifest["assay"].get("outputs", ()))),
            readable=manifest["assay"],
        )
    except (KeyError, TypeError, ValueError) as error:
        raise invalid(f"{type(error).__name__} {error}") from error


def read_manifest(path: Path) -> Mapping[str, Any]:
    try:
        text = (path / "manifest.json" if path.is_dir() else path).read_text()
        manifest: Mapping[str, Any] = json.loads(text)
        return manifest
    except (OSError, ValueError) as error:
        raise invalid(f"{path} cannot be read ({error})") from error


def invalid(why: str) -> AssayError:
    return AssayError(
        "MANIFEST_INVALID", f"The model's manifest cannot be used: {why}.", "Take the model's manifest.json."
    )


def registered(chain: Chain, model_id: str) -> Steps[Model]:
    registry = chain.contract("registry")
    number = yield from call(
        f"read model {model_id}", registry, "IModelRegistry", "modelWord", bytes.fromhex(model_id[2:])
    )
    word = decode_model_word(number)
    if word is None:
        raise AssayError(
            "MODEL_UNKNOWN",
            f"Model {model_id} is not registered on chain {chain.deployment.chain_id}.",
            "Check the id and the deployment.",
        )
    if word.output_codec is OutputCodec.WORDS:
        outputs = [{"name": f"output{i}", "type": "int256"} for i in range(word.output_length // 32)]
    else:
        outputs = [{"name": "output", "type": "uint256[]" if word.output_codec is OutputCodec.INT16S else "bytes"}]
    return Model(model_id.lower(), "", word, INPUT_NAMES[word.input_codec], tuple(outputs), (), ())
