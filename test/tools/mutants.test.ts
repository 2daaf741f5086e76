import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { projectRoot } from "../../tools/foundry.ts";
import { collectSources, MUTANTS, mutate } from "../../tools/mutants.ts";

const GAMES = "test/contracts/invariant/Games.t.sol";
const sources = collectSources(GAMES, (file) => readFileSync(join(projectRoot, file), "utf8"));

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
