import { encodeAbiParameters, type Hex, parseAbiParameters } from "viem";
import { concatBytes, toHex } from "../../base/bytes.ts";
import { isBaseError } from "../../base/errors.ts";
import { type CommittedStep, commitLastStep } from "../../conformance/generate/committed-step.ts";
import { breakCalldata, breakProgram } from "../../conformance/generate/mutations.ts";
import {
  type RandomProgram,
  type RandomProgramOptions,
  randomProgram,
} from "../../conformance/generate/random-program.ts";
import { randomTensor } from "../../conformance/generate/random-values.ts";
import { encodeOutput, outputElement, outputFault } from "../../inference/codecs/output.ts";
import { commitWeights, modelId, programHash } from "../../inference/commit/commitments.ts";
import { type Opening, open, outputRead } from "../../inference/commit/openings.ts";
import { demandPath, encodePosition } from "../../inference/commit/positions.ts";
import { revealAt, topsOf, traceShapes } from "../../inference/commit/reveal.ts";
import { execute } from "../../inference/executor/execute.ts";
import { prepare } from "../../inference/executor/prepare.ts";
import { encodeProgram } from "../../inference/program/encode.ts";
import {
  findJudgedOnly,
  judgeVersionOf,
  type Opcode,
  type Program,
  type Step,
  type Tensor,
} from "../../inference/program/form.ts";
import { maxCalldata, modelWord, outputLength } from "../../inference/program/shape.ts";
import { bitsOf, storedElement } from "../../inference/program/tensor.ts";
import { readProgram } from "../../inference/program/validate.ts";
import { createRng, type Rng } from "./rng.ts";

/** The structs behind the vectors, as `abi.decode(blob, (Struct))` reads them in a forge test; field order counts.
 *
 *      struct Opening { bytes32[] words; bytes32[] path; }          // types/Types.sol
 *
 *      struct ElementCase { uint256 element; uint256 expected; uint256 claimed; Opening[] openings; }
 *      struct ElementVector { bytes program; bytes[] weights; bytes32 weightsRoot; bytes32 traceRoot;
 *                             uint256 step; ElementCase[] cases; }  // one file an opcode: <opcode>.json
 *      struct CodecVector { bytes program; bytes4 selector; bytes input; uint256 step; bytes32 traceRoot;
 *                           bytes32 tensorRoot; bytes32[] path; }   // codec.json, claimed.json: the input is a claimed output
 *      struct OutputCase { uint256 bit; bool isForm; uint256 element; uint256 expected; uint256 claimed;
 *                          Opening opening; }
 *      struct OutputVector { bytes program; bytes32 traceRoot; bytes output; OutputCase[] cases; } // output.json
 *      struct CalldataVector { bytes program; bytes4 selector; bytes input; bool canonical; }    // calldata.json
 *      struct ProgramVector { bytes program; bool accepted; bytes32 programHash; bytes32 weightsRoot;
 *                             uint256 modelWord; bytes32 modelId; } // program.json: selector 0x01020304, lanes 4,
 *                                                                   // no verification key; zeros if refused
 *      struct RevealVector { bytes program; bytes32 traceRoot; bytes32[] tops; uint64 position;
 *                            bytes32[] content; bytes32[] path; }   // reveal.json
 *      struct RunVector { bytes program; bytes4 selector; bytes weights; bytes32 weightsRoot; bytes input;
 *                         bytes output; }                              // run.json: weights are all rows in order
 *
 *  `weights` are the packed bytes that inference/program/form.ts calls `Model.weights`. Expected values come from
 *  the executor, which test/inference/ checks against an exact reference; hostile ones hold any stored bytes. */
