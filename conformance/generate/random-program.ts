import { type CodecInput, encodeInput } from "../../inference/codecs/input.ts";
import {
  elementBytes,
  elementCount,
  INPUT_CODECS,
  type InputCodec,
  type Model,
  OPCODES,
  type Opcode,
  type OutputCodec,
  type Program,
  type Step,
} from "../../inference/program/form.ts";
import { validateProgram } from "../../inference/program/validate.ts";
import { ProgramBuilder, type Value } from "./program-builder.ts";
import { RANDOM_STEPS } from "./random-steps.ts";
import { type Range, randomInteger } from "./random-values.ts";
import { createRng, type Rng } from "./rng.ts";

export interface RandomProgramOptions {
  /** The opcode of the last step; without it any. */
  readonly opcode?: Opcode;
  /** Weights and constants of any bytes. Without it integers never wrap and casts stay in range. */
  readonly hostile?: boolean;
  /** No NaN, infinity, subnormal, zero divisor or out-of-range cast in binary32; default: not hostile. */
  readonly floatSane?: boolean;
  /** Steps of random opcodes before the last one; default 0 to 4. */
  readonly steps?: number;
  readonly inputCodec?: InputCodec;
}

export interface RandomProgram {
  readonly model: Model;
  /** 4 bytes. */
  readonly selector: Uint8Array;
  /** Canonical calldata for the program. */
  readonly calldata: Uint8Array;
  /** What each step's tensor can hold, by the generator's own bookkeeping (not for hostile programs). */
  readonly ranges: readonly Range[];
}

/** A random program that every structure rule accepts, with weights and an input.
 *  The same rng state gives the same program. */
export function randomProgram(rng: Rng, options: RandomProgramOptions = {}): RandomProgram {
  const {
    opcode = rng.pick(OPCODES),
    hostile = false,
    floatSane = !hostile,
    steps = rng.int(0, 4),
  } = options;
  const inputCodec = options.inputCodec ?? (rng.chance(0.6) ? "raw" : rng.pick(INPUT_CODECS));
  const size = { text: rng.int(1, 600), prices: rng.int(2, 65), int16s: rng.int(2000, 4096), raw: 0 }[
    inputCodec
  ];
  const builder = new ProgramBuilder(rng, { inputCodec, inputSize: size, hostile, floatSane });
  for (let i = 0; i < steps; i++) RANDOM_STEPS[rng.pick(OPCODES)](builder);
  let last = RANDOM_STEPS[opcode](builder);
  // CODEC on its own may end with the steps that bring it into another shape: a codec step must come last.
  if (opcode === "codec" && builder.steps[builder.steps.length - 1]?.opcode !== "codec")
    last = repeatCodec(builder);
  const inputSize = inputCodec === "raw" ? Math.max(1, builder.used) : size;
  const program: Program = {
    inputCodec,
    outputCodec: outputCodecFor(rng, last),
    inputSize,
    weights: builder.weights,
    steps: builder.steps,
  };
  // An opcode's own dims may ask for more numbers than the input has.
  if (validateProgram(program).length > 0) return randomProgram(rng, options);
  const selector = rng.bytes(4);
  const calldata = encodeInput(program, selector, randomInput(rng, program, hostile));
  return {
    model: { program, weights: builder.weightBytes },
    selector,
    calldata,
    ranges: builder.values.map((value) => value.range),
  };
}

/** The same from a seed. */
export const seededProgram = (seed: number, options: RandomProgramOptions = {}): RandomProgram =>
  randomProgram(createRng(seed), options);

function repeatCodec(builder: ProgramBuilder): Value {
  const { opcode, variant, type, dims, k } = builder.steps.find((step) => step.opcode === "codec") as Step;
  return builder.step({ opcode, variant, type, dims, k });
}

function outputCodecFor(rng: Rng, { type, dims }: Value): OutputCodec {
  const count = elementCount(dims);
  const codecs: OutputCodec[] = ["raw"];
  if (type !== "f32" && count <= 256) codecs.push("words");
  if (type === "s32" && count <= 4096) codecs.push("int16s");
  return rng.pick(codecs);
}

const WORDS =
  "Shares of ACME fell 12% after Q3 results, http://x.y/z https://a.b?c $TSLA up; Über café 北京 don't".split(
    " ",
  );

/** An input that the codec takes, edge values included. */
export function randomInput(rng: Rng, program: Program, hostile: boolean): CodecInput {
  const { inputCodec, inputSize } = program;
  switch (inputCodec) {
    case "text": {
      const text = hostile
        ? rng.bytes(rng.int(0, inputSize))
        : Buffer.from(Array.from({ length: rng.int(0, 40) }, () => rng.pick(WORDS)).join(" ")).subarray(
            0,
            inputSize,
          );
      return { codec: "text", text: Uint8Array.from(text) };
    }
    case "prices": {
      const price = (): bigint => {
        if (!hostile) return BigInt(rng.int(1, 10 ** 7));
        return rng.pick([
          0n,
          1n,
          2n ** 128n - 1n,
          2n ** 128n,
          2n ** 256n - 1n,
          BigInt(rng.u32()) << BigInt(rng.int(0, 220)),
        ]);
      };
      const list = (): bigint[] => Array.from({ length: inputSize }, price);
      return { codec: "prices", closes: list(), highs: list(), lows: list() };
    }
    case "int16s": {
      const range = { low: -32_768, high: 32_767, quantum: 0 };
      return {
        codec: "int16s",
        int16s: Int16Array.from({ length: inputSize }, () => randomInteger(rng, range)),
      };
    }
    case "raw":
      return { codec: "raw", bytes: randomRaw(rng, program) };
  }
}

/** Bytes that are ordinary numbers of each step's type half of the time, any bytes else. */
function randomRaw(rng: Rng, program: Program): Uint8Array {
  const bytes = rng.bytes(program.inputSize);
  const view = new DataView(bytes.buffer);
  for (const step of program.steps) {
    if (step.opcode !== "codec" || elementBytes(step.type) === 1) continue;
    for (let i = 0; i < elementCount(step.dims); i++) {
      if (rng.chance(0.2)) continue;
      if (step.type === "s32")
        view.setInt32(
          step.k + 4 * i,
          randomInteger(rng, { low: -(2 ** 31), high: 2 ** 31 - 1, quantum: 0 }),
          true,
        );
      else view.setFloat32(step.k + 4 * i, rng.int(-(2 ** 20), 2 ** 20) * 2 ** rng.int(-12, 0), true);
    }
  }
  return bytes;
}
