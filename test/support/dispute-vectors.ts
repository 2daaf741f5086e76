import { encodeAbiParameters, type Hex, parseAbiParameters } from "viem";
import { toHex } from "../../base/bytes.ts";
import { randomProgram } from "../../conformance/generate/random-program.ts";
import { rawInput, rawProgram, step, weight } from "../../conformance/generate/small-programs.ts";
import { encodeInput } from "../../inference/codecs/input.ts";
import { encodeOutput, outputFault } from "../../inference/codecs/output.ts";
import { type Commitment, commitTrace, commitWeights } from "../../inference/commit/commitments.ts";
import { type Opening, open, openElement, outputRead } from "../../inference/commit/openings.ts";
import { demandPath, encodePosition } from "../../inference/commit/positions.ts";
import { revealAt, topsOf, traceShapes } from "../../inference/commit/reveal.ts";
import { trace as traceOf } from "../../inference/executor/execute.ts";
import { prepare } from "../../inference/executor/prepare.ts";
import type { PreparedModel } from "../../inference/executor/prepared-model.ts";
import { PLAIN_CHANNEL } from "../../inference/onnx/lower/product.ts";
import { encodeProgram } from "../../inference/program/encode.ts";
import { isStep, type Model, type Operand, type Step, type Tensor } from "../../inference/program/form.ts";
import { locate, stepShape } from "../../inference/program/shape.ts";
import { bitsOf, storedElement } from "../../inference/program/tensor.ts";
import { packDot } from "../../inference/program/weights.ts";
import { createRng, type Rng } from "./rng.ts";

/** Whole disputes over real traces, as test/contracts/assay/Disputes.t.sol plays them: what a prover claims and
 *  commits to, the reveals on the way to its fault, and all that convicts it. Struct fields in this order:
 *
 *      struct Reveal { uint64 position; bytes32[] content; bytes32[] path; }
 *      struct Dispute { bytes program; bytes32 weightsRoot; bytes4 selector; bytes input; bytes right; bytes output;
 *                       bytes32[] tops; bytes32 traceRoot; Reveal[] reveals; uint8 fault; uint256 codecStep;
 *                       bytes32 codecRoot; bytes32[] codecPath; uint256 step; uint256 element; uint256 expected;
 *                       uint256 claimed; Opening[] openings; uint256 outputElement; Opening[] outputOpenings; }
 *
 *  fault: 0 none, else the reason of the fall (3 ELEMENT, 4 CODEC, 5 OUTPUT). */
const DISPUTE = parseAbiParameters([
  "Dispute dispute",
  "struct Dispute { bytes program; bytes32 weightsRoot; bytes4 selector; bytes input; bytes right; bytes output; bytes32[] tops; bytes32 traceRoot; Reveal[] reveals; uint8 fault; uint256 codecStep; bytes32 codecRoot; bytes32[] codecPath; uint256 step; uint256 element; uint256 expected; uint256 claimed; Opening[] openings; uint256 outputElement; Opening[] outputOpenings; }",
  "struct Reveal { uint64 position; bytes32[] content; bytes32[] path; }",
  "struct Opening { bytes32[] words; bytes32[] path; }",
]);

export const FAULTS = { none: 0, element: 3, codec: 4, output: 5 } as const;
export type Fault = keyof typeof FAULTS;

interface Run {
  readonly model: Model;
  readonly selector: Uint8Array;
  readonly calldata: Uint8Array;
}

/** Where the element fault is, or where an honest trace is looked into. */
interface Place {
  readonly step: number;
  readonly element: number;
}

/** A dispute over a random program: its fault, if it has one, at a random place.
 *  @returns undefined where the program has no step for the fault */
export function randomDispute(seed: number, fault: Fault, steps: number): Hex | undefined {
  const rng = createRng(seed);
  const run = randomProgram(rng, { steps, hostile: seed % 2 === 1 });
  const records = run.model.program.steps;
  const isCodec = (i: number) => (records[i] as Step).opcode === "codec";
  const candidates = [...records.keys()].filter((i) => (fault === "codec" ? isCodec(i) : !isCodec(i)));
  if (candidates.length === 0) return undefined;
  const at = rng.pick(candidates);
  const count = (records[at] as Step).dims.reduce((product, dim) => product * dim, 1);
  return dispute(run, fault, { step: at, element: rng.int(0, count - 1) }, rng);
}

