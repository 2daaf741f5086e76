/** TreeEnsembleRegressor, TreeEnsembleClassifier, TreeEnsemble and ZipMap. Source: docs/EXACT.md, section 6. */

import type { OnnxNode } from "../graph.ts";
import { makeTensor } from "../lower/constants.ts";
import { intAttribute, type Lowering } from "../lower/lowering.ts";
import { dimsOf, type ScaledValue, type TensorValue, type Value } from "../lower/values.ts";
import { refuse } from "../refusal.ts";
import { numbersOf, stringsOf } from "./attributes.ts";
import { type Ensemble, hasNoNegative } from "./ensemble.ts";
import { featuresOf } from "./features.ts";
import { classLabel } from "./labels.ts";
import { readLists } from "./read-lists.ts";
import { readTensors } from "./read-tensors.ts";
import { type Sums, sumTrees } from "./sums.ts";
import { LOGISTIC_BOUND, logistic, MOST_SCALE_BITS, softmax, softmaxBound } from "./transforms.ts";

const FREE_SCALE_BITS = 100;
/** 1 − s is an integer inside s32. */
const SHARE_SCALE_BITS = 29;

export function treeEnsembleRegressor(ctx: Lowering, node: OnnxNode): Value {
  return regression(ctx, node, (features) =>
    readLists(node, "target", intAttribute(node, "n_targets", 1), features),
  );
}

export const treeEnsemble = (ctx: Lowering, node: OnnxNode): Value =>
  regression(ctx, node, (features) => readTensors(node, features));

function regression(ctx: Lowering, node: OnnxNode, read: (features: number) => Ensemble): Value {
  const { features, domains } = featuresOf(ctx, node);
  const ensemble = read(features.count);
  const { targets, transform, base } = ensemble;
  if (base.length !== 0 && base.length !== targets) {
    refuse(`it has ${base.length} base_values for ${targets} targets`, "Export the model again.");
  }
  if (targets === 1 && transform !== "NONE") {
    refuse(
      `its post_transform is ${transform} of one target, which onnxruntime leaves out`,
      "Use NONE, or TreeEnsembleClassifier.",
    );
  }
  const most = transform === "NONE" ? FREE_SCALE_BITS : MOST_SCALE_BITS;
  const sums = sumTrees(ctx, ensemble, features, domains, most);
  if ("constant" in sums) return constantScores(sums.constant, features.rows, ensemble);
  return scoresOf(ctx, node, ensemble, sums);
}

function constantScores(values: readonly number[], rows: number, { transform, targets }: Ensemble): Value {
  if (transform !== "NONE") refuse("no input changes its scores", "Train it again.");
  const data = Array.from({ length: rows * targets }, (_, i) => values[i % targets] as number);
  return { kind: "constant", tensor: makeTensor("float32", [rows, targets], data) };
}

/** Scores as what reads them takes them: integers with a scale, or probabilities. */
function scoresOf(ctx: Lowering, node: OnnxNode, ensemble: Ensemble, sums: Sums): Value {
  const { tensor, scaleBits } = sums;
  const { transform } = ensemble;
  report(ctx, node, ensemble, sums);
  if (transform === "NONE") return scaled(tensor, scaleBits);
  if (scaleBits < 0) refuse("its scores are beyond 2^30", "Train it on targets of another scale.");
  return transform === "LOGISTIC" ? logistic(ctx, tensor, scaleBits) : softmax(ctx, tensor, scaleBits);
}

const scaled = (source: TensorValue, scaleBits: number): ScaledValue => ({
  kind: "scaled",
  source,
  scale: [2 ** -scaleBits],
  factor: 1,
  axis: 0,
  low: Number.NEGATIVE_INFINITY,
  high: Number.POSITIVE_INFINITY,
  fused: true,
});

function report(ctx: Lowering, node: OnnxNode, ensemble: Ensemble, { bound, scaleBits, leaves }: Sums): void {
  const { trees, targets, transform, hasMissingTracks } = ensemble;
  // A probability moves by at most a quarter of what its score moves, one of several by half of what all of them do.
  const probability =
    transform === "LOGISTIC" ? bound / 4 + LOGISTIC_BOUND : bound / 2 + softmaxBound(targets);
  const known = { node: node.name, trees: trees.length, leaves, scaleBits, scoreBound: bound };
  ctx.trees.push(transform === "NONE" ? known : { ...known, probabilityBound: probability });
  if (hasMissingTracks) {
    ctx.notes.push(
      `${node.name}: no codec gives a missing value (raw reads NaN as 0), so the branches of missing values are never taken`,
    );
  }
}

