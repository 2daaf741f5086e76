/** The cases of the differential suite: the tests run it with the executor, and with faults planted in it. */

import { seededProgram } from "../../conformance/generate/random-program.ts";
import { prepare } from "../../inference/executor/prepare.ts";
import { compareCase, type DifferentialCase, type Executor, keyOf, Tally } from "./differential.ts";
import type { Target } from "./directed-builder.ts";
import { directedProgram, TARGETS } from "./directed-program.ts";
import { createRng } from "./rng.ts";

const RUNS = 2;

/** A program that ends in the target, and inputs of it. */
function directedCase(target: Target, seed: number): DifferentialCase {
  const rng = createRng(seed);
  const { model, draw } = directedProgram(rng, target);
  const runs = Array.from({ length: RUNS }, () => draw(rng));
  return { name: `${keyOf(target)}, seed ${seed}`, model, runs };
}

/** A random chain of all opcodes. */
function randomCase(seed: number): DifferentialCase {
  const { model, selector, calldata } = seededProgram(seed);
  const prepared = prepare(model, selector);
  return { name: `random program ${seed}`, model, runs: [prepared.inputTensors(prepared.decode(calldata))] };
}

/** Elements of each target that the suite compares at least, and programs. */
export const LEAST_ELEMENTS = 20_000;
const LEAST_PROGRAMS = 12;

/** Directed programs until each target has been compared often enough. A target's programs are the same whichever
 *  other targets are compared. */
export async function compareTargets(
  executor: Executor,
  targets: readonly Target[],
  tally = new Tally(),
): Promise<Tally> {
  for (const target of targets) {
    const count = tally.of(keyOf(target));
    const before = count.compared;
    const firstSeed = 1000 * TARGETS.indexOf(target);
    for (let i = 0; i < LEAST_PROGRAMS || count.compared - before < LEAST_ELEMENTS; i++) {
      await compareCase(executor, directedCase(target, firstSeed + i), tally);
    }
  }
  return tally;
}

const RANDOM_PROGRAMS = 300;

/** The whole suite: random chains, and programs directed at every target. */
export async function compareAll(executor: Executor): Promise<Tally> {
  const tally = new Tally();
  for (let seed = 1; seed <= RANDOM_PROGRAMS; seed++) await compareCase(executor, randomCase(seed), tally);
  return compareTargets(executor, TARGETS, tally);
}
