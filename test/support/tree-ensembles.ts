/** Random tree ensembles in either form of ai.onnx.ml, and a plain walk through their trees. Nothing here comes from the
 *  importer. */
import type { NamedTensor } from "../../inference/model-values.ts";
import type { TestGraph, TestNode } from "./onnx-file.ts";
import type { Generator } from "./quantized-graphs.ts";
import type { Rng } from "./rng.ts";

/** Modes by their numbers in TreeEnsemble; the other operators have the first six, by name. */
const NAMES = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"] as const;
const MEMBER = 6;

export interface PlainBranch {
  readonly feature: number;
  readonly mode: number;
  readonly values: readonly number[];
  readonly yes: PlainNode;
  readonly no: PlainNode;
}
export interface PlainLeaf {
  readonly weights: readonly (readonly [target: number, weight: number])[];
}
export type PlainNode = PlainBranch | PlainLeaf;

export interface PlainEnsemble {
  readonly operator: "TreeEnsembleRegressor" | "TreeEnsembleClassifier" | "TreeEnsemble";
  readonly trees: readonly PlainNode[];
  /** Regression targets, or classes. */
  readonly targets: number;
  readonly base: readonly number[];
  readonly transform: "NONE" | "LOGISTIC" | "SOFTMAX";
  readonly aggregate: "SUM" | "AVERAGE";
  readonly labels: readonly (number | string)[];
  readonly features: number;
  readonly rows: number;
  /** float32 itself; integers that are cast to it; integers. */
  readonly input: "float32" | "cast" | "int32";
  /** Numbers at which branches part. */
  readonly thresholds: readonly number[];
}

const f32 = Math.fround;

function thresholdsOf(rng: Rng, isInteger: boolean): number[] {
  const special = [0, -0, 2 ** -130, -(2 ** -130), 2 ** -126, 1e30, -1e30, Infinity, -Infinity, 2 ** 20];
  const count = rng.pick([1, 4, 20, 200]);
  const span = rng.pick([4, 40, 4000]);
  const one = (): number => {
    if (rng.chance(0.1)) return f32(rng.pick(special));
    const whole = rng.int(-span, span);
    if (isInteger) return rng.chance(0.3) ? whole : whole + 0.5;
    return f32(whole / rng.pick([1, 3, 8]));
  };
  return Array.from({ length: count }, one);
}

const weightOf = (rng: Rng, size: number, isPositive: boolean): number => {
  const value = f32((rng.int(0, 2 ** 24) / 2 ** 24) * size);
  return rng.chance(0.1) ? 0 : isPositive || rng.chance(0.5) ? value : -value;
};

interface Growth {
  readonly depth: number;
  readonly leafChance: number;
  readonly branch: () => Omit<PlainBranch, "yes" | "no">;
  readonly leaf: () => PlainLeaf;
}

function grow(rng: Rng, growth: Growth, depth = growth.depth): PlainNode {
  if (depth === 0 || rng.chance(growth.leafChance)) return growth.leaf();
  return { ...growth.branch(), yes: grow(rng, growth, depth - 1), no: grow(rng, growth, depth - 1) };
}

/** A tree whose leaves hang on one long way. */
function chain(growth: Growth): PlainNode {
  let node: PlainNode = growth.leaf();
  for (let i = 0; i < growth.depth; i++) {
    const other = growth.leaf();
    node =
      i % 2 === 0
        ? { ...growth.branch(), yes: node, no: other }
        : { ...growth.branch(), yes: other, no: node };
  }
  return node;
}

const OPERATORS = ["TreeEnsembleRegressor", "TreeEnsembleClassifier", "TreeEnsemble"] as const;

