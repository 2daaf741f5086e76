/** Files that scikit-learn, XGBoost and LightGBM export (tools/tree_examples.py), against what the libraries predict. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { prepare } from "../../../../inference/executor/prepare.ts";
import { runNamed } from "../../../../inference/model-values.ts";
import { importOnnx } from "../../../../inference/onnx/import.ts";

const FOLDER = join(import.meta.dirname, "../../../vectors/trees");

interface Expected {
  readonly rows: readonly (readonly number[])[];
  readonly models: Readonly<
    Record<string, Readonly<Record<string, readonly (string | number | number[])[]>>>
  >;
}
const expected = JSON.parse(readFileSync(join(FOLDER, "expected.json"), "utf8")) as Expected;

const read = (name: string): Uint8Array => readFileSync(join(FOLDER, `${name}.onnx`));

/** Predictions in binary32, and bounds below it. */
const NEAR = 2e-6;

describe("files of scikit-learn, XGBoost and LightGBM", () => {
  it("behavior: every file is compared", () => {
    const files = readdirSync(FOLDER).filter((file) => file.endsWith(".onnx"));
    expect(files.sort()).toEqual(
      Object.keys(expected.models)
        .map((name) => `${name}.onnx`)
        .sort(),
    );
  });

  it.each(Object.keys(expected.models))("behavior: %s.onnx gives the library's predictions", (name) => {
    const onnx = read(name);
    for (const [output, predictions] of Object.entries(expected.models[name] ?? {})) {
      const imported = importOnnx(onnx, { keep: [output] });
      const [input] = imported.io.inputs;
      const model = { onnx, io: imported.io, prepared: prepare(imported.model, new Uint8Array(4)) };
      const labels = imported.io.outputs[0]?.labels;
      expected.rows.forEach((row, i) => {
        const x = { type: "float32", dims: [1, row.length], data: row };
        const data = runNamed(model, { [input?.name ?? ""]: x }).outputs[output]?.data as readonly number[];
        const prediction = predictions[i];
        if (typeof prediction === "string") expect(labels?.[data[0] as number]).toBe(prediction);
        else if (typeof prediction === "number") expect(data).toEqual([prediction]);
        else {
          const distances = (prediction as number[]).map((v, c) => Math.abs(v - (data[c] as number)));
          expect(Math.max(...distances)).toBeLessThan(
            NEAR * Math.max(1, ...(prediction as number[]).map(Math.abs)),
          );
        }
      });
      const [report] = imported.trees;
      expect(report?.scoreBound).toBeLessThan(NEAR);
    }
  });

  it("behavior: a label of integer features needs no FLOAT, so that it has a circuit", () => {
    const { model } = importOnnx(read("sklearn-forest"), { keep: ["label"] });
    const floats = model.program.steps.filter(({ opcode }) => opcode === "float");
    // The comparisons of float32 features alone.
    expect(floats).toHaveLength(1);
  });

  it("error: a label and scores together have no type, and the next step says what to keep", () => {
    expect(() => importOnnx(read("xgboost"))).toThrow(
      "The outputs mix float32 and integers. Keep those of one type, by --keep NAME for each, or cast all to one type.",
    );
    expect(() => importOnnx(read("xgboost"), { keep: ["labels"] })).toThrow(
      "The graph has no output labels. Keep some of label, probabilities.",
    );
  });
});
