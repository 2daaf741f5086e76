import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { Checker } from "../../../inference/manifest/problems.ts";
import { validateManifest } from "../../../inference/manifest/validate.ts";
import { checkMeaning, MEANING_LIMITS } from "../../../inference/meaning/check.ts";

const section = (meaning: unknown, rest: object = {}) => ({
  codec: { output: "words" },
  outputLength: 128,
  outputs: [{ name: "result", type: "int32", dims: [4], offset: 0 }],
  meaning,
  ...rest,
});

function faultsOf(meaning: unknown, rest: object = {}): string[] {
  const check = new Checker();
  checkMeaning(check, section(meaning, rest), "$.assay");
  return check.errors.map(({ path, message }) => `${path}: ${message}`);
}

const labels = ["bearish", "neutral", "bullish"];
const classes = { kind: "classes", labels, index: 0, scores: { first: 1, count: 3 }, scale: 4096 };
const quantiles = {
  kind: "quantiles",
  quantiles: [10, 50, 90],
  scale: 10_000,
  unit: "%",
  decimals: 1,
  sign: true,
};
const numbers = { kind: "numbers", show: [{ place: 0, name: "points" }, { place: 3 }], suffix: "tomorrow" };

describe("checkMeaning", () => {
  it.each([
    classes,
    { kind: "classes", labels, index: 3 },
    { ...classes, scores: { first: 0, count: 3 }, index: 3 },
    { kind: "classes", labels: [...labels, "none"], scores: { first: 0, count: 4 } },
    quantiles,
    { ...quantiles, first: 1 },
    numbers,
    undefined,
  ])("default: %j", (meaning) => {
    expect(faultsOf(meaning)).toEqual([]);
  });

  it.each<[unknown, string]>([
    ["bullish", "$.assay.meaning: must be an object, is a string"],
    [{}, "$.assay.meaning.kind: must be one of classes, quantiles, numbers, is missing"],
    [{ kind: "constructor" }, 'kind: must be one of classes, quantiles, numbers, is "constructor"'],
    [
      { ...classes, temperature: 2 },
      '$.assay.meaning["temperature"]: is no field here; there are kind, labels, index, scores, scale',
    ],
    [{ ...classes, unit: "%" }, '$.assay.meaning["unit"]: is no field here'],
    [
      { ...numbers, show: [{ place: 0, label: "x" }] },
      '$.assay.meaning.show[0]["label"]: is no field here; there are place, name',
    ],
    [
      { ...classes, scores: { first: 1, count: 3, scale: 1 } },
      '$.assay.meaning.scores["scale"]: is no field here',
    ],
    // labels and classes
    [{ ...classes, labels: labels.slice(1) }, "labels: there are 2 for 3 scores; each class has both"],
    [{ ...classes, labels: [...labels, "x"] }, "labels: there are 4 for 3 scores"],
    [
      { ...classes, labels: labels.slice(1), scores: { first: 1, count: 2 } },
      "scores.count: ends at 3, and the scores' tensor goes on to 4",
    ],
    [{ ...classes, labels: ["a", "b", "a"] }, 'labels[2]: "a" is the name of another'],
    [{ ...classes, labels: ["a"] }, "labels: has 1 entries, must have 2 to 256"],
    [{ ...classes, labels: ["a", 1, "c"] }, "labels[1]: must be a string, is a number"],
    [{ ...classes, labels: undefined }, "labels: must be an array, is missing"],
    [
      { kind: "classes", labels },
      "index: is missing, and there are no scores whose greatest would name the class",
    ],
    // places
    [{ ...classes, index: 4 }, "index: must be a place below 4, is 4"],
    [{ ...classes, index: -1 }, "index: must be a place below 4, is -1"],
    [{ ...classes, index: 0.5 }, "index: must be a place below 4, is 0.5"],
    [{ ...classes, index: "0" }, 'index: must be a place below 4, is "0"'],
    [{ ...classes, index: 2 }, "index: 2 is the place of a score"],
    [{ ...classes, scores: { first: 2, count: 3 } }, "scores.count: ends at 5, the output has 4 numbers"],
    [{ ...classes, scores: { first: 1 } }, "scores.count: must be a whole number, is missing"],
    [{ ...numbers, show: [{ place: 4 }] }, "show[0].place: must be a place below 4, is 4"],
    [{ ...numbers, show: [] }, "show: has 0 entries, must have 1 to 16"],
    [{ ...quantiles, first: 2 }, "quantiles: end at 5, the output has 4 numbers"],
    // scales and forms
    ...[0, -1, Number.NaN, Number.POSITIVE_INFINITY, "4096", null].map((scale): [object, string] => [
      { ...classes, scale },
      "scale: must be a number above 0, from 1e-30 to 1e+30",
    ]),
    [{ ...quantiles, scale: 0 }, "scale: must be a number above 0"],
    [{ kind: "classes", labels, index: 0, scale: 2 }, "scale: scales scores, and there are none"],
    [{ ...quantiles, decimals: 19 }, "decimals: must be 0 to 18, is 19"],
    [{ ...quantiles, sign: 1 }, "sign: must be true or false, is 1"],
    // quantiles
    [{ ...quantiles, quantiles: [50, 10, 90] }, "quantiles[1]: 10 does not ascend: it stands behind 50"],
    [{ ...quantiles, quantiles: [10, 10, 90] }, "quantiles[1]: 10 does not ascend: it stands behind 10"],
    [{ ...quantiles, quantiles: [0, 50] }, "quantiles[0]: must be percent between 0 and 100, is 0"],
    [{ ...quantiles, quantiles: [50, 100] }, "quantiles[1]: must be percent between 0 and 100, is 100"],
    // texts
    [{ ...quantiles, unit: "x".repeat(13) }, "unit: has 13 characters, at most 12 are shown"],
    [{ ...numbers, suffix: "x".repeat(41) }, "suffix: has 41 characters, at most 40 are shown"],
    [{ ...classes, labels: ["a", "", "c"] }, "labels[1]: must not be empty"],
    [{ ...classes, labels: ["a", "b (99.9 %)", "c"] }, 'labels[1]: "b (99.9 %)" holds (, ), % or …'],
    [{ ...classes, labels: ["a", " b", "c"] }, 'labels[1]: " b" has spaces at its ends or beside each other'],
  ])("error: %j", (meaning, fault) => {
    expect(faultsOf(meaning).join("\n")).toContain(fault);
  });

  it("error: every control, invisible and direction-changing character, in every text", () => {
    const all = Array.from({ length: 0x10000 }, (_, code) => String.fromCharCode(code));
    const unseen = all.filter((one) =>
      /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Variation_Selector}]/u.test(one),
    );
    expect(unseen.length).toBeGreaterThan(8_000);
    for (const one of [...unseen, "\u{e0041}", "\u{1bca0}"]) {
      const text = `a${one}b`;
      for (const meaning of [
        { ...classes, labels: ["x", text, "y"] },
        { ...quantiles, unit: text },
        { ...numbers, suffix: text },
        { ...numbers, show: [{ place: 0, name: text }] },
      ]) {
        const [fault = ""] = faultsOf(meaning);
        expect([one.codePointAt(0), fault]).toEqual([
          one.codePointAt(0),
          expect.stringContaining("holds a control or an invisible character"),
        ]);
        // The message itself is safe to print.
        expect(fault).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u);
      }
    }
  });

  it("error: bytes have no places, and a section without its form is not guessed at", () => {
    expect(faultsOf(numbers, { codec: { output: "raw" } })).toEqual([
      "$.assay.meaning: only outputs of the codecs words and int16s have numbers to read",
    ]);
    for (const rest of [
      { outputs: undefined },
      { outputs: [null] },
      { outputLength: "128" },
      { codec: null },
    ])
      expect(faultsOf(numbers, rest)).toEqual([
        "$.assay.meaning: cannot be checked: the section does not say what the output is made of",
      ]);
  });

  it("behavior: limits are those that the documents state", () => {
    expect(MEANING_LIMITS).toEqual({
      labels: 256,
      values: 16,
      decimals: 18,
      text: 40,
      unit: 12,
      scale: { least: 1e-30, most: 1e30 },
    });
  });
});

describe("validateManifest", () => {
  it.each(["sentiment", "forecast-ezkl"])("error: a meaning of models/%s that does not fit", (name) => {
    const manifest = JSON.parse(readFileSync(`models/${name}/manifest.json`, "utf8"));
    expect(validateManifest(manifest).errors).toEqual([]);
    const wrong = {
      ...manifest,
      assay: { ...manifest.assay, meaning: { kind: "numbers", show: [{ place: 96 }] } },
    };
    expect(validateManifest(wrong).errors).toEqual([
      {
        path: "$.assay.meaning.show[0].place",
        message: `must be a place below ${manifest.assay.outputLength / 32}, is 96`,
        rule: "form",
      },
    ]);
  });
});