const OPENING = "struct Opening { bytes32[] words; bytes32[] path; }";
export const VECTOR_ABIS = {
  element: parseAbiParameters([
    "ElementVector vector",
    "struct ElementVector { bytes program; bytes[] weights; bytes32 weightsRoot; bytes32 traceRoot; uint256 step; ElementCase[] cases; }",
    "struct ElementCase { uint256 element; uint256 expected; uint256 claimed; Opening[] openings; }",
    OPENING,
  ]),
  codec: parseAbiParameters([
    "CodecVector vector",
    "struct CodecVector { bytes program; bytes4 selector; bytes input; uint256 step; bytes32 traceRoot; bytes32 tensorRoot; bytes32[] path; }",
  ]),
  output: parseAbiParameters([
    "OutputVector vector",
    "struct OutputVector { bytes program; bytes32 traceRoot; bytes output; OutputCase[] cases; }",
    "struct OutputCase { uint256 bit; bool isForm; uint256 element; uint256 expected; uint256 claimed; Opening opening; }",
    OPENING,
  ]),
  calldata: parseAbiParameters([
    "CalldataVector vector",
    "struct CalldataVector { bytes program; bytes4 selector; bytes input; bool canonical; }",
  ]),
  program: parseAbiParameters([
    "ProgramVector vector",
    "struct ProgramVector { bytes program; bool accepted; bytes32 programHash; bytes32 weightsRoot; uint256 modelWord; bytes32 modelId; }",
  ]),
  reveal: parseAbiParameters([
    "RevealVector vector",
    "struct RevealVector { bytes program; bytes32 traceRoot; bytes32[] tops; uint64 position; bytes32[] content; bytes32[] path; }",
  ]),
  run: parseAbiParameters([
    "RunVector vector",
    "struct RunVector { bytes program; bytes4 selector; bytes weights; bytes32 weightsRoot; bytes input; bytes output; }",
  ]),
};

const hexes = (words: readonly Uint8Array[]): Hex[] => words.map(toHex);
const programHex = (program: Program): Hex => toHex(encodeProgram(program));

function openingHex({ words, path }: Opening): { words: Hex[]; path: Hex[] } {
  return { words: hexes(words), path: hexes(path) };
}

/** Kinds of trace in turn: an honest one, one with hostile weights, one whose operands hold any bytes. */
const KINDS = [
  { hostile: false, lie: false },
  { hostile: true, lie: false },
  { hostile: true, lie: true },
] as const;

/** Variant of the last step of the program behind `elementVector`. */
export function lastVariant(
  seed: number,
  opcode: Opcode,
  options: RandomProgramOptions = {},
): number | undefined {
  const { hostile } = KINDS[seed % KINDS.length] as (typeof KINDS)[number];
  return randomProgram(createRng(seed), { opcode, hostile, ...options }).model.program.steps.at(-1)?.variant;
}

/** One program of an opcode and `cases` of its last step's elements; some of them are claimed wrongly. */
export function elementVector(
  seed: number,
  opcode: Opcode,
  cases: number,
  options: RandomProgramOptions = {},
): Hex {
  const rng = createRng(seed);
  const { hostile, lie } = KINDS[seed % KINDS.length] as (typeof KINDS)[number];
  const program = randomProgram(rng, { opcode, hostile, ...options });
  const honest = commitLastStep(rng, program, lie);
  const last = honest.tensors[honest.step] as Tensor;
  const claimed: Tensor = { ...last, data: last.data.slice() };
  corrupt(rng, claimed);
  const committed = commitLastStep(rng, program, false, [...honest.tensors.slice(0, -1), claimed]);
  const { model } = program;
  return encodeAbiParameters(VECTOR_ABIS.element, [
    {
      program: programHex(model.program),
      weights: hexes(model.weights),
      weightsRoot: toHex(committed.weights.root),
      traceRoot: toHex(committed.trace.root),
      step: BigInt(committed.step),
      cases: Array.from({ length: cases }, () => {
        const element = rng.int(0, last.data.length - 1);
        return {
          element: BigInt(element),
          expected: BigInt(honest.expected(element)),
          claimed: BigInt(storedElement(claimed.data, element)),
          openings: committed.openings(element).map(openingHex),
        };
      }),
    },
  ]);
}

