import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { cleanReply, judgeReply } from "../../../agent/gateway/output-gate.ts";
import type { Readable } from "../../../inference/meaning/form.ts";
import { type Reading, readOutput } from "../../../inference/meaning/read.ts";
import { wordsOf } from "../../support/meanings.ts";

const NAME = "call_models_sentiment";
const LABELS = ["bearish", "neutral", "bullish"] as const;
const section = (model: string): Readable =>
  JSON.parse(readFileSync(`models/${model}/manifest.json`, "utf8")).assay;
const manifest = JSON.parse(readFileSync("models/sentiment/manifest.json", "utf8"));
const description = `${manifest.description} ${manifest.abi[0].description}`;

/** What the model tool hands on. */
function sentiment(scores: readonly bigint[], label: number, toolName = NAME) {
  const meaning = readOutput(section("sentiment"), wordsOf([BigInt(label), ...scores]))?.reading as Reading;
  const data = Object.fromEntries([
    ["label", String(label)],
    ...LABELS.map((name, i) => [name, String(scores[i])]),
  ]);
  return { toolName, description, rawArguments: "{}", data, meaning };
}

const RESULT = sentiment([-12_000n, 3_000n, 29_000n], 2);
const judge = (text: string, calls: Parameters<typeof judgeReply>[1] = [RESULT]) =>
  judgeReply(cleanReply(text), calls, "", "words");
const verdictOn = (text: string) => judge(`${text} (${NAME})`);

describe("a reply about a class", () => {
  test.each([
    "bullish (99.8 %)",
    "bullish (99.8%)",
    "The sentiment is bullish (99.8 %).",
    "The sentiment is bullish with 99.8 %",
    "The sentiment is bullish with 99.8%.",
    "The sentiment is **bullish** (99.8 %)",
    "It is 99.8 % bullish",
    "99.8% bullish",
    "Bullish: 99.8 %",
    "The text is bullish",
    "The text is bullish: bearish -12000, neutral 3000, bullish 29000",
    "| bearish | -12000 |\n| neutral | 3000 |\n| bullish | 29000 |",
    'It returned {"label":"2","bearish":"-12000","neutral":"3000","bullish":"29000"}',
    "The score of bearish is -12000",
    "bearish: -12,000",
  ])("passes: %s", (text) => {
    expect(verdictOn(text)).toEqual({ passes: true });
  });

  test.each([
    // another class
    "The sentiment is bearish",
    "The sentiment is Bearish.",
    "The sentiment is BEARISH",
    "The sentiment is bearishs",
    "The sentiment is neutral",
    "bearish or neutral",
    "bullish and neutral",
    "bullish, bearish",
    "The text reads bearish: 29000",
    "bearish 3000",
    "bearish 12000",
    "bearish. -12000",
    "bearish\n-12000",
    "bearish, -12000",
    // the percentage of another class, of none, or another one
    "bearish (99.8 %)",
    "neutral with 99.8 %",
    "99.8 % bearish",
    "bullish, 99.8 % bearish",
    "bearish -12000 (99.8 %)",
    "bullish 29000, bearish -12000 (99.8 %)",
    "bullish, neutral 3000, 99.8 %",
    "99.8 % neutral 3000",
    "The probability is 99.8 %",
    "99.8 %",
    "bullish (99.9 %)",
    "bullish (0.2 %)",
    "bullish (100 %)",
    "bullish (99 %)",
    "bullish (99.82 %)",
    // other marks, units and signs
    "bullish (99.8)",
    "bullish 99.8",
    "bullish (-99.8 %)",
    "bullish −99.8 %",
    "bullish (> 99.8 %)",
    "bullish (<99.8 %)",
    "bullish (~99.8 %)",
    "bullish ($99.8 %)",
    "bullish (99.8 ‰)",
    "bullish (99.8 %?)",
    "bullish (99.8 percent)",
    "bullish (99.8 % likely)",
    "bullish (about 99.8 %)",
    "not bullish (99.8 %)",
    "bullish (not 99.8 %)",
    "bullish (99.8 %) tomorrow",
    "bullish (below 99.8 %)",
  ])("is held back: %s", (text) => {
    expect([text, verdictOn(text).passes]).toEqual([text, false]);
  });

  it("behavior: the line itself always passes, for any scores; with another class or percentage it never does", () => {
    const score = fc.bigInt({ min: -40_000n, max: 40_000n });
    let lines = 0;
    fc.assert(
      fc.property(fc.tuple(score, score, score), fc.integer({ min: 0, max: 2 }), (scores, label) => {
        const result = sentiment(scores, label);
        const { text } = result.meaning;
        const reply = (line: string) => judge(`The sentiment is ${line}, by ${NAME}`, [result]).passes;
        expect([text, reply(text)]).toEqual([text, true]);
        lines += 1;
        const percent = text.slice(text.indexOf("("));
        for (const other of LABELS.filter((_, i) => i !== label)) {
          expect(reply(`${other} ${percent}`)).toBe(false);
          expect(reply(other)).toBe(false);
          expect(reply(`${percent} ${other}`)).toBe(false);
        }
        for (const wrong of ["(50.1 %)", "(99.9 %)", "(> 99.9 %)", "(< 0.1 %)", "(0.2 %)"])
          if (wrong !== percent) expect([wrong, reply(`${LABELS[label]} ${wrong}`)]).toEqual([wrong, false]);
      }),
      { numRuns: 500 },
    );
    expect(lines).toBeGreaterThanOrEqual(500);
  });

  it("behavior: of two results each may be said, with its own percentage only", () => {
    const other = sentiment([29_000n, 3_000n, 26_000n], 0, "call_models_words");
    expect(other.meaning.text).toBe("bearish (67.5 %)");
    const reply = (text: string) => judge(`${text} (${NAME}, call_models_words)`, [RESULT, other]).passes;
    expect(
      reply(
        "One is bullish (99.8 %) and the other bearish (67.5 %)"
          .replace("One", "It")
          .replace("other", "result"),
      ),
    ).toBe(true);
    expect(reply("It is bullish (67.5 %)")).toBe(false);
    expect(reply("It is bearish (99.8 %)")).toBe(false);
    expect(reply("It is neutral")).toBe(false);
    // A result that is not cited supports nothing.
    expect(judge(`It is bearish (67.5 %), by ${NAME}`, [RESULT, other]).passes).toBe(false);
  });

  it("behavior: an output that names no class supports none", () => {
    const result = sentiment([1n, 2n, 3n], 7);
    for (const label of LABELS) expect(judge(`It is ${label}, by ${NAME}`, [result]).passes).toBe(false);
    expect(judge(`The label is 7, by ${NAME}`, [result]).passes).toBe(true);
  });

  it("behavior: labels of several words are taken as a whole, the longest first", () => {
    const labels = ["positive", "very positive", "risk", "risk of default", "7"];
    const classes = labels.map((label) => ({ label }));
    const of = (label: string) =>
      ({
        ...RESULT,
        data: { values: ["1", "2"] },
        meaning: { kind: "classes", text: label, label, classes },
      }) as const;
    const reply = (label: string, text: string) => judge(`It is ${text}, by ${NAME}`, [of(label)]).passes;
    expect(reply("very positive", "very positive")).toBe(true);
    expect(reply("very positive", "positive")).toBe(false);
    expect(reply("very positive", "very very positive")).toBe(false);
    expect(reply("positive", "positive")).toBe(true);
    expect(reply("risk", "risk of default")).toBe(false);
    expect(reply("risk of default", "risk of default")).toBe(true);
    expect(reply("risk of default", "risk")).toBe(false);
    expect(reply("positive", "very positive")).toBe(false);
    expect(reply("positive", "very-positive")).toBe(false);
  });
});

