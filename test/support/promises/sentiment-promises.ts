/** Signed claims and batches of headlines, some of them wrong. */
import { keccak256, type LocalAccount } from "viem";
import { equalBytes, toHex } from "../../../base/bytes.ts";
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

/** What is wrong with an output: the lowest bit of its first word, one more in its last byte, or all of it, being another
 *  headline's. */
export const FAULTS = ["bit", "byte", "other"] as const;
export type Fault = (typeof FAULTS)[number];
const faultOf = (n: number): Fault => FAULTS[n % FAULTS.length] as Fault;

interface SignTerms {
  readonly isWrong?: boolean;
  /** in the place of the headline's output */
  readonly stated?: Uint8Array;
}

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

  const inputOf = (i: number) =>
    encodeText(model, `Company ${i} raises its outlook by ${i % 17} percent after quarter ${i % 4}`);
  const outputOf = (i: number) => execute(prepared, inputOf(i)).slice();

  function wrongOutput(i: number, fault: Fault): Uint8Array {
    const right = outputOf(i);
    if (fault === "other") {
      for (let other = i + 1; ; other++) if (!equalBytes(outputOf(other), right)) return outputOf(other);
    }
    const at = fault === "bit" ? 31 : right.length - 1;
    right[at] = fault === "bit" ? (right[at] as number) ^ 1 : (right[at] as number) + 1;
    return right;
  }

  /** A headline's answer. @param fault absent: it is right */
  const answer = (i: number, fault?: Fault) => ({
    input: inputOf(i),
    output: fault === undefined ? outputOf(i) : wrongOutput(i, fault),
  });

  return {
    leafModel,
    answer,
    async sign(
      key: LocalAccount,
      i: number,
      now: number,
      { isWrong = false, stated, ...changes }: Partial<SignedClaim> & SignTerms = {},
      where = at,
    ): Promise<Presented> {
      const { input, output: own } = answer(i, isWrong ? faultOf(i) : undefined);
      const output = stated ?? own;
      const claim: SignedClaim = {
        ...{ prover: key.address, modelId, inputHash: keccak256(input), outputHash: keccak256(output) },
        ...{ requester: ZERO_ADDRESS, issuedAt: now, expiry: now + 86_400, minBond: 0n, salt: BigInt(i) },
        ...changes,
      };
      const signature = await key.signTypedData(typedSignedClaim(where, claim));
      return { claim, signature, input: toHex(input), output: toHex(output) };
    },
    /** @param from number of the first headline @param wrong indices of wrong leaves, each wrong in another way */
    batch(prover: LocalAccount, from: number, count: number, wrong: readonly number[], window: number) {
      const payloads = Array.from({ length: count }, (_, i) =>
        compactLeaf(leafModel, answer(from + i, wrong.includes(i) ? faultOf(wrong.indexOf(i)) : undefined)),
      );
      const root = toHex(batchTree(payloads).root);
      const batch: Batch = { prover: prover.address, modelId, window, count, root };
      const data = toHex(joinLeaves(payloads));
      return { batch, posting: { prover: prover.address, modelId, window, leafBond: 0n, data } };
    },
  };
}
