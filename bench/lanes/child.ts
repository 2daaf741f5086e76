/** A process that does one lane's work and nothing else, so that its time and peak memory are that work's. */

import { fork } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type Hex, toHex } from "../../base/bytes.ts";
import { execute } from "../../inference/executor/execute.ts";
import { prepare } from "../../inference/executor/prepare.ts";
import { readProgram } from "../../inference/program/validate.ts";
import { encodeProof } from "../../protocol/rules/proof/groth16.ts";
import { compileCircuit } from "../../prover/proof/groth16/compile.ts";
import type { Witness } from "../../prover/proof/groth16/r1cs.ts";
import { writeWitness } from "../../prover/proof/groth16/snark/files.ts";
import { NativeProver } from "../../prover/proof/groth16/snark/native.ts";
import { stateInference } from "../../prover/proof/groth16/statement.ts";
import { mostMemory } from "../memory.ts";

/** What a prover has of a model before a request comes: the bytes of its files. */
export interface ModelBytes {
  readonly program: Uint8Array;
  readonly weights: readonly Uint8Array[];
  readonly selector: Uint8Array;
}

export type Work = ModelBytes & { readonly inputs: readonly Uint8Array[] } & (
    | {
        readonly kind: "prove";
        /** file of the proving key */
        readonly provingKey: string;
        readonly binding: bigint;
        /** most constraints */
        readonly limit: number;
        /** path of assay-prove; absent: snarkjs */
        readonly native?: string;
      }
    | { readonly kind: "execute" }
  );

export interface WorkDone {
  /** of each input in order; none of an execution */
  readonly evidence: readonly Hex[];
  /** from calldata to evidence, or to the output, of each input: a process's first is slower */
  readonly seconds: readonly number[];
  /** peak resident memory of the process, its threads included */
  readonly memoryBytes: number;
}

/** @param bundle this file with all that it imports, as JavaScript: it starts in a fraction of the time
 *  @returns also the seconds from the start of the process to its answer
 *  @throws Error when the process ends without an answer */
export async function inChild(
  work: Work,
  bundle?: string,
): Promise<WorkDone & { readonly wallSeconds: number }> {
  const start = performance.now();
  const child = fork(bundle ?? fileURLToPath(import.meta.url), [], {
    execArgv: bundle === undefined ? ["--import", "tsx"] : [],
    serialization: "advanced",
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  child.send(work);
  try {
    const ended = once(child, "exit").then(([code]) => {
      throw new Error(`The measured process ended with ${code} and without an answer.`);
    });
    const [answer] = (await Promise.race([once(child, "message"), ended])) as [WorkDone];
    return { ...answer, wallSeconds: since(start) };
  } finally {
    child.kill();
  }
}

/** Seconds since a time of `performance.now`. */
export const since = (start: number): number => (performance.now() - start) / 1_000;

async function perform(work: Work): Promise<WorkDone> {
  const model = { program: readProgram(work.program), weights: work.weights };
  const prepared = prepare(model, work.selector);
  const evidence: Hex[] = [];
  const seconds: number[] = [];
  const timed = async (one: () => Promise<unknown> | unknown): Promise<void> => {
    const start = performance.now();
    await one();
    seconds.push(since(start));
  };
  if (work.kind === "execute") {
    for (const calldata of work.inputs) await timed(() => execute(prepared, calldata));
  } else {
    const { selector, binding, limit } = work;
    const circuit = compileCircuit(model, limit);
    const { prove, end } = await proverOf(work);
    for (const calldata of work.inputs) {
      await timed(async () => {
        const output = execute(prepared, calldata);
        const { witness } = stateInference(circuit, model.program, selector, calldata, output, binding);
        evidence.push(toHex(encodeProof(await prove(witness))));
      });
    }
    await end();
  }
  return { evidence, seconds, memoryBytes: mostMemory() };
}

/** What makes this process's proofs. */
async function proverOf({ provingKey, native }: { provingKey: string; native?: string }) {
  if (native !== undefined) {
    const prover = new NativeProver(native);
    return { prove: (witness: Witness) => prover.prove(provingKey, witness), end: () => prover.close() };
  }
  const snarkjs = await import("../../prover/proof/groth16/snark/snarkjs.ts");
  const key = new Uint8Array(readFileSync(provingKey));
  return {
    prove: (witness: Witness) => snarkjs.prove(key, writeWitness(witness)),
    end: () => snarkjs.endThreads(),
  };
}

// Only as a child: the parent's functions come from here, too.
if (process.send !== undefined && process.argv[1] === fileURLToPath(import.meta.url)) {
  process.once("message", (work: Work) => {
    void perform(work).then((done) => process.send?.(done));
  });
}
