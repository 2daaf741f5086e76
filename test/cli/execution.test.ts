import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ANVIL_KEYS } from "../../cli/anvil.ts";
import { requireExecutable } from "../../cli/execution.ts";
import { NONE, WEIGHT } from "../../inference/program/form.ts";
import { type LocalChain, startLocalChain } from "../support/anvil.ts";
import { runInProcess } from "../support/assay.ts";
import { temporaryFolder } from "../support/deploy.ts";

let local: LocalChain;
let folder: ReturnType<typeof temporaryFolder>;

beforeAll(async () => {
  local = await startLocalChain();
  folder = temporaryFolder();
  expect(await assay("deploy", "--answer-seconds", "2")).toMatchObject({ code: 0 });
  expect(await assay("model", "register", "sentiment")).toMatchObject({ code: 0 });
  expect(await assay("model", "register", "forecast-vix")).toMatchObject({ code: 0 });
});
afterAll(async () => {
  await local?.stop();
  folder?.remove();
});

const environment = () => ({
  ASSAY_RPC_URL: local.rpcUrl,
  ASSAY_KEY: ANVIL_KEYS[0] as string,
  ASSAY_DATA: join(folder.path, "data"),
  ASSAY_DEPLOYMENT: join(folder.path, "deployment.json"),
  ASSAY_POLL_INTERVAL_MS: "20",
});
const assay = (...args: string[]) => runInProcess([...args, "--json"], environment());

const TEXT = "Apple beats earnings expectations and raises its dividend";

describe("assay model publish, infer, settle", () => {
  test("default: from published weights to a request that the chain itself settles", async () => {
    const early = await assay("model", "infer", "sentiment", "--text", TEXT);
    expect(early).toMatchObject({ code: 1, stdout: "" });
    expect(JSON.parse(early.stderr).error).toMatchObject({ code: "WEIGHTS_NOT_PUBLISHED" });

    const published = await assay("model", "publish", "sentiment");
    expect(published).toMatchObject({ code: 0 });
    const { isNew, gasUsed, estimatedGas, transactions } = JSON.parse(published.stdout);
    expect({ isNew, transactions }).toEqual({ isNew: true, transactions: 19 });
    expect(Number(gasUsed) / estimatedGas).toBeGreaterThan(0.8);
    expect(Number(gasUsed) / estimatedGas).toBeLessThan(1.2);
    expect(published.stderr).toContain("store chunk 17 of 17, 884 bytes");
    const again = await assay("model", "publish", "sentiment");
    expect(JSON.parse(again.stdout)).toMatchObject({ isNew: false, transactions: 0 });

    const inferred = await assay("model", "infer", "sentiment", "--text", TEXT);
    expect(inferred).toMatchObject({ code: 0 });
    const { values, output, meaning } = JSON.parse(inferred.stdout);
    expect(values.label).toBe("2");
    expect(meaning).toMatchObject({ kind: "classes", label: "bullish", index: 2 });
    expect(meaning.text).toMatch(/^bullish \(.+ %\)$/);
    const fast = await assay("model", "infer", "sentiment", "--text", TEXT, "--fast");
    expect(JSON.parse(fast.stdout)).toMatchObject({ values, output });
    const halted = await assay("model", "halt", "sentiment", "--text", TEXT);
    expect(halted).toMatchObject({ code: 0 });
    expect(JSON.parse(halted.stdout)).toMatchObject({ kind: "none" });

    const asked = await assay("request", "sentiment", "--text", TEXT);
    const { requestId } = JSON.parse(asked.stdout);
    const settled = await assay("settle", requestId);
    expect(settled).toMatchObject({ code: 0 });
    expect(JSON.parse(settled.stdout)).toMatchObject({
      lane: "EXECUTION",
      requests: [requestId],
      outputs: [output],
      values: [values],
      meanings: [meaning],
    });
    const lines = await runInProcess(["settle", requestId], environment());
    expect(lines.stdout.split("\n").slice(2, 4)).toEqual([`    ${meaning.text}`, "    label = 2"]);
    expect(Object.keys(values)).toContain("label");
  });

  test("args: --with-weights, for a model that nobody published", async () => {
    const inputs = join(folder.path, "inputs.json");
    const prices = Array.from({ length: 65 }, (_, i) => 180_000 + 700 * (i % 7));
    writeFileSync(inputs, JSON.stringify({ closes: prices, highs: prices, lows: prices }));
    const inferred = await assay("model", "infer", "forecast-vix", "--inputs", inputs, "--with-weights");
    expect(inferred).toMatchObject({ code: 0 });
    const { output } = JSON.parse(inferred.stdout);
    const asked = await assay("request", "forecast-vix", "--inputs", inputs);
    const { requestId } = JSON.parse(asked.stdout);
    const early = await assay("settle", requestId, "--lane", "execution");
    expect(JSON.parse(early.stderr).error).toMatchObject({ code: "WEIGHTS_NOT_PUBLISHED" });
    const wrong = await assay("settle", requestId, "--with-weights", "--model", "forecast-btc");
    expect(JSON.parse(wrong.stderr).error).toMatchObject({ code: "ARGUMENT_INVALID" });
    const settled = await assay("settle", requestId, "--with-weights");
    expect(JSON.parse(settled.stdout)).toMatchObject({ lane: "EXECUTION", outputs: [output] });
  });

  test("error: weights too large to come along, a request that is not there", async () => {
    const large = await assay("model", "infer", "sentiment", "--text", TEXT, "--with-weights");
    expect(JSON.parse(large.stderr).error).toMatchObject({ code: "WEIGHTS_TOO_LARGE" });
    const unknown = await assay("settle", `0x${"12".repeat(32)}`);
    expect(JSON.parse(unknown.stderr).error).toMatchObject({ code: "REQUEST_UNKNOWN" });
    expect(await assay("settle", "0x12")).toMatchObject({ code: 2 });
  });
});

