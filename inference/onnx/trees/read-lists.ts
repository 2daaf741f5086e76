/** TreeEnsembleClassifier and TreeEnsembleRegressor: lists with one entry for each node, and for each leaf's weights. */

import type { OnnxNode } from "../graph.ts";
import { stringAttribute } from "../lower/lowering.ts";
import { refuse } from "../refusal.ts";
import { featureOf, numbersOf, sameLength, stringsOf } from "./attributes.ts";
import { type Ensemble, type Leaf, type Mode, TRANSFORMS, type Transform } from "./ensemble.ts";
import { type Entry, grow } from "./grow.ts";

const BRANCHES: Readonly<Record<string, Mode>> = {
  BRANCH_LEQ: "leq",
  BRANCH_LT: "lt",
  BRANCH_GTE: "gte",
  BRANCH_GT: "gt",
  BRANCH_EQ: "eq",
  BRANCH_NEQ: "neq",
};

const AGAIN = "Export the model again.";

/** @param prefix of the lists of leaves: `class` or `target` @param features columns of the input */
export function readLists(
  node: OnnxNode,
  prefix: "class" | "target",
  targets: number,
  features: number,
): Ensemble {
  const list = (name: string): readonly number[] => {
    const numbers = numbersOf(node, name);
    return numbers.length > 0 ? numbers : numbersOf(node, `${name}_as_tensor`);
  };
  const nodes = {
    nodes_modes: stringsOf(node, "nodes_modes"),
    nodes_treeids: list("nodes_treeids"),
    nodes_nodeids: list("nodes_nodeids"),
    nodes_featureids: list("nodes_featureids"),
    nodes_values: list("nodes_values"),
    nodes_truenodeids: list("nodes_truenodeids"),
    nodes_falsenodeids: list("nodes_falsenodeids"),
  };
  const size = sameLength(nodes);
  const key = (tree: number | undefined, id: number | undefined): string => `${tree}:${id}`;
  const places = new Map<string, number>();
  for (let i = 0; i < size; i++) {
    const name = key(nodes.nodes_treeids[i], nodes.nodes_nodeids[i]);
    if (places.has(name)) refuse(`node ${name} (tree:node) is there twice`, AGAIN);
    places.set(name, i);
  }
  const placeOf = (tree: number | undefined, id: number | undefined): number =>
    places.get(key(tree, id)) ?? refuse(`there is no node ${key(tree, id)} (tree:node)`, AGAIN);

  const leaves = leavesOf(list, prefix, targets, placeOf);
  const entryOf = (place: number): Entry => {
    const mode = nodes.nodes_modes[place] as string;
    if (mode === "LEAF") {
      const weights = leaves.get(place) ?? [];
      if (weights.length === 0 && targets === 1) refuse("a leaf has no weight", "Give it one, if it is 0.");
      return { kind: "leaf", leaf: { kind: "leaf", weights } };
    }
    const branch =
      BRANCHES[mode] ?? refuse(`a node has the mode ${mode}`, `Use ${Object.keys(BRANCHES).join(", ")}.`);
    const tree = nodes.nodes_treeids[place];
    const feature = featureOf(nodes.nodes_featureids[place] as number, features);
    return {
      kind: "test",
      test: { feature, mode: branch, values: [nodes.nodes_values[place] as number] },
      yes: placeOf(tree, nodes.nodes_truenodeids[place]),
      no: placeOf(tree, nodes.nodes_falsenodeids[place]),
    };
  };
  const roots = rootsOf(nodes, placeOf);
  const seen = new Set<number>();
  const trees = roots.map((root) => grow(root, entryOf, seen));
  if (seen.size !== size) refuse(`${size - seen.size} of its ${size} nodes belong to no tree`, AGAIN);
  const base = list("base_values");
  if (base.length !== 0 && base.length !== targets && base.length !== 1) {
    refuse(`it has ${base.length} base_values for ${targets} sums`, AGAIN);
  }
  return {
    trees,
    divisor: divisorOf(stringAttribute(node, "aggregate_function", "SUM"), trees.length),
    targets,
    base,
    hasMissingTracks: list("nodes_missing_value_tracks_true").some((track) => track !== 0),
    transform: transformOf(stringAttribute(node, "post_transform", "NONE")),
  };
}

/** Weights by the place of their leaf; those of other nodes count nowhere, as in onnxruntime. */
function leavesOf(
  list: (name: string) => readonly number[],
  prefix: string,
  targets: number,
  placeOf: (tree: number | undefined, id: number | undefined) => number,
): Map<number, Leaf["weights"]> {
  const lists = {
    [`${prefix}_ids`]: list(`${prefix}_ids`),
    [`${prefix}_treeids`]: list(`${prefix}_treeids`),
    [`${prefix}_nodeids`]: list(`${prefix}_nodeids`),
    [`${prefix}_weights`]: list(`${prefix}_weights`),
  };
  const [ids, trees, nodes, weights] = Object.values(lists) as [number[], number[], number[], number[]];
  const leaves = new Map<number, { target: number; weight: number }[]>();
  for (let i = 0; i < sameLength(lists); i++) {
    const target = ids[i] as number;
    if (!(target >= 0 && target < targets)) {
      refuse(`a leaf has a weight for ${prefix} ${target}, there are 0 to ${targets - 1}`, AGAIN);
    }
    const place = placeOf(trees[i], nodes[i]);
    if (leaves.get(place)?.some((other) => other.target === target)) {
      refuse(`a leaf has two weights for ${prefix} ${target}`, "Add them up.");
    }
    const entry = { target, weight: finite(weights[i] as number) };
    const others = leaves.get(place);
    if (others === undefined) leaves.set(place, [entry]);
    else others.push(entry);
  }
  return leaves;
}

export const finite = (weight: number): number =>
  Number.isFinite(weight) ? weight : refuse(`a leaf has the weight ${weight}`, "Use finite weights.");

/** A tree's root is the first of its nodes, as onnxruntime takes it; no branch may lead to it. */
function rootsOf(
  nodes: { readonly nodes_treeids: readonly number[]; readonly nodes_nodeids: readonly number[] },
  placeOf: (tree: number | undefined, id: number | undefined) => number,
): number[] {
  const roots = new Map<number, number>();
  nodes.nodes_treeids.forEach((tree, i) => {
    if (!roots.has(tree)) roots.set(tree, placeOf(tree, nodes.nodes_nodeids[i]));
  });
  return [...roots.values()];
}

/** What the sum over the trees is divided by. */
export function divisorOf(aggregate: string, trees: number): number {
  if (aggregate === "SUM") return 1;
  return aggregate === "AVERAGE"
    ? trees
    : refuse(`it aggregates by ${aggregate}`, "Use SUM or AVERAGE: the other two need each tree by itself.");
}

export function transformOf(name: string | undefined): Transform {
  if (name === "NONE" || name === "LOGISTIC" || name === "SOFTMAX") return name;
  const known = (TRANSFORMS as readonly (string | undefined)[]).includes(name);
  return refuse(
    `its post_transform is ${known ? name : JSON.stringify(name)}`,
    "Use NONE, LOGISTIC or SOFTMAX; the scores without a transform have the same order.",
  );
}
