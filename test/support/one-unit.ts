/** What docs/EXACT.md, section 6, calls one unit, measured against the operator's definition in binary64. */

import type { OnnxType } from "../../inference/onnx/graph.ts";
import type { ImportSettings } from "../../inference/onnx/import.ts";
import { MAX_MOVE_BYTES } from "../../inference/program/check.ts";
import type { TestGraph, TestNode, TestTensor } from "./onnx-file.ts";
import { node, t } from "./onnx-nodes.ts";
import { runGraph } from "./onnx-run.ts";

export const LIMITS = {
  uint8: [0, 255],
  int8: [-128, 127],
  uint16: [0, 65_535],
  int16: [-32_768, 32_767],
} as const;
export type Quantized = keyof typeof LIMITS;

export interface Quantization {
  readonly type: Quantized;
  readonly scale: number;
  readonly zero: number;
}

const roundHalfEven = (x: number): number => {
  const floor = Math.floor(x);
  const rest = x - floor;
  return rest > 0.5 || (rest === 0.5 && floor % 2 !== 0) ? floor + 1 : floor;
};

export function quantize(x: number, { type, scale, zero }: Quantization): number {
  const [low, high] = LIMITS[type];
  return Math.min(Math.max(roundHalfEven(x / scale) + zero, low), high);
}

/** Scale and zero point that hold all of these numbers, and 0, as calibration chooses them. */
export function calibrated(numbers: readonly number[], type: Quantized): Quantization {
  const low = numbers.reduce((a, b) => Math.min(a, b), 0);
  const high = numbers.reduce((a, b) => Math.max(a, b), 0);
  const [least, most] = LIMITS[type];
  const scale = Math.max(Math.fround((high - low) / (most - least)), 2 ** -99);
  return { type, scale, zero: quantize(0, { type, scale, zero: least - Math.round(low / scale) }) };
}

interface Distances {
  compared: number;
  different: number;
  /** Largest difference in units. */
  largest: number;
}

/** By the type that results are quantized to; float32 where nobody quantizes them. */
export type Measured = Map<Quantized | "float32", Distances>;

/** One line to print. */
export const printed = (measured: Measured): string =>
  [...measured]
    .map(
      ([type, { compared, different, largest }]) =>
        `${type} ${different} of ${compared} by ${+largest.toFixed(3)}`,
    )
    .join("; ");

export const largestOf = (measured: Measured): number =>
  [...measured.values()].reduce((most, { largest }) => Math.max(most, largest), 0);

/** What a graph's inputs, and its outputs, hold in bytes: codec raw. */
const MOST_RAW_BYTES = 65_536;
/** Bytes of a graph's inputs and outputs together, without what the ABI puts around them. */
const MOST_BYTES = MAX_MOVE_BYTES - 256;

/** One operator between DequantizeLinear and QuantizeLinear. */
export interface UnitCase {
  /** Nodes from r to p. */
  readonly nodes: readonly TestNode[];
  readonly constants?: Readonly<Record<string, TestTensor>>;
  /** Elements of a row. */
  readonly length: number;
  readonly settings?: ImportSettings;
  readonly x: readonly number[];
  readonly from: Quantization;
  /** Undefined: p itself is compared. */
  readonly to: Quantization | undefined;
  readonly expected: readonly number[];
  /** What float32 results are measured by: their distance is at most one unit of 2^-20 of this size. */
  readonly sizes?: readonly number[];
}

export const FLOAT_UNIT = 2 ** -20;

const isWide = (to: Quantization | undefined): boolean => to?.type === "uint16" || to?.type === "int16";

function graphOf({ nodes, constants = {}, from, to }: UnitCase, dims: readonly number[]): TestGraph {
  const quantizeTo = (name: string): TestNode => node("QuantizeLinear", ["p", "ys", "yz"], {}, name);
  // 16 bits stay inside of a graph.
  const wide = [quantizeTo("quantized"), node("Cast", ["quantized"], { to: 6 })];
  const last = to === undefined ? [node("Identity", ["p"])] : isWide(to) ? wide : [quantizeTo("y")];
  const output: OnnxType = to === undefined ? "float32" : isWide(to) ? "int32" : to.type;
  const target = to === undefined ? {} : { ys: t("float32", [], [to.scale]), yz: t(to.type, [], [to.zero]) };
  const first = isWide(from) ? [node("QuantizeLinear", ["x", "xs", "xz"], {}, "q")] : [];
  const dequantized = node("DequantizeLinear", [isWide(from) ? "q" : "x", "xs", "xz"], {}, "r");
  return {
    nodes: [...first, dequantized, ...nodes, ...last],
    inputs: { x: { type: isWide(from) ? "float32" : from.type, dims } },
    outputs: { y: output },
    constants: {
      xs: t("float32", [], [from.scale]),
      xz: t(from.type, [], [from.zero]),
      ...target,
      ...constants,
    },
    opset: 21,
  };
}

/** Runs the operator on rows of `x`, as many at once as inputs and outputs hold; adds the distances from `expected`. */
export function measure(unitCase: UnitCase, total: Measured): void {
  const { length, x, from, to, expected, sizes = expected, settings } = unitCase;
  const rows = x.length / length;
  const perRow = expected.length / rows;
  const bytesOf = (quantization: Quantization | undefined): number =>
    quantization === undefined || isWide(quantization) ? 4 : 1;
  const [given, result] = [length * bytesOf(from), perRow * bytesOf(to)];
  const most = Math.min(
    MOST_RAW_BYTES / Math.max(given, result),
    MOST_BYTES / (given + result),
    // A row of a result takes whole words where it is committed to.
    MOST_BYTES / (32 * Math.ceil(result / 32)),
  );
  const batch = Math.min(rows, Math.floor(most));
  if (batch === 0) return;
  const key = to?.type ?? "float32";
  const distances = total.get(key) ?? { compared: 0, different: 0, largest: 0 };
  total.set(key, distances);
  for (let row = 0; row < rows; row += batch) {
    const dims = [Math.min(batch, rows - row), length];
    const stored = x.slice(row * length, (row + batch) * length);
    const data = isWide(from) ? stored.map((q) => Math.fround((q - from.zero) * from.scale)) : stored;
    const input = { type: isWide(from) ? "float32" : from.type, dims, data };
    const { outputs } = runGraph(graphOf(unitCase, dims), { x: input }, settings);
    const ours = outputs.y as readonly number[];
    if (ours.length !== perRow * (dims[0] as number)) throw new Error(`${ours.length} results of [${dims}]`);
    ours.forEach((value, i) => {
      const index = row * perRow + i;
      const real = expected[index] as number;
      const unit = FLOAT_UNIT * Math.max(Math.abs(sizes[index] as number), 2 ** -80);
      const distance =
        to === undefined ? Math.abs(value - real) / unit : Math.abs(value - quantize(real, to));
      distances.compared++;
      if (distance > 0) distances.different++;
      if (!(distance <= distances.largest)) distances.largest = distance;
    });
  }
}