/** Flips a bit of about every fourth element. */
function corrupt(rng: Rng, { type, data }: Tensor): void {
  const stored = type === "f32" || type === "s32" ? bitsOf(data) : data;
  const bits = stored.BYTES_PER_ELEMENT * 8;
  for (let i = 0; i < stored.length; i++) {
    if (rng.chance(0.25)) stored[i] = (stored[i] as number) ^ (1 << rng.int(0, bits - 1));
  }
}

/** Every CODEC step of one program, judged whole. */
export function codecVectors(seed: number): Hex[] {
  const rng = createRng(seed);
  const program = randomProgram(rng, { opcode: "codec", hostile: seed % 2 === 1 });
  const { model, selector, calldata } = program;
  const { trace } = commitLastStep(rng, program, false);
  return model.program.steps.flatMap((step: Step, i) => {
    if (step.opcode !== "codec") return [];
    const vector = {
      program: programHex(model.program),
      selector: toHex(selector),
      input: toHex(calldata),
      step: BigInt(i),
      traceRoot: toHex(trace.root),
      tensorRoot: toHex(trace.roots.node(0, i)),
      path: hexes(trace.roots.siblings(0, i)),
    };
    return [encodeAbiParameters(VECTOR_ABIS.codec, [vector])];
  });
}

/** The output of one program, and what a turned bit of it is: a wrong form, or a wrong element. Every second output
 *  comes from a tensor of any stored bytes. */
export function outputVector(seed: number): Hex {
  const rng = createRng(seed);
  const hostile = seed % 2 === 1;
  const { program, weights, trace, tensors, step } = committedOutput(rng, hostile);
  const { model } = program;
  const output = encodeOutput(model.program, tensors[step] as Tensor);
  // The ends, where the ABI words stand, and anywhere.
  const last = 8 * output.length - 1;
  const bits = [0, 255, 511, last - 7, last, ...Array.from({ length: 4 }, () => rng.int(0, last))];
  return encodeAbiParameters(VECTOR_ABIS.output, [
    {
      program: programHex(model.program),
      traceRoot: toHex(trace.root),
      output: toHex(output),
      cases: bits
        .filter((bit) => bit <= last)
        .map((bit) => {
          const wrong = output.map((byte, i) => (i === bit >> 3 ? byte ^ (0x80 >> (bit & 7)) : byte));
          const fault = outputFault(model.program, output, wrong);
          if (fault === undefined) throw new Error("A turned bit changes the output.");
          const isForm = fault === "form";
          const element = isForm ? 0 : fault;
          const item = (bytes: Uint8Array) => BigInt(toHex(outputElement(model.program, bytes, element)));
          const expected = isForm ? 1n : item(output);
          const claimed = isForm ? 0n : item(wrong);
          const opening = openingHex(open(outputRead(model.program, step, element), trace, weights));
          return { bit: BigInt(bit), isForm, element: BigInt(element), expected, claimed, opening };
        }),
    },
  ]);
}

function committedOutput(rng: Rng, hostile: boolean): CommittedStep {
  const program = randomProgram(rng, { hostile });
  const honest = commitLastStep(rng, program, false);
  if (!hostile) return honest;
  const { type, dims } = honest.tensors[honest.step] as Tensor;
  const claimed = [...honest.tensors.slice(0, -1), randomTensor(rng, type, dims, true)];
  return commitLastStep(rng, program, false, claimed);
}

/** Calldata of one program as it is, and broken in one place. */
export function calldataVectors(seed: number): Hex[] {
  const rng = createRng(seed);
  const program = randomProgram(rng, { opcode: "codec", hostile: seed % 2 === 1 });
  const broken = Array.from({ length: 3 }, () => breakCalldata(rng, program));
  return [program.calldata, ...broken].map((input) =>
    encodeAbiParameters(VECTOR_ABIS.calldata, [
      {
        program: programHex(program.model.program),
        selector: toHex(program.selector),
        input: toHex(input),
        canonical: isAccepted(() => commitLastStep(rng, { ...program, calldata: input }, false)),
      },
    ]),
  );
}

/** True unless it throws one of our errors. */
function isAccepted(attempt: () => unknown): boolean {
  try {
    attempt();
    return true;
  } catch (error) {
    if (isBaseError(error)) return false;
    throw error;
  }
}

