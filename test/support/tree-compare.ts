/** Imported tree ensembles against a plain walk, and against onnxruntime on the same file. */
import { Tensor } from "onnxruntime-node";
import { prepare } from "../../inference/executor/prepare.ts";
import type { PreparedModel } from "../../inference/executor/prepared-model.ts";
import { type NamedTensor, runNamed } from "../../inference/model-values.ts";
import { type ImportedModel, importOnnx } from "../../inference/onnx/import.ts";
import { onnxFile } from "./onnx-file.ts";
import { openSession } from "./session.ts";
import { decide, type PlainEnsemble, treeGraph, walk } from "./tree-ensembles.ts";

export interface TreeCount {
  compared: number;
  /** Scores further off than import printed, and labels that are others. */
  wrong: number;
  /** Labels of sums that are too near to each other. */
  undecided: number;
  /** Largest distance of a score, over what is allowed. */
  worst: number;
}

export const nothingCounted = (): TreeCount => ({ compared: 0, wrong: 0, undecided: 0, worst: 0 });

interface Lowered {
  readonly onnx: Uint8Array;
  /** By output. */
  readonly models: Readonly<
    Record<string, { readonly imported: ImportedModel; readonly prepared: PreparedModel }>
  >;
}

/** Each output as a model of its own: numbers and labels have no common type. */
export function lowered(ensemble: PlainEnsemble): Lowered {
  const graph = treeGraph(ensemble);
  const onnx = onnxFile(graph);
  const models = Object.keys(graph.outputs).map((name) => {
    const imported = importOnnx(onnx, { keep: [name] });
    return [name, { imported, prepared: prepare(imported.model, new Uint8Array(4)) }] as const;
  });
  return { onnx, models: Object.fromEntries(models) };
}

function outputOf({ onnx, models }: Lowered, name: string, x: NamedTensor): readonly number[] | undefined {
  const model = models[name];
  if (model === undefined) return undefined;
  const { imported, prepared } = model;
  return runNamed({ onnx, io: imported.io, prepared }, { x }).outputs[name]?.data;
}

export const boundsOf = (run: Lowered): { readonly score: number; readonly output: number } => {
  const [report] = run.models.scores?.imported.trees ?? [];
  const score = report?.scoreBound ?? 0;
  return { score, output: report?.probabilityBound ?? score };
};

/** Rounding of a score to binary32. */
const ROUNDING = 2 ** -24;

export function compareWalk(ensemble: PlainEnsemble, run: Lowered, x: NamedTensor, count: TreeCount): void {
  const { targets, operator, labels, features } = ensemble;
  const scores = outputOf(run, "scores", x) as readonly number[];
  const found = outputOf(run, "label", x);
  const { score, output } = boundsOf(run);
  const width = operator === "TreeEnsembleClassifier" && targets === 2 ? 2 : targets;
  for (let row = 0; row < ensemble.rows; row++) {
    const sums = walk(ensemble, x.data.slice(row * features, (row + 1) * features));
    const expected = decide(ensemble, sums);
    expected.scores.forEach((real, c) => {
      const distance = Math.abs((scores[row * width + c] as number) - real);
      const allowed = output + ROUNDING * Math.abs(real) + 2 ** -140;
      count.compared++;
      count.worst = Math.max(count.worst, distance / allowed);
      if (!(distance <= allowed * (1 + 2 ** -20))) count.wrong++;
    });
    if (found === undefined) continue;
    count.compared++;
    const named = labels[expected.label];
    const label = typeof named === "string" ? expected.label : named;
    // Equal sums are decided as well: the first label, where fixed point is exact.
    if (score > 0 && expected.margin <= 2 * score) count.undecided++;
    else if (found[row] !== label) count.wrong++;
  }
}

/** @returns undefined where onnxruntime does not take the file */
export async function openOriginal(
  onnx: Uint8Array,
): Promise<Awaited<ReturnType<typeof openSession>> | undefined> {
  try {
    return await openSession(onnx);
  } catch {
    return undefined;
  }
}

export async function compareOriginalTrees(
  ensemble: PlainEnsemble,
  run: Lowered,
  session: NonNullable<Awaited<ReturnType<typeof openOriginal>>>,
  x: NamedTensor,
  count: TreeCount,
): Promise<void> {
  const { trees, rows, features, labels } = ensemble;
  const feed =
    x.type === "float32"
      ? new Tensor("float32", Float32Array.from(x.data), x.dims as number[])
      : new Tensor("int32", Int32Array.from(x.data), x.dims as number[]);
  const outputs = await session.run({ x: feed });
  const { score, output } = boundsOf(run);
  const theirs = Array.from(outputs.scores?.data as Float32Array);
  const ours = outputOf(run, "scores", x) as readonly number[];
  const sizes = Array.from({ length: rows }, (_, row) => {
    const sums = walk(ensemble, x.data.slice(row * features, (row + 1) * features));
    return { sums, size: Math.max(...sums.map(Math.abs), ...ensemble.base.map(Math.abs), 1) };
  });
  // onnxruntime adds in binary32, in an order of its own.
  const spread = Math.max(...trees.flatMap((tree) => weightsOf(tree).map(Math.abs)), 1);
  const rounding = trees.length * spread * trees.length * 2 ** -24 + 2 ** -20;
  theirs.forEach((value, i) => {
    const distance = Math.abs(value - (ours[i] as number));
    count.compared++;
    const allowed = output + rounding + (sizes[0]?.size as number) * 2 ** -22;
    count.worst = Math.max(count.worst, distance / allowed);
    if (!(distance <= allowed)) count.wrong++;
  });
  const found = outputOf(run, "label", x);
  if (found === undefined) return;
  const data = Array.from(outputs.label?.data as ArrayLike<bigint | string>);
  for (let row = 0; row < rows; row++) {
    const { margin } = decide(ensemble, sizes[row]?.sums as number[]);
    const label = typeof data[row] === "string" ? labels.indexOf(data[row] as string) : Number(data[row]);
    count.compared++;
    if (margin <= 2 * score + rounding) count.undecided++;
    else if (found[row] !== label) count.wrong++;
  }
}

function weightsOf(node: PlainEnsemble["trees"][number]): number[] {
  return "mode" in node
    ? [...weightsOf(node.yes), ...weightsOf(node.no)]
    : node.weights.map(([, weight]) => weight);
}
