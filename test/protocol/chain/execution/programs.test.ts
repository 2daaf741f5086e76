import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DIRECTED_RUNS } from "../../../../conformance/generate/directed-runs.ts";
import {
  brokenProgram,
  type Subject,
  shapedProgram,
} from "../../../../conformance/generate/shaped-program.ts";
import { isJudgedOnly } from "../../../../inference/program/codes.ts";
import { INPUT_CODECS, OUTPUT_CODECS } from "../../../../inference/program/form.ts";
import { keyOf } from "../../../support/differential.ts";
import { TARGETS } from "../../../support/directed-program.ts";
import { ENGINES, ProgramChain } from "../../../support/program-chain.ts";
import { ProgramCounts } from "../../../support/program-counts.ts";
import { compareProgram, explain } from "../../../support/program-fuzz.ts";
import { scaled } from "../../../support/scale.ts";

/** Each batch is a test of its own, so that none takes long. */
const BATCH = 500;
const BATCHES = scaled(2, 4, 100);
/** The first program's number: `npm run test:fuzz` begins elsewhere, and `npm run test:deep` behind `npm test`. */
const FIRST = 1 + 1_000_000 * Number(process.env.FUZZ_SEED ?? 0) + scaled(0, 2 * BATCH, 0);
/** Programs that the node and this process work at, beside each other. */
const WORKERS = 4;
/** Every so many programs one is changed. */
const CHANGED = 3;

const counts = new ProgramCounts();
let chain: ProgramChain;

beforeAll(async () => {
  chain = await ProgramChain.open();
});
afterAll(async () => {
  await chain?.close();
  process.stdout.write(`${counts.table()}\n`);
});

/** @returns what is wrong with a program, explained; undefined if nothing is */
async function check(subject: Subject): Promise<string | undefined> {
  const compared = await compareProgram(chain, subject);
  counts.program(subject.model.program);
  counts.played(compared.played);
  return compared.differences.length === 0 ? undefined : explain(chain, subject, compared);
}

/** @returns where registry and validator disagree about changed bytes, or what is wrong with a run of them */
async function checkChanged(seed: number, subject: Subject): Promise<string | undefined> {
  const { bytes, accepted, subject: changed } = brokenProgram(seed, subject);
  const verdict = await chain.verdict(bytes);
  counts.add("changed programs", accepted ? "accepted" : "refused");
  if (accepted !== (verdict === undefined)) return `${subject.name}, changed: the registry says ${verdict}`;
  if (!accepted && verdict?.startsWith("InvalidProgram(") !== true) return `${subject.name}: ${verdict}`;
  if (changed === undefined) return undefined;
  counts.add("changed programs", "run");
  return check(changed);
}

describe("infer", () => {
  test.each(Object.entries(DIRECTED_RUNS))("behavior: %s", async (_name, subjects) => {
    for (const subject of subjects) {
      const { played, differences } = await compareProgram(chain, subject);
      expect(differences, subject.name).toEqual([]);
      const engines = new Set(played.outcomes.map(({ engine }) => engine));
      const hasLayers = subject.model.program.steps.some(({ opcode }) => opcode === "dot");
      expect([...engines], subject.name).toEqual(hasLayers ? ENGINES : ENGINES.slice(0, 3));
    }
  });

  test.each(Array.from({ length: BATCHES }, (_, i) => [FIRST + i * BATCH, FIRST + (i + 1) * BATCH - 1]))(
    "behavior: programs %i to %i, every way to run them gives the executor's bytes",
    async (from, to) => {
      let next = from;
      const wrong: string[] = [];
      const worker = async (): Promise<void> => {
        while (next <= to && wrong.length < 3) {
          const seed = next++;
          const subject = shapedProgram(seed, true);
          const problem =
            (await check(subject)) ?? (seed % CHANGED === 0 ? await checkChanged(seed, subject) : undefined);
          if (problem !== undefined) wrong.push(problem);
        }
      };
      await Promise.all(Array.from({ length: WORKERS }, worker));
      expect(wrong.join("\n\n")).toBe("");
    },
  );

  test("behavior: those programs are of every kind", () => {
    /** Of 2,000 programs and more; in proportion of fewer. */
    const least = (count: number): number => Math.min(count, (count * BATCH * BATCHES) / 2_000);
    const missing: string[] = [];
    const demand = (group: string, names: readonly string[], least: number): void => {
      for (const name of names) {
        if (counts.of(group, name) < least) missing.push(`${group} ${name}: ${counts.of(group, name)}`);
      }
    };
    const steps = [
      // No interpreter runs DOT activations.
      ...TARGETS.filter(({ opcode, variant }) => !isJudgedOnly(opcode, variant)).map(keyOf),
      ...["u8", "s8", "s32", "f32", "bool"].map((type) => `move ${type}`),
    ];
    demand("step", steps, least(10));
    demand("input codec", INPUT_CODECS, 100);
    demand("output codec", OUTPUT_CODECS, 100);
    demand("rank", ["1", "2", "3", "4", "5", "6"], 100);
    demand("outputs compared", ENGINES, least(500));
    demand("programs", ["all"], BATCH * BATCHES);
    demand("programs", ["with a plan"], (BATCH * BATCHES) / 2);
    demand("programs", ["compiled"], (BATCH * BATCHES) / 10);
    demand("fill", ["pad", "weights", "another step"], 100);
    const strides = ["0", "+1", "+n", "-1", "-n", "two axes"];
    demand(
      "stride",
      strides.flatMap((stride) => [`${stride}, 1 byte`, `${stride}, 4 bytes`]),
      20,
    );
    const layouts = ["plain", "dot", "lookup", "channel"];
    demand(
      "weights",
      layouts.flatMap((layout) => [layout, `${layout} over a chunk's end`]),
      10,
    );
    demand("steps", ["1", "2 to 9", "10 to 29", "30 to 99", "100 and more"], least(10));
    demand("changed programs", ["accepted", "refused", "run"], least(50));
    expect(missing).toEqual([]);
  });
});
