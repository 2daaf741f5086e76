/** Audits what happens to batches and their leaves. */
import { type Address, keccak256, size } from "viem";
import { type BatchId, batchIdOf } from "../../rules/promises/batch.ts";
import type { BatchState } from "../../rules/promises/state.ts";
import { ZERO_ADDRESS } from "../../rules/types.ts";
import { PostedLeaves } from "./posted-leaves.ts";
import type { ArgsOf, PromiseReplay } from "./promise-replay.ts";
import type { AuditedModel } from "./request-audit.ts";
import { must, RuleBroken } from "./rules.ts";

export class BatchAudit {
  readonly #replay: PromiseReplay;
  readonly #leaves = new PostedLeaves();

  constructor(replay: PromiseReplay) {
    this.#replay = replay;
  }

  posted({ batchId, prover, modelId, bond, windowEnd, batch, data }: ArgsOf<"Posted">): void {
    const model = this.#replay.terms.models.get(modelId);
    const found = model && this.#leaves.read(model, data);
    const { window, count, root } = batch;
    must("identity", "the batch's id", batchId, batchIdOf(this.#replay.at, batch));
    must("identity", "the batch's prover", batch.prover, prover);
    must("identity", "the batch's model", batch.modelId, modelId);
    if (found !== undefined) {
      must("identity", "the number of leaves", count, found.count);
      must("identity", "the root of the leaves", root, found.root);
    }
    this.#replay.play(
      {
        ...{ kind: "post", from: prover, prover, modelId, window, count, root },
        // What a leaf is bonded with; where the least bond is more, less would do too.
        leafBond: bond / BigInt(Math.max(count, 1)),
        lengthsRight: found !== undefined,
      },
      { prover, batchId },
    );
    const state = this.#replay.kept.batches.get(batchId);
    must("payoff", "the bond of a slot", bond, state?.bond);
    must("deadline", "the end of the window", windowEnd, state?.windowEnd);
    if (found !== undefined) this.#leaves.keep(batchId, found);
  }

  leafQueued({ batchId, index: at, opener, deposit, payload }: ArgsOf<"LeafQueued">): void {
    const [batch, index] = [this.#replay.batch(batchId), Number(at)];
    const leaf = { hash: keccak256(payload), canonical: true };
    const made = this.#replay.play(
      {
        ...{
          kind: "openLeaf",
          from: opener,
          value: deposit + this.#replay.sequence.takeLoose(opener),
          batchId,
          index,
        },
        // That it waits does not depend on what it says.
        ...{ input: leaf, output: { hash: leaf.hash, length: this.#outputLength(batch) } },
        folds: this.#leaves.has(batchId, index, payload),
      },
      { prover: batch.prover, batchId, account: opener },
    );
    if (made.claimId !== undefined)
      throw new RuleBroken(
        "moves",
        `leaf ${index} of batch ${batchId} waits, although there is stake for it`,
      );
    must("payoff", "the deposit", deposit, this.#leaf(batchId, index)?.deposit);
  }

  leafOpened({ batchId, index: at, claimId, opener, deposit }: ArgsOf<"LeafOpened">): void {
    const [batch, index] = [this.#replay.batch(batchId), Number(at)];
    const claim = this.#replay.sequence.takeClaim(claimId);
    this.#replay.once(`${batchId} ${index}`);
    const model = this.#replay.terms.models.get(batch.modelId) as AuditedModel;
    const isIt = this.#leaves.standsFor(batchId, index, model, claim.input, claim.output);
    const facts = {
      input: { hash: keccak256(claim.input), canonical: true },
      output: { hash: keccak256(claim.output), length: size(claim.output) },
    };
    const about = { prover: batch.prover, batchId, account: opener };
    const made =
      this.#leaf(batchId, index)?.status === "QUEUED"
        ? this.#replay.play(
            { kind: "nextLeaf", from: opener, batchId, ...facts, matches: isIt && batch.queue[0] === index },
            about,
          )
        : this.#replay.play(
            {
              ...{ kind: "openLeaf", from: opener, value: deposit + this.#replay.sequence.takeLoose(opener) },
              ...{ batchId, index, ...facts, folds: isIt },
            },
            about,
          );
    this.#replay.requireClaim(made, claim, batch.prover);
    const leaf = this.#leaf(batchId, index);
    must("payoff", "the deposit", deposit, leaf?.deposit);
    must("payoff", "the opener", opener, leaf?.opener);
  }

  leafDropped({ batchId, index }: ArgsOf<"LeafDropped">): void {
    const { prover, queue } = this.#replay.batch(batchId);
    must("moves", "the first leaf that waits", Number(index), queue[0]);
    const { opener, deposit } = this.#leaf(batchId, Number(index)) as { opener: Address; deposit: bigint };
    this.#replay.play(
      { kind: "dropLeaf", from: ZERO_ADDRESS, batchId },
      { prover, batchId, account: opener },
    );
    this.#replay.sequence.credit(opener, deposit);
  }

  released({ batchId, amount }: ArgsOf<"Released">): void {
    const { prover, bond, idleSlots } = this.#replay.batch(batchId);
    this.#replay.play({ kind: "release", from: ZERO_ADDRESS, batchId }, { prover, batchId });
    must("payoff", "what is released", amount, bond * BigInt(idleSlots));
    const { open, windowEnd } = this.#replay.batch(batchId);
    if (open === 0 && this.#replay.block.timestamp >= windowEnd) this.#leaves.forget(batchId);
  }

  readonly #leaf = (id: BatchId, index: number) => this.#replay.kept.batches.get(id)?.leaves.get(index);
  readonly #outputLength = ({ modelId }: BatchState) =>
    this.#replay.terms.models.get(modelId)?.outputLength ?? 0;
}
