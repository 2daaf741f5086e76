import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { cleanReply, judgeReply } from "../../../agent/gateway/output-gate.ts";

const NAME = "call_markets_credit";
const credit = (data: unknown, more: { description?: string; rawArguments?: string } = {}) => ({
  toolName: NAME,
  description: "Scores a loan application",
  rawArguments: "{}",
  data,
  ...more,
});
const passes = (text: string, data: unknown, message = "", more = {}) =>
  judgeReply(cleanReply(text), [credit(data, more)], message, "words").passes;

const RESULT = { points: 187_000, outcome: "approved", rate: 5.25 };

describe("natural phrasings", () => {
  test.each([
    "The points are 187000 (call_markets_credit).",
    "According to call_markets_credit, the points are 187,000.",
    "call_markets_credit returned 187000 points.",
    "The tool call_markets_credit reports 187000 points and a rate of 5.25.",
    "Based on call_markets_credit, the outcome is approved.",
    "The outcome of the application is approved, as call_markets_credit says.",
    "The value is 187000, from call_markets_credit.",
    "I called call_markets_credit and it returned 187000.",
    "I found the following: points 187000, rate 5.25 (source: call_markets_credit).",
    "Here is the result from call_markets_credit: 187000 points.",
    "Here's what call_markets_credit returned: points = 187000.",
    "Here are the results of call_markets_credit:\n\n- points: 187000\n- rate: 5.25\n- outcome: approved",
    "**Points:** 187000\n**Outcome:** approved\n\nSource: call_markets_credit",
    "The model gave **187000** points (call_markets_credit).",
    "The model's output is 187000 (call_markets_credit).",
    "The output of the model is `187000` according to `call_markets_credit`.",
    "The number of points is 187,000 [call_markets_credit]",
    "Points: 187000. Rate: 5.25. (call_markets_credit)",
    "Your application got 187000 points and the outcome is approved (call_markets_credit).",
    "The application was approved! It got 187000 points (call_markets_credit).",
    "The computed value is 187000, as returned by call_markets_credit.",
    "call_markets_credit: 187000",
    "call_markets_credit = 187000",
    "The response from call_markets_credit contains points of 187000 and a rate of 5.25.",
    "I checked it with call_markets_credit: the rate is 5.25.",
    "It came back with 187000 points (call_markets_credit).",
    "The figure that call_markets_credit provided is 187000.",
    "The points equal 187000, via call_markets_credit.",
    "call_markets_credit tells me that the outcome is “approved”.",
    'call_markets_credit tells me that the outcome is "approved", with "points": 187000.',
    'call_markets_credit returned {"points":187000,"outcome":"approved","rate":5.25}.',
    'call_markets_credit returned:\n```\n{\n  "points": 187000,\n  "outcome": "approved",\n  "rate": 5.25\n}\n```',
    "| field | value |\n|---|---|\n| points | 187000 |\n| rate | 5.25 |\n\nSource: call_markets_credit",
    "# Result\n\npoints: 187000 (call_markets_credit)",
    "The score calculated by call_markets_credit is 187000.",
    "The loan is approved, the rate being 5.25 (call_markets_credit).",
    "The credit model computed 187 000 points (call_markets_credit).",
    "You asked for the points: they are 187000, as call_markets_credit shows.",
    "The query of call_markets_credit yielded 187000.",
    "The points stand at 187000 and the rate at 5.25, as reported by call_markets_credit.",
    "Thanks! call_markets_credit answered: 187000 points.",
    "The points are 1.87e5 (call_markets_credit).",
    "Rate: 5.25 (call_markets_credit)",
  ])("%s", (text) => {
    expect(judgeReply(cleanReply(text), [credit(RESULT)], "", "words")).toEqual({ passes: true });
  });

  it("behavior: marks that a result has itself may be said, at the same number", () => {
    const data = {
      change: "up 5%",
      price: "$12",
      level: "<3",
      date: "2026-11-22 10:30",
      note: "not approved",
    };
    expect(passes(`The change is up 5% and the price $12 (${NAME})`, data)).toBe(true);
    expect(passes(`The level is < 3, at 2026-11-22 10:30 (${NAME})`, data)).toBe(true);
    expect(passes(`It is not approved (${NAME})`, data)).toBe(true);
    for (const wrong of ["5", "$5", "12", "12%", "3", ">3", "2026", "11", "approved not", "not $12"])
      expect([wrong, passes(`${wrong} (${NAME})`, data)]).toEqual([wrong, false]);
  });

  it("behavior: a description allows no unit, negation or number mark to a result", () => {
    const more = { description: "Points in $ or %, never above 5 %, not final. Millions of points" };
    for (const text of [
      "$187000",
      "187000 %",
      "187000 millions",
      "never 187000",
      "above 187000",
      "not approved",
    ])
      expect([text, passes(`${text} (${NAME})`, RESULT, "", more)]).toEqual([text, false]);
  });
});

