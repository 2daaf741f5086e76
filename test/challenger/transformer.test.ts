/** A text classifier of float32 sums and tables in the bond lane: an honest claim is final, a wrong element of any step is
 *  convicted by the contracts. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { importOnnx } from "../../inference/onnx/import.ts";
import { elementCount, type Opcode, type Step } from "../../inference/program/form.ts";
import { type PlayedModel, playedModel } from "../support/played-dispute.ts";
import { createRng } from "../support/rng.ts";
import { scaled } from "../support/scale.ts";

const FILE = join(import.meta.dirname, "../vectors/quantized/distilbert.dynamic.onnx");
const OPCODES: readonly Opcode[] = ["float", "move", "lookup", "dot", "arith", "select"];

let played: PlayedModel;

beforeAll(async () => {
  const settings = { inputTypes: new Map([["attention_mask", "int32"]]) };
  played = await playedModel(importOnnx(readFileSync(FILE), settings).model);
});

describe("a transformer's trace", () => {
  it("default: an honest claim is final", async () => {
    expect(await played.play(undefined)).toBe("FINAL NONE");
  });

  it.each(OPCODES)(
    "behavior: a wrong element of a step %s is convicted, whatever follows from it",
    async (opcode) => {
      const { steps } = played.run.prepared.program;
      const rng = createRng(OPCODES.indexOf(opcode));
      const places = steps.flatMap((step, i) => (step.opcode === opcode ? [i] : []));
      for (let i = 0; i < scaled(1, 8); i++) {
        const step = rng.pick(places);
        const at = rng.int(0, elementCount((steps[step] as Step).dims) - 1);
        const bytes = [{ step, at, flip: rng.int(1, 255) }];
        expect(await played.play({ bytes, follows: true, output: "own" })).toBe("FALLEN ELEMENT");
      }
    },
  );
});
