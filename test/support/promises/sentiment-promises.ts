/** Signed claims and batches of headlines, some of them wrong. */
import { keccak256, type LocalAccount } from "viem";
import { toHex } from "../../../base/bytes.ts";
import { execute } from "../../../inference/executor/execute.ts";
import { prepare } from "../../../inference/executor/prepare.ts";
import type { LoadedModel } from "../../../inference/model-folder.ts";
import { outputLength } from "../../../inference/program/shape.ts";
import { type Batch, batchTree, joinLeaves } from "../../../protocol/rules/promises/batch.ts";
import { compactLeaf, type LeafModel } from "../../../protocol/rules/promises/leaf.ts";
import type { Presented } from "../../../protocol/rules/promises/presented.ts";
import {
  type PromisesAddress,
  type SignedClaim,
  typedSignedClaim,
} from "../../../protocol/rules/promises/signed-claim.ts";
import { type ModelId, ZERO_ADDRESS } from "../../../protocol/rules/types.ts";
import { encodeText } from "../sentiment-call.ts";

/** @param model one that takes a text and gives words */
export function sentimentPromises(model: LoadedModel, at: PromisesAddress) {
  const prepared = prepare(model.model, model.selector);
  const { program } = prepared;
  const leafModel: LeafModel = {
    ...{ selector: Buffer.from(model.selector).readUInt32BE(), inputCodec: program.inputCodec },
    ...{
      outputCodec: program.outputCodec,
      inputSize: program.inputSize,
      outputLength: outputLength(program),
    },
  };
  const modelId = model.modelId as ModelId;

  /** A headline's answer; a wrong one has the lowest bit of its first word turned. */
  function answer(i: number, isWrong = false) {
    const input = encodeText(
      model,
      `Company ${i} raises its outlook by ${i % 17} percent after quarter ${i % 4}`,
    );
    const output = execute(prepared, input).slice();
    if (isWrong) output[31] = (output[31] as number) ^ 1;
    return { input, output };
  }

  return {
    leafModel,
    answer,
    async sign(
      key: LocalAccount,
      i: number,
      now: number,
      { isWrong = false, ...changes }: Partial<SignedClaim> & { readonly isWrong?: boolean } = {},
      where = at,
    ): Promise<Presented> {
      const { input, output } = answer(i, isWrong);
      const claim: SignedClaim = {
        ...{ prover: key.address, modelId, inputHash: keccak256(input), outputHash: keccak256(output) },
        ...{ requester: ZERO_ADDRESS, issuedAt: now, expiry: now + 86_400, minBond: 0n, salt: BigInt(i) },
        ...changes,
      };
      const signature = await key.signTypedData(typedSignedClaim(where, claim));
      return { claim, signature, input: toHex(input), output: toHex(output) };
    },
    /** @param from number of the first headline @param wrong indices of wrong leaves */
    batch(prover: LocalAccount, from: number, count: number, wrong: readonly number[], window: number) {
      const payloads = Array.from({ length: count }, (_, i) =>
        compactLeaf(leafModel, answer(from + i, wrong.includes(i))),
      );
      const root = toHex(batchTree(payloads).root);
      const batch: Batch = { prover: prover.address, modelId, window, count, root };
      const data = toHex(joinLeaves(payloads));
      return { batch, posting: { prover: prover.address, modelId, window, leafBond: 0n, data } };
    },
  };
}