/** @returns label and scores */
export function treeEnsembleClassifier(ctx: Lowering, node: OnnxNode): readonly Value[] {
  const { features, domains } = featuresOf(ctx, node);
  const [numbers, strings] = [numbersOf(node, "classlabels_int64s"), stringsOf(node, "classlabels_strings")];
  const classes = Math.max(numbers.length, strings.length);
  if (classes < 2) refuse(`it has ${classes} class labels`, "Train it on at least two classes.");
  const ensemble = readLists(node, "class", classes, features.count);
  const { transform } = ensemble;
  const isBinary = classes === 2;
  const most = isBinary && transform !== "LOGISTIC" ? SHARE_SCALE_BITS : MOST_SCALE_BITS;
  const sums = sumTrees(ctx, oneScore(node, ensemble), features, domains, most);
  if ("constant" in sums) refuse("no input changes its scores", "Train it again.");
  const { tensor, scaleBits } = sums;
  const labels = strings.length > 0 ? strings : numbers;
  const label = classLabel(ctx, node, ensemble, sums, labels);
  if (!isBinary) return [label, scoresOf(ctx, node, ensemble, sums)];
  return [label, binaryScores(ctx, node, ensemble, { ...sums, tensor, scaleBits })];
}

/** Two classes with weights for the first one alone are one score. Where onnxruntime's rule for the label and the
 *  operator's definition part, nothing is lowered. */
function oneScore(node: OnnxNode, ensemble: Ensemble): Ensemble {
  const { targets, base } = ensemble;
  if (targets > 2) {
    if (base.length !== 0 && base.length !== targets) {
      refuse(`it has ${base.length} base_values for ${targets} classes`, "Export the model again.");
    }
    return ensemble;
  }
  const ids = [...new Set(numbersOf(node, "class_ids"))];
  if (ids.join() !== "0" || base.length > 1) {
    refuse(
      `it has two classes, weights for class ${ids.join(" and ")}, and ${base.length} base_values; what its label is then is not one rule everywhere`,
      "Give class 0 the score of the second label, with one base value or none, as the exporters do.",
    );
  }
  return { ...ensemble, targets: 1 };
}

/** Scores of two classes from one: 1 − s and s where no weight is negative, −s and s else; then the transform. */
function binaryScores(ctx: Lowering, node: OnnxNode, ensemble: Ensemble, sums: Sums): Value {
  const { builder } = ctx;
  const { tensor, scaleBits } = sums;
  const rows = tensor.dims[0] as number;
  const isLogistic = ensemble.transform === "LOGISTIC";
  const transform = isLogistic ? "LOGISTIC" : "NONE";
  const isShare = !isLogistic && hasNoNegative(ensemble);
  if (isShare && scaleBits < 0) refuse("its scores are beyond 2^30", "Train it on two classes.");
  const signs = builder.plain("s32", [1, 2], Int32Array.of(-1, 1));
  let operand = builder.arith("mul", "s32", ctx.reshape(tensor.operand, [rows, 1]), signs);
  if (isShare) {
    const whole = builder.plain("s32", [1, 2], Int32Array.of(2 ** scaleBits, 0));
    operand = builder.arith("add", "s32", operand, whole);
  }
  const both = { ...tensor, operand, dims: [rows, 2] };
  return scoresOf(ctx, node, { ...ensemble, transform }, { ...sums, tensor: both });
}

/** A map from labels to scores is the scores, in the labels' order. */
export function zipMap(ctx: Lowering, node: OnnxNode): Value {
  const labels = [...stringsOf(node, "classlabels_strings"), ...numbersOf(node, "classlabels_int64s")];
  const value = ctx.input(node, 0);
  const dims = dimsOf(value);
  ctx.notes.push(
    `${node.name}: output ${node.outputs[0]} is [${dims}], scores of the labels ${labels.join(", ")} in this order`,
  );
  return value;
}