export function randomEnsemble(rng: Rng, operator = rng.pick(OPERATORS)): PlainEnsemble {
  const isClassifier = operator === "TreeEnsembleClassifier";
  const input = rng.pick(["float32", "float32", "cast", "int32"] as const);
  const features = rng.pick([1, 2, 3, 7, 16, 17, 40]);
  const targets = isClassifier ? rng.pick([2, 2, 3, 5]) : rng.pick([1, 1, 1, 2, 4]);
  const isTransformed = isClassifier || (targets > 1 && operator === "TreeEnsembleRegressor");
  const transforms = isTransformed ? (["NONE", "LOGISTIC", "SOFTMAX"] as const) : (["NONE"] as const);
  const thresholds = thresholdsOf(rng, input !== "float32");
  const size = rng.pick([1, 0.01, 20, 300]);
  const isWhole = rng.chance(0.2);
  const isPositive = rng.chance(0.3);
  const mixed = rng.chance(0.4);
  const mode = rng.int(0, 5);
  // Boosting gives each tree to one class, a forest gives each leaf all classes.
  const isBoosted = targets > 2 && rng.chance(0.5);
  const count = rng.pick([1, 2, 5, 12, 30]) * (isBoosted ? targets : 1);
  const [depth, leafChance] = rng.pick([
    [1, 0],
    [2, 0],
    [3, 0],
    [3, 0.1],
    [6, 0.1],
    [6, 0.2],
    [9, 0.2],
    [2, 0.5],
  ] as const);
  const trees = Array.from({ length: count }, (_, tree) => {
    const modes = operator === "TreeEnsemble" ? MEMBER : 5;
    const branch: Growth["branch"] = () => {
      const kind = mixed ? rng.int(0, modes) : mode;
      const values = Array.from({ length: kind === MEMBER ? rng.int(1, 4) : 1 }, () => rng.pick(thresholds));
      return { feature: rng.int(0, features - 1), mode: kind, values };
    };
    const leaf: Growth["leaf"] = () => {
      const weight = () => (isWhole ? rng.int(isPositive ? 0 : -40, 40) : weightOf(rng, size, isPositive));
      if (operator === "TreeEnsemble")
        return { weights: [[isBoosted ? tree % targets : rng.int(0, targets - 1), weight()]] };
      if (isBoosted) return { weights: [[tree % targets, weight()]] };
      const named = isClassifier && targets === 2 ? 1 : targets;
      return { weights: Array.from({ length: named }, (_, c) => [c, weight()] as const) };
    };
    const growth = { depth: rng.chance(0.05) ? 60 : depth, leafChance, branch, leaf };
    return growth.depth === 60 ? chain(growth) : grow(rng, growth);
  });
  const bases = isClassifier && targets === 2 ? rng.int(0, 1) : rng.pick([0, targets]);
  const words = ["ja", "nein", "vielleicht", "später", "nie"];
  const numbers = rng.chance(0.5) ? [0, 1, 2, 3, 4] : [7, -3, 2, 100, 0];
  return {
    operator,
    trees,
    targets,
    base:
      operator === "TreeEnsemble"
        ? []
        : Array.from({ length: bases }, () => (isWhole ? rng.int(-9, 9) : weightOf(rng, size, false))),
    transform: rng.pick(transforms),
    aggregate: isClassifier ? "SUM" : rng.pick(["SUM", "SUM", "AVERAGE"] as const),
    labels: isClassifier ? (rng.chance(0.3) ? words : numbers).slice(0, targets) : [],
    features,
    rows: rng.pick([1, 1, 1, 3]),
    input,
    thresholds,
  };
}

const neighbours = (t: number): number[] => {
  const view = new DataView(new ArrayBuffer(4));
  view.setFloat32(0, t);
  const bits = view.getInt32(0);
  return [-1, 1].map((d) => {
    view.setInt32(0, bits + d);
    return view.getFloat32(0);
  });
};

/** Rows of numbers, most of them at a threshold or next to one. */
export function randomInput(rng: Rng, { input, thresholds, rows, features }: PlainEnsemble): NamedTensor {
  const one = (): number => {
    const t = rng.pick(thresholds);
    if (input !== "float32") {
      const around = Math.floor(Math.max(-4000, Math.min(4000, t))) + rng.int(-1, 1);
      return rng.chance(0.9) ? around : rng.int(-(2 ** 24), 2 ** 24);
    }
    const value = rng.chance(0.2)
      ? f32(rng.int(-5000, 5000) / 7)
      : rng.chance(0.5)
        ? t
        : rng.pick(neighbours(t));
    // What codec raw reads as +0.
    return Number.isFinite(value) && Math.abs(value) <= 2 ** 20 && Math.abs(value) >= 2 ** -126 ? value : 0;
  };
  const type = input === "float32" ? "float32" : "int32";
  return { type, dims: [rows, features], data: Array.from({ length: rows * features }, one) };
}

function answers({ mode, values }: PlainBranch, x: number): boolean {
  const t = values[0] as number;
  return [x <= t, x < t, x >= t, x > t, x === t, x !== t, values.some((v) => v === x)][mode] as boolean;
}

function leafOf(root: PlainNode, x: readonly number[]): PlainLeaf {
  let node = root;
  while ("mode" in node) node = answers(node, x[node.feature] as number) ? node.yes : node.no;
  return node;
}

/** The sums of one row's leaves, in binary64. */
export function walk({ trees, targets, base, aggregate }: PlainEnsemble, x: readonly number[]): number[] {
  const sums = new Array<number>(targets).fill(0);
  for (const tree of trees) {
    for (const [target, weight] of leafOf(tree, x).weights) (sums[target] as number) += weight;
  }
  const divisor = aggregate === "AVERAGE" ? trees.length : 1;
  return sums.map((sum, c) => sum / divisor + (base[c] ?? 0));
}

