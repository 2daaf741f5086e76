/** A product of two computed tensors in the bond lane: an honest claim is final, a wrong element of its DOT is convicted
 *  by the contracts. */
import { beforeAll, describe, expect, it } from "vitest";
import { importOnnx } from "../../inference/onnx/import.ts";
import { elementCount, isActivationDot, type Step } from "../../inference/program/form.ts";
import { COMPUTED_PRODUCTS } from "../support/attention-graphs.ts";
import { ALL_LANES } from "../support/echo-model.ts";
import { onnxFile } from "../support/onnx-file.ts";
import { type PlayedModel, playedModel } from "../support/played-dispute.ts";
import { createRng } from "../support/rng.ts";

let played: PlayedModel;

const { model } = importOnnx(
  onnxFile(
    (COMPUTED_PRODUCTS["QLinearMatMul, both computed"] as (typeof COMPUTED_PRODUCTS)[string])(createRng(3))
      .graph,
  ),
  { products: "dot" },
);

beforeAll(async () => {
  played = await playedModel(model);
});

describe("a product of activations", () => {
  it("default: an honest claim is final", async () => {
    expect(await played.play(undefined)).toBe("FINAL NONE");
  });

  it("behavior: a wrong element of it is convicted, whatever follows from it", async () => {
    const step = model.program.steps.findIndex(isActivationDot);
    const rng = createRng(5);
    for (let i = 0; i < 3; i++) {
      const at = rng.int(0, elementCount((model.program.steps[step] as Step).dims) - 1);
      const bytes = [{ step, at, flip: rng.int(1, 255) }];
      expect(await played.play({ bytes, follows: true, output: "own" })).toBe("FALLEN ELEMENT");
    }
  });

  it("error: the registry refuses the lane EXECUTION", async () => {
    await expect(played.register(ALL_LANES)).rejects.toThrow(/StepNotExecutable/);
  });
});
