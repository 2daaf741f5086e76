/** Signed claims and leaves of the tiny model on a local chain. */
import { type Hex, keccak256, type LocalAccount } from "viem";
import { fromHex, toHex } from "../../../base/bytes.ts";
import { promisesOf } from "../../../protocol/chain/promises/place.ts";
import type { SigningChain } from "../../../protocol/chain/sender.ts";
import { type Batch, batchTree, joinLeaves } from "../../../protocol/rules/promises/batch.ts";
import { compactLeaf, type LeafModel } from "../../../protocol/rules/promises/leaf.ts";
import type { Presented } from "../../../protocol/rules/promises/presented.ts";
import { type SignedClaim, typedSignedClaim } from "../../../protocol/rules/promises/signed-claim.ts";
import { type ModelId, ZERO_ADDRESS } from "../../../protocol/rules/types.ts";
import { tinyInput } from "../deploy.ts";

/** What the tiny model answers to these bytes. */
export const tinyOutput = (input: Hex): Hex => `0x${input.slice(10)}`;

/** A signed claim of the account for the tiny model. */
export async function signTiny(
  { deployment }: Pick<SigningChain, "deployment">,
  prover: LocalAccount,
  modelId: ModelId,
  bytes: readonly number[],
  now: number,
  changes: Partial<SignedClaim> & { readonly output?: Hex; readonly key?: LocalAccount } = {},
): Promise<Presented> {
  const { output = tinyOutput(tinyInput(bytes)), key = prover, ...fields } = changes;
  const input = tinyInput(bytes);
  const claim: SignedClaim = {
    ...{ prover: prover.address, modelId, inputHash: keccak256(input), outputHash: keccak256(output) },
    ...{ requester: ZERO_ADDRESS, issuedAt: now, expiry: now + 3_600, minBond: 0n, salt: 1n },
    ...fields,
  };
  const signature = await key.signTypedData(typedSignedClaim(promisesOf(deployment), claim));
  return { claim, signature, input, output };
}

/** A batch of the tiny model's answers. */
export function tinyBatch(
  word: LeafModel,
  prover: LocalAccount,
  modelId: ModelId,
  answers: readonly { readonly input: Hex; readonly output: Hex }[],
  window: number,
) {
  const payloads = answers.map(({ input, output }) =>
    compactLeaf(word, { input: fromHex(input), output: fromHex(output) }),
  );
  const tree = batchTree(payloads);
  const batch: Batch = {
    ...{ prover: prover.address, modelId, window, count: payloads.length, root: toHex(tree.root) },
  };
  return {
    batch,
    data: toHex(joinLeaves(payloads)),
    payload: (index: number) => toHex(payloads[index] as Uint8Array),
    path: (index: number) => tree.pathOf(index).map((node) => toHex(node)),
  };
}
