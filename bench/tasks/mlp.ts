/** The task that all lanes are measured on: an int8 MLP 256 → 64 → 32 → 2, 18,496 multiply-accumulates.
 *  Raw u8 input of 256 bytes (a 16 × 16 picture), relu as the clamp at zero point 0, raw s32 logits out. */

import { createRng, type Rng } from "../../conformance/generate/rng.ts";
import { type ImportedModel, importOnnx } from "../../inference/onnx/import.ts";
import { onnxFile, type TestNode, type TestTensor } from "../../test/support/onnx-file.ts";
import { random, scalar, tensor } from "../../test/support/quantized-graphs.ts";

export const MLP_DIMS = [256, 64, 32, 2] as const;
export const MLP_MULTIPLICATIONS = 256 * 64 + 64 * 32 + 32 * 2;
const SIDE = 16;
const SEED = 256_64_32_2;
/** Of inputs, two hidden layers and logits. */
export type MlpDims = readonly [inputs: number, first: number, second: number, outputs: number];

/** Right shift of a layer's requantization: it leaves the activations of K inputs within a byte. */
const shiftOf = (k: number): number => 6 + Math.round(Math.log2(k) / 2);

/** 2^-shift one unit in the last place up: the integer form is then a plain rounded shift.
 *  Source: docs/EXACT.md, section 6. */
const scaleOf = (shift: number): number => Math.fround(2 ** -shift * (1 + 2 ** -23));

/** Weights as training leaves them: bell-shaped around 0, within int8. */
function weights(rng: Rng, rows: number, columns: number): TestTensor {
  const one = (): number => rng.int(-42, 42) + rng.int(-42, 42) + rng.int(-43, 43);
  return tensor(
    "int8",
    [rows, columns],
    Array.from({ length: rows * columns }, () => one()),
  );
}

function hidden(layer: 0 | 1, input: string, output: string): TestNode {
  const names = ["one", "zero", `w${layer}`, `s${layer}`, "zero8", `b${layer}`, "one", "zero"];
  return { op: "QGemm", domain: "com.microsoft", inputs: [input, ...names], outputs: [output] };
}

/** The ONNX file, the same bytes on every machine. @param dims of the task, or of a smaller or larger one */
export function mlpOnnx(dims: MlpDims = MLP_DIMS): Uint8Array {
  const rng = createRng(SEED);
  const [inputs, first, second, outputs] = dims;
  const constants: Record<string, TestTensor> = {
    one: scalar("float32", 1),
    zero: scalar("uint8", 0),
    zero8: scalar("int8", 0),
    s0: scalar("float32", scaleOf(shiftOf(inputs))),
    s1: scalar("float32", scaleOf(shiftOf(first))),
    w0: weights(rng, inputs, first),
    b0: random(rng, "int32", [first], [-20_000, 20_000]),
    w1: weights(rng, first, second),
    b1: random(rng, "int32", [second], [-8_000, 8_000]),
    w2: weights(rng, second, outputs),
    b2: random(rng, "int32", [outputs], [-4_000, 4_000]),
  };
  const nodes: TestNode[] = [
    hidden(0, "picture", "hidden0"),
    hidden(1, "hidden0", "hidden1"),
    { op: "MatMulInteger", inputs: ["hidden1", "w2", "zero", "zero8"], outputs: ["product"] },
    { op: "Add", inputs: ["product", "b2"], outputs: ["logits"] },
  ];
  return onnxFile({
    nodes,
    inputs: { picture: { type: "uint8", dims: [1, inputs] } },
    outputs: { logits: "int32" },
    constants,
  });
}

/** The model through the project's own import: three DOT steps behind the codec step. */
export const mlpModel = (dims: MlpDims = MLP_DIMS): ImportedModel => importOnnx(mlpOnnx(dims));

/** Selector of `infer(bytes)`, what a file without a codec of its own gets. */
export const MLP_SIGNATURE = "infer(bytes)";

/** A picture as a camera or a scanner gives it: a few strokes of soft edges on a dark, noisy ground.
 *  @returns 256 bytes, row by row */
export function mlpInput(rng: Rng): Uint8Array {
  const strokes = Array.from({ length: rng.int(1, 4) }, () => ({
    x: rng.int(2, SIDE - 3),
    y: rng.int(2, SIDE - 3),
    dx: rng.int(-7, 7),
    dy: rng.int(-7, 7),
    width: rng.int(1, 3),
    light: rng.int(120, 255),
  }));
  return Uint8Array.from({ length: SIDE * SIDE }, (_, i) => {
    const [x, y] = [i % SIDE, Math.floor(i / SIDE)];
    let value = rng.int(0, 12);
    for (const s of strokes) {
      const length2 = s.dx * s.dx + s.dy * s.dy || 1;
      const along = Math.min(1, Math.max(0, ((x - s.x) * s.dx + (y - s.y) * s.dy) / length2));
      const [ex, ey] = [x - s.x - along * s.dx, y - s.y - along * s.dy];
      value = Math.max(value, Math.floor(s.light * (1 - (ex * ex + ey * ey) / (2 * s.width * s.width))));
    }
    return value;
  });
}
