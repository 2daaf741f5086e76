import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isBaseError } from "../../../base/errors.ts";
import { Checker } from "../../../inference/manifest/problems.ts";
import { checkMeaning } from "../../../inference/meaning/check.ts";
import type { Meaning, Readable } from "../../../inference/meaning/form.ts";
import { meaningIfAny, type Reading, readOutput } from "../../../inference/meaning/read.ts";
import {
  MEANING_VECTORS,
  type MeaningVector,
  makeMeaningVectors,
} from "../../support/make-meaning-vectors.ts";
import { int16sOf, type MeaningCase, meaningCases, readingFault, wordsOf } from "../../support/meanings.ts";

const sectionOf = (name: string): Readable =>
  JSON.parse(readFileSync(`models/${name}/manifest.json`, "utf8")).assay;
const read = (name: string, numbers: readonly bigint[]) =>
  readOutput(sectionOf(name), (name === "forecast-hourly" ? int16sOf : wordsOf)(numbers))?.reading;

describe("readOutput", () => {
  it("default: the shipped models", () => {
    expect(read("sentiment", [2n, -12_000n, 3_000n, 29_000n])).toMatchObject({
      text: "bullish (99.8 %)",
      label: "bullish",
      index: 2,
      probability: 0.9982,
    });
    expect(read("forecast-vix", [-87_012n, -11_049n, 90_999n])).toEqual({
      kind: "quantiles",
      text: "−8.7 % … −1.1 % … +9.1 % tomorrow",
      unit: "%",
      quantiles: [
        { percent: 10, value: -8.7, text: "−8.7 %" },
        { percent: 50, value: -1.1, text: "−1.1 %" },
        { percent: 90, value: 9.1, text: "+9.1 %" },
      ],
    });
    expect(read("credit", [612n])?.text).toBe("612 points");
    expect(read("credit-trees", [499n])?.text).toBe("499 points");
    expect(read("policy", [7n, 0n, 1n, 2n])?.text).toBe("ForecastTool");
    const hours = Array.from({ length: 96 * 7 }, (_, i) => BigInt(i - 100));
    expect(read("forecast-hourly", hours)?.text).toBe(
      "OT in 1 hour −0.94, OT in 24 hours 0.67, OT in 96 hours 5.71",
    );
    const steps = Array.from({ length: 96 }, (_, i) => BigInt(i - 1) << 32n);
    expect(read("forecast-ezkl", steps)?.text).toBe("in 1 hour −0.50, in 24 hours 11.00, in 96 hours 47.00");
  });

  it("behavior: no class is called certain or impossible, and an unknown one has no name", () => {
    expect(read("sentiment", [2n, 0n, 0n, 200_000n])?.text).toBe("bullish (> 99.9 %)");
    expect(read("sentiment", [0n, 0n, 0n, 200_000n])?.text).toBe("bearish (< 0.1 %)");
    expect(read("sentiment", [3n, 0n, 0n, 0n])?.text).toBe("class 3, which has no name");
    expect(read("sentiment", [-1n, 0n, 0n, 0n])).not.toHaveProperty("label");
  });

  it("behavior: ties go to the first class where no number names it", () => {
    const meaning: Meaning = { kind: "classes", labels: ["a", "b"], scores: { first: 0, count: 2 } };
    const section: Readable = { meaning, codec: { output: "words" }, outputLength: 64, outputs: [] };
    expect(readOutput(section, wordsOf([5n, 5n]))?.reading.text).toBe("a");
  });

  it("behavior: random meanings over random outputs, against their definitions", () => {
    const seen = new Map<string, number>();
    fc.assert(
      fc.property(meaningCases, (one) => {
        const made = readOutput(one.section, one.output);
        expect(made?.numbers).toEqual(one.numbers);
        const fault = readingFault(one, made?.reading as Reading);
        expect(fault).toBeUndefined();
        const { kind } = one.section.meaning;
        const key = `${one.section.codec.output} ${kind} ${"scale" in one.section.meaning ? "scaled" : "plain"}`;
        seen.set(key, (seen.get(key) ?? 0) + 1);
      }),
      { numRuns: 5_000 },
    );
    process.stdout.write(`${JSON.stringify(Object.fromEntries(seen))}\n`);
    expect(seen.size).toBe(8);
  });

  it("behavior: every random meaning is one that the validator takes", () => {
    fc.assert(
      fc.property(meaningCases, ({ section }) => {
        const check = new Checker();
        checkMeaning(check, { ...section }, "$.assay");
        expect(check.errors).toEqual([]);
      }),
    );
  });

  it("behavior: words of the right length always read, other lengths never", () => {
    fc.assert(
      fc.property(
        meaningCases,
        fc.infiniteStream(fc.nat(255)),
        fc.integer({ min: -64, max: 64 }),
        (one, noise, off) => {
          const { section, output } = one;
          const random = Uint8Array.from(output, () => noise.next().value as number);
          if (section.codec.output === "words") {
            const text = readOutput(section, random)?.reading.text ?? "";
            expect(text.length).toBeGreaterThan(0);
            // One line, and nothing that is not seen.
            expect(text).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/u);
          } else expect(Object.keys(meaningIfAny(section, random))).toEqual([]);
          if (off === 0 || output.length + off < 0) return;
          const other = new Uint8Array(output.length + off);
          expect(() => readOutput(section, other)).toThrow("must have");
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it("error: int16s in another form than the codec writes", () => {
    const section = sectionOf("forecast-hourly");
    const right = int16sOf(new Array(672).fill(-5n));
    for (let at = 0; at < 64; at++) {
      const wrong = right.with(at, (right[at] as number) ^ 1);
      const attempt = () => readOutput(section, wrong);
      expect(attempt).toThrow("cannot be read as the model's manifest says");
      try {
        attempt();
      } catch (error) {
        expect(isBaseError(error, "OUTPUT_INVALID")).toBe(true);
      }
    }
  });

  it("behavior: planted faults are found", () => {
    const found = Object.entries(FAULTS).filter(([, faulty]) => {
      const result = fc.check(
        fc.property(meaningCases, (one) => {
          const reading = faulty(one);
          return reading === undefined || readingFault(one, reading) === undefined;
        }),
        { numRuns: 3_000, seed: 7, endOnFailure: true },
      );
      return result.failed;
    });
    process.stdout.write(`${found.length} of ${Object.keys(FAULTS).length} planted faults found\n`);
    expect(found.map(([name]) => name)).toEqual(Object.keys(FAULTS));
  });
});

type Faulty = (one: MeaningCase) => Reading | undefined;
const changed =
  (change: (meaning: Meaning) => object): Faulty =>
  ({ section, output }) => {
    const meaning = { ...section.meaning, ...change(section.meaning) } as Meaning;
    return readOutput({ ...section, meaning }, output)?.reading;
  };
const retold =
  (change: (text: string) => string): Faulty =>
  ({ section, output }) => {
    const reading = readOutput(section, output)?.reading as Reading;
    if (reading.kind === "classes") return { ...reading, text: change(reading.text) };
    const values = <T extends { readonly text: string }>(list: readonly T[]) =>
      list.map((value) => ({ ...value, text: change(value.text) }));
    return reading.kind === "quantiles"
      ? { ...reading, text: change(reading.text), quantiles: values(reading.quantiles) }
      : { ...reading, text: change(reading.text), shown: values(reading.shown) };
  };
const misread =
  (change: (numbers: readonly bigint[]) => readonly bigint[]): Faulty =>
  ({ section, numbers }) => {
    const write = section.codec.output === "words" ? wordsOf : int16sOf;
    return readOutput(section, write(change(numbers)))?.reading;
  };

const FAULTS: Readonly<Record<string, Faulty>> = {
  "a scale that is one off": changed((m) => ("scale" in m ? { scale: (m.scale ?? 1) + 1 } : {})),
  "a scale of twice its size": changed((m) => ("scale" in m ? { scale: 2 * (m.scale ?? 1) } : {})),
  "one decimal more": changed((m) => (m.kind === "classes" ? {} : { decimals: (m.decimals ?? 0) + 1 })),
  "the sign turned on and off": changed((m) => (m.kind === "classes" ? {} : { sign: m.sign !== true })),
  "no unit": changed((m) => ("unit" in m ? { unit: undefined } : {})),
  "no suffix": changed((m) => ("suffix" in m ? { suffix: undefined } : {})),
  "labels turned round": changed((m) => (m.kind === "classes" ? { labels: [...m.labels].reverse() } : {})),
  "labels shifted by one": changed((m) =>
    m.kind === "classes" ? { labels: [...m.labels.slice(1), m.labels[0]] } : {},
  ),
  "the class of the greatest score, whatever the index says": changed((m) =>
    m.kind === "classes" && m.scores !== undefined ? { index: undefined } : {},
  ),
  "the quantiles' order turned": ({ section, output }) => {
    const reading = readOutput(section, output)?.reading as Reading;
    if (reading.kind !== "quantiles") return undefined;
    const quantiles = [...reading.quantiles].reverse();
    return { ...reading, quantiles };
  },
  "a quantile of the next place": changed((m) =>
    m.kind === "quantiles" ? { first: Math.max(0, (m.first ?? 0) - 1) } : {},
  ),
  "words without a sign": misread((numbers) => numbers.map((n) => (n < 0n ? -n : n))),
  "numbers of 64 bits only": misread((numbers) => numbers.map((n) => BigInt.asIntN(64, n))),
  "numbers as doubles": misread((numbers) => numbers.map((n) => BigInt.asIntN(256, BigInt(Number(n))))),
  "one step more": misread((numbers) => numbers.map((n) => BigInt.asIntN(16, n + 1n))),
  "numbers turned round": misread((numbers) => [...numbers].reverse()),
  "a hyphen for the minus": retold((text) => text.replaceAll("−", "-")),
  "no minus": retold((text) => text.replaceAll("−", "")),
  "100 %": retold((text) => text.replace("> 99.9 %", "100.0 %")),
  "0 %": retold((text) => text.replace("< 0.1 %", "0.0 %")),
};

describe("test/vectors/meanings.json", () => {
  it("default: is what the reader makes, refused outputs included", () => {
    const vectors = JSON.parse(readFileSync(MEANING_VECTORS, "utf8")) as MeaningVector[];
    expect(JSON.parse(JSON.stringify(makeMeaningVectors()))).toEqual(vectors);
    const kinds = vectors.map(({ reading }) => reading?.kind ?? "refused");
    for (const kind of ["classes", "quantiles", "numbers", "refused"])
      expect([kind, kinds.filter((one) => one === kind).length]).toEqual([
        kind,
        expect.toSatisfy((n) => n > 20),
      ]);
  });
});
