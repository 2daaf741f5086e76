/** TreeEnsemble of ai.onnx.ml 5: branches and leaves are counted apart, and any mode may stand beside any other. */

import type { OnnxNode } from "../graph.ts";
import { intAttribute } from "../lower/lowering.ts";
import { refuse } from "../refusal.ts";
import { featureOf, numbersOf, sameLength } from "./attributes.ts";
import { type Ensemble, type Mode, type Test, TRANSFORMS } from "./ensemble.ts";
import { type Entry, grow } from "./grow.ts";
import { divisorOf, finite, transformOf } from "./read-lists.ts";

/** By their numbers in the operator's definition. */
const MODES: readonly Mode[] = ["leq", "lt", "gte", "gt", "eq", "neq", "member"];
const AGGREGATES = ["AVERAGE", "SUM", "MIN", "MAX"];
const AGAIN = "Export the model again.";

/** @param features columns of the input */
export function readTensors(node: OnnxNode, features: number): Ensemble {
  const list = (name: string): readonly number[] => numbersOf(node, name);
  const branches = {
    nodes_modes: list("nodes_modes"),
    nodes_featureids: list("nodes_featureids"),
    nodes_splits: list("nodes_splits"),
    nodes_truenodeids: list("nodes_truenodeids"),
    nodes_falsenodeids: list("nodes_falsenodeids"),
    nodes_trueleafs: list("nodes_trueleafs"),
    nodes_falseleafs: list("nodes_falseleafs"),
  };
  const leaves = { leaf_targetids: list("leaf_targetids"), leaf_weights: list("leaf_weights") };
  const targets = intAttribute(node, "n_targets", 0);
  const [size, leafCount] = [sameLength(branches), sameLength(leaves)];
  const tests = testsOf(branches, list("membership_values"), features);
  // Places of branches are even, those of leaves odd.
  const placeOf = (id: number | undefined, isLeaf: number | undefined): number => {
    const count = isLeaf === 0 ? size : leafCount;
    if (id === undefined || !(id >= 0 && id < count)) {
      return refuse(`there is no ${isLeaf === 0 ? "node" : "leaf"} ${id}`, AGAIN);
    }
    return 2 * id + (isLeaf === 0 ? 0 : 1);
  };
  const entryOf = (place: number): Entry => {
    const i = place >> 1;
    if (place % 2 === 0) {
      return {
        kind: "test",
        test: tests[i] as Test,
        yes: placeOf(branches.nodes_truenodeids[i], branches.nodes_trueleafs[i]),
        no: placeOf(branches.nodes_falsenodeids[i], branches.nodes_falseleafs[i]),
      };
    }
    const target = leaves.leaf_targetids[i] as number;
    if (!(target >= 0 && target < targets)) {
      refuse(`a leaf has a weight for target ${target}, there are 0 to ${targets - 1}`, AGAIN);
    }
    return {
      kind: "leaf",
      leaf: { kind: "leaf", weights: [{ target, weight: finite(leaves.leaf_weights[i] as number) }] },
    };
  };
  const seen = new Set<number>();
  // A root whose both followers are one leaf is how a tree of a single leaf is written.
  const trees = list("tree_roots").map((root) => {
    const entry = entryOf(placeOf(root, 0));
    return entry.kind === "test" && entry.yes === entry.no && entry.yes % 2 === 1
      ? grow(entry.yes, entryOf, seen)
      : grow(placeOf(root, 0), entryOf, seen);
  });
  const transform = intAttribute(node, "post_transform", 0);
  if (transform === 1 || transform === 2) {
    refuse(
      `its post_transform is ${transform}: 1 is SOFTMAX and 2 is LOGISTIC in the operator's definition, and the other way round in onnxruntime`,
      "Use 0, and Softmax or Sigmoid behind it, or TreeEnsembleClassifier.",
    );
  }
  const aggregate = AGGREGATES[intAttribute(node, "aggregate_function", 1)];
  return {
    trees,
    divisor: divisorOf(aggregate ?? "an unknown function", trees.length),
    targets,
    base: [],
    hasMissingTracks: list("nodes_missing_value_tracks_true").some((track) => track !== 0),
    transform: transformOf(TRANSFORMS[transform]),
  };
}

/** The sets of the modes `member` stand in one list, each closed by a number that is not one. */
function testsOf(
  nodes: {
    readonly nodes_modes: readonly number[];
    readonly nodes_featureids: readonly number[];
    readonly nodes_splits: readonly number[];
  },
  members: readonly number[],
  features: number,
): Test[] {
  let at = 0;
  return nodes.nodes_modes.map((code, i) => {
    const mode = MODES[code] ?? refuse(`a node has the mode ${code}`, "Use modes 0 to 6.");
    const feature = featureOf(nodes.nodes_featureids[i] as number, features);
    if (mode !== "member") return { feature, mode, values: [nodes.nodes_splits[i] as number] };
    const end = members.findIndex((value, place) => place >= at && Number.isNaN(value));
    if (end < 0) refuse("membership_values has fewer sets than nodes ask for", AGAIN);
    const values = members.slice(at, end);
    at = end + 1;
    return { feature, mode, values };
  });
}
