/** Reads the tries of Ethereum's state from some of their nodes. Every node is found by its hash, so whoever gave the
 *  nodes can leave some out, which is noticed, and cannot change any. */
import { fromRlp, type Hex, keccak256 } from "viem";
import { malformed, unproven } from "./refusal.ts";

type Node = readonly (Hex | Node)[];

/** keccak256 of the RLP of nothing: the root of a trie without keys. */
const EMPTY_ROOT = "0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421";
const HASH_CHARACTERS = 66;

export class Witness {
  readonly #nodes: ReadonlyMap<Hex, Hex>;

  /** @param nodes RLP of trie nodes, in any order */
  constructor(nodes: readonly Hex[]) {
    this.#nodes = new Map(nodes.map((node) => [keccak256(node), node]));
  }

  /** @param path the key's hash, 32 bytes: state tries are secure tries
   *  @returns the value at the key, undefined if the trie has none
   *  @throws BaseError RECEIPT_UNPROVEN where a node is not among the given ones, RECEIPT_MALFORMED for a node of
   *  another form */
  read(root: Hex, path: Hex): Hex | undefined {
    if (root === EMPTY_ROOT) return undefined;
    let rest = path.slice(2);
    let node = this.#node(root);
    for (;;) {
      const isBranch = node.length === 17;
      if (!isBranch && node.length !== 2)
        throw malformed(`a trie node has ${node.length} parts, not 2 or 17`);
      if (isBranch) {
        // Keys are hashes of one length, so no key ends at a branch.
        if (rest === "") throw malformed("a key ends at a branch");
        const next = node[Number.parseInt(rest.slice(0, 1), 16)] as Hex | Node;
        if (next === "0x") return undefined;
        rest = rest.slice(1);
        node = this.#child(next);
        continue;
      }
      const [prefix, value] = node as readonly [Hex | Node, Hex | Node];
      const { isLeaf, nibbles } = compactPath(prefix);
      if (isLeaf) {
        if (typeof value !== "string") throw malformed("a leaf holds a node");
        return nibbles === rest ? value : undefined;
      }
      if (nibbles === "") throw malformed("an extension extends by nothing");
      if (!rest.startsWith(nibbles)) return undefined;
      rest = rest.slice(nibbles.length);
      node = this.#child(value);
    }
  }

  /** A child stands inside its parent if its RLP is shorter than a hash. */
  #child(reference: Hex | Node): Node {
    if (typeof reference !== "string") return reference;
    if (reference.length !== HASH_CHARACTERS) throw malformed("a reference to a trie node is no hash");
    return this.#node(reference);
  }

  #node(hash: Hex): Node {
    const rlp = this.#nodes.get(hash);
    if (rlp === undefined) throw unproven(`the trie node ${hash} is not in the receipt`);
    return listOf(rlp, "a trie node");
  }
}

/** @throws BaseError RECEIPT_MALFORMED */
export function listOf(rlp: Hex, what: string): Node {
  let decoded: Hex | Node;
  try {
    decoded = fromRlp(rlp) as Hex | Node;
  } catch (cause) {
    throw malformed(`${what} is no RLP`, cause);
  }
  if (typeof decoded === "string") throw malformed(`${what} is no list`);
  return decoded;
}

/** First digit: bit 1 says leaf, bit 0 that the number of nibbles is odd and its own second digit is the first. */
function compactPath(prefix: Hex | Node): { readonly isLeaf: boolean; readonly nibbles: string } {
  const flag = typeof prefix === "string" ? Number.parseInt(prefix.slice(2, 3), 16) : Number.NaN;
  if (typeof prefix !== "string" || !(flag < 4)) throw malformed("a trie path has an unknown mark");
  return { isLeaf: flag >= 2, nibbles: prefix.slice(flag % 2 === 1 ? 3 : 4) };
}
