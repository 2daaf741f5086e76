import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { cleanReply, judgeReply } from "../../../agent/gateway/output-gate.ts";

const call = (toolName: string, data: unknown, rawArguments = "{}") => ({
  toolName,
  description: "Total value locked, in dollars",
  rawArguments,
  ...(data === undefined ? {} : { data }),
});
const tvl = call("call_magpie_tvl", { tvl: 1_234_567.891, lastUpdated: "2026-11-22", trend: "rising" });
const judge = (text: string, calls = [tvl], message = "") =>
  judgeReply(cleanReply(text), calls, message, "words");

describe("judgeReply", () => {
  // shows: X-17, D-63
  test.each([
    "The total value locked is 1234567.891 dollars, according to call_magpie_tvl.",
    "call_magpie_tvl: 1,234,567.891",
    "According to the tool it is 1,234,568 dollars [call_magpie_tvl]",
    "It was last updated 2026-11-22 and the trend is rising (CALL_MAGPIE_TVL).",
    "lastUpdated: 2026-11-22, call_magpie_tvl",
  ])("default: %s", (text) => {
    expect(judge(text)).toEqual({ passes: true });
  });

  // shows: D-63
  test.each([
    ["", "empty"],
    ["The total value locked is 1234567.891 dollars.", "no citation"],
    ["rising (call_uniswap_swap)", "citation of another tool"],
    ["rising (call_magpie_tvl, call_magpie_liquidity)", "citation of another tool"],
    ["falling (call_magpie_tvl)", "not in the results"],
    ["1234567.892 (call_magpie_tvl)", "not in the results"],
    ["-1234567.891 (call_magpie_tvl)", "not in the results"],
    ["1.2 million (call_magpie_tvl)", "not in the results"],
    ["1 (call_magpie_tvl)", "not in the results"],
    ["Yes (call_magpie_tvl)", "not in the results"],
    ["No (call_magpie_tvl)", "not in the results"],
    ["It is Paris (call_magpie_tvl)", "not in the results"],
    ["Ｐａｒｉｓ (call_magpie_tvl)", "not in the results"],
    ["Pаris with a Cyrillic letter (call_magpie_tvl)", "not in the results"],
    ["call_magpie_tvl_is_in_paris", "citation of another tool"],
  ])("error: %s", (text, reason) => {
    expect(judge(text)).toMatchObject({ passes: false, reason });
  });

  // shows: D-63
  it("error: without a successful call nothing passes, not even a true sentence", () => {
    const text = "rising (call_magpie_tvl)";
    expect(judge(text, [])).toEqual({ passes: false, reason: "no successful tool result" });
    expect(judge(text, [call("call_magpie_tvl", undefined)])).toMatchObject({
      reason: "no successful tool result",
    });
  });

  it("behavior: of a question only the words that the tool was called with may be said", () => {
    const sentiment = call("call_markets_sentiment", { label: "bullish" }, '{"text":"Profit beats Paris"}');
    const message = "What is the sentiment of Profit beats forecasts?";
    expect(judge("Profit beats: bullish (call_markets_sentiment)", [sentiment], message)).toEqual({
      passes: true,
    });
    expect(judge("forecasts: bullish (call_markets_sentiment)", [sentiment], message)).toMatchObject({
      words: ["forecasts"],
    });
    expect(judge("Paris (call_markets_sentiment)", [sentiment], message)).toMatchObject({ words: ["paris"] });
  });

  it("behavior: only the results of cited tools count", () => {
    const other = call("call_magpie_pools", { pool: "falling" });
    expect(judge("falling (call_magpie_tvl)", [tvl, other])).toMatchObject({ reason: "not in the results" });
    expect(judge("falling (call_magpie_pools)", [tvl, other])).toEqual({ passes: true });
  });

  // shows: X-15
  it("behavior: the sentence about another tool that failed may stand beside a result", () => {
    const failed = call("call_magpie_pools", undefined);
    const text =
      "rising (call_magpie_tvl). I was unable to retrieve data from call_magpie_pools. Please try again.";
    expect(judge(text, [tvl, failed])).toEqual({ passes: true });
    expect(judge(text, [tvl])).toMatchObject({ passes: false });
  });

  it("behavior: the looser grounding asks for citations alone", () => {
    expect(judgeReply("Anything (call_magpie_tvl)", [tvl], "", "citations")).toEqual({ passes: true });
    expect(judgeReply("Anything", [tvl], "", "citations")).toMatchObject({ reason: "no citation" });
    expect(judgeReply("Anything (call_magpie_tvl)", [], "", "citations")).toMatchObject({ passes: false });
  });

  it("behavior: text with a word that is nowhere never passes", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }), (before, after) => {
        expect(judge(`${before} xylophone ${after} call_magpie_tvl`).passes).toBe(false);
      }),
    );
  });

  it("behavior: what is judged is what is sent: nothing invisible is left in it", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        expect(cleanReply(text)).not.toMatch(/(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
      }),
    );
  });
});
