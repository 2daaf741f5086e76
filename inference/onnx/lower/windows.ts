/** Sliding windows of convolutions and pools over one or two spatial axes. */

import type { OnnxNode } from "../graph.ts";
import { refuse } from "../refusal.ts";
import { intAttribute, intsAttribute, stringAttribute } from "./lowering.ts";
import { dimsOf, type Value } from "./values.ts";

export interface WindowAxis {
  readonly size: number;
  readonly kernel: number;
  readonly stride: number;
  readonly dilation: number;
  readonly before: number;
  readonly after: number;
  readonly output: number;
  /** True where some window reaches outside of the input. */
  readonly leaves: boolean;
}

/** @param spatial sizes of the spatial axes @param kernel sizes of the kernel */
export function windowAxes(
  node: OnnxNode,
  spatial: readonly number[],
  kernel: readonly number[],
): WindowAxis[] {
  const rank = spatial.length;
  if (rank !== 1 && rank !== 2) refuse(`it has ${rank} spatial axes`, "Use one or two.");
  const up = intAttribute(node, "ceil_mode", 0) !== 0;
  const list = (name: string, otherwise: number, length: number): readonly number[] => {
    const values = intsAttribute(node, name) ?? new Array<number>(length).fill(otherwise);
    if (values.length !== length || values.some((v) => v < 0))
      refuse(`its ${name} are [${values}]`, "Correct them.");
    return values;
  };
  const strides = list("strides", 1, rank);
  const dilations = list("dilations", 1, rank);
  const pads = list("pads", 0, 2 * rank);
  const auto = stringAttribute(node, "auto_pad", "NOTSET");
  return spatial.map((size, i) => {
    const [k = 1, stride = 1, dilation = 1] = [kernel[i], strides[i], dilations[i]];
    const reach = (k - 1) * dilation + 1;
    let [before = 0, after = 0] = [pads[i], pads[i + rank]];
    if (auto === "VALID") [before, after] = [0, 0];
    else if (auto === "SAME_UPPER" || auto === "SAME_LOWER") {
      const total = Math.max(0, (Math.ceil(size / stride) - 1) * stride + reach - size);
      const less = Math.floor(total / 2);
      [before, after] = auto === "SAME_UPPER" ? [less, total - less] : [total - less, less];
    } else if (auto !== "NOTSET")
      refuse(`its auto_pad is ${auto}`, "Use NOTSET, VALID, SAME_UPPER or SAME_LOWER.");
    const steps = (size + before + after - reach) / stride;
    let output = Math.floor(steps) + 1;
    // Rounded up, unless that window would begin behind the input.
    if (up && output * stride < size + before) output = Math.ceil(steps) + 1;
    if (output < 1 || stride < 1 || dilation < 1)
      refuse("its window is larger than its input", "Correct the shapes.");
    const leaves = before > 0 || (output - 1) * stride + reach > size + before;
    return { size, kernel: k, stride, dilation, before, after, output, leaves };
  });
}

/** All axes after batch and channels. */
export const spatialAxes = (value: Value): number[] =>
  dimsOf(value)
    .map((_, axis) => axis)
    .slice(2);
