/** A process that does one lane's work and nothing else, so that its time and peak memory are that work's. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { execute } from "../../inference/executor/execute.ts";
import type { Groth16Proof } from "../../protocol/proof/groth16.ts";
import { endThreads, prove } from "../../prover/proof/groth16/snark/snarkjs.ts";
import type { MlpDims } from "../tasks/mlp.ts";
import { subjectOf } from "./subject.ts";

export type Work =
  | {
      readonly kind: "prove";
      readonly provingKey: Uint8Array;
      readonly witnesses: readonly Uint8Array[];
    }
  | { readonly kind: "execute"; readonly dims: MlpDims; readonly runs: number };

export interface WorkDone {
  readonly proofs: readonly Groth16Proof[];
  /** of each proof or run, in order: a process's first is slower */
  readonly seconds: readonly number[];
  /** peak resident memory of the process, its threads included */
  readonly memoryBytes: number;
}

/** @throws Error when the process ends without an answer */
export async function inChild(work: Work): Promise<WorkDone> {
  const child = fork(fileURLToPath(import.meta.url), [], {
    execArgv: ["--import", "tsx"],
    serialization: "advanced",
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  child.send(work);
  try {
    const ended = once(child, "exit").then(([code]) => {
      throw new Error(`The measured process ended with ${code} and without an answer.`);
    });
    const [answer] = (await Promise.race([once(child, "message"), ended])) as [WorkDone];
    return answer;
  } finally {
    child.kill();
  }
}

/** Seconds since a time of `performance.now`. */
export const since = (start: number): number => (performance.now() - start) / 1_000;

async function perform(work: Work): Promise<WorkDone> {
  const proofs: Groth16Proof[] = [];
  const seconds: number[] = [];
  if (work.kind === "prove") {
    for (const witness of work.witnesses) {
      const start = performance.now();
      proofs.push(await prove(work.provingKey, witness));
      seconds.push(since(start));
    }
    await endThreads();
  } else {
    const { prepared, next } = subjectOf(work.dims);
    for (let i = 0; i < work.runs; i++) {
      const { calldata } = next();
      const start = performance.now();
      execute(prepared, calldata);
      seconds.push(since(start));
    }
  }
  return { proofs, seconds, memoryBytes: process.resourceUsage().maxRSS * 1_024 };
}

// Only as a child: the parent's functions come from here, too.
if (process.send !== undefined && process.argv[1] === fileURLToPath(import.meta.url)) {
  process.once("message", (work: Work) => {
    void perform(work).then((done) => process.send?.(done));
  });
}
