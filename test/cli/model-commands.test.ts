import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Command } from "commander";
import { afterAll, afterEach, describe, expect, it, vi } from "vitest";
import { BaseError } from "../../base/errors.ts";
import { addModelCommands } from "../../cli/model/commands.ts";
import type { NamedEngine } from "../../inference/model-values.ts";
import { CHAINS, COMPUTED_PRODUCTS } from "../support/attention-graphs.ts";
import { causalGraph } from "../support/causal-graphs.ts";
import { onnxFile, type TestGraph } from "../support/onnx-file.ts";
import { createRng } from "../support/rng.ts";

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

  it("behavior: a model whose products have a form that was asked for verifies, and its manifest names the form", async () => {
    const products = join(folder, "products.onnx");
    const { graph } = COMPUTED_PRODUCTS["QLinearMatMul, both computed"]?.(createRng(3)) ?? {};
    writeFileSync(products, onnxFile(graph as TestGraph));
    const ids = new Map<string, { readonly modelId: string; readonly judgeVersion: number }>();
    for (const form of ["auto", "pairs", "dot"]) {
      const out = join(folder, `products-${form}`);
      await assay("import", products, "--products", form, "--out", out);
      expect(JSON.parse(await assay("verify", out, "--json")).ok).toBe(true);
      const { assay: section } = JSON.parse(readFileSync(join(out, "manifest.json"), "utf8"));
      expect(section.import.products).toBe(form === "auto" ? undefined : form);
      ids.set(form, section);
    }
    expect(ids.get("pairs")).toMatchObject({ modelId: ids.get("auto")?.modelId, judgeVersion: 1 });
    expect(ids.get("dot")).toMatchObject({ judgeVersion: 2 });
    expect(ids.get("dot")?.modelId).not.toBe(ids.get("pairs")?.modelId);
    expect(await codeOf("import", products, "--products", "rows")).toBe("ARGUMENT_INVALID");
    // A manifest that names another form is found out.
    const path = join(folder, "products-dot", "manifest.json");
    const manifest = JSON.parse(readFileSync(path, "utf8"));
    const withForm = (form: string): void =>
      writeFileSync(
        path,
        JSON.stringify({
          ...manifest,
          assay: { ...manifest.assay, import: { ...manifest.assay.import, products: form } },
        }),
      );
    withForm("pairs");
    expect(await codeOf("verify", join(folder, "products-dot"))).toBe("MODEL_MISMATCH");
    withForm("rows");
    expect(await codeOf("verify", join(folder, "products-dot"))).toBe("MANIFEST_INVALID");
  });

  it("behavior: so does one whose normalizations have a form that was asked for", async () => {
    const block = join(folder, "block.onnx");
    const { graph } = CHAINS["Attention and LayerNormalization"]?.(createRng(3)) ?? {};
    writeFileSync(block, onnxFile(graph as TestGraph));
    for (const [form, judgeVersion] of [
      ["float32", 1],
      ["integers", 2],
    ] as const) {
      const out = join(folder, `block-${form}`);
      await assay("import", block, "--products", "pairs", "--arithmetic", form, "--out", out);
      expect(JSON.parse(await assay("verify", out, "--json")).ok).toBe(true);
      const { assay: section } = JSON.parse(readFileSync(join(out, "manifest.json"), "utf8"));
      expect(section).toMatchObject({ judgeVersion });
      expect(section.import.arithmetic).toBe(form === "float32" ? undefined : form);
    }
    expect(await codeOf("import", block, "--arithmetic", "halves")).toBe("ARGUMENT_INVALID");
    const notesOf = async (...lanes: readonly string[]) => {
      const named = lanes.flatMap((lane) => ["--lane", lane]);
      const printed = await assay("import", block, "--arithmetic", "integers", ...named, "--json");
      return JSON.parse(printed).notes.join() as string;
    };
    expect(await notesOf("BOND")).not.toContain("EXECUTION");
    expect(await notesOf("BOND", "EXECUTION")).toContain("a registry refuses the lane EXECUTION");
  });

  it("behavior: a program that reads the claimed output: its folder, runs on named inputs, its lanes", async () => {
    const file = join(folder, "causal.onnx");
    const { graph, prompt, vocabulary } = causalGraph(createRng(5), { mask: "Add" });
    writeFileSync(file, onnxFile(graph));
    const types = ["prompt", "answer"].flatMap((name) => ["--input-type", `${name}=int32`]);
    const flags = [...types, "--arithmetic", "integers", "--claimed", "answer"];
    const out = join(folder, "causal");
    expect(await assay("import", file, ...flags, "--out", out)).toContain(
      "answer (int32 [1,4]) is the claimed output: 4 row(s), each proven to read earlier ones alone",
    );
    expect(JSON.parse(await assay("verify", out, "--json")).ok).toBe(true);
    expect(await assay("inspect", out)).toContain("answer (int32 [1,4]) is the claimed output");
    const inputs = join(folder, "prompt.json");
    const data = Array.from({ length: prompt }, (_, i) => i % vocabulary);
    writeFileSync(inputs, JSON.stringify({ prompt: { type: "int32", dims: [1, prompt], data } }));
    const runs = [out, file].map((model) =>
      assay("run", model, "--inputs", inputs, "--json", ...(model === file ? flags : [])),
    );
    const [folderRun, fileRun] = (await Promise.all(runs)).map((text) => JSON.parse(text).outputs.next);
    expect(folderRun).toEqual(fileRun);
    expect(folderRun).toMatchObject({ type: "int64", dims: [1, 4] });
    expect(await codeOf("import", file, ...flags, "--lane", "EXECUTION")).toBe("LANE_UNAVAILABLE");
    const path = join(out, "manifest.json");
    const manifest = JSON.parse(readFileSync(path, "utf8"));
    const { claimed: _, ...without } = manifest.assay;
    const moved = manifest.assay.inputs.map((input: object) => ({ ...input, offset: 4 }));
    writeFileSync(path, JSON.stringify({ ...manifest, assay: { ...manifest.assay, inputs: moved } }));
    expect(await codeOf("verify", out)).toBe("MODEL_MISMATCH");
    writeFileSync(path, JSON.stringify({ ...manifest, assay: without }));
    expect(await codeOf("verify", out)).toBe("MODEL_MISMATCH");
    writeFileSync(
      path,
      JSON.stringify({ ...manifest, assay: { ...manifest.assay, claimed: { name: "answer" } } }),
    );
    expect(await codeOf("verify", out)).toBe("MANIFEST_INVALID");
  });

  it("behavior: ids of 64 bits and quantized numbers keep their given types in a folder", async () => {
    const given = join(folder, "given.onnx");
    const graph: TestGraph = {
      nodes: [
        { op: "Add", inputs: ["ids", "one"], outputs: ["next"] },
        { op: "Gather", inputs: ["table", "next"], outputs: ["row"] },
        { op: "QuantizeLinear", inputs: ["x", "s", "zero"], outputs: ["q"] },
        { op: "Where", inputs: ["c", "row", "q"], outputs: ["y"] },
      ],
      inputs: {
        ids: { type: "int64", dims: [3] },
        x: { type: "float32", dims: [3] },
        c: { type: "bool", dims: [3] },
      },
      outputs: { y: "uint8" },
      constants: {
        one: { type: "int64", dims: [], data: [1] },
        s: { type: "float32", dims: [], data: [0.5] },
        zero: { type: "uint8", dims: [], data: [7] },
        table: { type: "uint8", dims: [4], data: [10, 20, 30, 40] },
      },
    };
    const narrow = { op: "Clip", inputs: ["ids", "low", "high"], outputs: ["clipped"] };
    const bounds = {
      low: { type: "int64", dims: [], data: [0] },
      high: { type: "int64", dims: [], data: [2] },
    } as const;
    const nodes = [
      narrow,
      { op: "Add", inputs: ["clipped", "one"], outputs: ["next"] },
      ...graph.nodes.slice(1),
    ];
    writeFileSync(given, onnxFile({ ...graph, nodes, constants: { ...graph.constants, ...bounds } }));
    const out = join(folder, "given");
    expect(await codeOf("import", given)).toBe("IMPORT_CODEC");
    await assay("import", given, "--input-type", "ids=int32", "--quantized-inputs", "--out", out);
    expect(JSON.parse(await assay("verify", out, "--json")).ok).toBe(true);
    const values = join(folder, "given.json");
    const write = (c: unknown): void =>
      writeFileSync(
        values,
        JSON.stringify({
          ids: { type: "int32", dims: [3], data: [0, 1, 2] },
          x: { type: "uint8", dims: [3], data: [4, 5, 6] },
          c: { type: "bool", dims: [3], data: c },
        }),
      );
    for (const c of [
      [true, false, true],
      [1, 0, 1],
    ]) {
      write(c);
      const run = JSON.parse(await assay("run", out, "--inputs", values, "--json"));
      expect(run.outputs.y.data).toEqual([20, 5, 40]);
    }
    write([true, "false", true]);
    expect(await codeOf("run", out, "--inputs", values)).toBe("INPUT_INVALID");
    expect(await codeOf("import", given, "--input-type", "ids=int64")).toBe("ARGUMENT_INVALID");
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
    expect(await codeOf("run", join(folder, "absent.onnx"), "--inputs", inputs)).toBe("FILE_NOT_READABLE");
    expect(await codeOf("verify", "nothing")).toBe("MODEL_NOT_FOUND");
    expect(await codeOf("eval", "nothing", "--data", folder)).toBe("ARGUMENT_INVALID");
    expect(await codeOf("eval", "forecast-vix", "--data", folder)).toBe("FILE_NOT_READABLE");
  });
});
