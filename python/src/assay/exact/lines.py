"""Answers lines (docs/CONFORMANCE.md): how this implementation is compared with others."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import TextIO

from eth_utils.crypto import keccak

from ..errors import AssayError
from ..orders import decode_order, encode_order
from ..promises import batch as batches
from ..promises.signed_claim import digest_of, signer_of
from ..receipt import Receipt, Trust, verify_receipt
from ..types import Batch, Claim, Policy, Request, SignedClaim, Struct, id_of, kinds_of, values_of
from .calldata import codec_tensor, parse_calldata
from .commit import model_id, model_word, rows_root, trace_root, weights_root
from .element import judge_element
from .execute import Model
from .form import WORD, Opcode, Program
from .numbers import from_bytes, to_bytes
from .openings import Opening, open_output
from .output import encode_output
from .reveal import check_reveal, tops_root
from .signals import binding, public_signals
from .validate import decode_program

HEX = re.compile(r"0x(?:[0-9a-fA-F]{2})*")
MAX_NUMBER_BYTES = 16
CHAIN_BITS = 53
ADDRESS = 20


def refused(why: str) -> AssayError:
    return AssayError("LINE_REFUSED", f"The line is refused: {why}.", "See docs/CONFORMANCE.md.")


class Words:
    """The words of a line behind its name, read strictly and in order."""

    def __init__(self, words: list[str]) -> None:
        self.rest = words

    def text(self) -> str:
        if not self.rest:
            raise refused("there are too few words")
        return self.rest.pop(0)

    def data(self) -> bytes:
        text = self.text()
        if HEX.fullmatch(text) is None:
            raise refused("a word is no bytes in hexadecimal")
        return bytes.fromhex(text[2:])

    def sized(self, size: int) -> bytes:
        data = self.data()
        if len(data) != size:
            raise refused(f"a word of {len(data)} bytes, must have {size}")
        return data

    def hex(self, size: int) -> str:
        return "0x" + self.sized(size).hex()

    def number(self, bits: int) -> int:
        data = self.data()
        value = int.from_bytes(data, "big")
        if len(data) > MAX_NUMBER_BYTES or value >> bits:
            raise refused(f"a number of more than {bits} bits")
        return value

    def words(self) -> list[bytes]:
        """Joined words of 32 bytes."""
        data = self.data()
        if len(data) % WORD:
            raise refused(f"{len(data)} bytes are no whole words")
        return [data[at : at + WORD] for at in range(0, len(data), WORD)]

    def program(self) -> Program:
        return decode_program(self.data())

    def opening(self) -> Opening:
        return Opening(tuple(self.words()), tuple(self.words()))

    def struct(self, struct: type[Struct]) -> Struct:
        sizes = {"address": ADDRESS, "hash": WORD}
        values = [self.number(kind) if isinstance(kind, int) else self.hex(sizes[kind]) for kind in kinds_of(struct)]
        return struct(*values)  # type: ignore[arg-type]

    def end(self) -> None:
        if self.rest:
            raise refused("there are too many words")


def numbered(value: int, size: int = MAX_NUMBER_BYTES) -> bytes:
    return value.to_bytes(size, "big")


def from_hex(text: str) -> bytes:
    return bytes.fromhex(text[2:])


def program(words: Words) -> list[bytes]:
    words.program()
    return []


@lru_cache(maxsize=2)
def open_model(program_bytes: str, weights: str, selector: str) -> tuple[Model, bytes]:
    """A model and its weights root: it is run on one input after the other."""
    words = Words([program_bytes, weights, selector])
    model = Model(words.data(), words.data(), words.sized(4))
    return model, weights_root(model.program, model.weights.rows)


def run(words: Words, *, is_claimed: bool = False) -> list[bytes]:
    opened, root = open_model(words.text(), words.text(), words.text())
    tensors = opened.trace(words.data(), words.data() if is_claimed else None)
    roots = [root, trace_root(opened.program, tensors)]
    return [encode_output(opened.program, tensors[-1]), *roots, *map(to_bytes, tensors)]


def claimed(words: Words) -> list[bytes]:
    return run(words, is_claimed=True)


def codec(words: Words) -> list[bytes]:
    decoded = words.program()
    read = parse_calldata(decoded, words.sized(4), words.data())
    index = words.number(16)
    step = decoded.steps[index] if index < len(decoded.steps) else None
    if step is None or step.opcode is not Opcode.CODEC or step.is_claimed:
        raise refused(f"step {index} is no CODEC step that reads calldata")
    data = to_bytes(codec_tensor(read, step))
    return [data, rows_root(data, step.form.stored)]


def output(words: Words) -> list[bytes]:
    decoded, data = words.program(), words.data()
    size = decoded.output.count * decoded.output.type.size
    if len(data) != size:
        raise refused(f"a tensor of {len(data)} bytes, must have {size}")
    return [encode_output(decoded, from_bytes(data, decoded.output))]


def returned(words: Words) -> list[bytes]:
    decoded, root, claimed, element = words.program(), words.sized(WORD), words.data(), words.number(32)
    found = open_output(decoded, root, claimed, element, [words.opening()])
    if found is None:
        raise refused("the output has another form than the codec's")
    return [found.claimed, found.expected]


def element(words: Words) -> list[bytes]:
    decoded, weights, root = words.program(), words.sized(WORD), words.sized(WORD)
    step, number, openings = words.number(16), words.number(32), []
    while words.rest:
        openings.append(words.opening())
    judged = judge_element(decoded, weights, root, step, number, openings)
    return [numbered(judged.claimed, 4), numbered(judged.expected, 4)]


def model(words: Words) -> list[bytes]:
    decoded, root, selector, lanes = words.program(), words.sized(WORD), words.sized(4), words.number(8)
    identity = model_id(decoded, root, selector, lanes, words.sized(WORD))
    return [identity, numbered(model_word(decoded, selector, lanes), WORD)]


def tops(words: Words) -> list[bytes]:
    return [tops_root(words.program(), words.words())]


def reveal(words: Words) -> list[bytes]:
    decoded, root, position = words.program(), words.sized(WORD), words.number(64)
    check_reveal(decoded, root, position, words.words(), words.words())
    return []


def request(words: Words) -> list[bytes]:
    return [from_hex(id_of(words.number(CHAIN_BITS), words.hex(ADDRESS), words.struct(Request)))]


def claim(words: Words) -> list[bytes]:
    return [from_hex(id_of(words.number(CHAIN_BITS), words.hex(ADDRESS), words.struct(Claim)))]


def order(words: Words) -> list[bytes]:
    asked, data = decode_order(words.hex(WORD), words.data())
    fields = [numbered(value) if isinstance(value, int) else from_hex(value) for value in values_of(asked)]
    return [*fields, data]


def pack(words: Words) -> list[bytes]:
    return [encode_order(words.struct(Request), words.data())]


def signals(words: Words) -> list[bytes]:
    decoded, selector, calldata, data = words.program(), words.sized(4), words.data(), words.data()
    bound = binding(words.number(CHAIN_BITS), words.sized(ADDRESS), words.sized(WORD), words.sized(ADDRESS))
    return [numbered(signal, WORD) for signal in public_signals(decoded, selector, calldata, data, bound)]


def receipt(words: Words) -> list[bytes]:
    chain_id, assay, seconds = words.number(CHAIN_BITS), words.hex(ADDRESS), words.number(40)
    block_hash, code_hash = words.hex(WORD), words.hex(WORD)
    trust = Trust(chain_id, assay, seconds, block_hash, code_hash if int(code_hash, 16) else None)
    policy, asked = words.struct(Policy), words.struct(Request)
    claimed = words.struct(Claim) if words.number(1) else None
    data, header, nodes = words.data(), words.data(), []
    while words.rest:
        nodes.append(words.data())
    verdict = verify_receipt(Receipt(asked, claimed, data, header, tuple(nodes)), trust, policy)
    if verdict.error is not None or verdict.block is None:
        raise verdict.error or refused("the receipt shows no block")
    claim_id = from_hex(verdict.claim_id) if verdict.claim_id else bytes(WORD)
    return [
        from_hex(verdict.request_id),
        claim_id,
        bytes([verdict.lane]),
        numbered(verdict.block.timestamp, 8),
    ]


def digest(words: Words) -> list[bytes]:
    return [from_hex(digest_of(words.number(CHAIN_BITS), words.hex(ADDRESS), words.struct(SignedClaim)))]


def signer(words: Words) -> list[bytes]:
    return [from_hex(signer_of(words.hex(WORD), words.data()))]


def expand(words: Words) -> list[bytes]:
    decoded, selector, leaf = words.program(), words.sized(4), words.data()
    return [*batches.expand_leaf(decoded, selector, leaf), keccak(leaf)]


def compact(words: Words) -> list[bytes]:
    return [batches.compact_leaf(words.program(), words.sized(4), words.data(), words.data())]


def batch(words: Words) -> list[bytes]:
    decoded, _, chain_id, promises = words.program(), words.sized(4), words.number(CHAIN_BITS), words.hex(ADDRESS)
    prover, model_id, window = words.hex(ADDRESS), words.hex(WORD), words.number(32)
    leaves = batches.split_batch(decoded, words.data())
    root = batches.batch_root(leaves)
    made = Batch(prover, model_id, window, len(leaves), "0x" + root.hex())
    return [numbered(len(leaves), 2), root, from_hex(batches.batch_id(chain_id, promises, made))]


def path(words: Words) -> list[bytes]:
    decoded, _ = words.program(), words.sized(4)
    leaves = batches.split_batch(decoded, words.data())
    index = words.number(16)
    siblings = batches.batch_path(leaves, index)
    return [leaves[index], b"".join(siblings)]


def member(words: Words) -> list[bytes]:
    count, root, index = words.number(16), words.sized(WORD), words.number(16)
    batches.check_member(count, root, index, words.data(), words.words())
    return []


COMMANDS: dict[str, Callable[[Words], list[bytes]]] = {
    "program": program,
    "run": run,
    "claimed": claimed,
    "codec": codec,
    "output": output,
    "returned": returned,
    "element": element,
    "model": model,
    "tops": tops,
    "reveal": reveal,
    "request": request,
    "claim": claim,
    "order": order,
    "pack": pack,
    "signals": signals,
    "receipt": receipt,
    "digest": digest,
    "signer": signer,
    "expand": expand,
    "compact": compact,
    "batch": batch,
    "path": path,
    "member": member,
}


def answer(line: str) -> str:
    """The answer to one line: "ok" with words, or "refused" with the reason."""
    name, *rest = line.split() or [""]
    words = Words(rest)
    try:
        if name == "lines":
            words.end()
            return " ".join(["ok", "lines", *COMMANDS])
        if name not in COMMANDS:
            raise refused("there is no such line")
        found = COMMANDS[name](words)
        words.end()
    except AssayError as error:
        return f"refused {error.short_message}"
    return " ".join(["ok", *("0x" + part.hex() for part in found)])


def serve(lines: Iterable[str], out: TextIO) -> None:
    """Answers each line at once."""
    for line in lines:
        out.write(answer(line) + "\n")
        out.flush()
