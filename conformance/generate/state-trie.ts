/** Tries as Ethereum's state is kept in, from all their entries: to make receipts without a chain. */
import { concatHex, type Hex, keccak256, toRlp } from "viem";

type Item = Hex | readonly Item[];

export interface Trie {
  readonly root: Hex;
  /** RLP of every node that has a hash, by the path on which it stands, the root's first */
  readonly nodes: ReadonlyMap<string, Hex>;
}

/** @param entries by hashed key, 32 bytes; a value is what stands in the leaf */
export function buildTrie(entries: ReadonlyMap<Hex, Hex>): Trie {
  const nodes = new Map<string, Hex>();
  const list = [...entries].map(([key, value]) => ({ path: key.slice(2), value })).sort(byPath);
  const rlp = toRlp(build(list, 0, nodes) as never);
  nodes.set("", rlp);
  return { root: keccak256(rlp), nodes };
}

interface Entry {
  readonly path: string;
  readonly value: Hex;
}

const byPath = (a: Entry, b: Entry): number => (a.path < b.path ? -1 : 1);

function build(entries: readonly Entry[], depth: number, nodes: Map<string, Hex>): Item {
  const [first] = entries;
  if (first === undefined) return "0x";
  const last = entries[entries.length - 1] as Entry;
  if (entries.length === 1) return [compact(first.path.slice(depth), true), first.value];
  let common = depth;
  while (first.path[common] === last.path[common]) common++;
  if (common > depth) {
    const below = referenceTo(entries, common, nodes);
    return [compact(first.path.slice(depth, common), false), below];
  }
  const children = Array.from({ length: 16 }, (_, digit) => {
    const of = entries.filter(({ path }) => path[depth] === digit.toString(16));
    return of.length === 0 ? "0x" : referenceTo(of, depth + 1, nodes);
  });
  return [...children, "0x"];
}

/** A node whose RLP is shorter than a hash stands in its parent. */
function referenceTo(entries: readonly Entry[], depth: number, nodes: Map<string, Hex>): Item {
  const node = build(entries, depth, nodes);
  const rlp = toRlp(node as never);
  if (rlp.length < 2 + 64) return node;
  nodes.set((entries[0] as Entry).path.slice(0, depth), rlp);
  return keccak256(rlp);
}

/** Nibbles of a leaf's or an extension's path, marked by kind and oddness. */
function compact(nibbles: string, isLeaf: boolean): Hex {
  const mark = (isLeaf ? 2 : 0) + (nibbles.length % 2);
  return concatHex([`0x${mark.toString(16)}${nibbles.length % 2 === 1 ? "" : "0"}${nibbles}`]);
}

/** The nodes on the way to a key, as far as there are any. */
export const nodesTo = ({ nodes }: Trie, key: Hex): Hex[] =>
  [...nodes].filter(([path]) => key.slice(2).startsWith(path)).map(([, rlp]) => rlp);
