/** Commands on the shipped model without a program, on a machine without ezkl. */
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { evaluateEzkl } from "../../cli/model/eval/ezkl.ts";
import { CHANNELS, LAST } from "../../cli/model/eval/hourly.ts";
import { verifierAddress } from "../../cli/proof/method.ts";
import { runInProcess } from "../support/assay.ts";
import { temporaryFolder } from "../support/deploy.ts";

const NAME = "forecast-ezkl";
let folder: ReturnType<typeof temporaryFolder>;
let nothing: string;

beforeAll(() => {
  folder = temporaryFolder();
  nothing = join(folder.path, "nothing");
});
afterAll(() => folder.remove());

async function run(...args: string[]) {
  const { code, stdout, stderr } = await runInProcess([...args, "--json"]);
  return { code, stderr, result: code === 0 ? JSON.parse(stdout) : undefined };
}

describe("assay plan", () => {
  test("default: proof by ezkl with its costs, and why nothing else", async () => {
    const { result } = await run("plan", NAME, "--offline", "--ezkl", nothing);
    expect(result).toMatchObject({ choice: "ezkl" });
    const rows = new Map<string, Record<string, unknown>>(
      result.rows.map((row: { method: string }) => [row.method, row]),
    );
    for (const method of ["execution", "execution-compiled", "bond"])
      expect(rows.get(method)?.reason).toMatch(/^the model has no lane \w+: a float model has no program/);
    expect(rows.get("groth16")?.reason).toBe("Groth16 proves programs, and a float model has none");
    const { estimate, ...ezkl } = rows.get("ezkl") as { estimate: Record<string, unknown> };
    expect(ezkl).toMatchObject({ available: true, usable: true, lockedWei: "0", lane: "PROOF" });
    // Measured when the model was made: a key of 138 MB, 1.24 million gas to settle.
    expect(Number(estimate.keyBytes) / 138e6).toBeCloseTo(1, 0);
    expect(Number(estimate.gasPerResult)).toBeGreaterThan(1_200_000);
    expect(Number(estimate.gasPerResult)).toBeLessThan(1_600_000);
    expect(result.notes).toEqual([
      "its accuracy is its own, not that of an int8 file: windows 2785, mse 0.36252, mae 0.39085",
      expect.stringContaining("Install it with `assay proof ezkl install`."),
    ]);
  });
});

describe("assay model inspect", () => {
  test("default", async () => {
    const { result } = await run("model", "inspect", NAME);
    expect(result.sizes).toMatchObject({ lanes: "PROOF", publicValues: 512 + 16 + 96, rows: 2 ** 15 });
    expect(result).toMatchObject({
      inputs: [{ name: "window", scaleBits: 13 }],
      evaluation: { mse: 0.36252 },
    });
  });
});

describe("assay model verify", () => {
  test("default: every hash, and what is skipped without ezkl", async () => {
    const { result } = await run("model", "verify", NAME, "--ezkl", nothing);
    expect(result).toMatchObject({ ok: true });
    const skipped = result.checks.filter((check: { skipped?: true }) => check.skipped);
    expect(skipped).toHaveLength(1);
    expect(skipped[0].detail).toContain("assay proof ezkl install");
  });

  test.each(["README.md", "model.onnx", "settings.json", "verifier.json"])(
    "error: one changed byte of %s",
    async (name) => {
      const copy = join(folder.path, `tampered-${name}`);
      cpSync(`models/${NAME}`, copy, { recursive: true });
      const bytes = readFileSync(join(copy, name));
      writeFileSync(join(copy, name), bytes.fill((bytes[40] as number) ^ 1, 40, 41));
      const { code, stderr } = await run("model", "verify", copy, "--ezkl", nothing);
      expect([code, JSON.parse(stderr).error.code]).toEqual([1, "MODEL_MISMATCH"]);
    },
  );
});

describe("assay proof prove", () => {
  test("error: without ezkl, with what installs it", async () => {
    const inputs = join(folder.path, "inputs.json");
    writeFileSync(inputs, JSON.stringify({ window: Array(512).fill(0.25) }));
    const address = `0x${"11".repeat(20)}`;
    const binding = ["--submitter", address, "--proof-lane", address];
    const { code, stderr } = await run(
      "proof",
      "prove",
      NAME,
      "--inputs",
      inputs,
      ...binding,
      "--ezkl",
      nothing,
    );
    expect(code).toBe(1);
    expect(JSON.parse(stderr).error).toMatchObject({
      code: "EZKL_MISSING",
      nextStep: "Install it with `assay proof ezkl install`.",
    });
  });
});

describe("verifierAddress", () => {
  test("default: another lane or code is another address", () => {
    const lanes = [`0x${"11".repeat(20)}`, `0x${"22".repeat(20)}`] as const;
    const all = lanes.flatMap((lane) => [verifierAddress(lane, "0x00"), verifierAddress(lane, "0x01")]);
    expect(new Set(all).size).toBe(4);
  });
});

describe("evaluateEzkl", () => {
  test("default: a series that stays is forecast to stay; the fixed point is skipped without ezkl", async () => {
    const levels = [10.25, -3.5, 7, 0.5, 2, 1, 30];
    const header = ["date", ...CHANNELS].join();
    const line = ["2016-07-01", ...levels].join();
    const text = [header, ...Array<string>(LAST + 96).fill(line)].join("\n");
    const evaluation = { zscore: { std: CHANNELS.map(() => 1) }, float: { mse: 0, mae: 0 } };
    const context = { evaluation, file: () => text };
    const result = await evaluateEzkl(`models/${NAME}`, context, { folder: nothing });
    expect(result.count).toBe(2_785 * 7);
    expect(result.metrics.mae).toBeLessThan(0.005);
    expect(result.notes).toEqual([expect.stringContaining("assay proof ezkl install")]);
  });
});
