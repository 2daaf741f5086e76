/** Follows a RedundantResults contract: answers what is asked, commits, reveals, and convicts whom the truth
 *  contradicts. */
import { randomBytes } from "node:crypto";
import { type Address, encodeFunctionData, type Hex, keccak256, size } from "viem";
import { fromHex, toHex } from "../../base/bytes.ts";
import { BaseError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import { chainError } from "../../protocol/chain/errors.ts";
import type { Batch, Head } from "../../protocol/chain/follower.ts";
import type { Sender, SigningChain } from "../../protocol/chain/sender.ts";
import { redundantResultsAbi } from "../../protocol/rules/generated/abis.ts";
import { WorkList } from "../work-list.ts";
import {
  contradicted,
  decideRound,
  type RoundRequested,
  type RoundState,
  readRound,
  revealGas,
  type Terms,
} from "./rounds.ts";
import type { KeptAnswer, OpenRound, RoundStore } from "./store.ts";

export interface RedundantParts {
  readonly chain: SigningChain;
  readonly sender: Sender;
  readonly store: RoundStore;
  readonly results: Address;
  readonly terms: Terms;
  /** the agent's return data for a calldata; nobody else's answer may be looked at */
  readonly answer: (calldata: Uint8Array) => Promise<Uint8Array>;
  readonly log: Logger;
  readonly nowMs: () => number;
  readonly signal: AbortSignal;
}

export class RedundantNode {
  readonly #parts: RedundantParts;
  readonly #work: WorkList;
  #head: Head | undefined;

  constructor(parts: RedundantParts) {
    this.#parts = parts;
    this.#work = new WorkList(parts);
  }

  /** Consumer of an EventFollower. */
  async take(batch: Batch<RoundRequested>): Promise<void> {
    const { store, log } = this.#parts;
    store.take(batch);
    if (batch.kind === "rollback") {
      log.warn({ ancestor: batch.ancestor }, "the chain was re-organized; going on from the common block");
      return;
    }
    this.#head = batch.head;
    if (batch.to.number === batch.head.number) await this.#followAll(batch.head.timestamp);
  }

  /** No block came, but time passed. @param now seconds */
  async onTime(now: number): Promise<void> {
    await this.#followAll(now);
  }

  stop(): Promise<void> {
    return this.#work.stop();
  }

  /** One bad round never stops the rest. */
  async #followAll(now: number): Promise<void> {
    const { store, log } = this.#parts;
    for (const round of store.open()) {
      try {
        await this.#advance(round, now);
      } catch (error) {
        const { code, message } = chainError(error, `look at round ${round.roundId}`);
        log.warn({ code }, message);
      }
    }
  }

  async #advance(asked: OpenRound, now: number): Promise<void> {
    const { chain, store, results, terms, log } = this.#parts;
    const { roundId } = asked;
    if (this.#head === undefined) return;
    const { number } = this.#head;
    const round = await readRound(chain, results, roundId, number);
    const kept = store.answer(roundId);
    const answer = kept === undefined ? undefined : keccak256(kept.output);
    const move = decideRound(round, terms, answer, now);
    const begin = (name: string, work: () => Promise<void>) =>
      this.#work.begin(`${name}:${roundId}`, { roundId }, `${name} an answer`, work);
    if (move === "commit") begin("commit", () => this.#commit(asked, kept));
    if (move === "reveal" && kept !== undefined) begin("reveal", () => this.#reveal(roundId, kept));
    if (move === "judge") begin("judge", () => this.#judge(roundId, round, number));
    if (move === "over") {
      const disagrees = round.agreed !== undefined && answer !== undefined && round.agreed !== answer;
      log.info({ roundId, agreed: round.agreed, answer, disagrees }, "a round is over");
      store.close(roundId);
    }
  }

  /** The answer is kept before anything of it leaves this process. */
  async #commit({ roundId, data }: OpenRound, before: KeptAnswer | undefined): Promise<void> {
    const { chain, store, results } = this.#parts;
    const kept = before ?? (await this.#answer(data));
    if (before === undefined) store.keep(roundId, kept);
    const args = [roundId, chain.account.address, keccak256(kept.output), kept.salt] as const;
    const commitment = await chain.client.readContract({
      address: results,
      abi: redundantResultsAbi,
      functionName: "commitmentOf",
      args,
    });
    const call = { abi: redundantResultsAbi, functionName: "commit", args: [roundId, commitment] } as const;
    await this.#send("commit", roundId, encodeFunctionData(call));
  }

  async #answer(data: Hex): Promise<KeptAnswer> {
    const { answer, terms } = this.#parts;
    const output = await answer(fromHex(data));
    if (output.length > terms.maxOutputBytes) {
      throw new BaseError({
        code: "ANSWER_TOO_LONG",
        shortMessage: `The agent's answer has ${output.length} bytes; the contract takes ${terms.maxOutputBytes}.`,
        nextStep: "Nothing is committed to; look at the agent.",
      });
    }
    return { output: toHex(output), salt: toHex(randomBytes(32)) };
  }

  #reveal(roundId: Hex, { output, salt }: KeptAnswer): Promise<void> {
    const args = [roundId, output, salt] as const;
    const call = { abi: redundantResultsAbi, functionName: "reveal", args } as const;
    const gas = revealGas(this.#parts.terms, size(output));
    return this.#send("reveal", roundId, encodeFunctionData(call), { gas });
  }

  async #judge(roundId: Hex, { inputHash }: RoundState, blockNumber: bigint): Promise<void> {
    const { chain, results, terms } = this.#parts;
    for (const executor of await contradicted(chain, results, terms, { roundId, inputHash }, blockNumber)) {
      const args = [roundId, executor] as const;
      const call = { abi: redundantResultsAbi, functionName: "convict", args } as const;
      // Another one may be faster: then there is nothing left to take.
      await this.#send("convict", `${roundId}:${executor}`, encodeFunctionData(call), {
        doneBy: ["NotExecutor"],
      });
    }
  }

  /** @param subject round, and whom it concerns @param more limit of gas, errors besides MovedAlready that leave nothing
   *  to do
   *  @throws BaseError for what did not get onto the chain */
  async #send(
    move: string,
    subject: string,
    data: Hex,
    { doneBy = [], ...more }: { readonly gas?: bigint; readonly doneBy?: readonly string[] } = {},
  ): Promise<void> {
    const { sender, results, log, signal } = this.#parts;
    const key = `${move}:${results}:${subject}`;
    const action = { key, to: results, data, value: 0n, doneBy: ["MovedAlready", ...doneBy], ...more };
    const sent = await sender.send({ ...action, tooEarly: "OutsidePhase" }, signal);
    if (sent.status === "retryable") throw sent.error;
    if (sent.status === "sent") log.info({ subject }, `sent ${move}`);
    if (sent.status !== "refused") return;
    throw new BaseError({
      code: "MOVE_REFUSED",
      shortMessage: `The contract refuses ${move} in round ${subject}: ${sent.revert.message}.`,
      nextStep: "It is tried again while the round lasts.",
    });
  }
}