/** Every character of a category among those of the basic plane, folded as replies are. */
const ofCategory = (category: RegExp): string[] =>
  Array.from({ length: 0x10000 }, (_, code) => String.fromCodePoint(code)).filter((one) =>
    category.test(one),
  );
/** Without those that fold to an article, to `in` or the like, and those of tables and equations, which say what "is" says. */
const SYMBOLS = ofCategory(/[\p{Sc}\p{Sm}\p{So}]/u).filter(
  (one) => !/^[|=]$|^(in|\(?[ais]\)?)$/i.test(one.normalize("NFKC")),
);
const DASHES = ["-", "‐", "‑", "‒", "–", "—", "―", "−", "﹣", "－", "⁻", "₋", "➖", "˗", "﹘", "⁃"];
const AFTER = [
  "%",
  "‰",
  "‱",
  "°",
  "℃",
  "′",
  "″",
  "'",
  '"',
  "”",
  "’",
  "k",
  "K",
  "M",
  "m",
  "bn",
  "x",
  "×10",
  "e3",
  "E-2",
  "!",
  "?",
  "...",
  "…",
  "+",
  "-",
  "/2",
  "/day",
  "^2",
  "²",
  "½",
  "·10",
  ",5",
  ".5",
  ".0001",
  ",000",
  ".000",
  " 000",
  "'000",
  "_000",
  "%.",
  "½",
  "ᵏ",
  "\u0338",
  "\u20e0",
  "\ufe0f",
  "𝟎",
  "０",
];
const WORDS_AFTER = [
  "percent",
  "dollars",
  "million",
  "thousand",
  "k",
  "M",
  "times",
  "points lower",
  "less",
  "or more",
  "each",
  "km",
  "wei",
  "minus one",
  "plus",
];
const BEFORE = [
  "$",
  "€",
  "<",
  ">",
  "≤",
  "≥",
  "≠",
  "~",
  "≈",
  "±",
  "¬",
  "!",
  "!=",
  "=/=",
  "#",
  "@",
  "^",
  "√",
  "+",
  "(-",
  "½",
  "０",
  "𝟏",
  "．",
  "＄",
  "＜",
];
/** A point with a space behind it ends a sentence. */
const SPACEABLE = BEFORE.filter((mark) => mark !== "．");
const WORDS_BEFORE = [
  "not",
  "never",
  "no",
  "less than",
  "more than",
  "above",
  "below",
  "under",
  "over",
  "up to",
  "at least",
  "at most",
  "about",
  "nearly",
  "isn't",
  "can't be",
  "cannot be",
  "other than",
  "except",
  "without",
  "minus",
  "negative",
  "twice",
  "half of",
  "one",
  "thirty",
  "maybe",
  "might be",
  "should be",
  "if",
  "false:",
  "except for",
  "between 1 and",
  "only",
];

const RUNS = 2_000;

/** Results that hold whole numbers or fractions, and nothing else. */
const results = fc.oneof(
  fc.integer({ min: 10, max: 10_000_000 }),
  fc
    .double({ min: 0.5, max: 1e6, noNaN: true, noDefaultInfinity: true })
    .map((one) => Number(one.toFixed(3))),
);

