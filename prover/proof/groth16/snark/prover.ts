/** The reference prover: snarkjs in a child process, so that a node's loop never waits for it. */
import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Groth16Proof, VerificationKey } from "../../../../protocol/rules/proof/groth16.ts";
import type { Witness } from "../r1cs.ts";
import { writeWitness } from "./files.ts";
import type { FromWorker, ToWorker } from "./worker.ts";
import { type QueueOptions, type Speech, WorkerQueue } from "./worker-queue.ts";

/** What proves; another prover of .zkey files may stand behind it. */
export interface Groth16Prover {
  /** @param provingKey path of a .zkey file
   *  @throws BaseError PROOF_FAILED; retryable if the process died, took too long or was called off */
  prove(provingKey: string, witness: Witness, signal?: AbortSignal): Promise<Groth16Proof>;
  /** @throws BaseError PROOF_FAILED as `prove` */
  verify(key: VerificationKey, signals: readonly bigint[], proof: Groth16Proof): Promise<boolean>;
  close(): void;
}

type Answer = Exclude<FromWorker, { failure: string }>;

export class SnarkjsProver implements Groth16Prover {
  readonly #queue: WorkerQueue<ChildProcess, ToWorker, Answer>;

  constructor(options: QueueOptions = {}) {
    this.#queue = new WorkerQueue(SNARKJS, options);
  }

  async prove(provingKey: string, witness: Witness, signal?: AbortSignal): Promise<Groth16Proof> {
    const message: ToWorker = { kind: "prove", provingKey, witness: writeWitness(witness) };
    return ((await this.#queue.ask(message, signal)) as { proof: Groth16Proof }).proof;
  }

  async verify(key: VerificationKey, signals: readonly bigint[], proof: Groth16Proof): Promise<boolean> {
    const message: ToWorker = { kind: "verify", key, signals, proof };
    return ((await this.#queue.ask(message)) as { verified: boolean }).verified;
  }

  close(): void {
    this.#queue.close();
  }
}

const SNARKJS: Speech<ChildProcess, ToWorker, Answer> = {
  end: "exit",
  lastWords: () => "",
  tryAgain: "Try again.",
  start() {
    const child = fork(fileURLToPath(new URL("worker.mjs", import.meta.url)), [], {
      execArgv: [],
      serialization: "advanced",
      // Its standard output belongs to the parent's results.
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    // A prover that is idle keeps no program alive; one that works has its watchdog.
    child.unref();
    child.channel?.unref();
    return child;
  },
  ask(child, message, answered, refused) {
    const onMessage = (answer: FromWorker): void =>
      "failure" in answer ? refused(answer.failure) : answered(answer);
    child.on("message", onMessage);
    child.send(message);
    return () => child.off("message", onMessage);
  },
};