/** The largest dispute that fits seven transactions: 64 steps, tensors of 128 KB, K = 768, no zero word. */
export function largeDispute(seed: number): Hex {
  const rng = createRng(seed);
  const [rows, k, n] = [128, 768, 256];
  const channels = Array.from({ length: n }, () => ({
    bias: rng.int(-(2 ** 20), 2 ** 20),
    ...PLAIN_CHANNEL,
    weightOffset: 128,
  }));
  const one = { a: 0, p: 0, b: 0, q: 0, c: 0 };
  const copies = [
    { ...one, view: k, a: 1, p: 1 },
    { ...one, view: 1 },
    { ...one, view: 1 },
    { ...one, view: 1 },
  ];
  const sums = Array.from({ length: 60 }, (_, i) =>
    step({ opcode: "arith", variant: i % 2, dims: [rows, n], a: 2 + i, b: weight(1) }),
  );
  const program = {
    ...rawProgram(
      k,
      [
        rawInput("u8", [1, k]),
        step({ opcode: "move", type: "u8", dims: [rows, k], a: 0, coordinates: copies }),
        step({ opcode: "dot", dims: [rows, n], a: 1, b: weight(0), k: 1 }),
        ...sums,
        step({
          opcode: "move",
          dims: [2],
          a: 62,
          coordinates: [{ ...one, view: rows * n, a: 1 }, ...copies.slice(1)],
        }),
      ],
      [
        { layout: "dot", type: "u8", dims: [n, k] },
        { layout: "plain", type: "s32", dims: [n] },
      ],
    ),
    outputCodec: "words" as const,
  };
  const model = { program, weights: [packDot(rng.bytes(n * k), k, channels), rng.bytes(4 * n)] };
  const selector = rng.bytes(4);
  const calldata = encodeInput(program, selector, { codec: "raw", bytes: rng.bytes(k) });
  return dispute({ model, selector, calldata }, "element", { step: 2, element: 77 * n + 133 }, rng);
}

function dispute({ model, selector, calldata }: Run, fault: Fault, place: Place, rng: Rng): Hex {
  const { program } = model;
  const prepared = prepare(model, selector);
  const honest = traceOf(prepared, calldata);
  const last = program.steps.length - 1;
  const wrongStep = fault === "element" || fault === "codec";
  const tensors = wrongStep ? withFault(prepared, honest, place, rng) : honest;
  const right = encodeOutput(program, honest[last] as Tensor);
  const output = encodeOutput(program, tensors[last] as Tensor);
  if (fault === "output") output[output.length - 1] = (output.at(-1) as number) ^ 1;
  const trace = commitTrace(program, tensors);
  const weights = commitWeights(model);
  const codecStep = fault === "codec" ? place.step : program.steps.findIndex((s) => s.opcode === "codec");
  const dataOf = (operand: Operand) =>
    isStep(operand) ? (tensors[operand] as Tensor).data : prepared.constant(operand);
  const openings =
    fault === "codec" ? [] : openElement(program, place.step, place.element, trace, weights, dataOf);
  // Against an honest output: any of its elements.
  const encoded = encodeOutput(program, tensors[last] as Tensor);
  const wrong =
    outputFault(program, encoded, output) ?? rng.int(0, (tensors[last] as Tensor).data.length - 1);
  const outputElement = wrong === "form" ? 0 : wrong;
  const outputOpenings = wrong === "form" ? [] : [open(outputRead(program, last, wrong), trace, weights)];
  return encodeAbiParameters(DISPUTE, [
    {
      program: toHex(encodeProgram(program)),
      weightsRoot: toHex(weights.root),
      selector: toHex(selector),
      input: toHex(calldata),
      right: toHex(right),
      output: toHex(output),
      tops: hexes(topsOf(trace)),
      traceRoot: toHex(trace.root),
      reveals: revealsTo(model, trace, place),
      fault: FAULTS[fault],
      codecStep: BigInt(codecStep),
      codecRoot: toHex(trace.roots.node(0, codecStep)),
      codecPath: hexes(trace.roots.siblings(0, codecStep)),
      step: BigInt(place.step),
      element: BigInt(place.element),
      expected: BigInt(storedElement((honest[place.step] as Tensor).data, place.element)),
      claimed: BigInt(storedElement((tensors[place.step] as Tensor).data, place.element)),
      openings: openings.map(openingHex),
      outputElement: BigInt(outputElement),
      outputOpenings: outputOpenings.map(openingHex),
    },
  ]);
}

/** Flips a bit of one element and follows from it, as a cheat would. */
function withFault(prepared: PreparedModel, honest: readonly Tensor[], place: Place, rng: Rng): Tensor[] {
  const tensors: Tensor[] = honest.map((tensor) => ({ ...tensor, data: tensor.data.slice() }));
  const { type, data } = tensors[place.step] as Tensor;
  const stored = type === "f32" || type === "s32" ? bitsOf(data) : data;
  const bit = rng.int(0, stored.BYTES_PER_ELEMENT * 8 - 1);
  stored[place.element] = (stored[place.element] as number) ^ (1 << bit);
  prepared.program.steps.forEach((record, i) => {
    if (i <= place.step || record.opcode === "codec") return;
    const operands = [record.a, record.b, record.c].map((o) => (isStep(o) ? tensors[o] : undefined));
    tensors[i] = prepared.runStep(i, operands);
  });
  return tensors;
}

function revealsTo({ program }: Model, trace: Commitment, { step: index, element }: Place) {
  const record = program.steps[index] as Step;
  const { row, word } = locate(record.type, record.dims, element);
  const leaf = row * 2 ** stepShape(record).rowHeight + word;
  return demandPath(traceShapes(program), index, leaf).map((position) => {
    const { content, path } = revealAt(trace, position);
    return { position: encodePosition(position), content: hexes(content), path: hexes(path) };
  });
}

const hexes = (words: readonly Uint8Array[]): Hex[] => words.map(toHex);
const openingHex = ({ words, path }: Opening) => ({ words: hexes(words), path: hexes(path) });
