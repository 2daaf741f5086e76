/** What is taken and what is refused: program bytes, the size of a program's moves, calldata. */
import { toHex } from "../../base/bytes.ts";
import { isBaseError } from "../../base/errors.ts";
import { decodeInput, encodeInput, fillInputTensor } from "../../inference/codecs/input.ts";
import { tensorRoot } from "../../inference/commit/commitments.ts";
import { MAX_MOVE_BYTES } from "../../inference/program/check.ts";
import { INPUT_CODEC_CODES } from "../../inference/program/codes.ts";
import { encodeProgram } from "../../inference/program/encode.ts";
import { elementCount, INPUT_CODECS, type Program, type Step } from "../../inference/program/form.ts";
import { maxCalldata, outputLength } from "../../inference/program/shape.ts";
import { newData, storedBytes } from "../../inference/program/tensor.ts";
import { readProgram } from "../../inference/program/validate.ts";
import { type Area, type Case, refusedCase } from "../case.ts";
import { breakCalldata, breakProgram } from "../generate/mutations.ts";
import { randomProgram } from "../generate/random-program.ts";
import { createRng, type Rng } from "../generate/rng.ts";
import { line, step } from "../generate/small-programs.ts";
import { packed } from "../lines.ts";

/** What this project's code throws as a refusal. */
export function attempt<T>(make: () => T): T | undefined {
  try {
    return make();
  } catch (error) {
    if (isBaseError(error)) return undefined;
    throw error;
  }
}

export function programCase(bytes: Uint8Array): Case {
  const expected = attempt(() => readProgram(bytes)) === undefined ? "refused" : [];
  return { line: ["program", toHex(bytes)], expected, elements: 1 };
}

export const STRUCTURE: Area = {
  name: "structure",
  about: "program bytes as they are and with a field changed",
  lines: ["program"],
  *cases(seed) {
    const rng = createRng(seed);
    const { model } = randomProgram(rng, { hostile: seed % 2 === 1, steps: rng.int(0, 2) });
    const bytes = encodeProgram(model.program);
    yield programCase(bytes);
    for (let i = 0; i < 5; i++) yield programCase(breakProgram(rng, bytes));
  },
};

/** Bytes of an output's head, and of its word. */
const [HEAD, WORD] = [64, 32];

/** Programs whose longest calldata and return data together have 84,000 bytes, or some words more or fewer. */
export const LIMIT: Area = {
  name: "limit",
  about: `programs around the ${MAX_MOVE_BYTES.toLocaleString("en-US")} bytes of calldata and return data`,
  lines: ["program"],
  *cases(seed) {
    const rng = createRng(seed);
    const program = programOfLength(rng, rng.int(-2, 3));
    const sum = maxCalldata(program) + outputLength(program);
    const made = programCase(encodeProgram(program));
    if ((made.expected === "refused") !== sum > MAX_MOVE_BYTES) throw new Error(`seed ${seed}: ${sum} bytes`);
    yield made;
  },
};

/** @param over words of return data beyond the most that fit */
function programOfLength(rng: Rng, over: number): Program {
  // An output has at most 65,536 bytes, so the calldata have the rest: only these two codecs take as many.
  const inputCodec = rng.pick(["raw", "prices"] as const);
  const isRaw = inputCodec === "raw";
  const inputSize = isRaw ? rng.int(18_600, 65_536) : rng.int(194, 256);
  const [type, dims] = isRaw ? (["u8", [1]] as const) : (["s32", [3, inputSize - 1]] as const);
  const first: Step = step({ opcode: "codec", variant: INPUT_CODEC_CODES[inputCodec], type, dims });
  const empty: Program = { inputCodec, outputCodec: "raw", inputSize, weights: [], steps: [first] };
  const words = Math.floor((MAX_MOVE_BYTES - maxCalldata(empty) - HEAD) / WORD) + over;
  const elements = isRaw ? WORD * words - rng.int(0, WORD - 1) : (WORD / 4) * words;
  return { ...empty, steps: [first, line(0, type, elementCount(dims), elements)] };
}

/** Calldata as a standard encoder writes them and broken, read by every CODEC step. */
export const CALLDATA: Area = {
  name: "calldata",
  about: "canonical calldata and broken ones, each CODEC step's tensor and root",
  lines: ["codec"],
  *cases(seed) {
    const rng = createRng(seed);
    const inputCodec = INPUT_CODECS[seed % INPUT_CODECS.length] as (typeof INPUT_CODECS)[number];
    const random = randomProgram(rng, { opcode: "codec", hostile: rng.chance(0.5), inputCodec });
    const { selector, model } = random;
    const { program } = model;
    const steps = program.steps.flatMap(({ opcode }, i) => (opcode === "codec" ? [i] : []));
    const given = [random.calldata];
    if (inputCodec === "text") {
      const text = specialText(rng, program.inputSize);
      given.push(encodeInput(program, selector, { codec: "text", text }));
    }
    for (const calldata of given)
      for (const index of steps) yield codecCase(program, selector, calldata, index);
    for (let i = 0; i < 3; i++)
      yield codecCase(program, selector, breakCalldata(rng, random), rng.pick(steps));
  },
};

const PIECES = [
  "http",
  "HTTPS",
  "https",
  "xhttp",
  "http://",
  "://",
  "HTTP://x.y\x7fz",
  "\x7f",
  " ",
  "\0",
  "\x1f",
  "\x80",
  "!",
];

/** A text of what tokens are told apart by: addresses, spaces, and words around the 31 bytes that count. */
function specialText(rng: Rng, size: number): Uint8Array {
  const word = (): string => "aZ09"[rng.int(0, 3)]?.repeat(rng.pick([1, 2, 3, 4, 5, 30, 31, 32, 33])) ?? "";
  const pieces = Array.from({ length: rng.int(1, 30) }, () => (rng.chance(0.4) ? word() : rng.pick(PIECES)));
  return Uint8Array.from(Buffer.from(pieces.join(""), "latin1")).subarray(0, size);
}

function codecCase(program: Program, selector: Uint8Array, calldata: Uint8Array, index: number): Case {
  const words = [encodeProgram(program), selector, calldata].map(toHex);
  const asked = ["codec", ...words, packed(index, 2)] as const;
  const record = program.steps[index] as Step;
  const input = attempt(() => decodeInput(program, selector, calldata));
  if (input === undefined) return refusedCase(asked);
  const data = newData(record.type, elementCount(record.dims));
  fillInputTensor(record, input, data);
  const expected = [toHex(storedBytes(data)), toHex(tensorRoot(record, data))];
  return {
    line: asked,
    expected,
    elements: data.length + 1,
    parts: [`step ${index} (codec)`, "tensor root"],
  };
}
