"""Every vector of test/vectors that section 9 of docs/EXACT.md describes."""

from __future__ import annotations

import json

import numpy as np
import pytest

from assay import AssayError
from assay.exact import Model, Opening, decode_program, judge_element, model_id, model_word, open_output
from assay.exact.calldata import codec_tensor, parse_calldata, parse_input
from assay.exact.claimed import claimed_tensor
from assay.exact.commit import ZERO_WORDS, rows_root, tree_root, weights_root
from assay.exact.decode import Fields, parse_step
from assay.exact.form import ElementType, Form, InputCodec, Opcode, OutputCodec
from assay.exact.kernels import float_
from assay.exact.numbers import from_bytes, round_to_s32, store, to_bytes
from assay.exact.output import encode_tensor
from assay.exact.reveal import check_reveal, climb, tops_root
from assay.exact.weights import split
from assay.types import Lane

from ..vectors import OPENING, ROOT, from_hex, load, structs

COUNTED = [opcode.name.lower() for opcode in Opcode if opcode is not Opcode.CODEC]
SELECTOR = bytes.fromhex("01020304")


def test_claimed_outputs() -> None:
    """Any bytes of the output's length have one tensor."""
    given = structs("claimed", "(bytes,bytes4,bytes,uint256,bytes32,bytes32,bytes32[])")
    for program_bytes, _, output, step, trace_root, tensor_root, path in given:
        program = decode_program(program_bytes)
        assert program.steps[step].is_claimed
        root = rows_root(to_bytes(claimed_tensor(program, output)), program.steps[step].form.stored)
        assert (root, climb(root, step, path)) == (tensor_root, trace_root)
        with pytest.raises(AssayError, match="claimed output"):
            claimed_tensor(program, output + b"\0")
    print(f"claimed: {len(given)} outputs")
    assert len(given) > 20


def openings_of(given: list[tuple[list[bytes], list[bytes]]]) -> list[Opening]:
    return [Opening(tuple(words), tuple(path)) for words, path in given]


@pytest.mark.parametrize("name", COUNTED)
def test_elements(name: str) -> None:
    form = f"(bytes,bytes[],bytes32,bytes32,uint256,(uint256,uint256,uint256,{OPENING}[])[])"
    cases = 0
    for program_bytes, weights, root, trace_root, step, given in structs(name, form):
        program = decode_program(program_bytes)
        assert weights_root(program, split(program.weights, b"".join(weights))) == root
        assert program.steps[step].opcode.name.lower() == name
        for element, expected, claimed, openings in given:
            judged = judge_element(program, root, trace_root, step, element, openings_of(openings))
            assert (judged.expected, judged.claimed) == (expected, claimed)
            cases += 1
    print(f"{name}: {cases} elements")
    assert cases > 20


@pytest.mark.parametrize("name", COUNTED)
def test_elements_by_other_openings(name: str) -> None:
    """A changed bit, a missing sibling, one opening more or less: each is refused."""
    form = f"(bytes,bytes[],bytes32,bytes32,uint256,(uint256,uint256,uint256,{OPENING}[])[])"
    refused = 0
    for program_bytes, _, root, trace_root, step, given in structs(name, form)[:4]:
        program = decode_program(program_bytes)
        for element, _, _, raw in given[:4]:
            openings = openings_of(raw)
            for changed in others(openings):
                with pytest.raises(AssayError, match="prove nothing"):
                    judge_element(program, root, trace_root, step, element, changed)
                refused += 1
    assert refused > 20


def others(openings: list[Opening]) -> list[list[Opening]]:
    found = [openings[:-1], [*openings, openings[-1]]]
    for i, opening in enumerate(openings):
        words = (flip(opening.words[0]), *opening.words[1:])
        found.append([*openings[:i], Opening(words, opening.path), *openings[i + 1 :]])
        if opening.path:
            found.append([*openings[:i], Opening(opening.words, opening.path[1:]), *openings[i + 1 :]])
            path = (*opening.path[:-1], flip(opening.path[-1]))
            found.append([*openings[:i], Opening(opening.words, path), *openings[i + 1 :]])
    return found


def flip(word: bytes) -> bytes:
    return bytes([word[0] ^ 1]) + word[1:]


