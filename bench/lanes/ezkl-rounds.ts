/** Results by ezkl in processes that do nothing else (ezkl_rounds.py). */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { Hex } from "viem";
import type { CircuitKeys } from "../../prover/proof/ezkl/keys.ts";
import { since } from "./child.ts";

export interface EzklResult {
  readonly seconds: number;
  readonly proof: Hex;
  /** field elements */
  readonly outputs: readonly string[];
}

export interface EzklRounds {
  /** of each input in order */
  readonly results: readonly EzklResult[];
  /** peak resident memory of the process */
  readonly memoryBytes: number;
  /** from the start of the process to its answer */
  readonly wallSeconds: number;
}

/** @param inputs content of ezkl's input files
 *  @throws Error when the process ends without an answer */
export async function ezklRounds(
  python: string,
  keys: CircuitKeys,
  inputs: readonly string[],
): Promise<EzklRounds> {
  const scratch = mkdtempSync(join(tmpdir(), "assay-bench-ezkl-"));
  const path = (name: string): string => join(scratch, name);
  const files = { data: path("data.json"), witness: path("witness.json"), proof: path("proof.json") };
  try {
    const start = performance.now();
    const child = spawn(python, [join(import.meta.dirname, "ezkl_rounds.py")], {
      stdio: ["pipe", "pipe", "ignore"],
    });
    child.stdin.end(JSON.stringify({ ...keys, ...files, inputs }));
    const answer = await text(child.stdout);
    return { ...(JSON.parse(answer) as Omit<EzklRounds, "wallSeconds">), wallSeconds: since(start) };
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
