/** Proofs by `crates/assay-prove`, a process of native code: the same keys, witnesses and proofs as snarkjs's, several
 *  times as fast. Verifying is snarkjs's still. */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { concatBytes, viewOf } from "../../../../base/bytes.ts";
import { BaseError } from "../../../../base/errors.ts";
import {
  decodeProof,
  type Groth16Proof,
  type VerificationKey,
} from "../../../../protocol/rules/proof/groth16.ts";
import type { Witness } from "../r1cs.ts";
import { u32s } from "./binfile.ts";
import { writeWitness } from "./files.ts";
import { type Groth16Prover, SnarkjsProver, type SnarkjsProverOptions } from "./prover.ts";

/** A mark, and the length of what follows. */
const HEAD_BYTES = 5;
const PROVED = 0;
const PROOF_BYTES = 256;
/** Characters of what the process says of its end. */
const MOST_REASON = 500;

/** @param program path of assay-prove; undefined: snarkjs proves */
export const openGroth16Prover = (program: string | undefined): Groth16Prover =>
  program === undefined ? new SnarkjsProver() : new NativeProver(program);

/** One process, started at first use and again after it ended. It uses all cores, so proofs wait for each other. */
export class NativeProver implements Groth16Prover {
  readonly #program: string;
  readonly #timeoutMs: number;
  readonly #snarkjs: SnarkjsProver;
  #last: Promise<unknown> = Promise.resolve();
  #process: ChildProcessWithoutNullStreams | undefined;
  #isClosed = false;

  /** @param program path of assay-prove */
  constructor(program: string, options: SnarkjsProverOptions = {}) {
    this.#program = program;
    this.#timeoutMs = options.timeoutMs ?? 600_000;
    this.#snarkjs = new SnarkjsProver(options);
  }

  prove(provingKey: string, witness: Witness, signal?: AbortSignal): Promise<Groth16Proof> {
    const result = this.#last.then(() => this.#ask(provingKey, witness, signal));
    this.#last = result.catch(() => undefined);
    return result;
  }

  verify(key: VerificationKey, signals: readonly bigint[], proof: Groth16Proof): Promise<boolean> {
    return this.#snarkjs.verify(key, signals, proof);
  }

  close(): void {
    this.#isClosed = true;
    this.#kill();
    this.#snarkjs.close();
  }

  #ask(provingKey: string, witness: Witness, signal?: AbortSignal): Promise<Groth16Proof> {
    if (this.#isClosed) throw failed("the prover was closed", true);
    if (signal?.aborted === true) throw failed("it was called off", true);
    const child = this.#started();
    const path = new TextEncoder().encode(provingKey);
    const content = writeWitness(witness);
    return new Promise((resolve, reject) => {
      let answer: Uint8Array = new Uint8Array(0);
      let reason = "";
      const finish = (settle: () => void): void => {
        clearTimeout(watchdog);
        child.stdout.off("data", onData);
        child.stderr.off("data", onReason);
        child.off("close", onClose).off("error", onError);
        signal?.removeEventListener("abort", onAbort);
        settle();
      };
      const giveUp = (why: string): void => {
        this.#kill();
        finish(() => reject(failed(why, true)));
      };
      const onData = (bytes: Uint8Array): void => {
        answer = concatBytes(answer, bytes);
        if (answer.length < HEAD_BYTES) return;
        const length = viewOf(answer).getUint32(1, true);
        if (answer.length < HEAD_BYTES + length) return;
        const held = answer.subarray(HEAD_BYTES, HEAD_BYTES + length);
        if (answer[0] === PROVED && length === PROOF_BYTES) finish(() => resolve(decodeProof(held)));
        else finish(() => reject(failed(new TextDecoder().decode(held.subarray(0, MOST_REASON)), false)));
      };
      const onReason = (bytes: Uint8Array): void => {
        reason = (reason + new TextDecoder().decode(bytes)).slice(-MOST_REASON);
      };
      const onClose = (code: number | null, by: string | null): void =>
        finish(() =>
          reject(failed(`its process ended (${by ?? `exit code ${code}`}) ${reason.trim()}`, true)),
        );
      const onError = (error: Error): void => giveUp(`${this.#program} cannot be started: ${error.message}`);
      const onAbort = (): void => giveUp("it was called off");
      const watchdog = setTimeout(() => giveUp(`it took longer than ${this.#timeoutMs} ms`), this.#timeoutMs);
      child.stdout.on("data", onData);
      child.stderr.on("data", onReason);
      child.on("close", onClose).on("error", onError);
      signal?.addEventListener("abort", onAbort);
      child.stdin.write(concatBytes(u32s(path.length), path, u32s(content.length), content));
    });
  }

  #started(): ChildProcessWithoutNullStreams {
    if (this.#process !== undefined) return this.#process;
    const child = spawn(this.#program, ["serve"], { stdio: "pipe" });
    child.on("close", () => {
      if (this.#process === child) this.#process = undefined;
    });
    // What a process that ended did not read; the end itself is what callers learn.
    child.stdin.on("error", () => {});
    child.on("error", () => {});
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
    nextStep: retryable
      ? "Try again, or leave --groth16-prover out."
      : "Check that the proving key is of this model's circuit.",
    retryable,
  });
}
