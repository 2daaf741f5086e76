import { afterAll, describe, expect, test } from "vitest";
import { shapedProgram } from "../../../../conformance/generate/shaped-program.ts";
import { PLANTED, PlantedContracts } from "../../../support/planted-contracts.ts";
import { ProgramChain } from "../../../support/program-chain.ts";
import { compareProgram } from "../../../support/program-fuzz.ts";
import { sampled } from "../../../support/scale.ts";

/** As many random programs as `npm test` tries, without the directed ones. */
const PROGRAMS = 2_000;
const WORKERS = 4;

const contracts = new PlantedContracts();
const found: string[] = [];
afterAll(() => {
  contracts.close();
  process.stdout.write(`${found.join("\n")}\n`);
});

/** @returns the first programs that differ, in the order of `npm test` */
async function findFault(chain: ProgramChain): Promise<readonly [seed: number, difference: string][]> {
  const wrong: [number, string][] = [];
  let next = 1;
  const worker = async (): Promise<void> => {
    while (next <= PROGRAMS && wrong.length === 0) {
      const seed = next++;
      const [difference] = (await compareProgram(chain, shapedProgram(seed, true))).differences;
      if (difference !== undefined) wrong.push([seed, difference]);
    }
  };
  await Promise.all(Array.from({ length: WORKERS }, worker));
  return wrong.sort(([a], [b]) => a - b);
}

describe("compareProgram", () => {
  test.each(sampled(PLANTED, 16))("behavior: finds $name", async (mutant) => {
    const chain = await ProgramChain.open({ artifacts: contracts.compile(mutant) });
    try {
      const [first] = await findFault(chain);
      expect(first).toBeDefined();
      if (first !== undefined) found.push(`program ${first[0]} finds ${mutant.name}: ${first[1]}`);
    } finally {
      await chain.close();
    }
  });
});
