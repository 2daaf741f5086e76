import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";

import { equalBytes, toHex } from "../../base/bytes.ts";
import { BaseError } from "../../base/errors.ts";
import { encodeInput } from "../../inference/codecs/input.ts";
import { decodeOutput } from "../../inference/codecs/output.ts";
import { execute } from "../../inference/executor/execute.ts";
import { prepare } from "../../inference/executor/prepare.ts";
import { importSettings } from "../../inference/manifest/tool.ts";
import { checkFiles, loadModelFolder } from "../../inference/model-folder.ts";
import { importOnnx } from "../../inference/onnx/import.ts";
import { encodeProgram } from "../../inference/program/encode.ts";
import { selfTestHash } from "../../inference/self-test.ts";

const MODELS = "models";
const names = [
  "sentiment",
  "sentiment-words",
  "forecast-vix",
  "forecast-btc",
  "forecast-eth",
  "forecast-hourly",
  "credit",
  "credit-trees",
  "policy",
];
const temporary = mkdtempSync(join(tmpdir(), "assay-models-"));
afterAll(() => rmSync(temporary, { recursive: true }));

const json = (path: string): Record<string, unknown> => JSON.parse(readFileSync(path, "utf8"));

describe.each(names)("models/%s", (name) => {
  const directory = join(MODELS, name);
  const onnx = new Uint8Array(readFileSync(join(directory, "model.onnx")));
  const imported = importOnnx(onnx, importSettings(json(join(directory, "tool.json")) as never));

  it("behavior: every requantization has the integer form", () => {
    const hasDot = imported.model.program.steps.some((s) => s.opcode === "dot");
    // The products of trees are sums of leaves, which nothing requantizes.
    expect(imported.requantizations.length > 0).toBe(hasDot && imported.trees.length === 0);
    expect(imported.requantizations.every((r) => r.form === "integer" && r.nudges.length === 0)).toBe(true);
    expect(imported.model.program.steps.some((s) => s.opcode === "float")).toBe(false);
  });

  it("behavior: the folder loads, and its ONNX file imports to its program", () => {
    const loaded = loadModelFolder(directory);
    expect(toHex(encodeProgram(loaded.model.program))).toBe(toHex(encodeProgram(imported.model.program)));
    const same = loaded.model.weights.map((w, i) => equalBytes(w, imported.model.weights[i] as Uint8Array));
    expect(same.every((v) => v)).toBe(true);
    const prepared = prepare(loaded.model, loaded.selector);
    for (const { seed, outputHash } of loaded.manifest.assay.selfTest) {
      expect(toHex(selfTestHash(prepared, seed))).toBe(outputHash);
    }
  });

  it("behavior: step bounds agree with those that the exporter proved on the graph", () => {
    const { model } = json(join(directory, "eval.json")) as {
      model?: { proven_ranges?: Record<string, [number, number]> };
    };
    const proven = model?.proven_ranges ?? {};
    const last = new Map(imported.profile.steps.map((s) => [s.node, s] as const));
    let compared = 0;
    for (const [node, [low, high]] of Object.entries(proven)) {
      const step = last.get(node);
      // A node whose last step moves or splits its data is bounded by another step; the bounds of its own kind agree.
      if (step === undefined || !/^(arith|reduce|dot|requant)/.test(step.operation)) continue;
      expect(step.low, node).toBeGreaterThanOrEqual(low);
      expect(step.high, node).toBeLessThanOrEqual(high);
      compared++;
    }
    if (Object.keys(proven).length > 0) expect(compared).toBeGreaterThan(5);
  });

  it("error: one changed byte of any file is named", () => {
    for (const file of ["model.onnx", "program.bin", "weights.bin"]) {
      const copy = join(temporary, `${name}-${file}`);
      cpSync(directory, copy, { recursive: true });
      const bytes = readFileSync(join(copy, file));
      const middle = bytes.length >> 1;
      bytes[middle] = (bytes[middle] as number) ^ 1;
      writeFileSync(join(copy, file), bytes);
      expect(() => loadModelFolder(copy)).toThrow(
        new RegExp(`sha256 of ${file.replace(".", "\\.")} is [0-9a-f]{64}, the manifest says`),
      );
    }
  });
});