/** Whether a branch asks for a set, which onnxruntime has for small integers alone. */
export const hasSets = ({ trees }: PlainEnsemble): boolean => {
  const isIn = (node: PlainNode): boolean =>
    "mode" in node && (node.mode === MEMBER || isIn(node.yes) || isIn(node.no));
  return trees.some(isIn);
};

export const leavesOf = (node: PlainNode): PlainLeaf[] =>
  "mode" in node ? [...leavesOf(node.yes), ...leavesOf(node.no)] : [node];

const isNegative = ({ trees }: PlainEnsemble): boolean =>
  trees.some((tree) => leavesOf(tree).some(({ weights }) => weights.some(([, weight]) => weight < 0)));

const logistic = (z: number): number => 1 / (1 + Math.exp(-z));

/** Label and scores of one row's sums; of two classes there is one sum.
 *  @returns margin: how far the sums are from another label */
export function decide(
  ensemble: PlainEnsemble,
  sums: readonly number[],
): { readonly scores: number[]; readonly label: number; readonly margin: number } {
  const { operator, targets, transform } = ensemble;
  if (operator === "TreeEnsembleClassifier" && targets === 2) {
    const [s = 0] = sums;
    const bound = isNegative(ensemble) ? 0 : 0.5;
    const plain = isNegative(ensemble) ? [-s, s] : [1 - s, s];
    const scores = transform === "LOGISTIC" ? [logistic(-s), logistic(s)] : plain;
    return { scores, label: s > bound ? 1 : 0, margin: Math.abs(s - bound) };
  }
  const top = Math.max(...sums);
  const label = sums.indexOf(top);
  const others = sums.filter((_, c) => c !== label);
  const exponentials = sums.map((s) => Math.exp(s - top));
  const total = exponentials.reduce((a, b) => a + b, 0);
  const scores = {
    NONE: [...sums],
    LOGISTIC: sums.map(logistic),
    SOFTMAX: exponentials.map((e) => e / total),
  }[transform];
  return { scores, label, margin: top - Math.max(...others, -Infinity) };
}

/** As a graph of the input x with the outputs label and scores. */
export function treeGraph(ensemble: PlainEnsemble): TestGraph {
  const { input, rows, features, operator } = ensemble;
  const isClassifier = operator === "TreeEnsembleClassifier";
  const source = input === "cast" ? "f" : "x";
  const outputs = isClassifier ? ["label", "scores"] : ["scores"];
  const attributes = operator === "TreeEnsemble" ? tensorsOf(ensemble) : listsOf(ensemble);
  const cast: TestNode = { op: "Cast", inputs: ["x"], outputs: ["f"], attributes: { to: 1 } };
  return {
    nodes: [
      ...(input === "cast" ? [cast] : []),
      { op: operator, domain: "ai.onnx.ml", name: "trees", inputs: [source], outputs, attributes },
    ],
    inputs: { x: { type: input === "float32" ? "float32" : "int32", dims: [rows, features] } },
    outputs: isClassifier
      ? { label: typeof ensemble.labels[0] === "string" ? "string" : "int64", scores: "float32" }
      : { scores: "float32" },
  };
}

type Attributes = NonNullable<TestNode["attributes"]>;

function listsOf({
  trees,
  operator,
  targets,
  base,
  transform,
  aggregate,
  labels,
}: PlainEnsemble): Attributes {
  const prefix = operator === "TreeEnsembleClassifier" ? "class" : "target";
  const nodes: (readonly [
    tree: number,
    id: number,
    feature: number,
    mode: string,
    value: number,
    yes: number,
    no: number,
  ])[] = [];
  const leaves: (readonly [tree: number, id: number, target: number, weight: number])[] = [];
  trees.forEach((root, tree) => {
    let next = 0;
    const visit = (node: PlainNode): number => {
      const id = next++;
      if ("mode" in node) {
        const at = nodes.length;
        nodes.push([0, 0, 0, "", 0, 0, 0]);
        const [yes, no] = [visit(node.yes), visit(node.no)];
        nodes[at] = [tree, id, node.feature, NAMES[node.mode] as string, node.values[0] as number, yes, no];
      } else {
        nodes.push([tree, id, 0, "LEAF", 0, 0, 0]);
        for (const [target, weight] of node.weights) leaves.push([tree, id, target, weight]);
      }
      return id;
    };
    visit(root);
  });
  const column = (i: number): number[] => nodes.map((node) => node[i] as number);
  const words = labels.filter((label) => typeof label === "string");
  const numbers = labels.filter((label) => typeof label === "number");
  return {
    nodes_treeids: column(0),
    nodes_nodeids: column(1),
    nodes_featureids: column(2),
    nodes_modes: { strings: nodes.map((node) => node[3]) },
    nodes_values: { floats: column(4) },
    nodes_truenodeids: column(5),
    nodes_falsenodeids: column(6),
    [`${prefix}_treeids`]: leaves.map((leaf) => leaf[0]),
    [`${prefix}_nodeids`]: leaves.map((leaf) => leaf[1]),
    [`${prefix}_ids`]: leaves.map((leaf) => leaf[2]),
    [`${prefix}_weights`]: { floats: leaves.map((leaf) => leaf[3]) },
    post_transform: transform,
    ...(prefix === "target" ? { n_targets: targets, aggregate_function: aggregate } : {}),
    ...(base.length > 0 ? { base_values: { floats: base } } : {}),
    ...(words.length > 0 ? { classlabels_strings: { strings: words } } : {}),
    ...(numbers.length > 0 ? { classlabels_int64s: numbers } : {}),
  };
}

