import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { projectRoot } from "../../tools/foundry.ts";
import { collectSources, failureOf, finding, MUTANTS, mutate } from "../../tools/mutants.ts";
import { inSets, RECORD_FAULTS, RECORDS } from "../../tools/record-faults.ts";

const GAMES = "test/contracts/invariant/Games.t.sol";
const read = (file: string): string => readFileSync(join(projectRoot, file), "utf8");
const sources = collectSources(GAMES, read);
const records = collectSources(RECORDS, read);

describe("collectSources", () => {
  test("default: a file and what it imports, once each", () => {
    const files: Record<string, string> = {
      "a/one.sol": 'import {x} from "./two.sol";\nimport {y} from "../b/three.sol";',
      "a/two.sol": 'import {\n    y\n} from "../b/three.sol";',
      "b/three.sol": "contract Three {}",
    };
    const found = collectSources("a/one.sol", (file) => files[file] ?? "missing");
    expect([...found.keys()]).toEqual(["a/one.sol", "a/two.sol", "b/three.sol"]);
  });
});

describe("mutate", () => {
  test.each(MUTANTS)("default: $name", (mutant) => {
    const mutated = mutate(sources, mutant);
    const changed = [...mutated].filter(([file, text]) => sources.get(file) !== text).map(([file]) => file);
    expect(new Set(changed)).toEqual(new Set(mutant.edits.map(({ file }) => file)));
    expect(sources.get(GAMES)).toContain(`function ${mutant.caughtBy}(`);
  });

  test.each(RECORD_FAULTS)("default: $name", (fault) => {
    const changed = [...mutate(records, fault)].filter(([file, text]) => records.get(file) !== text);
    expect(changed.map(([file]) => file)).toEqual(fault.edits.map(({ file }) => file));
    expect(records.get(RECORDS)).toContain(`function ${fault.caughtBy}(`);
  });

  test("error: the text is not there, or twice", () => {
    const mutant = { name: "m", caughtBy: "t", edits: [{ file: "f", from: "x", to: "y" }] };
    expect(() => mutate(new Map([["f", "abc"]]), mutant)).toThrowErrorMatchingInlineSnapshot(
      `[Error: mutant "m": f has 0 places like "x", expected 1]`,
    );
    expect(() => mutate(new Map([["f", "x x"]]), mutant)).toThrowErrorMatchingInlineSnapshot(
      `[Error: mutant "m": f has 2 places like "x", expected 1]`,
    );
    expect(() => mutate(new Map(), mutant)).toThrowErrorMatchingInlineSnapshot(
      `[Error: mutant "m": f has 0 places like "x", expected 1]`,
    );
  });
});

describe("inSets", () => {
  test("default: every fault once, no two for one test in a set", () => {
    const sets = inSets(RECORD_FAULTS);
    expect(new Set(sets.flat())).toEqual(new Set(RECORD_FAULTS));
    expect(sets.flat()).toHaveLength(RECORD_FAULTS.length);
    for (const set of sets) expect(new Set(set.map(({ caughtBy }) => caughtBy)).size).toBe(set.length);
  });
});

describe("failureOf", () => {
  const output = `
[FAIL: MOVE variant 0: RECORD_SEED=8589934594 record 0x02 judge: element 0: 1, not 2] test_records_move_succeeds() (gas: 1)
[FAIL] test_records_dot_succeeds() (gas: 1)
[PASS] test_records_table_succeeds() (gas: 1)
`;

  test("default: what the test says, and the number of the record that failed", () => {
    const failure = failureOf(output, "test_records_move_succeeds") ?? "";
    expect(failure).toBe("MOVE variant 0: RECORD_SEED=8589934594 record 0x02 judge: element 0: 1, not 2");
    expect(finding(failure)).toBe("record 3, judge: element 0: 1, not 2");
    expect(failureOf(output, "test_records_dot_succeeds")).toBe("");
    expect(finding("")).toBe("");
  });

  test("behavior: nothing of a test that passed", () => {
    expect(failureOf(output, "test_records_table_succeeds")).toBeUndefined();
  });
});
