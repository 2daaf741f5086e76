/** Proofs by `crates/assay-prove`, a process of native code: the same keys, witnesses and proofs as snarkjs's, several
 *  times as fast. Verifying is snarkjs's still. */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { concatBytes, viewOf } from "../../../../base/bytes.ts";
import {
  decodeProof,
  type Groth16Proof,
  type VerificationKey,
} from "../../../../protocol/rules/proof/groth16.ts";
import type { Witness } from "../r1cs.ts";
import { u32s } from "./binfile.ts";
import { writeWitness } from "./files.ts";
import { type Groth16Prover, SnarkjsProver } from "./prover.ts";
import { type QueueOptions, type Speech, WorkerQueue } from "./worker-queue.ts";

/** A mark, and the length of what follows. */
const HEAD_BYTES = 5;
const PROVED = 0;
const PROOF_BYTES = 256;
/** Characters of what the process says of its end. */
const MOST_REASON = 500;

/** @param program path of assay-prove; undefined: snarkjs proves */
export const openGroth16Prover = (program: string | undefined): Groth16Prover =>
  program === undefined ? new SnarkjsProver() : new NativeProver(program);

interface Question {
  readonly provingKey: string;
  readonly witness: Witness;
}

export class NativeProver implements Groth16Prover {
  readonly #queue: WorkerQueue<ChildProcessWithoutNullStreams, Question, Groth16Proof>;
  readonly #snarkjs: SnarkjsProver;

  /** @param program path of assay-prove */
  constructor(program: string, options: QueueOptions = {}) {
    this.#queue = new WorkerQueue(speechOf(program), options);
    this.#snarkjs = new SnarkjsProver(options);
  }

  prove(provingKey: string, witness: Witness, signal?: AbortSignal): Promise<Groth16Proof> {
    return this.#queue.ask({ provingKey, witness }, signal);
  }

  verify(key: VerificationKey, signals: readonly bigint[], proof: Groth16Proof): Promise<boolean> {
    return this.#snarkjs.verify(key, signals, proof);
  }

  close(): void {
    this.#queue.close();
    this.#snarkjs.close();
  }
}

function speechOf(program: string): Speech<ChildProcessWithoutNullStreams, Question, Groth16Proof> {
  let reason = "";
  return {
    // What it said of its end comes before that.
    end: "close",
    lastWords: () => reason.trim(),
    tryAgain: "Try again, or leave --groth16-prover out.",
    start() {
      const child = spawn(program, ["serve"], { stdio: "pipe" });
      reason = "";
      child.stderr.on("data", (bytes: Uint8Array) => {
        reason = (reason + new TextDecoder().decode(bytes)).slice(-MOST_REASON);
      });
      // What a process that ended did not read; the end itself is what callers learn.
      child.stdin.on("error", () => {});
      child.on("error", () => {});
      return child;
    },
    ask(child, { provingKey, witness }, answered, refused) {
      const path = new TextEncoder().encode(provingKey);
      const content = writeWitness(witness);
      let answer: Uint8Array = new Uint8Array(0);
      const onData = (bytes: Uint8Array): void => {
        answer = concatBytes(answer, bytes);
        if (answer.length < HEAD_BYTES) return;
        const length = viewOf(answer).getUint32(1, true);
        if (answer.length < HEAD_BYTES + length) return;
        const held = answer.subarray(HEAD_BYTES, HEAD_BYTES + length);
        if (answer[0] === PROVED && length === PROOF_BYTES) answered(decodeProof(held));
        else refused(new TextDecoder().decode(held.subarray(0, MOST_REASON)));
      };
      child.stdout.on("data", onData);
      child.stdin.write(concatBytes(u32s(path.length), path, u32s(content.length), content));
      return () => child.stdout.off("data", onData);
    },
  };
}