describe("decorations that change what a number says", () => {
  const refuses = (text: string, value: number) => {
    expect([text, passes(`The points are ${text} (${NAME})`, { points: value })]).toEqual([text, false]);
    expect([text, passes(`${NAME}: ${text}`, { points: value })]).toEqual([text, false]);
  };
  const gaps = fc.constantFrom("", " ", "  ", "\u00a0", "\u202f", "\t", "\u200b");

  it("default: without one the number passes", () => {
    fc.assert(
      fc.property(results, (value) => passes(`The points are ${value} (${NAME})`, { points: value })),
    );
  });

  it("behavior: every symbol of the basic plane, before and behind", { timeout: 120_000 }, () => {
    expect(SYMBOLS.length).toBeGreaterThan(3_000);
    for (const symbol of SYMBOLS) {
      refuses(`${symbol}187000`, 187_000);
      refuses(`187000 ${symbol}`, 187_000);
    }
  });

  it("behavior: signs, scales, exponents and separators", { timeout: 120_000 }, () => {
    for (const after of AFTER) refuses(`187000${after}`, 187_000);
    for (const before of [...BEFORE, ...DASHES]) refuses(`${before}187000`, 187_000);
    for (const dash of DASHES) refuses(`${dash} 187000`, 187_000);
    for (const text of [
      "(187000)",
      "( 187000 )",
      "-(187000)",
      "[-187000]",
      "1,87,000",
      "18,7000",
      "187.000",
      "1 87000",
      "187000 5",
      "|187000|",
    ])
      refuses(text, 187_000);
    for (const text of [
      "187",
      "187.0",
      "0.187",
      "187000000",
      "١٨٧٠٠٠",
      "187,000,000",
      "1.87",
      "1.87e6",
      "187e4",
      "0187000",
    ])
      refuses(text, 187_000);
    for (const text of ["187.000", "187,000", "187.500", "187 500"])
      refuses(text, text.includes("5") ? 187.5 : 187);
  });

  it("behavior: any of them, at any number, with any gap", { timeout: 120_000 }, () => {
    const before = fc.constantFrom(
      ...SPACEABLE,
      ...DASHES,
      ...SYMBOLS,
      ...WORDS_BEFORE.map((words) => `${words} `),
    );
    const after = fc.constantFrom(
      "%",
      "‰",
      "°",
      "k",
      "M",
      "x",
      "+",
      "^2",
      ...SYMBOLS,
      ...WORDS_AFTER.map((words) => ` ${words}`),
    );
    fc.assert(
      fc.property(results, before, gaps, (value, mark, gap) => refuses(`${mark}${gap}${value}`, value)),
      { numRuns: RUNS },
    );
    fc.assert(
      fc.property(results, after, gaps, (value, mark, gap) => refuses(`${value}${gap}${mark}`, value)),
      { numRuns: RUNS },
    );
  });

  it("behavior: another number never passes", () => {
    fc.assert(
      fc.property(results, results, (value, other) => {
        fc.pre(Math.abs(value - other) > 0.5 + 1e-3 * Math.abs(value));
        refuses(String(other), value);
        refuses(String(-value), value);
      }),
    );
    const wei = "1000000000000000001";
    expect(passes(`${wei} (${NAME})`, { wei })).toBe(true);
    expect(passes(`1000000000000000000 (${NAME})`, { wei })).toBe(false);
  });
});

describe("words that add something", () => {
  test.each([
    ...WORDS_BEFORE.map((words) => `The points are ${words} 187000`),
    ...WORDS_AFTER.map((words) => `The points are 187000 ${words}`),
    "The outcome is not approved",
    "The outcome is never approved",
    "The outcome is no longer approved",
    "The outcome is neither approved nor known",
    "The outcome isn't approved",
    "The outcome may be approved",
    "The outcome would be approved",
    "The outcome is approved?",
    "The outcome is ~~approved~~",
    "The outcome is !approved",
    "The outcome is ¬approved",
    "The outcome is non-approved",
    "The outcome is approved 👎",
    "The outcome is almost approved",
    "The points are one hundred",
    "The points are higher",
    "The rate is above",
    "Yes",
    "The points are the same as yesterday",
  ])("%s", (text) => {
    expect(passes(`${text} (${NAME})`, RESULT)).toBe(false);
  });

  it("behavior: what the user wrote allows no negation either", () => {
    const more = { rawArguments: '{"text":"is it not approved, above 5 %"}' };
    const message = "is it not approved, above 5 %";
    expect(passes(`It is not approved (${NAME})`, RESULT, message, more)).toBe(false);
    expect(passes(`It is above 187000 (${NAME})`, RESULT, message, more)).toBe(false);
    expect(passes(`It is 5.25 % (${NAME})`, RESULT, message, more)).toBe(false);
  });
});
