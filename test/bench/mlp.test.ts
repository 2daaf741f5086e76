import { describe, expect, it } from "vitest";
import { equalBytes } from "../../base/bytes.ts";
import { mlpInput, mlpModel, mlpOnnx } from "../../bench/tasks/mlp.ts";
import { encodeInput } from "../../inference/codecs/input.ts";
import { execute, trace } from "../../inference/executor/execute.ts";
import { prepare } from "../../inference/executor/prepare.ts";
import { createRng } from "../support/rng.ts";

describe("mlpOnnx", () => {
  it("behavior: every call gives the same bytes", () => {
    expect(equalBytes(mlpOnnx(), mlpOnnx())).toBe(true);
  });
});

describe("mlpModel", () => {
  it("default: three dot steps, requantized in the integer form", () => {
    const { model, requantizations } = mlpModel();
    const steps = model.program.steps.map((s) => `${s.opcode} ${s.variant} ${s.type} ${s.dims.join("x")}`);
    expect(steps).toEqual(["codec 4 u8 1x256", "dot 1 u8 1x64", "dot 1 u8 1x32", "dot 0 s32 1x2"]);
    expect(requantizations.map((r) => [r.form, r.channels])).toEqual([
      ["integer", 64],
      ["integer", 32],
    ]);
  });
});

describe("mlpInput", () => {
  it("behavior: activations fill the byte without mostly saturating, and outputs differ", () => {
    const { model } = mlpModel();
    const prepared = prepare(model, new Uint8Array(4));
    const rng = createRng(1);
    const outputs = new Set<string>();
    const hidden: number[] = [];
    for (let i = 0; i < 100; i++) {
      const input = encodeInput(model.program, prepared.selector, { codec: "raw", bytes: mlpInput(rng) });
      outputs.add(execute(prepared, input).join());
      for (const step of [1, 2]) hidden.push(...(trace(prepared, input)[step]?.data ?? []));
    }
    expect(outputs.size).toBe(100);
    const inside = hidden.filter((value) => value > 0 && value < 255).length;
    expect(inside / hidden.length).toBeGreaterThan(0.2);
    expect(hidden.filter((value) => value === 255).length / hidden.length).toBeLessThan(0.25);
  });
});
