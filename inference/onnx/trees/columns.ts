/** Leaves as columns: what leads to each of them, feature by feature. */

import type { Budget } from "../budget.ts";
import { refuse } from "../refusal.ts";
import { type Condition, cutsOf, type Domain, meets, valuesOf } from "./cuts.ts";
import type { Ensemble, Leaf, TreeNode } from "./ensemble.ts";

export interface Column {
  readonly tree: number;
  readonly leaf: Leaf;
  /** By feature. */
  readonly conditions: ReadonlyMap<number, readonly Condition[]>;
}

const MOST_LEAVES = 2 ** 17;
/** Units of work of a condition on the way to a leaf. */
const CONDITION = 64;

/** The leaves that some input reaches, tree after tree and in a tree from yes to no. */
export function columnsOf(ensemble: Ensemble, domains: readonly Domain[], budget: Budget): Column[] {
  const columns: Column[] = [];
  ensemble.trees.forEach((root, tree) => {
    type Visit = { readonly node: TreeNode; readonly path: Path };
    const stack: Visit[] = [{ node: root, path: undefined }];
    for (let visit = stack.pop(); visit !== undefined; visit = stack.pop()) {
      const { node, path } = visit;
      if (node.kind === "branch") {
        const { test } = node;
        stack.push({ node: node.no, path: { test, answer: false, above: path } });
        stack.push({ node: node.yes, path: { test, answer: true, above: path } });
        continue;
      }
      const conditions = byFeature(path, budget);
      if (!isReached(conditions, domains)) continue;
      if (columns.length >= MOST_LEAVES) {
        refuse(`it has more than ${MOST_LEAVES} leaves`, "Train fewer or smaller trees.");
      }
      columns.push({ tree, leaf: node, conditions });
    }
  });
  return columns;
}

type Path = (Condition & { readonly above: Path }) | undefined;

function byFeature(path: Path, budget: Budget): Map<number, Condition[]> {
  const conditions = new Map<number, Condition[]>();
  for (let step = path; step !== undefined; step = step.above) {
    budget.spend(CONDITION);
    const { test, answer } = step;
    const others = conditions.get(test.feature);
    if (others === undefined) conditions.set(test.feature, [{ test, answer }]);
    else others.push({ test, answer });
  }
  return conditions;
}

function isReached(conditions: Column["conditions"], domains: readonly Domain[]): boolean {
  for (const [feature, list] of conditions) {
    const domain = domains[feature] as Domain;
    const tests = list.map(({ test }) => test);
    if (!valuesOf(cutsOf(tests, domain), domain).some((value) => meets(list, value))) return false;
  }
  return true;
}
