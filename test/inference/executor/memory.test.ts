/** A run whose memory is used again gives what a run with memory for each step gives. */
import { expect, it } from "vitest";
import { seededProgram } from "../../../conformance/generate/random-program.ts";
import { encodeInput } from "../../../inference/codecs/input.ts";
import { passTensors } from "../../../inference/executor/memory.ts";
import { prepare } from "../../../inference/executor/prepare.ts";
import { type Model, readsClaimed } from "../../../inference/program/form.ts";
import { outputLength } from "../../../inference/program/shape.ts";
import { createRng } from "../../support/rng.ts";
import { rowProgram } from "../../support/row-programs.ts";
import { scaled } from "../../support/scale.ts";
import { sequenceProgram } from "../../support/sequence-programs.ts";

const LINES = scaled(400, 4_000, 20_000);
const SEQUENCES = scaled(25, 200, 1_000);
const SEEDED = scaled(300, 3_000, 20_000);
const selector = Uint8Array.of(1, 2, 3, 4);

function* programs(): Generator<readonly [name: string, model: Model, calldatas: readonly Uint8Array[]]> {
  for (let seed = 0; seed < LINES + SEQUENCES; seed++) {
    const rng = createRng(seed);
    const shape = {
      prompt: rng.int(1, 4),
      tokens: rng.int(2, 6),
      heads: rng.int(1, 3),
      width: rng.int(1, 4),
    };
    const model =
      seed < LINES ? rowProgram(rng, rng.int(1, 7)) : sequenceProgram(rng, { ...shape, layers: 2 });
    const calldata = () =>
      encodeInput(model.program, selector, { codec: "raw", bytes: rng.bytes(model.program.inputSize) });
    yield [`${seed}`, model, [calldata(), calldata()]];
  }
  for (let seed = 0; seed < SEEDED; seed++) {
    const { model, calldata } = seededProgram(seed, { steps: 8, hostile: seed % 3 === 0 });
    yield [`seeded ${seed}`, model, [calldata]];
  }
}

it("behavior: of random programs a pass gives the last tensor of a run, on one input after the other", () => {
  let [again, steps] = [0, 0];
  for (const [name, model, calldatas] of programs()) {
    const { program } = model;
    const own = calldatas[0]?.slice(0, 4) as Uint8Array;
    const [passing, running] = [prepare(model, own), prepare(model, own)];
    const rng = createRng(1);
    for (const calldata of [...calldatas, ...calldatas]) {
      const input = passing.decode(calldata);
      const claimed = readsClaimed(program) ? rng.bytes(outputLength(program)) : undefined;
      const expected = running.runApart(input, claimed).at(-1);
      expect(passing.pass(input, claimed), name).toEqual(expected);
      expect(running.run(input, claimed).at(-1), name).toEqual(expected);
    }
    const tensors = passTensors(program);
    again += tensors.length - new Set(tensors.map(({ data }) => data)).size;
    steps += tensors.length;
  }
  expect(again).toBeGreaterThan(steps / 4);
});
