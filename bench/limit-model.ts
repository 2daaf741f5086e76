/** A model at the size that the target of a dispute names: 64 steps, tensors of 128 KB. */

import { createRng, type Rng } from "../conformance/generate/rng.ts";
import { type Model, NONE, type Step, WEIGHT } from "../inference/program/form.ts";

const STEPS = 64;
const WIDTH = 1_024;
const MAX_ROWS = 128;
const INPUT_BYTES = 65_536;
export const DOT_STEP = 1;

/** raw(bytes) → [rows, K] → DOT → [rows, 1024], then one byte map after the other, and the sum of each row.
 *  @param length K of the dot product, 32..992 */
export function limitModel(length: number): Model {
  const rng = createRng(length);
  const rows = Math.min(MAX_ROWS, Math.floor(INPUT_BYTES / length));
  const neutral = { variant: 0, type: "u8", b: NONE, c: NONE, k: 0, coordinates: [] } as const;
  const steps: Step[] = [
    { ...neutral, opcode: "codec", variant: 4, dims: [rows, length], a: NONE },
    { ...neutral, opcode: "dot", variant: 1, dims: [rows, WIDTH], a: 0, b: WEIGHT, k: 1 },
  ];
  while (steps.length < STEPS - 1) {
    const [a, b] = [steps.length - 1, WEIGHT + 1];
    steps.push({ ...neutral, opcode: "table", dims: [rows, WIDTH], a, b });
  }
  steps.push({ ...neutral, opcode: "reduce", type: "s32", dims: [rows, 1], a: STEPS - 2 });
  return {
    program: {
      inputCodec: "raw",
      outputCodec: "raw",
      inputSize: rows * length,
      weights: [
        { layout: "dot", type: "u8", dims: [WIDTH, length] },
        { layout: "plain", type: "u8", dims: [256] },
      ],
      steps,
    },
    weights: [dotRows(rng, WIDTH, length), permutation(rng)],
  };
}

/** Rows of any bytes and a parameter word that spreads the sums over a byte (docs/EXACT.md, section 2). */
function dotRows(rng: Rng, width: number, length: number): Uint8Array {
  const words = Math.ceil(length / 32);
  const row = 32 * (words + 1);
  const bytes = new Uint8Array(width * row);
  const shift = Math.round(Math.log2(Math.sqrt(length) * 74 * 147 * 3)) - 6;
  for (let n = 0; n < width; n++) {
    const weights = rng.bytes(length);
    for (let i = 0; i < length; i++) {
      bytes[n * row + 32 * (i >> 5) + 31 - (i & 31)] = weights[i] as number;
    }
    const parameters = new DataView(bytes.buffer, n * row + 32 * words, 32);
    parameters.setUint32(4, 3);
    parameters.setUint8(16, shift);
    parameters.setUint8(21, 128);
    parameters.setUint8(23, 255);
    parameters.setUint16(24, 128);
  }
  return bytes;
}

/** One activation row through square DOT layers.
 *  @param layers at least 1 @param width of each, 32..992 */
export function layeredModel(layers: number, width: number): Model {
  const rng = createRng(layers * width);
  const neutral = { variant: 0, type: "u8", b: NONE, c: NONE, k: 0, coordinates: [] } as const;
  const dims = [1, width];
  const indices = Array.from({ length: layers }, (_, i) => i);
  return {
    program: {
      inputCodec: "raw",
      outputCodec: "raw",
      inputSize: width,
      weights: indices.map(() => ({ layout: "dot", type: "u8", dims: [width, width] })),
      steps: [
        { ...neutral, opcode: "codec", variant: 4, dims, a: NONE },
        ...indices.map(
          (i): Step => ({ ...neutral, opcode: "dot", variant: 1, dims, a: i, b: WEIGHT + i, k: 1 }),
        ),
      ],
    },
    weights: indices.map(() => dotRows(rng, width, width)),
  };
}

function permutation(rng: Rng): Uint8Array {
  const map = Uint8Array.from({ length: 256 }, (_, i) => i);
  for (let i = 255; i > 0; i--) {
    const j = rng.int(0, i);
    [map[i], map[j]] = [map[j] as number, map[i] as number];
  }
  return map;
}

/** A model of the measured request and claim: 216 bytes in, two words out. */
export function smallModel(): Model {
  const neutral = { variant: 0, b: NONE, c: NONE, k: 0, coordinates: [] } as const;
  const steps: Step[] = [
    { ...neutral, opcode: "codec", variant: 4, type: "u8", dims: [2, 108], a: NONE },
    { ...neutral, opcode: "reduce", type: "s32", dims: [2, 1], a: 0 },
  ];
  return {
    program: { inputCodec: "raw", outputCodec: "words", inputSize: 216, weights: [], steps },
    weights: [],
  };
}
