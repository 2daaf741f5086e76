/** The label of a classifier, as onnxruntime chooses it: the first of the largest scores; of two classes, the second
 *  where its score is above 1/2, or above 0 if a weight is negative. */

import type { Operand } from "../../program/form.ts";
import type { OnnxNode } from "../graph.ts";
import type { Lowering } from "../lower/lowering.ts";
import type { TensorValue } from "../lower/values.ts";
import { refuse } from "../refusal.ts";
import { type Ensemble, hasNoNegative, leavesOf } from "./ensemble.ts";
import type { Sums } from "./sums.ts";

/** @param labels numbers, or words, whose places are the output then */
export function classLabel(
  ctx: Lowering,
  node: OnnxNode,
  ensemble: Ensemble,
  { tensor, scaleBits }: Sums,
  labels: readonly (number | string)[],
): TensorValue {
  const { builder } = ctx;
  const rows = tensor.dims[0] as number;
  const index =
    ensemble.targets === 2 ? ofTwo(ctx, ensemble, tensor, scaleBits) : ofMany(ctx, ensemble, tensor);
  const words = labels.filter((label): label is string => typeof label === "string");
  const numbers = labels.map((label, i) => (typeof label === "string" ? i : label));
  if (numbers.some((n) => !(Math.abs(n) < 2 ** 31))) {
    refuse("a class label is outside s32", "Use smaller labels.");
  }
  const isCounted = numbers.every((n, i) => n === i);
  const picked = isCounted
    ? index
    : builder.lookup(
        "pick",
        ctx.reshape(index, [rows, 1]),
        builder.plain("s32", [numbers.length, 1], Int32Array.from(numbers)),
        [rows],
      );
  const operand = ctx.reshape(picked, [rows]);
  if (words.length > 0) {
    ctx.words.set(operand, words);
    ctx.notes.push(`${node.name}: the label is its place in ${words.join(", ")}`);
  }
  return { kind: "tensor", operand, type: "s32", onnx: "int64", dims: [rows] };
}

function ofTwo(ctx: Lowering, ensemble: Ensemble, tensor: TensorValue, scaleBits: number): Operand {
  const { builder } = ctx;
  const bound = hasNoNegative(ensemble) ? Math.floor(2 ** (scaleBits - 1)) : 0;
  const isSecond = builder.arith("lt", "bool", builder.s32(bound), tensor.operand);
  return builder.arith("cast", "s32", isSecond);
}

function ofMany(ctx: Lowering, ensemble: Ensemble, tensor: TensorValue): Operand {
  checkScored(ensemble);
  const { builder } = ctx;
  const [rows, classes] = tensor.dims as [number, number];
  const scores = ctx.reshape(tensor.operand, [rows, classes]);
  const top = builder.reduce("max", scores, [rows, 1]);
  const places = builder.plain(
    "s32",
    [classes],
    Int32Array.from({ length: classes }, (_, i) => i),
  );
  const isTop = builder.arith("eq", "bool", scores, top);
  return builder.reduce("min", builder.select(isTop, places, builder.s32(classes)), [rows]);
}

/** onnxruntime passes over a class for which no reached leaf has a weight. That is the same as a score of 0 only where
 *  another score is above 0. */
function checkScored(ensemble: Ensemble): void {
  const { trees, targets, base } = ensemble;
  if (base.length === targets) return;
  const scored = new Set<number>();
  let isAbove = false;
  for (const tree of trees) {
    const leaves = leavesOf(tree);
    for (let c = 0; c < targets; c++) {
      if (leaves.every(({ weights }) => weights.some(({ target }) => target === c))) scored.add(c);
    }
    isAbove ||= leaves.every(({ weights }) => weights.some(({ weight }) => weight > 0));
  }
  if (scored.size === targets || (hasNoNegative(ensemble) && isAbove)) return;
  const missing = Array.from({ length: targets }, (_, c) => c).filter((c) => !scored.has(c));
  refuse(
    `some leaves have no weight for class ${missing.join(", ")}, and onnxruntime passes over a class without one`,
    "Give each class a weight in every leaf of a tree, if it is 0.",
  );
}
