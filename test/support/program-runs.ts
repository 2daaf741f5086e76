/** Whole programs as tests of mutants: the contracts with all mutants are deployed on a chain once, and the coinbase of
 *  the blocks that it simulates says which one runs. */
import { numberToHex } from "viem";
import { readArtifact } from "../../cli/artifacts.ts";
import { DIRECTED_RUNS } from "../../conformance/generate/directed-runs.ts";
import { type Subject, shapedProgram } from "../../conformance/generate/shaped-program.ts";
import type { Artifact, DeployedContract } from "../../protocol/chain/deploy/parts.ts";
import type { OpenPrograms, ProgramRuns } from "../../tools/mutation/contracts.ts";
import { ProgramChain } from "./program-chain.ts";
import { compareProgram, outputsOf } from "./program-fuzz.ts";

/** Several times what a program takes without the optimizer; it ends one that has no end. */
const GAS = 400_000_000;

/** Programs that the node and this process work at, beside each other. */
const WORKERS = 4;

interface Case {
  readonly subject: Subject;
  readonly expected: readonly Uint8Array[];
}

class ChainRuns implements ProgramRuns {
  readonly #chain: ProgramChain;
  readonly #cases: ReadonlyMap<string, Case>;

  constructor(chain: ProgramChain, cases: ReadonlyMap<string, Case>) {
    this.#chain = chain;
    this.#cases = cases;
  }

  close(): Promise<void> {
    return this.#chain.close();
  }

  async find(id: number, hint?: string): Promise<{ name: string; difference: string } | undefined> {
    this.#chain.coinbase = numberToHex(id, { size: 20 });
    const first = hint === undefined ? undefined : this.#cases.get(hint);
    const all = [...(first === undefined ? [] : [first]), ...this.#cases.values()];
    let found: { name: string; difference: string } | undefined;
    const worker = async (): Promise<void> => {
      for (let next = all.shift(); next !== undefined && found === undefined; next = all.shift()) {
        const { subject, expected } = next;
        const [difference] = (await compareProgram(this.#chain, subject, expected)).differences;
        if (difference !== undefined) found ??= { name: subject.name, difference };
      }
    };
    await Promise.all(Array.from({ length: WORKERS }, worker));
    return found;
  }
}

export const openProgramRuns: OpenPrograms = async (paths, count) => {
  const directed = Object.values(DIRECTED_RUNS).flat();
  const random = Array.from({ length: count }, (_, i) => shapedProgram(i + 1, true));
  // Random ones first: most mutants fall to the first few of them.
  const cases = [...random, ...directed].map((subject) => {
    return [subject.name, { subject, expected: outputsOf(subject) }] as const;
  });
  const named = Object.entries(paths).map(([name, path]) => [name, readArtifact(path)]);
  const artifacts = Object.fromEntries(named) as Record<DeployedContract, Artifact>;
  const chain = await ProgramChain.open({ artifacts, isLarge: true, gas: GAS });
  return new ChainRuns(chain, new Map(cases));
};
