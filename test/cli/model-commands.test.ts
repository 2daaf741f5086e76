import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Command } from "commander";
import { afterAll, afterEach, describe, expect, it, vi } from "vitest";
import { BaseError } from "../../base/errors.ts";
import { addModelCommands } from "../../cli/model/commands.ts";
import type { NamedEngine } from "../../inference/model-values.ts";
import { onnxFile } from "../support/onnx-file.ts";

const folder = mkdtempSync(join(tmpdir(), "assay-cli-"));
afterAll(() => rmSync(folder, { recursive: true }));
afterEach(() => vi.restoreAllMocks());

const ENGINE: NamedEngine = {
  name: "other",
  run: async () => ({ y: { type: "uint8", dims: [1], data: [42] } }),
};

/** Runs `assay model …` and returns what it printed. */
async function assay(...argv: readonly string[]): Promise<string> {
  const printed: string[] = [];
  vi.spyOn(console, "log").mockImplementation((text) => void printed.push(String(text)));
  const program = new Command("assay").exitOverride().configureOutput({ writeErr: () => {} });
  addModelCommands(program, { other: ENGINE });
  await program.parseAsync(["node", "assay", "model", ...argv]);
  return printed.join("\n");
}

async function codeOf(...argv: readonly string[]): Promise<string> {
  try {
    await assay(...argv);
  } catch (error) {
    if (error instanceof BaseError) return error.code;
    throw error;
  }
  return "done";
}

const file = join(folder, "tiny.onnx");
writeFileSync(
  file,
  onnxFile({
    nodes: [
      { op: "DequantizeLinear", name: "dq", inputs: ["x", "s"], outputs: ["r"] },
      { op: "QuantizeLinear", name: "q", inputs: ["r", "one", "zero"], outputs: ["y"] },
    ],
    inputs: { x: { type: "int32", dims: ["N"] } },
    outputs: { y: "uint8" },
    constants: {
      s: { type: "float32", dims: [], data: [0.013117] },
      one: { type: "float32", dims: [], data: [1] },
      zero: { type: "uint8", dims: [], data: [0] },
    },
  }),
);
const inputs = join(folder, "inputs.json");
writeFileSync(inputs, JSON.stringify({ x: { type: "int32", dims: [3], data: [100, -5, 20_000] } }));

describe("assay model", () => {
  it("default: import, verify, inspect and run a file of one's own", async () => {
    const out = join(folder, "tiny");
    const imported = JSON.parse(await assay("import", file, "--dim", "N=3", "--out", out, "--json"));
    expect(imported.requantizations).toEqual([
      { node: "q", channels: 1, form: "integer", without: [], nudges: [] },
    ]);
    expect(JSON.parse(await assay("verify", out, "--json")).ok).toBe(true);
    const inspected = JSON.parse(await assay("inspect", out, "--json"));
    expect(inspected.steps.map((s: { operation: string }) => s.operation)).toEqual([
      "codec raw s32 [3]",
      "requant integer u8 [3]",
    ]);
    for (const model of [out, file]) {
      const run = JSON.parse(
        await assay("run", model, "--dim", "N=3", "--inputs", inputs, "--trace", "--json"),
      );
      expect(run.outputs).toEqual({ y: { type: "uint8", dims: [3], data: [1, 0, 255] } });
      expect(run.trace).toHaveLength(2);
    }
  });

  it("args: --engine runs another engine", async () => {
    const run = JSON.parse(
      await assay("run", file, "--dim", "N=3", "--inputs", inputs, "--engine", "other", "--json"),
    );
    expect(run.outputs.y.data).toEqual([42]);
  });

  it("error: bad arguments and inputs are named", async () => {
    expect(await codeOf("import", file, "--codec", "morse")).toBe("ARGUMENT_INVALID");
    expect(await codeOf("import", file, "--dim", "N=0")).toBe("ARGUMENT_INVALID");
    expect(await codeOf("import", join(folder, "absent.onnx"))).toBe("FILE_NOT_READABLE");
    expect(await codeOf("import", inputs)).toBe("ONNX_MALFORMED");
    expect(await codeOf("import", file, "--codec", "prices")).toBe("IMPORT_CODEC");
    expect(await codeOf("run", file, "--inputs", inputs)).toBe("INPUT_INVALID");
    expect(await codeOf("run", file, "--inputs", file)).toBe("FILE_NOT_JSON");
    expect(await codeOf("run", file, "--inputs", inputs, "--engine", "none")).toBe("ARGUMENT_INVALID");
    expect(await codeOf("verify", "nothing")).toBe("MODEL_NOT_FOUND");
    expect(await codeOf("eval", "nothing", "--data", folder)).toBe("ARGUMENT_INVALID");
    expect(await codeOf("eval", "forecast-vix", "--data", folder)).toBe("FILE_NOT_READABLE");
  });
});