describe("models/credit", () => {
  it("behavior: points are the sum of the published score card", () => {
    const folder = join(MODELS, "credit");
    const { model, selector } = loadModelFolder(folder);
    const prepared = prepare(model, selector);
    const evaluation = json(join(folder, "eval.json")) as {
      bias: number;
      columns: { features: { name: string; codes: string[] | null }[] };
      "score card": Record<string, Record<string, number>>;
    };
    // The first row of the data set, without the columns that the model never sees.
    const row = "A11 6 A34 A43 1169 A65 A75 4 A101 4 A121 67 A143 A152 2 A173 1 A192".split(" ");
    const bins: Record<string, string> = {
      "6": "6",
      "1169": "1000",
      "4": "4",
      "67": "65",
      "2": "2",
      "1": "1",
    };
    const { features } = evaluation.columns;
    const expected = features.reduce((sum, { name, codes }, i) => {
      const value = row[i] as string;
      return (
        sum + (evaluation["score card"][name]?.[codes === null ? (bins[value] as string) : value] as number)
      );
    }, evaluation.bias);
    const numbers = features.map(({ codes }, i) =>
      codes === null ? Number(row[i]) : codes.indexOf(row[i] as string),
    );
    const calldata = encodeInput(model.program, selector, { codec: "int16s", int16s: numbers });
    expect([...decodeOutput(model.program, execute(prepared, calldata)).data]).toEqual([expected]);
  });
});

describe("checkFiles", () => {
  it("error: a changed card is named, but does not keep a node from loading the model", () => {
    const copy = join(temporary, "card");
    cpSync(join(MODELS, "forecast-vix"), copy, { recursive: true });
    const { manifest } = loadModelFolder(copy);
    expect(() => checkFiles(copy, manifest)).not.toThrow();
    writeFileSync(join(copy, "README.md"), "another card");
    expect(loadModelFolder(copy).modelId).toBe(manifest.assay.modelId);
    expect(() => checkFiles(copy, manifest)).toThrow("the length of README.md is 12");
  });
});

describe("loadModelFolder", () => {
  const changed = (change: (manifest: Record<string, never>) => void): string => {
    const copy = join(temporary, `changed-${readdirSync(temporary).length}`);
    cpSync(join(MODELS, "forecast-vix"), copy, { recursive: true });
    const manifest = json(join(copy, "manifest.json")) as Record<string, never>;
    change(manifest);
    writeFileSync(join(copy, "manifest.json"), JSON.stringify(manifest));
    try {
      loadModelFolder(copy);
    } catch (error) {
      if (error instanceof BaseError) return `${error.code}: ${error.shortMessage}`;
      throw error;
    }
    return "loaded";
  };
  const assayOf = (manifest: Record<string, never>): Record<string, unknown> =>
    manifest.assay as unknown as Record<string, unknown>;

  it("error: each claim of the manifest is checked", () => {
    expect(changed(() => {})).toBe("loaded");
    const zero = `0x${"0".repeat(64)}`;
    for (const key of ["modelId", "programHash", "weightsRoot"]) {
      expect(changed((m) => Object.assign(assayOf(m), { [key]: zero }))).toContain(
        `MODEL_MISMATCH: ${key} is 0x`,
      );
    }
    expect(changed((m) => Object.assign(assayOf(m), { lanes: ["PROOF"] }))).toContain("modelId is 0x");
    expect(changed((m) => Object.assign(assayOf(m), { selector: "0x00000000" }))).toContain(
      "the selector is 0x00000000",
    );
    expect(changed((m) => Object.assign(assayOf(m), { maxCalldata: 1 }))).toContain("maxCalldata");
    expect(changed((m) => Object.assign(m, { assay: undefined }))).toContain("MANIFEST_INVALID");
  });
});

describe("eval.json vectors", () => {
  it("behavior: the daily forecasts give the exporter's quantiles", () => {
    for (const series of ["vix", "btc", "eth"]) {
      const loaded = loadModelFolder(join(MODELS, `forecast-${series}`));
      const prepared = prepare(loaded.model, loaded.selector);
      const { vectors } = json(join(loaded.directory, "eval.json")) as {
        vectors: { quantiles_ppm: number[] }[];
      };
      const flat = Array.from({ length: 65 }, () => 1_000_000n);
      const closes = Array.from({ length: 65 }, (_, i) => BigInt(200_000 + 1000 * ((7919 * i) % 97)));
      const inputs = [
        { closes: flat, highs: flat, lows: flat },
        {
          closes,
          highs: closes.map((c, i) => c + 500n + 10n * BigInt(i)),
          lows: closes.map((c) => c - 400n),
        },
      ];
      inputs.forEach((prices, i) => {
        const calldata = encodeInput(loaded.model.program, loaded.selector, { codec: "prices", ...prices });
        const output = decodeOutput(loaded.model.program, execute(prepared, calldata));
        expect(Array.from(output.data)).toEqual(vectors[i]?.quantiles_ppm);
      });
    }
  });
});
