/** Operators that lay out pixels: DepthToSpace, SpaceToDepth. */

import type { OnnxNode } from "../graph.ts";
import { refuse } from "../refusal.ts";
import { intAttribute, type Lowering, stringAttribute } from "./lowering.ts";
import { reshapeValue, transposeValue } from "./shape.ts";
import { dimsOf, type Value } from "./values.ts";

function imageOf(ctx: Lowering, node: OnnxNode): { value: Value; block: number; dims: readonly number[] } {
  const value = ctx.input(node, 0);
  const dims = dimsOf(value);
  const block = intAttribute(node, "blocksize", 0);
  if (dims.length !== 4 || block < 1) {
    refuse(
      `its input is [${dims}], its blocksize ${block}`,
      "Use [batch, channels, height, width] and a blocksize.",
    );
  }
  return { value, block, dims };
}

export function depthToSpace(ctx: Lowering, node: OnnxNode): Value {
  const { value, block: b, dims } = imageOf(ctx, node);
  const [n = 1, c = 1, h = 1, w = 1] = dims;
  const rest = c / (b * b);
  if (!Number.isInteger(rest)) refuse(`it has ${c} channels for blocks of ${b * b}`, "Correct the shapes.");
  const isFirst = stringAttribute(node, "mode", "DCR") === "CRD";
  const [apart, perm] = isFirst
    ? [
        [n, rest, b, b, h, w],
        [0, 1, 4, 2, 5, 3],
      ]
    : [
        [n, b, b, rest, h, w],
        [0, 3, 4, 1, 5, 2],
      ];
  const turned = transposeValue(ctx, reshapeValue(ctx, value, apart), perm);
  return reshapeValue(ctx, turned, [n, rest, h * b, w * b]);
}

export function spaceToDepth(ctx: Lowering, node: OnnxNode): Value {
  const { value, block: b, dims } = imageOf(ctx, node);
  const [n = 1, c = 1, h = 1, w = 1] = dims;
  if (h % b !== 0 || w % b !== 0) refuse(`its image is ${h}x${w} for blocks of ${b}`, "Correct the shapes.");
  const apart = reshapeValue(ctx, value, [n, c, h / b, b, w / b, b]);
  return reshapeValue(ctx, transposeValue(ctx, apart, [0, 3, 5, 1, 2, 4]), [n, c * b * b, h / b, w / b]);
}
