/** Writes test/vectors/public-signals.json, which circuit, TypeScript and PublicSignals.sol are tested against:
 *  `tsx tools/make-signal-vectors.ts`. Signals come from protocol/rules/proof/public-signals.ts. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { toHex } from "../base/bytes.ts";
import { type CodecInput, encodeInput } from "../inference/codecs/input.ts";
import { encodeOutput } from "../inference/codecs/output.ts";
import { INPUT_CODEC_CODES } from "../inference/program/codes.ts";
import { encodeProgram } from "../inference/program/encode.ts";
import {
  elementBytes,
  elementCount,
  NONE,
  type OutputCodec,
  type Program,
  type Step,
  type TensorType,
  WEIGHT,
} from "../inference/program/form.ts";
import { modelWord } from "../inference/program/shape.ts";
import { fromStoredBytes } from "../inference/program/tensor.ts";
import { assertValid } from "../inference/program/validate.ts";
import {
  groth16Binding,
  publicSignals,
  signalLayout,
  signalNames,
} from "../protocol/rules/proof/public-signals.ts";
import { makeRandomBytes } from "./codec-cases.ts";
import { projectRoot } from "./foundry.ts";

const SELECTOR = Uint8Array.of(0x1d, 0x2c, 0x3b, 0x4a);
const SELECTOR_NUMBER = 0x1d2c3b4a;
/** Where the proof is presented; the tests of the contract take these. */
const BINDING = {
  chainId: 31_337,
  proofLane: "0x00000000000000000000000000000000000a55a7",
  submitter: "0x0000000000000000000000000000000000005eed",
} as const;
const LANES = 7;

/** Columns of a table: one array a field, all of the same length, as forge reads them at once. */
type Columns = Record<string, string[]>;
type Form = Pick<Step, "type" | "dims" | "k">;
interface Case {
  readonly name: string;
  readonly input: CodecInput;
  readonly size: number;
  readonly codecs: readonly Form[];
  readonly output: readonly [OutputCodec, TensorType, readonly number[]];
}

const random = makeRandomBytes(11);
const text = (value: string): CodecInput => ({ codec: "text", text: new TextEncoder().encode(value) });
const int16sOf = (count: number): CodecInput => ({
  codec: "int16s",
  int16s: Array.from(new Int16Array(random(2 * count).buffer)).map((number, i) =>
    i < 4 ? ([-32_768, 32_767, 0, -1][i] as number) : number,
  ),
});
const pricesOf = (n: number): CodecInput => {
  const list = (): bigint[] =>
    Array.from(random(2 * n).slice(0, n), (byte, i) => BigInt(100_000 + 50 * byte + (i === 1 ? 10 ** 9 : 0)));
  return { codec: "prices", closes: list(), highs: list(), lows: list() };
};
const ids = (tokens: number, width: number, k: number): Form => ({ type: "s32", dims: [tokens, width], k });
const int16s = (dims: readonly number[], k = 0): Form => ({ type: "s32", dims, k });
const HEADLINE = "Profit of Nordea rises by 12% to EUR 3.4bn, http://x.y/z says the BANK.";

const raw = (type: TensorType, dims: readonly number[], output: Case["output"]): Case => {
  const size = elementCount(dims) * elementBytes(type);
  return {
    name: `raw ${type} [${dims}] to ${output[0]} of ${output[1]} [${output[2]}]`,
    input: { codec: "raw", bytes: random(size) },
    size,
    codecs: [{ type, dims, k: 0 }],
    output,
  };
};

function cases(): Case[] {
  return [
    ...[2, 256, 257, 65_536, 65_537, 2 ** 24].map(
      (k): Case => ({
        name: `text, table of ${k} rows`,
        input: text(HEADLINE),
        size: 200,
        codecs: [ids(32, 3, k)],
        output: ["words", "s32", [3]],
      }),
    ),
    ...[255, 1000, 70_000].map(
      (k): Case => ({
        name: `text in rows of 16, table of ${k} rows`,
        input: text(HEADLINE),
        size: 200,
        codecs: [ids(32, 16, k)],
        output: ["words", "s32", [3]],
      }),
    ),
    {
      name: "empty text",
      input: text(""),
      size: 9,
      codecs: [ids(5, 1, 4096)],
      output: ["words", "s32", [1]],
    },
    ...[2, 3, 8, 9, 10, 31, 66].map(
      (n): Case => ({
        name: `${n} prices`,
        input: pricesOf(n),
        size: n,
        codecs: [int16s([3, n - 1])],
        output: ["words", "s32", [2, 3]],
      }),
    ),
    ...([[1], [15], [16], [31], [3, 5], [2, 8], [3, 9], [2, 2, 24]] as const).map(
      (dims): Case => ({
        name: `int16s [${dims}]`,
        input: int16sOf(elementCount(dims)),
        size: elementCount(dims),
        codecs: [int16s(dims)],
        output: ["int16s", "s32", dims],
      }),
    ),
    {
      name: "int16s in three parts",
      input: int16sOf(60),
      size: 60,
      codecs: [int16s([10], 50), int16s([2, 5]), int16s([33], 7)],
      output: ["words", "s8", [2, 5]],
    },
    {
      name: "raw in two parts",
      input: { codec: "raw", bytes: random(77) },
      size: 77,
      codecs: [
        { type: "s8", dims: [3, 7], k: 5 },
        { type: "s32", dims: [2, 5], k: 26 },
      ],
      output: ["words", "bool", [5]],
    },
    {
      name: "raw u8 in three parts",
      input: { codec: "raw", bytes: random(140) },
      size: 140,
      codecs: [
        { type: "u8", dims: [2, 17], k: 3 },
        { type: "u8", dims: [40], k: 100 },
        { type: "bool", dims: [33], k: 66 },
      ],
      output: ["raw", "s32", [2]],
    },
    raw("u8", [256], ["words", "s32", [2]]),
    raw("u8", [2, 40], ["words", "u8", [33]]),
    raw("u8", [31], ["raw", "u8", [31]]),
    raw("u8", [32], ["raw", "u8", [32]]),
    raw("u8", [3, 64], ["raw", "u8", [4, 8]]),
    raw("s8", [5, 7], ["raw", "s8", [5, 7]]),
    raw("bool", [40], ["raw", "bool", [3, 11]]),
    raw("s32", [9], ["raw", "s32", [3, 9]]),
    raw("s32", [2, 8], ["raw", "s32", [8]]),
    raw("s32", [3, 3], ["words", "s8", [64]]),
  ];
}

