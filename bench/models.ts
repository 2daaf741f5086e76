/** The models that inference is measured with. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { createRng } from "../conformance/generate/rng.ts";
import { prepare } from "../inference/executor/prepare.ts";
import type { PreparedModel } from "../inference/executor/prepared-model.ts";
import { loadModelFolder } from "../inference/model-folder.ts";
import { type Model, NONE, WEIGHT } from "../inference/program/form.ts";
import { bitsOfFloat } from "../inference/program/tensor.ts";
import { packDot } from "../inference/program/weights.ts";
import { projectRoot } from "../tools/foundry.ts";

const MODELS = join(projectRoot, "models");
export const LAYER = 768;

/** One int8 layer, 768 × 768, requantized. */
export function layer(): PreparedModel {
  const rng = createRng(1);
  const channels = Array.from({ length: LAYER }, () => ({
    bias: rng.int(-1000, 1000),
    multiplier: 0,
    addend: 0n,
    shift: 0,
    scaleBits: bitsOfFloat(2 ** -13 * (1 + rng.int(0, 1000) / 1000)),
    zeroPoint: 128,
    lower: 0,
    upper: 255,
    weightOffset: 128,
  }));
  const empty = { b: NONE, c: NONE, coordinates: [], dims: [1, LAYER], type: "u8" } as const;
  const model: Model = {
    program: {
      inputCodec: "raw",
      outputCodec: "raw",
      inputSize: LAYER,
      weights: [{ layout: "dot", type: "u8", dims: [LAYER, LAYER] }],
      steps: [
        { ...empty, opcode: "codec", variant: 4, a: NONE, k: 0 },
        { ...empty, opcode: "dot", variant: 2, a: 0, b: WEIGHT, k: 1 },
      ],
    },
    weights: [packDot(rng.bytes(LAYER * LAYER), LAYER, channels)],
  };
  return prepare(model, new Uint8Array(4));
}

/** Those that were imported; a derived one reads its own answer, and is measured apart. */
export function shippedModels(): Map<string, PreparedModel> {
  const names = readdirSync(MODELS).filter((name) =>
    ["program.bin", "model.onnx"].every((file) => existsSync(join(MODELS, name, file))),
  );
  return new Map(
    names.map((name) => {
      const { model, selector } = loadModelFolder(join(MODELS, name));
      return [name, prepare(model, selector)];
    }),
  );
}
