/** Pad: a constant around the source, or positions of the source itself. */

import { numbers, type OnnxNode } from "../graph.ts";
import { refuse } from "../refusal.ts";
import { checkMade } from "./constants.ts";
import { knownTensor } from "./fold.ts";
import { gatherPositions } from "./gather.ts";
import {
  floatAttribute,
  intsAttribute,
  type Lowering,
  normalAxis,
  scalar,
  stringAttribute,
} from "./lowering.ts";
import { asSource, inOrder, moveValue } from "./shape.ts";
import { dimsOf, typeOf, type Value } from "./values.ts";

export function pad(ctx: Lowering, node: OnnxNode): Value {
  const value = ctx.input(node, 0);
  const dims = dimsOf(value);
  const pads = intsAttribute(node, "pads") ?? ctx.numbers(node, 1, "pads");
  const axesInput = ctx.optionalConstant(node, 3, "axes");
  const list = axesInput === undefined ? dims.map((_, i) => i) : numbers(axesInput);
  const axes = list.map((a) => normalAxis(a, dims.length));
  if (pads.length !== 2 * axes.length) refuse(`it has ${pads.length} pads`, "Give two for each axis.");
  const mode = stringAttribute(node, "mode", "constant");
  if (mode !== "constant") return padMoved(ctx, value, axes, pads, mode);
  const fill = fillOf(ctx, node);
  const out = [...dims];
  const sources = inOrder(dims);
  axes.forEach((axis, i) => {
    const [before = 0, after = 0] = [pads[i], pads[i + axes.length]];
    const dim = dims[axis] as number;
    out[axis] = dim + before + after;
    const checked = before > 0 || after > 0; // a negative pad cuts
    sources[axis] = { dim, terms: [{ axis, factor: 1 }], offset: -before, checked };
  });
  if (value.kind === "dequantized" && value.scale.length === 1 && fill === 0) {
    const zero = value.zero[0] as number;
    const source = moveValue(ctx, value.source, out, sources, padOf(typeOf(value.source), zero));
    return { ...value, source: asSource(ctx, source) };
  }
  const plain = value.kind === "constant" ? value : ctx.tensor(value);
  return moveValue(ctx, plain, out, sources, padOf(typeOf(value), fill));
}

function fillOf(ctx: Lowering, node: OnnxNode): number {
  const value = ctx.optional(node, 2);
  if (value === undefined) return floatAttribute(node, "value", 0);
  const tensor = knownTensor(value) ?? refuse("its pad value is computed", "Make it an initializer.");
  return scalar(tensor, "pad value");
}

/** Source position of each position of a padded axis, by mode. */
const POSITIONS: Readonly<Record<string, (at: number, size: number) => number>> = {
  edge: (at, size) => Math.min(Math.max(at, 0), size - 1),
  reflect: (at, size) => {
    const period = Math.max(2 * (size - 1), 1);
    const inside = ((at % period) + period) % period;
    return Math.min(inside, period - inside);
  },
  wrap: (at, size) => ((at % size) + size) % size,
};

function padMoved(
  ctx: Lowering,
  value: Value,
  axes: readonly number[],
  pads: readonly number[],
  mode: string,
): Value {
  const position = POSITIONS[mode] ?? refuse(`its mode is ${mode}`, "Use constant, edge, reflect or wrap.");
  return axes.reduce((padded, axis, i) => {
    const [before = 0, after = 0] = [pads[i], pads[i + axes.length]];
    if (before === 0 && after === 0) return padded;
    const size = dimsOf(padded)[axis] as number;
    const length = size + before + after;
    // A negative pad cuts; what is left is padded.
    const [cut, left] = [Math.max(-before, 0), size + Math.min(before, 0) + Math.min(after, 0)];
    if (left < 1)
      refuse(`it pads ${size} elements by ${before} and ${after}`, "Empty tensors are not supported.");
    checkMade(ctx.builder.budget, [length]);
    const list = Array.from({ length }, (_, at) => cut + position(at - Math.max(before, 0), left));
    return gatherPositions(ctx, padded, list, [length], axis);
  }, value);
}

/** A pad element as the record holds it. */
function padOf(type: string, value: number): { stored: number; value: number } {
  if (type === "int8") return { stored: value + 128, value };
  if (type === "float32") {
    const view = new DataView(new ArrayBuffer(4));
    view.setFloat32(0, value);
    return { stored: view.getUint32(0), value };
  }
  return { stored: value >>> 0, value };
}
