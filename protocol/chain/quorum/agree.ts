/** When answers of several nodes count as one. Pure: who is asked, and for how long, is decided elsewhere. */

export interface Answer<Value = unknown> {
  /** position of the node */
  readonly node: number;
  /** what it says; absent where it failed to say anything */
  readonly value?: Value;
  /** why it gave none */
  readonly fault?: unknown;
}

export interface Group<Value> {
  readonly value: Value;
  readonly nodes: readonly number[];
}

/** Nodes that gave the same, the largest group first; among equals the one that came first.
 *  @param keyOf equal for values that mean the same */
export function groupsOf<Value>(
  answers: readonly Answer<Value>[],
  keyOf: (answer: Answer<Value>) => string,
): Group<Value>[] {
  const groups = new Map<string, { value: Value; nodes: number[] }>();
  for (const answer of answers) {
    const { node, value } = answer;
    if (value === undefined) continue;
    const key = keyOf(answer);
    const group = groups.get(key) ?? { value, nodes: [] };
    group.nodes.push(node);
    groups.set(key, group);
  }
  return [...groups.values()].sort((a, b) => b.nodes.length - a.nodes.length);
}

/** The largest number that at least `quorum` nodes reach: fewer liars than the quorum cannot push it above what some
 *  honest node says, and fewer than what is left of the nodes cannot push it below.
 *  @returns undefined where fewer nodes gave one */
export function reachedBy(numbers: readonly bigint[], quorum: number): bigint | undefined {
  return [...numbers].sort((a, b) => (a < b ? 1 : a > b ? -1 : 0))[quorum - 1];
}

/** Nodes that have to agree: all of two, a majority of more. */
export const defaultQuorum = (nodes: number): number => (nodes <= 2 ? nodes : Math.floor(nodes / 2) + 1);