describe("a class whose words turn what follows", () => {
  const labels = ["negative", "not spam", "none", "spam"];
  const of = (label: string) =>
    ({
      ...RESULT,
      data: { values: ["1", "29000"] },
      meaning: {
        kind: "classes",
        text: `${label} (98.2 %)`,
        label,
        classes: labels.map((one) => ({ label: one })),
      },
    }) as const;
  const reply = (label: string, text: string) => judge(`${text}\n\n${NAME}`, [of(label)]).passes;

  test.each([
    ["negative", "The result is negative (98.2 %)"],
    ["negative", 'It is "negative".'],
    ["negative", "Negative: 98.2 %"],
    ["not spam", "It is not spam (98.2 %)"],
    ["not spam", "It is not spam."],
    ["none", "The result is: none"],
    ["spam", "It is spam, 98.2 %"],
  ])("passes: %s, %s", (label, text) => {
    expect([text, reply(label, text)]).toEqual([text, true]);
  });

  test.each([
    ["negative", "The value is negative 29000"],
    ["negative", "The value is negative: 29000"],
    ["negative", "The value is negative (29000)"],
    ["negative", "The value is negative - 29000"],
    ["negative", "It is not negative"],
    ["negative", "negative model"],
    ["not spam", "It is spam"],
    ["not spam", "It is not"],
    ["not spam", "It is not 29000"],
    ["not spam", "It is not spam 29000"],
    ["spam", "It is not spam"],
    ["spam", "It is negative"],
    ["spam", "The class is: none"],
    ["none", "none of the values"],
    ["none", "It is spam"],
  ])("is held back: %s, %s", (label, text) => {
    expect([text, reply(label, text)]).toEqual([text, false]);
  });
});

describe("a reply about quantiles", () => {
  const meaning = readOutput(section("forecast-vix"), wordsOf([-87_012n, -11_049n, 90_999n]))
    ?.reading as Reading;
  const result = {
    toolName: NAME,
    description: "Forecast of the next day",
    rawArguments: "{}",
    data: { low: "-87012", median: "-11049", high: "90999" },
    meaning,
  };
  const reply = (text: string) => judge(`${text} (${NAME})`, [result]).passes;

  test.each([
    "−8.7 % … −1.1 % … +9.1 % tomorrow",
    "-8.7 % … -1.1 % … +9.1 % tomorrow",
    "The low is −8.7 %",
    "The low is -8.7%.",
    "The median is −1.1 %, the high +9.1 %.",
    "The high is 9.1%",
    "low -87012, median -11049, high 90999",
  ])("passes: %s", (text) => {
    expect([text, reply(text)]).toEqual([text, true]);
  });

  test.each([
    "The low is 8.7 %",
    "The low is (8.7 %)",
    "The low is (8.7%)",
    "The high is −9.1 %",
    "The high is (9.1 %)",
    "The high is (9.1%)",
    "The low is +8.7 %",
    "The low is −8.7",
    "The low is −8.7 ‰",
    "The low is −9 %",
    "The low is −8.8 %",
    "The low is −8.71 %",
    "The low is −87 %",
    "The low is −87012 %",
    "The low is below −8.7 %",
    "The low is not −8.7 %",
    "The high is 90 %",
    "VIX rises 9.1 %",
    "−8.7 % … −1.1 % … +9.1 % today",
  ])("is held back: %s", (text) => {
    expect([text, reply(text)]).toEqual([text, false]);
  });
});
