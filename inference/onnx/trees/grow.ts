/** Trees from tables of nodes: each branch names its two followers. */

import { refuse } from "../refusal.ts";
import type { Leaf, Test, TreeNode } from "./ensemble.ts";

/** One node of a table: a leaf, or a test with the places of what follows. */
export type Entry =
  | { readonly kind: "leaf"; readonly leaf: Leaf }
  | { readonly kind: "test"; readonly test: Test; readonly yes: number; readonly no: number };

/** @param entryOf the entry at a place, which refuses places that there are not
 *  @param seen places that belong to a tree already: a node that is reached twice is a cycle or a shared branch */
export function grow(root: number, entryOf: (place: number) => Entry, seen: Set<number>): TreeNode {
  type Frame = { readonly place: number; readonly entry: Entry; yes?: TreeNode; no?: TreeNode };
  const open = (place: number): Frame => {
    if (seen.has(place)) refuse(`node ${place} of a tree is reached twice`, "Export the model again.");
    seen.add(place);
    return { place, entry: entryOf(place) };
  };
  const stack: Frame[] = [open(root)];
  for (;;) {
    const frame = stack.at(-1) as Frame;
    const { entry } = frame;
    let done: TreeNode | undefined;
    if (entry.kind === "leaf") done = entry.leaf;
    else if (frame.yes === undefined) stack.push(open(entry.yes));
    else if (frame.no === undefined) stack.push(open(entry.no));
    else done = { kind: "branch", test: entry.test, yes: frame.yes, no: frame.no };
    if (done === undefined) continue;
    stack.pop();
    const above = stack.at(-1);
    if (above === undefined) return done;
    if (above.yes === undefined) above.yes = done;
    else above.no = done;
  }
}