function tensorsOf({ trees, targets, aggregate }: PlainEnsemble): Attributes {
  const nodes: { node: PlainBranch; yes: readonly [number, number]; no: readonly [number, number] }[] = [];
  const leaves: PlainLeaf[] = [];
  const leafAt = (leaf: PlainLeaf): readonly [number, number] => [leaves.push(leaf) - 1, 1];
  const visit = (node: PlainNode): readonly [number, number] => {
    if (!("mode" in node)) return leafAt(node);
    const at = nodes.push({ node, yes: [0, 0], no: [0, 0] }) - 1;
    const [yes, no] = [visit(node.yes), visit(node.no)];
    nodes[at] = { node, yes, no };
    return [at, 0];
  };
  const roots = trees.map((tree) => {
    if ("mode" in tree) return visit(tree)[0];
    const leaf = leafAt(tree);
    const node = { feature: 0, mode: 0, values: [0], yes: tree, no: tree };
    return nodes.push({ node, yes: leaf, no: leaf }) - 1;
  });
  const members = nodes.flatMap(({ node }) => (node.mode === MEMBER ? [...node.values, Number.NaN] : []));
  const floats = (data: readonly number[]) => ({ type: "float32" as const, dims: [data.length], data });
  return {
    tree_roots: roots,
    n_targets: targets,
    aggregate_function: aggregate === "AVERAGE" ? 0 : 1,
    post_transform: 0,
    nodes_modes: { type: "uint8", dims: [nodes.length], data: nodes.map(({ node }) => node.mode) },
    nodes_featureids: nodes.map(({ node }) => node.feature),
    nodes_splits: floats(nodes.map(({ node }) => node.values[0] as number)),
    nodes_truenodeids: nodes.map(({ yes }) => yes[0]),
    nodes_trueleafs: nodes.map(({ yes }) => yes[1]),
    nodes_falsenodeids: nodes.map(({ no }) => no[0]),
    nodes_falseleafs: nodes.map(({ no }) => no[1]),
    leaf_targetids: leaves.map(({ weights }) => weights[0]?.[0] as number),
    leaf_weights: floats(leaves.map(({ weights }) => weights[0]?.[1] as number)),
    ...(members.length > 0 ? { membership_values: floats(members) } : {}),
  };
}

/** Graphs of one output each, of small ensembles. */
export const TREE_GRAPHS: Readonly<Record<string, Generator>> = {
  TreeEnsembleRegressor: small("TreeEnsembleRegressor", "scores"),
  TreeEnsemble: small("TreeEnsemble", "scores"),
  "TreeEnsembleClassifier, label": small("TreeEnsembleClassifier", "label"),
  "TreeEnsembleClassifier, ZipMap": (rng) => {
    const { graph, ranges } = small("TreeEnsembleClassifier", "scores")(rng);
    const map: TestNode = { op: "ZipMap", domain: "ai.onnx.ml", inputs: ["scores"], outputs: ["map"] };
    return { graph: { ...graph, nodes: [...graph.nodes, map], outputs: { map: "float32" } }, ranges };
  },
};

function small(operator: PlainEnsemble["operator"], output: string): Generator {
  return (rng) => {
    for (;;) {
      const ensemble = randomEnsemble(rng, operator);
      const leaves = ensemble.trees.flatMap(leavesOf);
      const isSmall = leaves.length > 2 * ensemble.trees.length && leaves.length < 200;
      if (!isSmall || leaves.every(({ weights }) => weights.every(([, weight]) => weight === 0))) continue;
      const graph = treeGraph(ensemble);
      const type = graph.outputs[output];
      if (type === undefined) continue;
      return { graph: { ...graph, outputs: { [output]: type } }, ranges: { x: [-4000, 4000] } };
    }
  };
}