/** The CODEC steps and, as the last step, one of the output's form: a MOVE of a constant, for what a model computes
 *  does not matter here. */
function programOf({ input, size, codecs, output }: Case): Program {
  const variant = INPUT_CODEC_CODES[input.codec];
  const operands = { a: NONE, b: NONE, c: NONE };
  const steps: Step[] = codecs.map((form) => ({
    opcode: "codec",
    variant,
    coordinates: [],
    ...operands,
    ...form,
  }));
  const [outputCodec, type, dims] = output;
  const coordinate = { view: 1, a: 0, p: 0, b: 0, q: 0, c: 0 };
  const coordinates = [coordinate, coordinate, coordinate, coordinate];
  steps.push({ opcode: "move", variant: 0, type, dims, ...operands, a: WEIGHT, k: 0, coordinates });
  const program: Program = {
    inputCodec: input.codec,
    outputCodec,
    inputSize: size,
    weights: [{ layout: "plain", type, dims: [1] }],
    steps,
  };
  assertValid(program);
  return program;
}

/** Any tensor that the output codec keeps. */
function outputOf(program: Program, [codec, type, dims]: Case["output"]): Uint8Array {
  const any = random(elementCount(dims) * elementBytes(type));
  const stored = type === "bool" && codec === "raw" ? any.map((byte) => byte & 1) : any;
  return encodeOutput(program, { type, dims, data: fromStoredBytes(type, stored) });
}

/** Return data of the right length that a lenient decoder would read as the same tensor, or as another. */
function* brokenOutputs(program: Program, output: Uint8Array): Generator<readonly [string, Uint8Array]> {
  const changed = (at: number, bits: number): Uint8Array => {
    const copy = output.slice();
    copy[at] = (copy[at] as number) ^ bits;
    return copy;
  };
  yield ["shorter", output.subarray(0, -1)];
  yield ["longer", Uint8Array.of(...output, 0)];
  const { type, dims } = program.steps.at(-1) as Step;
  const count = elementCount(dims);
  if (program.outputCodec === "words") {
    yield ["dirty first byte", changed(0, 0x80)];
    yield ["dirty byte before the element", changed(31 - elementBytes(type), 1)];
    return;
  }
  yield ["another offset", changed(31, 0x40)];
  yield ["another length", changed(63, 1)];
  yield ["length of 2^255 and more", changed(32, 0x80)];
  const used = 64 + count * (program.outputCodec === "int16s" ? 2 : elementBytes(type));
  if (used < output.length) {
    yield ["dirty first byte of the padding", changed(used, 1)];
    yield ["dirty last byte of the padding", changed(output.length - 1, 1)];
  }
  if (type === "bool") yield ["a bool of 2 or more", changed(64, 2)];
}

const hexWord = (value: bigint): string => value.toString(16).padStart(64, "0");

export function makeSignalVectors() {
  const signals: Columns = {};
  const refused: Columns = {};
  const push = (columns: Columns, row: Readonly<Record<string, string>>): void => {
    for (const [field, value] of Object.entries(row)) {
      columns[field] ??= [];
      columns[field].push(value);
    }
  };
  for (const one of cases()) {
    const program = programOf(one);
    const input = encodeInput(program, SELECTOR, one.input);
    const output = outputOf(program, one.output);
    const modelId = toHex(random(32));
    const binding = groth16Binding({ ...BINDING, modelId });
    const all = publicSignals(program, SELECTOR, input, output, binding);
    const shared = {
      modelWord: `0x${hexWord(modelWord(program, SELECTOR_NUMBER, LANES))}`,
      program: toHex(encodeProgram(program)),
      input: toHex(input),
    };
    push(signals, {
      name: one.name,
      ...shared,
      modelId,
      output: toHex(output),
      names: signalNames(signalLayout(program)).join(),
      signals: `0x${all.map(hexWord).join("")}`,
    });
    for (const [why, broken] of brokenOutputs(program, output)) {
      push(refused, { name: `${one.name}, ${why}`, ...shared, output: toHex(broken) });
    }
  }
  const source = "tools/make-signal-vectors.ts, from protocol/rules/proof/public-signals.ts";
  return { source, selector: toHex(SELECTOR), ...BINDING, signals, refused };
}

export const formatSignalVectors = (vectors: ReturnType<typeof makeSignalVectors>): string =>
  `${JSON.stringify(vectors, null, 1)}\n`;

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const vectors = makeSignalVectors();
  writeFileSync(join(projectRoot, "test/vectors/public-signals.json"), formatSignalVectors(vectors));
  console.log(`signals: ${vectors.signals.name?.length ?? 0}, refused: ${vectors.refused.name?.length ?? 0}`);
}