def test_codec() -> None:
    vectors = structs("codec", "(bytes,bytes4,bytes,uint256,bytes32,bytes32,bytes32[])")
    for program_bytes, selector, data, step, trace_root, tensor_root, path in vectors:
        program = decode_program(program_bytes)
        tensor = codec_tensor(parse_calldata(program, selector, data), program.steps[step])
        root = rows_root(to_bytes(tensor), program.steps[step].form.stored)
        assert root == tensor_root
        assert climb(root, step, path) == trace_root
    print(f"codec: {len(vectors)} tensors")


def test_output() -> None:
    form = f"(bytes,bytes32,bytes,(uint256,bool,uint256,uint256,uint256,{OPENING})[])"
    cases = 0
    for program_bytes, trace_root, output, given in structs("output", form):
        program = decode_program(program_bytes)
        for bit, is_form, element, expected, claimed, opening in given:
            turned = bytearray(output)
            turned[bit // 8] ^= 0x80 >> bit % 8
            openings = [] if is_form else openings_of([opening])
            found = open_output(program, trace_root, bytes(turned), element, openings)
            assert (found is None) == is_form
            if found is not None:
                assert [int.from_bytes(part, "big") for part in (found.expected, found.claimed)] == [
                    expected,
                    claimed,
                ]
                right = open_output(program, trace_root, output, element, openings)
                assert right is not None and right.claimed == right.expected == found.expected
            cases += 1
    print(f"output: {cases} faults")
    assert cases > 50


def test_calldata() -> None:
    vectors = structs("calldata", "(bytes,bytes4,bytes,bool)")
    for program_bytes, selector, data, canonical in vectors:
        assert is_taken(lambda: parse_calldata(decode_program(program_bytes), selector, data)) == canonical
    print(f"calldata: {len(vectors)} calldata")


def is_taken(action: object) -> bool:
    assert callable(action)
    try:
        action()
    except AssayError as error:
        assert error.code in ("CALLDATA_NOT_CANONICAL", "PROGRAM_INVALID")
        return False
    return True


def test_program() -> None:
    vectors = structs("program", "(bytes,bool,bytes32,bytes32,uint256,bytes32)")
    accepted = 0
    for data, is_accepted, _, root, word, identity in vectors:
        assert is_taken(lambda: decode_program(data)) == is_accepted
        if is_accepted:
            program = decode_program(data)
            assert model_id(program, root, SELECTOR, 4, bytes(32)) == identity
            assert model_word(program, SELECTOR, 4) == word
            accepted += 1
    print(f"program: {accepted} programs taken, {len(vectors) - accepted} refused")


def test_reveal() -> None:
    vectors = structs("reveal", "(bytes,bytes32,bytes32[],uint64,bytes32[],bytes32[])")
    for data, root, tops, position, content, path in vectors:
        program = decode_program(data)
        assert tops_root(program, tops) == root
        check_reveal(program, root, position, content, path)
        for changed, siblings in (
            ([flip(content[0]), *content[1:]], path),
            (content[1:], path),
            (content, [*path, path[0] if path else bytes(32)]),
        ):
            with pytest.raises(AssayError, match="reveal is refused"):
                check_reveal(program, root, position, changed, siblings)
    print(f"reveal: {len(vectors)} reveals")


def test_run() -> None:
    vectors = structs("run", "(bytes,bytes4,bytes,bytes32,bytes,bytes)")
    for program, selector, weights, root, data, output in vectors:
        model = Model(program, weights, selector)
        assert weights_root(model.program, model.weights.rows) == root
        assert model.run(data) == output
    print(f"run: {len(vectors)} runs")


def test_model_runs() -> None:
    runs = 0
    for name, program, weights, root, selector, inputs, outputs in structs(
        "model-runs", "(string,bytes,bytes,bytes32,bytes4,bytes[],bytes[])"
    ):
        # Of shipped models the vector has neither.
        folder = ROOT / "models" / name
        is_shipped = program == b""
        if is_shipped:
            program, weights = ((folder / f"{part}.bin").read_bytes() for part in ("program", "weights"))
        model = Model(program, weights, selector)
        assert weights_root(model.program, model.weights.rows) == root
        if is_shipped:
            manifest = json.loads((folder / "manifest.json").read_text())["assay"]
            lanes = sum(Lane[lane] for lane in manifest["lanes"])
            identity = model_id(model.program, root, selector, lanes, from_hex(manifest["vkHash"]))
            assert "0x" + identity.hex() == manifest["modelId"]
        for data, output in zip(inputs, outputs, strict=True):
            assert model.run(data) == output
            runs += 1
    print(f"model-runs: {runs} runs")


def test_codecs() -> None:
    given = load("codecs")
    selector = from_hex(given["selector"])

    def input_of(model_word: str, calldata: str) -> object:
        word = int(model_word, 16)
        return parse_input(InputCodec(word >> 160 & 0xFF), word >> 176 & 0xFFFF_FFFF, selector, from_hex(calldata))

    inputs, refused, outputs = given["inputs"], given["refused"], given["outputs"]
    for word, record, calldata, root in zip(
        inputs["modelWord"], inputs["record"], inputs["calldata"], inputs["root"], strict=True
    ):
        step = parse_step(Fields(from_hex(record), "record"))
        number = int(word, 16)
        read = parse_input(InputCodec(number >> 160 & 0xFF), number >> 176 & 0xFFFF_FFFF, selector, from_hex(calldata))
        assert rows_root(to_bytes(codec_tensor(read, step)), step.form.stored) == from_hex(root)
    for word, calldata in zip(refused["modelWord"], refused["calldata"], strict=True):
        assert not is_taken(lambda: input_of(word, calldata))
    for word, record, words, data in zip(
        outputs["modelWord"], outputs["record"], outputs["words"], outputs["returnData"], strict=True
    ):
        form = parse_output(from_hex(record))
        rows = form.stored
        padded = np.frombuffer(from_hex(words), np.uint8).reshape(rows.rows, -1)
        tensor = from_bytes(padded[:, : rows.row_bytes].tobytes(), form)
        assert encode_tensor(OutputCodec(int(word, 16) >> 168 & 0xFF), form.type, tensor) == from_hex(data)
    print(f"codecs: {len(inputs['root'])} inputs, {len(refused['calldata'])} refused, {len(outputs['words'])} outputs")


def parse_output(record: bytes) -> Form:
    """Type and dims of a record of which nothing else counts."""
    fields = Fields(record, "record")
    return Form(ElementType(record[2]), fields.dims(32, record[3]))


RESULTS = (
    ("add", 0, "ff"), ("sub", 1, "ff"), ("mul", 2, "ff"), ("div", 3, "ff"), ("sqrt", 4, "f"), ("round", 5, "f"),
    ("min", 6, "ff"), ("max", 7, "ff"), ("lt", 8, "ff"), ("le", 9, "ff"), ("eq", 10, "ff"), ("tofloat", 11, "s"),
    ("toint", 12, "f"), ("dequant", 13, "sfs"), ("quant", 14, "ffs"),
)  # fmt: skip


def test_binary32() -> None:
    given = load("binary32")
    operands = np.frombuffer(from_hex(given["operands"]), ">u4").astype(np.uint32).reshape(given["count"], 3)
    kinds = {"f": ElementType.F32, "s": ElementType.S32}
    for name, variant, taken in RESULTS:
        output = {12: ElementType.S32, 14: ElementType.U8}.get(
            variant, ElementType.BOOL if variant in (8, 9, 10) else ElementType.F32
        )
        columns = [operands[:, i].copy() for i in range(len(taken))]
        found = float_(variant, columns, [kinds[kind] for kind in taken], output)
        assert_results(given, name, found.astype(np.uint32))
    a, b = (operands[:, i].copy() for i in (0, 1))
    with np.errstate(all="ignore"):
        nearest = round_to_s32(a.view(np.float32))
        scaled = round_to_s32(a.view(np.int32).astype(np.float32) * b.view(np.float32))
    assert_results(given, "nearest", store(nearest, ElementType.S32))
    assert_results(given, "requantize", store(scaled, ElementType.S32))
    assert set(given["results"]) == {name for name, _, _ in RESULTS} | {"nearest", "requantize"}
    print(f"binary32: {given['count']} operands of {len(given['results'])} operations")


def assert_results(given: dict[str, dict[str, str]], name: str, found: object) -> None:
    expected = np.frombuffer(from_hex(given["results"][name]), ">u4").astype(np.uint32)
    np.testing.assert_array_equal(found, expected, err_msg=name)


def test_zero_subtrees() -> None:
    assert tree_root([]) == bytes(32)
    assert ZERO_WORDS[1] == climb(ZERO_WORDS[0], 0, [ZERO_WORDS[0]])
