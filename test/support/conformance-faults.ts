/** Faults that are put into a copy of the TypeScript implementation, where a reader of the text might go wrong: the
 *  area must find each. */
import type { Mutant } from "../../tools/mutant.ts";
import { type Edit, OPCODE_FAULTS } from "./opcode-faults.ts";

const OPCODES = "inference/opcodes/";
const CODECS = "inference/codecs/";
const COMMIT = "inference/commit/";
const PROGRAM = "inference/program/";
const RULES = "protocol/rules/";
const PROMISES = `${RULES}promises/`;

const BY_AREA: Readonly<Record<string, readonly Edit[]>> = {
  structure: [
    [
      "any unused bytes",
      `${PROGRAM}encode.ts`,
      "zeros(from: number, to: number, place: string): void {",
      "zeros(from: number, to: number, place: string): void {\n    if (from > 32) return;",
    ],
    [
      "a step that comes later",
      `${PROGRAM}check.ts`,
      "if (operand >= this.#index) {",
      "if (operand >= this.#index + 2) {",
    ],
  ],
  edges: [
    [
      "an element for each id needs no column",
      `${OPCODES}lookup.ts`,
      "if (single) check.must(length === 1,",
      "if (single) check.must(length <= 2,",
    ],
    [
      "a mask's rows may have one element",
      `${OPCODES}lookup.ts`,
      "check.must(lastDim(mask.dims) === length,",
      "check.must(lastDim(mask.dims) === length || lastDim(mask.dims) === 1,",
    ],
    ["a shift of 32", `${OPCODES}rotate.ts`, "MOST_SHIFT = 31", "MOST_SHIFT = 32"],
    ["an element without its pair", `${OPCODES}rotate.ts`, "length % 2 === 0,", "true,"],
    ["any pad of a byte", `${OPCODES}move.ts`, "check.must(step.k <= 255,", "check.must(true,"],
    ["a claimed output of any dims", `${OPCODES}codec.ts`, "check.must(own === last,", "check.must(true,"],
    ["any rows of REDUCE", `${OPCODES}reduce.ts`, "length <= most, ", "true, "],
    ["a norm of 8,193 bytes", `${OPCODES}norm.ts`, "MAX_NORM_BYTES = 8192", "MAX_NORM_BYTES = 8193"],
    ["any number of divisors", `${OPCODES}ratio.ts`, "check.must(count === rows,", "check.must(true,"],
    ["a multiplier of 0", `${OPCODES}ratio.ts`, "check.must(step.k >= 1,", "check.must(true,"],
    ["groups need not divide", `${OPCODES}dot.ts`, "groups >= 1 && outputs % groups === 0", "groups >= 1"],
    ["any type of a table", `${OPCODES}table.ts`, 'map.type === "u8"', "true"],
    [
      "a step that reads itself",
      `${PROGRAM}check.ts`,
      "if (operand >= this.#index) {",
      "if (operand > this.#index) {",
    ],
    ["a row of 1,024 elements", `${PROGRAM}check.ts`, "MAX_DOT_LENGTH = 992", "MAX_DOT_LENGTH = 1024"],
    [
      "a row of 1,025 activations",
      `${PROGRAM}check.ts`,
      "MAX_ACTIVATIONS_LENGTH = 1024",
      "MAX_ACTIVATIONS_LENGTH = 1025",
    ],
    [
      "rows that do not fill a matrix",
      `${OPCODES}dot-activations.ts`,
      "step.k >= 1 && rows % step.k === 0",
      "step.k >= 1",
    ],
    ["2^24 elements", `${PROGRAM}check.ts`, "MAX_ELEMENTS = 2 ** 24 - 1", "MAX_ELEMENTS = 2 ** 24"],
  ],
  limit: [
    ["one word more", `${PROGRAM}check.ts`, "MAX_MOVE_BYTES = 84_000", "MAX_MOVE_BYTES = 84_032"],
    ["one word less", `${PROGRAM}check.ts`, "MAX_MOVE_BYTES = 84_000", "MAX_MOVE_BYTES = 83_968"],
    [
      "without return data",
      `${PROGRAM}validate.ts`,
      "maxCalldata(program) + outputLength(program);",
      "maxCalldata(program);",
    ],
  ],
  calldata: [
    ["padding of any bytes", `${CODECS}abi.ts`, "if (bytes[at] !== 0) refuse(at,", "if (false) refuse(at,"],
    [
      "bytes behind the last argument",
      `${CODECS}abi.ts`,
      "if (bytes.length !== tail) refuse(tail,",
      "if (bytes.length < tail) refuse(tail,",
    ],
    ["offsets anywhere", `${CODECS}abi.ts`, "if (offset !== tail) refuse(", "if (offset < 0) refuse("],
    [
      "unused 16-bit numbers",
      `${CODECS}int16s.ts`,
      "if (numbers[i] !== 0) refuse(",
      "if (numbers[i] === 1) refuse(",
    ],
    ["prices of 128 bits wrap", `${CODECS}prices.ts`, "price > CAP ? CAP : price", "price & CAP"],
    [
      "quotients round down",
      `${CODECS}prices.ts`,
      "const quotient = (UNIT * a) / b;",
      "const quotient = a < 0n ? (UNIT * a - b + 1n) / b : (UNIT * a) / b;",
    ],
    ["7F is no space", `${CODECS}text.ts`, "b <= 0x20 || b === 0x7f", "b <= 0x20"],
    [
      "grams of whole tokens",
      `${CODECS}text.ts`,
      "const kept = token.subarray(0, TOKEN_BYTES);",
      "const kept = token.subarray(0, 30);",
    ],
  ],
  ...OPCODE_FAULTS,
  programs: [
    [
      "weights are padded with zero subtrees",
      `${COMMIT}tree.ts`,
      "nodeAt(own, index) : (ZERO_ROOTS[level] as Uint8Array)",
      "nodeAt(own, index) : (ZERO_SUBTREES[level] as Uint8Array)",
    ],
    [
      "15 rows are added at most",
      `${OPCODES}lookup.ts`,
      "i < (row + 1) * j; i++)",
      "i < row * j + Math.min(j, 15); i++)",
    ],
  ],
  directed: [
    [
      "weights are cut at a chunk's end",
      "conformance/serve/answer.ts",
      "return bytes.slice(end - one, end);",
      "return bytes.slice(end - one, end).map((byte, i) => (end - one + i < 24_544 ? byte : 0));",
    ],
  ],
  outputs: [
    [
      "s8 without its offset",
      `${CODECS}output.ts`,
      'const offset = type === "s8" ? 128 : 0;',
      "const offset = 0;",
    ],
    [
      "16-bit numbers wrap",
      `${CODECS}int16s.ts`,
      "Math.max(LEAST, Math.min(MOST, numbers[i] as number))",
      "numbers[i] as number",
    ],
    [
      "the form is not looked at",
      "conformance/serve/answer.ts",
      'outputFault(program, empty, claimed) === "form"',
      "false",
    ],
  ],
  openings: [
    [
      "weights lead anywhere",
      "conformance/serve/element.ts",
      "isWeight(read.operand) ? roots.weights : roots.trace",
      "isWeight(read.operand) ? foldOpening(program, read, openings[i] as Opening) : roots.trace",
    ],
    [
      "openings may be left over",
      "conformance/serve/element.ts",
      "if (openings.length !== reads.length)",
      "if (openings.length < reads.length)",
    ],
    [
      "a mask is not opened before what it says is read",
      `${COMMIT}opened.ts`,
      "of [a, c].entries()",
      "of [a].entries()",
    ],
    [
      "the trace's element is not read",
      "conformance/serve/element.ts",
      "[held, judge(",
      "[judge(program, step, element, openings), judge(",
    ],
  ],
  reveals: [
    [
      "padding of words is not looked at",
      `${COMMIT}reveal.ts`,
      "if (word[at] !== 0) notCanonical(",
      "if (word[at] === undefined) notCanonical(",
    ],
    [
      "padding of hashes is not looked at",
      `${COMMIT}reveal.ts`,
      "if (hash.every((byte, at) => byte === zero[at])) return;",
      "if (hash.length === zero.length) return;",
    ],
    ["positions over padding", `${COMMIT}positions.ts`, "&& leaf < shapes.length;", "&& leaf < 4096;"],
    [
      "positions of any level",
      `${COMMIT}positions.ts`,
      "if (level !== shape.height && !(between && level < shape.height)) return false;",
      "if (level > shape.height) return false;",
    ],
    [
      "the trace tree has zero subtrees",
      `${COMMIT}reveal.ts`,
      "canonical(i, hash, ZERO_ROOTS[below] as Uint8Array)",
      "canonical(i, hash, ZERO_SUBTREES[below] as Uint8Array)",
    ],
  ],
  ids: [
    [
      "claims without the chain",
      `${RULES}ids.ts`,
      "keccak256(encodeAbiParameters(CLAIM_ID, [BigInt(chainId),",
      "keccak256(encodeAbiParameters(CLAIM_ID, [BigInt(chainId & 1),",
    ],
    [
      "delivery fee and bond change places",
      `${RULES}ids.ts`,
      "uint96 deliveryFee; uint96 minBond;",
      "uint96 minBond; uint96 deliveryFee;",
    ],
    [
      "the selector on the right",
      `${COMMIT}commitments.ts`,
      "words.set(identity.selector, 64);",
      "words.set(identity.selector, 92);",
    ],
    ["d counts one level", `${PROGRAM}shape.ts`, "[16, demandDepth(program)]", "[16, 1]"],
  ],
  orders: [
    ["parts in another order", `${RULES}orders.ts`, "EXCLUSIVE: 2, DELIVERY: 4", "EXCLUSIVE: 4, DELIVERY: 2"],
    ["bits without a meaning", `${RULES}orders.ts`, "length < required || parts > 7", "length < required"],
    [
      "another input",
      `${RULES}orders.ts`,
      "if (inputHash !== request.inputHash) {",
      "if (inputHash === undefined) {",
    ],
  ],
  signals: [
    [
      "a signal is as wide as a word",
      `${RULES}proof/public-signals.ts`,
      "export const PIECE_BYTES = 31;",
      "export const PIECE_BYTES = 30;",
    ],
    ["ids of k", `${RULES}proof/public-signals.ts`, "k - 1 < 2 ** 8 ? 1", "k < 2 ** 8 ? 1"],
    [
      "the last bytes of the hash",
      `${RULES}proof/public-signals.ts`,
      "ezklBinding(binding) >> BigInt(248 - 8 * BINDING_BYTES)",
      "ezklBinding(binding) & ((1n << 152n) - 1n)",
    ],
    [
      "numbers without their offset",
      `${RULES}proof/public-signals.ts`,
      "return [2, 32_768];",
      "return [2, 0];",
    ],
  ],
  receipts: [
    [
      "unanswered demands",
      `${RULES}machine/rules.ts`,
      "return word.pending === 0 && now >=",
      "return now >=",
    ],
    [
      "a second early",
      `${RULES}machine/rules.ts`,
      "now >= rules.finalAt(word, answerSeconds);",
      "now + 1 >= rules.finalAt(word, answerSeconds);",
    ],
    [
      "any code",
      "protocol/rules/receipt/evidence.ts",
      "if (codeHash !== undefined && code !== codeHash) {",
      "if (code === undefined) {",
    ],
    [
      "a claim of another request",
      "protocol/rules/receipt/verify.ts",
      "claim.requestId !== requestId",
      "claim.requestId === undefined",
    ],
    [
      "a missing node is nothing",
      "protocol/rules/receipt/trie.ts",
      "if (rlp === undefined) throw",
      'if (rlp === undefined) return Array.from({ length: 17 }, () => "0x" as const); else if (false) throw',
    ],
    ["any bond", "protocol/rules/receipt/verify.ts", "if (bond < policy.minBond)", "if (bond < 0n)"],
  ],
  "signed-claims": [
    [
      "fields in another order",
      `${PROMISES}signed-claim.ts`,
      '    { name: "inputHash", type: "bytes32" },\n    { name: "outputHash", type: "bytes32" },',
      '    { name: "outputHash", type: "bytes32" },\n    { name: "inputHash", type: "bytes32" },',
    ],
    [
      "a contract of any chain",
      `${PROMISES}signed-claim.ts`,
      "VERSION_HASH, chainId, promises",
      "VERSION_HASH, 0, promises",
    ],
    [
      "malleable signatures",
      `${PROMISES}signature.ts`,
      "if (hexToBigInt(s) > MAX_S)",
      "if (s === undefined)",
    ],
    [
      "s below half alone",
      `${PROMISES}signature.ts`,
      "if (hexToBigInt(s) > MAX_S)",
      "if (hexToBigInt(s) >= MAX_S)",
    ],
    ["a v of 0 or 1", `${PROMISES}signature.ts`, "if (v !== 27 && v !== 28)", "if (v > 28)"],
    [
      "bytes behind v",
      `${PROMISES}signature.ts`,
      "if (size(signature) !== BYTES) throw",
      "if (size(signature) > BYTES) return signerOf(digest, slice(signature, 0, BYTES)); if (size(signature) !== BYTES) throw",
    ],
  ],
  claimed: [
    ["an s8 without its sign", "inference/codecs/claimed.ts", '^ (step.type === "s8" ? 0x80 : 0)', ""],
    ["the first byte of a word", "inference/codecs/claimed.ts", "output[end - 1]", "output[end - size]"],
    [
      "what a run on zero bytes gives",
      "inference/executor/find-output.ts",
      "const plan = prepared.rowPlan();",
      "const plan = prepared.rowPlan();\n  if (plan !== undefined) return onePass(prepared, input, new Uint8Array(outputLength(prepared.program)));",
    ],
    [
      "what the second pass gives",
      "inference/executor/find-output.ts",
      "if (equalBytes(next, output)) return",
      "if (pass > 0 || equalBytes(next, output)) return",
    ],
  ],
  batches: [
    [
      "prices cut off",
      `${PROMISES}leaf.ts`,
      "if (price >> BigInt(8 * PRICE_BYTES) !== 0n) refuse",
      "if (price < 0n) refuse",
    ],
    [
      "words without a sign",
      `${PROMISES}leaf.ts`,
      "BigInt(view.getInt32(4 * i))",
      "BigInt(view.getUint32(4 * i))",
    ],
    [
      "any offset",
      `${PROMISES}leaf.ts`,
      "if (readWord(output, 0) !== 32n) refuse",
      "if (length < 0n) refuse",
    ],
    [
      "any length of int16s",
      `${PROMISES}leaf.ts`,
      "if (length !== expected || length >> 32n !== 0n)",
      "if (length >> 32n !== 0n)",
    ],
    ["a length of 40 bits", `${PROMISES}leaf.ts`, "|| length >> 32n !== 0n)", "|| length >> 40n !== 0n)"],
    ["any text", `${PROMISES}leaf.ts`, "if (length > model.inputSize) throw", "if (length > 65_535) throw"],
    ["1,025 leaves", `${PROMISES}batch.ts`, "count < 1 || count > limit", "count < 1 || count > limit + 1"],
    ["1,023 leaves", `${PROMISES}limits.ts`, "maxLeaves: 1_024", "maxLeaves: 1_023"],
    ["zero for every missing node", `${PROMISES}batch.ts`, "ZERO_ROOTS[height]", "ZERO_ROOTS[0 * height]"],
    ["a path of any length", `${PROMISES}batch.ts`, "if (path.length !== ceilLog2(count)) return false;", ""],
    [
      "the window in front of the model",
      `${PROMISES}batch.ts`,
      "address prover; bytes32 modelId; uint32 window;",
      "address prover; uint32 window; bytes32 modelId;",
    ],
  ],
};

export const CONFORMANCE_FAULTS: readonly Mutant[] = Object.entries(BY_AREA).flatMap(([area, edits]) =>
  edits.map(([name, file, from, to]) => ({
    name: `${area}: ${name}`,
    caughtBy: area,
    edits: [{ file, from, to }],
  })),
);
