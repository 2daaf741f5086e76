import type { TensorTree } from "./tree.ts";

/** Siblings that fold consecutive rows of a tensor to its root, bottom up: at each level above the rows first the node
 *  left of the range, if it starts at an odd one, then the node right of it, if it ends at an even one.
 *  Source: `build` in verifier-contracts/interfaces/ILayerBuilder.sol.
 *  @param firstRow to firstRow + rows - 1 are rows of the tensor */
export function rangeSiblings(tree: TensorTree, firstRow: number, rows: number): Uint8Array[] {
  const { rowHeight, height } = tree.shape;
  const siblings: Uint8Array[] = [];
  let first = firstRow;
  let last = firstRow + rows - 1;
  for (let level = rowHeight; level < height; level++) {
    if (first % 2 === 1) siblings.push(tree.node(level, first - 1));
    if (last % 2 === 0) siblings.push(tree.node(level, last + 1));
    first >>= 1;
    last >>= 1;
  }
  return siblings;
}
