import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { toHex } from "../../base/bytes.ts";
import { DIRECTED_RUNS } from "../../conformance/generate/directed-runs.ts";
import { brokenProgram, type Subject, shapedProgram } from "../../conformance/generate/shaped-program.ts";
import { trace } from "../../inference/executor/execute.ts";
import { prepare } from "../../inference/executor/prepare.ts";
import { OPCODES, type Tensor } from "../../inference/program/form.ts";
import { createRng } from "../support/rng.ts";
import { compareRuns, type RunComparison, RustExecutor } from "../support/rust.ts";

/** Elements of random programs that are compared at least: computed ones, whatever MOVE and CODEC copied apart. */
const COMPUTED = 1_000_000;
/** Elements of each opcode at least. */
const EACH = 5_000;
/** Programs that run again on random weights. */
const HOSTILE = 100;
const FIRST = 2_000_000 + 1_000_000 * Number(process.env.FUZZ_SEED ?? 0);

let rust: RustExecutor;
const counts = new Map<string, number>();
const add = (name: string, count: number): void => {
  counts.set(name, (counts.get(name) ?? 0) + count);
};

beforeAll(() => {
  rust = RustExecutor.build();
});
afterAll(async () => {
  await rust?.close();
  const lines = [...counts].map(
    ([name, count]) => `${name.padEnd(24)}${count.toLocaleString("en-US").padStart(12)}`,
  );
  process.stdout.write(`compared with Rust\n${lines.join("\n")}\n`);
});

function count({ computed, byOpcode }: RunComparison): number {
  for (const [opcode, count] of byOpcode) add(`elements of ${opcode}`, count);
  return computed;
}

/** Changed program bytes: both take or refuse them, and run them alike. */
async function compareChanged(seed: number, subject: Subject): Promise<readonly string[]> {
  const { bytes, accepted, subject: changed } = brokenProgram(seed, subject);
  const answer = await rust.ask("program", toHex(bytes));
  add(accepted ? "changed programs taken" : "changed programs refused", 1);
  if ((answer !== undefined) !== accepted)
    return [`${subject.name}, changed: the validator says ${accepted}`];
  if (changed === undefined) return [];
  const compared = await compareRuns(rust, changed);
  count(compared);
  return compared.differences;
}

describe("assay-exact lines", () => {
  test(`behavior: ${COMPUTED.toLocaleString("en-US")} computed elements of random programs, every step's tensor and every root`, async () => {
    const differences: string[] = [];
    let computed = 0;
    for (let seed = FIRST; computed < COMPUTED && differences.length < 5; seed++) {
      const subject = shapedProgram(seed);
      const compared = await compareRuns(rust, subject);
      computed += count(compared);
      differences.push(...compared.differences);
      differences.push(...(await compareChanged(seed, subject)));
      add("programs", 1);
    }
    expect(differences.join("\n")).toBe("");
    add("elements computed", computed);
    for (const opcode of OPCODES) {
      expect(counts.get(`elements of ${opcode}`) ?? 0, opcode).toBeGreaterThan(EACH);
    }
    expect(counts.get("changed programs taken") ?? 0).toBeGreaterThan(10);
    expect(counts.get("changed programs refused") ?? 0).toBeGreaterThan(50);
  });

  test.each(Object.entries(DIRECTED_RUNS))("behavior: %s", async (_name, subjects) => {
    for (const subject of subjects) {
      const compared = await compareRuns(rust, subject);
      count(compared);
      expect(compared.differences, subject.name).toEqual([]);
    }
  });

  test("behavior: weights of any bytes, those that no row uses among them", async () => {
    for (let seed = FIRST; seed < FIRST + HOSTILE; seed++) {
      const subject = shapedProgram(seed);
      const rng = createRng(seed);
      const weights = subject.model.weights.map(({ length }) => rng.bytes(length));
      const compared = await compareRuns(rust, { ...subject, model: { ...subject.model, weights } });
      count(compared);
      expect(compared.differences.join("\n")).toBe("");
    }
  });

  test("behavior: one bit of one element that the executor does not have is found, with its step", async () => {
    const subject = shapedProgram(FIRST);
    const step = subject.model.program.steps.length - 1;
    const { differences } = await compareRuns(rust, subject, (calldata) => {
      const tensors = trace(prepare(subject.model, subject.selector), calldata);
      const data = (tensors[step] as Tensor).data;
      new Uint8Array(data.buffer, data.byteOffset)[0]! ^= 1;
      return tensors;
    });
    expect(differences.join("\n")).toMatch(`step ${step} (`);
    expect(differences.join("\n")).toMatch("trace root");
  });

  test("error: what is no line of the protocol, and a number beyond its field", async () => {
    const { model, selector } = shapedProgram(FIRST);
    expect(model.program.steps.length).toBeGreaterThan(0);
    for (const words of [["run"], ["program", "0x0"], ["program", "zz"], ["program", toHex(selector)]]) {
      expect(await rust.ask(...words), words.join(" ")).toBeUndefined();
    }
    expect(await rust.ask("")).toBeUndefined();
    const request = ["request", "0x01", `0x${"11".repeat(20)}`];
    const [address, word] = [`0x${"22".repeat(20)}`, `0x${"33".repeat(32)}`];
    const fields = (lanes: string): string[] => [
      address,
      word,
      word,
      lanes,
      "0x",
      "0x",
      "0x",
      "0x",
      "0x",
      address,
      "0x",
      address,
      "0x",
      "0x",
    ];
    expect(await rust.ask(...request, ...fields("0x07"))).toHaveLength(1);
    expect(await rust.ask(...request, ...fields("0x0107"))).toBeUndefined();
    expect(await rust.ask(...request, ...fields("0x07").slice(1))).toBeUndefined();
  });
});
