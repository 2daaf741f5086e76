/** Faults are planted by their places in the sources: a place that is gone is found here, and not by the suite that makes
 *  a part of them. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { BATCH_FAULTS } from "../../tools/batch-faults.ts";
import { FLEET_FAULTS } from "../../tools/fleet-faults.ts";
import { projectRoot } from "../../tools/foundry.ts";
import type { Mutant } from "../../tools/mutant.ts";
import { MUTANTS } from "../../tools/mutants.ts";
import { RECORD_FAULTS } from "../../tools/record-faults.ts";
import { CONFORMANCE_FAULTS } from "../support/conformance-faults.ts";
import { PLANTED } from "../support/planted-contracts.ts";
import { PYTHON_FAULTS, VECTOR_FAULT } from "../support/python-faults.ts";
import { OPERATOR_FAULTS } from "../support/references/faults/faults.ts";
import { RUST_FAULTS } from "../support/rust-faults.ts";

const texts = new Map<string, string>();
function textOf(file: string): string {
  const text = texts.get(file) ?? readFileSync(join(projectRoot, file), "utf8");
  texts.set(file, text);
  return text;
}

test.each<[string, readonly Mutant[], string]>([
  ["the game", MUTANTS, ""],
  ["batches", BATCH_FAULTS, ""],
  ["records", RECORD_FAULTS, ""],
  ["programs", PLANTED, ""],
  ["conformance", CONFORMANCE_FAULTS, ""],
  ["operators", OPERATOR_FAULTS, ""],
  ["Python", [...PYTHON_FAULTS, VECTOR_FAULT], "python/src"],
  ["Rust", RUST_FAULTS, "crates"],
  ["the fleet", FLEET_FAULTS, ""],
])("behavior: each fault of %s has its place, once", (_what, faults, folder) => {
  const places = (file: string, from: string) => textOf(join(folder, file)).split(from).length - 1;
  const lost = faults.flatMap(({ name, edits }) =>
    edits
      .filter(({ file, from }) => places(file, from) !== 1)
      .map(({ file, from }) => `${name}: ${file} has ${places(file, from)} places like ${from}`),
  );
  expect(lost).toEqual([]);
});
