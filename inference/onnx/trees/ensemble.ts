/** A tree ensemble as its node of the graph describes it, whichever operator that is. */

/** What a branch asks of its feature. `member`: whether it is one of a set. */
export const MODES = ["leq", "lt", "gte", "gt", "eq", "neq", "member"] as const;
export type Mode = (typeof MODES)[number];

export interface Test {
  readonly feature: number;
  readonly mode: Mode;
  /** The threshold; of `member` all elements of the set. */
  readonly values: readonly number[];
}

export interface Branch {
  readonly kind: "branch";
  readonly test: Test;
  readonly yes: TreeNode;
  readonly no: TreeNode;
}

export interface Leaf {
  readonly kind: "leaf";
  /** What it adds to each target that it names. */
  readonly weights: readonly { readonly target: number; readonly weight: number }[];
}

export type TreeNode = Branch | Leaf;

export interface Ensemble {
  readonly trees: readonly TreeNode[];
  /** The sum over the trees is divided by it: 1, or how many they are. */
  readonly divisor: number;
  /** Numbers that are summed: regression targets or classes. */
  readonly targets: number;
  /** What is added to each target, or nothing. */
  readonly base: readonly number[];
  /** True where a missing value takes a branch of its own. */
  readonly hasMissingTracks: boolean;
  readonly transform: Transform;
}

export const TRANSFORMS = ["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"] as const;
export type Transform = (typeof TRANSFORMS)[number];

/** Whether a value of the feature takes the branch `yes`. */
export function holds({ mode, values }: Test, x: number): boolean {
  const t = values[0] as number;
  switch (mode) {
    case "leq":
      return x <= t;
    case "lt":
      return x < t;
    case "gte":
      return x >= t;
    case "gt":
      return x > t;
    case "eq":
      return x === t;
    case "neq":
      return x !== t;
    case "member":
      return values.includes(x);
  }
}

/** The leaves of a tree. */
export function leavesOf(tree: TreeNode): Leaf[] {
  const leaves: Leaf[] = [];
  const stack = [tree];
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if (node.kind === "leaf") leaves.push(node);
    else stack.push(node.yes, node.no);
  }
  return leaves;
}

export const hasNoNegative = ({ trees }: Ensemble): boolean =>
  trees.every((tree) => leavesOf(tree).every(({ weights }) => weights.every(({ weight }) => weight >= 0)));
