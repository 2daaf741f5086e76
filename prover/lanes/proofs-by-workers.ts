/** Proofs that workers make. None is used before the contract that settles was asked whether it takes it; so a false one
 *  costs time. */
import type { Hex } from "viem";
import { toHex } from "../../base/bytes.ts";
import type { Logger } from "../../base/log.ts";
import { PROOF_BYTES } from "../../protocol/rules/proof/groth16.ts";
import { type ProofStatement, type ProofTask, proofInput } from "../../protocol/service/workers/orders.ts";
import type { WorkerRuns } from "../../protocol/service/workers/runs.ts";

export interface ProofWorkers {
  readonly runs: Pick<WorkerRuns, "alive" | "ask" | "bar">;
  /** how long workers have for a proof, ms */
  readonly limitMs: number;
  readonly log: Logger;
}

/** A run of a model on calldata, for whom the binding names. */
export interface AskedProof extends ProofStatement {
  readonly task: ProofTask;
  readonly model: Hex;
  /** until nobody can use it any more, ms */
  readonly leftMs: number;
}

/** Whether an answer may be a proof by its length: a node may refuse a question as long as an answer can be. */
const HAS_LENGTH: Readonly<Record<ProofTask, (bytes: number) => boolean>> = {
  groth16: (bytes) => bytes === PROOF_BYTES,
  // A proof has some thousand bytes, and its output at most 256 words.
  ezkl: (bytes) => bytes <= 2 ** 16,
};

/** Workers that are asked for one proof, one after another, while each before gave an invalid one. */
const MOST_TRIES = 3;
/** Of an invalid proof in the log, bytes. */
const SHOWN_BYTES = 128;

/** Whoever gives an invalid proof is not heard any more.
 *  @param isValid throws where it cannot decide: such a proof is not used, and says nothing against its worker
 *  @returns undefined where no valid proof came in time: this machine proves then */
export async function provenByWorkers(
  { runs, limitMs, log }: ProofWorkers,
  { task, model, leftMs, ...statement }: AskedProof,
  isValid: (content: Uint8Array) => Promise<boolean>,
  signal: AbortSignal,
): Promise<Uint8Array | undefined> {
  const input = proofInput(statement);
  const since = performance.now();
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    // One limit for all tries.
    const tookMs = performance.now() - since;
    const limits = { limitMs: limitMs - tookMs, leftMs: leftMs - tookMs };
    const [answer] = await runs.ask({ task, model, input, count: 1, ...limits, signal });
    if (answer === undefined) return undefined;
    const { worker, content } = answer;
    try {
      if (HAS_LENGTH[task](content.length) && (await isValid(content))) {
        log.info({ model, worker }, "a worker made a proof, which is valid");
        return content;
      }
    } catch (error) {
      log.warn({ model, worker, reason: String(error) }, "a worker's proof could not be verified");
      return undefined;
    }
    runs.bar(worker, { model, proof: toHex(content.slice(0, SHOWN_BYTES)), bytes: content.length });
  }
  return undefined;
}
