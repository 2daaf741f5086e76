/** What promises are made about in games: two models of different depth that claims can be made for, one that has no bond
 *  lane, and one that nobody registered. */
import { concatHex, type Hex, keccak256, numberToHex, slice } from "viem";
import { privateKeyToAddress } from "viem/accounts";
import { modelIdOf } from "../../../protocol/rules/ids.ts";
import { modelFacts } from "../../../protocol/rules/machine.ts";
import { LANE, type ModelId } from "../../../protocol/rules/types.ts";
import { ALL_LANES, echoModel } from "../echo-model.ts";
import { addressOf, hashOf } from "../game-table.ts";

const shallow = echoModel(1, 32);
const deep = echoModel(64, 64);
const withoutBond = { ...echoModel(1, 64), lanes: LANE.EXECUTION };

export const MODELS = [{ ...shallow, lanes: ALL_LANES }, { ...deep, lanes: ALL_LANES }, withoutBond].map(
  (model) => {
    const { lanes, identity } = model;
    // A verification key is one of the lane PROOF.
    const vkHash = (lanes & LANE.PROOF) === 0 ? new Uint8Array(32) : identity.vkHash;
    return { ...model, identity: { ...identity, lanes, vkHash } };
  },
);

export type GameModel = (typeof MODELS)[number];
export type Side = "right" | "wrong" | "long";

export const idOfModel = ({ identity }: GameModel): ModelId => modelIdOf(identity);

export const FACTS = MODELS.map(({ program, lanes }) => modelFacts(program, lanes));
export const UNKNOWN_MODEL = hashOf(0xc9) as ModelId;

/** Calldata that differs from the canonical one in a byte behind its end. */
export const notCanonical = ({ input }: GameModel): Hex => concatHex([input, "0x00"]);
/** Calldata of other bytes, whose right output is the model's wrong one: it echoes. */
export const otherInput = ({ input, outputs }: GameModel): Hex =>
  concatHex([slice(input, 0, 4), outputs.wrong]);
/** An output of another length. */
export const tooLong = ({ outputs }: GameModel): Hex => concatHex([outputs.right, "0x00"]);

/** A leaf of a batch: the input's bytes, the output's length and its words. */
export function leafOf({ input, outputs }: GameModel, side: Side): Hex {
  const [selector, head, word] = [4, 32, 32];
  const length = Number(BigInt(slice(input, selector + head, selector + head + word)));
  const from = selector + head + word;
  const output = outputs[side === "wrong" ? "wrong" : "right"];
  const size = slice(output, head + word - 4, head + word);
  const leaf = concatHex([slice(input, from, from + length), size, slice(output, head + word)]);
  return side === "long" ? concatHex([leaf, "0x00"]) : leaf;
}

/** Siblings of each leaf, bottom up, and the root. Missing leaves are zero subtrees.
 *  @param hashes of the leaves */
export function treeOf(hashes: readonly Hex[]): {
  readonly root: Hex;
  readonly paths: readonly (readonly Hex[])[];
} {
  let level: Hex[] = [...hashes];
  let zero = numberToHex(0, { size: 32 });
  const paths: Hex[][] = hashes.map(() => []);
  for (let height = 0; level.length > 1; height += 1) {
    if (level.length % 2 === 1) level.push(zero);
    for (const [index, path] of paths.entries()) path.push(level[(index >> height) ^ 1] as Hex);
    const nodes = level;
    level = Array.from({ length: nodes.length / 2 }, (_, i) =>
      keccak256(concatHex([nodes[2 * i] as Hex, nodes[2 * i + 1] as Hex])),
    );
    zero = keccak256(concatHex([zero, zero]));
  }
  return { root: level[0] as Hex, paths };
}

const LEAF_HASHES = MODELS.map((model) => ({
  right: keccak256(leafOf(model, "right")),
  wrong: keccak256(leafOf(model, "wrong")),
  long: keccak256(leafOf(model, "long")),
}));

/** The tree of a batch. */
export const batchTree = (model: number, leaves: readonly Side[]) =>
  treeOf(leaves.map((side) => (LEAF_HASHES[model] as (typeof LEAF_HASHES)[number])[side]));

const keyOf = (n: number) => {
  const privateKey = keccak256(numberToHex(n));
  return { privateKey, address: privateKeyToAddress(privateKey) };
};

/** Who plays. Each prover signs with two keys; `wallet` is a contract that answers for signatures. */
export const PEOPLE = {
  cheat: addressOf(0x201),
  honest: addressOf(0x202),
  /** buys answers, and sees to it that wrong ones fall */
  victim: addressOf(0x203),
  /** re-executes batches */
  challenger: addressOf(0x204),
  /** friends of the cheat */
  friend: addressOf(0x205),
  sybil: addressOf(0x206),
  wallet: addressOf(0x207),
} as const;
export const KEYS = { cheat: [keyOf(1), keyOf(2)], honest: [keyOf(3), keyOf(4)], thief: [keyOf(5)] } as const;
export const PROMISES = addressOf(0x1000);
export const ASSAY = addressOf(0x1001);