const SELECTOR = 0x01020304;
const BOND = 4;

/** Program bytes as they are, and with a field changed; accepted or not. */
export function programVectors(seed: number): Hex[] {
  const rng = createRng(seed);
  const { model } = randomProgram(rng, { hostile: seed % 2 === 1, steps: rng.int(0, 2) });
  return verdictsAround(rng, model.program);
}

/** A program and some with changed bytes, with what a registry says of them. */
export function verdictsAround(rng: Rng, program: Program): Hex[] {
  const bytes = encodeProgram(program);
  return [bytes, ...Array.from({ length: 5 }, () => breakProgram(rng, bytes))].map((candidate) =>
    encodeAbiParameters(VECTOR_ABIS.program, [programVerdict(candidate)]),
  );
}

function programVerdict(bytes: Uint8Array) {
  const zero = toHex(new Uint8Array(32));
  const accepted = isAccepted(() => readProgram(bytes));
  const refused = {
    program: toHex(bytes),
    accepted,
    programHash: zero,
    weightsRoot: zero,
    modelWord: 0n,
    modelId: zero,
  };
  if (!accepted) return refused;
  const program = readProgram(bytes);
  const weightsRoot = new Uint8Array(32).fill(program.weights.length === 0 ? 0 : 0x5a);
  const identity = {
    programHash: programHash(program),
    weightsRoot,
    maxCalldata: maxCalldata(program),
    outputLength: outputLength(program),
    judgeVersion: judgeVersionOf(program),
    selector: Uint8Array.of(1, 2, 3, 4),
    lanes: BOND,
    vkHash: new Uint8Array(32),
  };
  return {
    ...refused,
    programHash: toHex(identity.programHash),
    weightsRoot: toHex(weightsRoot),
    modelWord: modelWord(program, SELECTOR, BOND),
    modelId: toHex(modelId(identity)),
  };
}

/** A whole run of one program by the executor; of three programs two have hostile weights and inputs. */
export function runVector(seed: number, opcode: Opcode, options: RandomProgramOptions = {}): Hex {
  const rng = createRng(seed);
  const draw = () => randomProgram(rng, { opcode, hostile: seed % 3 !== 0, ...options });
  let program = draw();
  // What an interpreter runs.
  while (findJudgedOnly(program.model.program) !== undefined) program = draw();
  const { model, selector, calldata } = program;
  return encodeAbiParameters(VECTOR_ABIS.run, [
    {
      program: programHex(model.program),
      selector: toHex(selector),
      weights: toHex(concatBytes(...model.weights)),
      weightsRoot: toHex(commitWeights(model).root),
      input: toHex(calldata),
      output: toHex(execute(prepare(model, selector), calldata)),
    },
  ]);
}

/** Reveals on the way to random leaves of one program's trace. */
export function revealVectors(seed: number): Hex[] {
  const rng = createRng(seed);
  const program: RandomProgram = randomProgram(rng, {
    hostile: true,
    steps: seed % 4 === 0 ? 90 : rng.int(0, 6),
  });
  const { trace }: CommittedStep = commitLastStep(rng, program, false);
  const shapes = traceShapes(program.model.program);
  const largest = shapes.reduce(
    (best, shape, i) => (shape.height > (shapes[best]?.height ?? 0) ? i : best),
    0,
  );
  return [largest, rng.int(0, shapes.length - 1)].flatMap((step) => {
    const { rows, words, rowHeight } = shapes[step] as (typeof shapes)[number];
    const leaf = rng.int(0, rows - 1) * 2 ** rowHeight + rng.int(0, words - 1);
    return demandPath(shapes, step, leaf).map((position) => {
      const { content, path } = revealAt(trace, position);
      const vector = {
        program: programHex(program.model.program),
        traceRoot: toHex(trace.root),
        tops: hexes(topsOf(trace)),
        position: encodePosition(position),
        content: hexes(content),
        path: hexes(path),
      };
      return encodeAbiParameters(VECTOR_ABIS.reveal, [vector]);
    });
  });
}
