import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { prepare } from "../../../inference/executor/prepare.ts";
import { loadModelFolder } from "../../../inference/model-folder.ts";
import { namedTensor } from "../../../inference/model-values.ts";
import type { Tensor } from "../../../inference/program/form.ts";
import { selfTestCalldata } from "../../../inference/self-test.ts";
import { compareOriginal, nothingCompared } from "../../support/onnx-original.ts";
import { withUnsignedWeights } from "../../support/unsigned-weights.ts";

const MODELS = join(import.meta.dirname, "../../../models");
const NAMES = readdirSync(MODELS).filter((name) =>
  ["program.bin", "model.onnx"].every((file) => existsSync(join(MODELS, name, file))),
);
const INPUTS = 300;

describe("a shipped model and onnxruntime on its model.onnx", () => {
  it.each(NAMES)("behavior: %s gives the same outputs", async (name) => {
    const { manifest, model, source, selector } = loadModelFolder(join(MODELS, name));
    const { inputs, outputs } = manifest.assay;
    const prepared = prepare(model, selector);
    // One named input: the one CODEC step's tensor.
    expect(inputs).toHaveLength(1);
    const runs = Array.from({ length: INPUTS }, (_, seed) => {
      const [tensor] = prepared.inputTensors(
        prepared.decode(selfTestCalldata(prepared.program, selector, seed)),
      );
      return { [inputs[0]?.name ?? ""]: namedTensor(tensor as Tensor) };
    });
    const compare = async (file: Uint8Array) => {
      const comparison = nothingCompared();
      await compareOriginal(file, { prepared, io: { inputs, outputs } }, runs, comparison);
      return comparison;
    };
    const comparison = await compare(withUnsignedWeights(source.content));
    expect(comparison.compared).toBeGreaterThanOrEqual(INPUTS);
    // Their products, sums and tables are exact operators, so the whole is: no allowance.
    expect(comparison).toMatchObject({ different: 0, largest: 0 });
    // Whether the file as it is does as well is up to the CPU.
    const { compared, different, largest } = await compare(source.content);
    process.stdout.write(
      `${name}, its weights as they are: ${compared} compared, ${different} different, by at most ${largest}\n`,
    );
  });
});