describe("requireExecutable", () => {
  const empty = { b: NONE, c: NONE, coordinates: [], type: "u8" } as const;
  /** A layer of 768 × 768 over so many rows. */
  const layer = (rows: number, laneBits: number) => ({
    modelId: "0x12" as const,
    laneBits,
    model: {
      program: {
        inputCodec: "raw",
        outputCodec: "raw",
        inputSize: 768 * rows,
        weights: [{ layout: "dot", type: "u8", dims: [768, 768] }],
        steps: [
          { ...empty, opcode: "codec", variant: 4, a: NONE, k: 0, dims: [rows, 768] },
          { ...empty, opcode: "dot", variant: 1, a: 0, b: WEIGHT, k: 1, dims: [rows, 768] },
        ],
      },
      weights: [],
    } as const,
  });

  test("default: passes what fits into a transaction", () => {
    expect(requireExecutable(layer(2, 5))).toBeUndefined();
  });

  test("error: too large, with the lanes that remain; no such lane", () => {
    expect(() => requireExecutable(layer(16, 7))).toThrow(
      expect.objectContaining({
        code: "EXECUTION_TOO_LARGE",
        details: expect.objectContaining({ limit: 16_777_216, lanes: ["PROOF", "BOND"] }),
      }),
    );
    expect(() => requireExecutable(layer(1, 4))).toThrow(
      expect.objectContaining({ code: "LANE_UNAVAILABLE" }),
    );
  });

  test("error: a DOT of two computed tensors, by its step", () => {
    const { model, ...rest } = layer(2, 7);
    const product = {
      ...empty,
      opcode: "dot",
      variant: 3,
      type: "s32",
      a: 0,
      b: 0,
      k: 2,
      dims: [2, 2],
    } as const;
    const { steps, ...program } = model.program;
    const dot = { ...rest, model: { ...model, program: { ...program, steps: [steps[0], product] } } };
    expect(() => requireExecutable(dot)).toThrow(
      expect.objectContaining({
        code: "LANE_UNAVAILABLE",
        shortMessage: expect.stringContaining("Step 1 of model 0x12 is DOT activations"),
        details: { step: 1, lanes: ["PROOF", "BOND"] },
      }),
    );
  });
});
