/** The reference prover: snarkjs in a child process, so that a node's loop never waits for it. */
import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { BaseError } from "../../../../base/errors.ts";
import type { Groth16Proof, VerificationKey } from "../../../../protocol/rules/proof/groth16.ts";
import type { Witness } from "../r1cs.ts";
import { writeWitness } from "./files.ts";
import type { FromWorker, ToWorker } from "./worker.ts";

/** What proves; another prover of .zkey files may stand behind it. */
export interface Groth16Prover {
  /** @param provingKey path of a .zkey file
   *  @throws BaseError PROOF_FAILED; retryable if the process died, took too long or was called off */
  prove(provingKey: string, witness: Witness, signal?: AbortSignal): Promise<Groth16Proof>;
  /** @throws BaseError PROOF_FAILED as `prove` */
  verify(key: VerificationKey, signals: readonly bigint[], proof: Groth16Proof): Promise<boolean>;
  close(): void;
}

export interface SnarkjsProverOptions {
  /** After which a proof is given up and its process killed; default 600,000. */
  readonly timeoutMs?: number;
}

/** One child, started at first use and again after it died. It uses all cores, so proofs wait for each other. */
export class SnarkjsProver implements Groth16Prover {
  readonly #timeoutMs: number;
  #last: Promise<unknown> = Promise.resolve();
  #process: ChildProcess | undefined;
  #closed = false;

  constructor({ timeoutMs = 600_000 }: SnarkjsProverOptions = {}) {
    this.#timeoutMs = timeoutMs;
  }

  async prove(provingKey: string, witness: Witness, signal?: AbortSignal): Promise<Groth16Proof> {
    const message: ToWorker = { kind: "prove", provingKey, witness: writeWitness(witness) };
    return ((await this.#queue(message, signal)) as { proof: Groth16Proof }).proof;
  }

  async verify(key: VerificationKey, signals: readonly bigint[], proof: Groth16Proof): Promise<boolean> {
    const message: ToWorker = { kind: "verify", key, signals, proof };
    return ((await this.#queue(message)) as { verified: boolean }).verified;
  }

  close(): void {
    this.#closed = true;
    this.#kill();
  }

  #queue(message: ToWorker, signal?: AbortSignal): Promise<FromWorker> {
    const result = this.#last.then(() => this.#ask(message, signal));
    this.#last = result.catch(() => undefined);
    return result;
  }

  #ask(message: ToWorker, signal?: AbortSignal): Promise<FromWorker> {
    if (this.#closed) throw failed("the prover was closed", true);
    if (signal?.aborted === true) throw failed("it was called off", true);
    const child = this.#started();
    return new Promise((resolve, reject) => {
      const giveUp = (reason: string): void => {
        this.#kill();
        finish(() => reject(failed(reason, true)));
      };
      const onMessage = (answer: FromWorker): void =>
        finish(() => ("failure" in answer ? reject(failed(answer.failure, false)) : resolve(answer)));
      const onExit = (code: number | null, by: string | null): void =>
        finish(() => reject(failed(`its process ended (${by ?? `exit code ${code}`})`, true)));
      const onError = (error: Error): void => giveUp(`its process failed: ${error.message}`);
      const onAbort = (): void => giveUp("it was called off");
      const watchdog = setTimeout(() => giveUp(`it took longer than ${this.#timeoutMs} ms`), this.#timeoutMs);
      const finish = (settle: () => void): void => {
        clearTimeout(watchdog);
        child.off("message", onMessage).off("exit", onExit).off("error", onError);
        signal?.removeEventListener("abort", onAbort);
        settle();
      };
      child.on("message", onMessage).on("exit", onExit).on("error", onError);
      signal?.addEventListener("abort", onAbort);
      child.send(message);
    });
  }

  #started(): ChildProcess {
    if (this.#process !== undefined) return this.#process;
    const child = fork(fileURLToPath(new URL("worker.mjs", import.meta.url)), [], {
      execArgv: [],
      serialization: "advanced",
      // Its standard output belongs to the parent's results.
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    child.on("exit", () => {
      if (this.#process === child) this.#process = undefined;
    });
    // A prover that is idle keeps no program alive; one that works has its watchdog.
    child.unref();
    child.channel?.unref();
    this.#process = child;
    return child;
  }

  #kill(): void {
    this.#process?.kill("SIGKILL");
    this.#process = undefined;
  }
}

function failed(reason: string, retryable: boolean): BaseError {
  return new BaseError({
    code: "PROOF_FAILED",
    shortMessage: `The proof could not be made: ${reason}.`,
    nextStep: retryable ? "Try again." : "Check that the proving key is of this model's circuit.",
    retryable,
  });
}
