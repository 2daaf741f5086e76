import { describe, expect, it } from "vitest";
import { modelFolder } from "../../../cli/model-source.ts";
import { step } from "../../../conformance/generate/small-programs.ts";
import { isForExecutorAlone, isQuick } from "../../../inference/executor/quick.ts";
import { loadModelFolder } from "../../../inference/model-folder.ts";
import { variantCode } from "../../../inference/program/codes.ts";
import { heavyModel } from "../../support/heavy-model.ts";
import { SHIPPED } from "../../support/system.ts";

describe("isQuick", () => {
  it.each(SHIPPED)("default: %s is", (name) => {
    expect(isQuick(loadModelFolder(modelFolder(name)).model.program)).toBe(true);
  });

  it("behavior: a program of many elements is not, nor one of many products", () => {
    const { program } = heavyModel().model;
    expect(isQuick(program)).toBe(false);
    const { program: small } = loadModelFolder(modelFolder("forecast-hourly")).model;
    const steps = small.steps.map((step) =>
      step.opcode === "dot" ? { ...step, dims: [16, ...step.dims.slice(1)] } : step,
    );
    expect(isQuick({ ...small, steps })).toBe(true);
    const longer = steps.map((step) =>
      step.opcode === "dot" ? { ...step, dims: [1_024, ...step.dims.slice(1)] } : step,
    );
    expect(isQuick({ ...small, steps: longer })).toBe(false);
  });
});

describe("isForExecutorAlone", () => {
  it("behavior: quick programs are, and those whose work is mostly of steps that the emitted file computes in 64 bits", () => {
    expect(isForExecutorAlone(loadModelFolder(modelFolder("credit")).model.program)).toBe(true);
    const { program } = heavyModel().model;
    expect(isForExecutorAlone(program)).toBe(false);
    const below = variantCode("lookup", "below");
    const large = step({ opcode: "lookup", variant: below, type: "u8", dims: [8_192, 8_192] });
    expect(isForExecutorAlone({ ...program, steps: [...program.steps, large] })).toBe(true);
  });

  it("attack: one small step of a newer judge does not keep a large program from onnxruntime", () => {
    const { program } = heavyModel().model;
    const variant = variantCode("reduce", "norm");
    const last = program.steps.length - 1;
    const norm = step({ opcode: "reduce", variant, type: "s32", dims: [1, 1], a: last });
    expect(isForExecutorAlone({ ...program, steps: [...program.steps, norm] })).toBe(false);
  });
});
