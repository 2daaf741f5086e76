import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { selectJson } from "../../../agent/http/json-select.ts";
import { isBaseError } from "../../../base/errors.ts";

const codeOf = (work: () => unknown): string => {
  try {
    work();
  } catch (error) {
    if (isBaseError(error)) return error.code;
    throw error;
  }
  return "none";
};
const PRICES =
  '{"data": {"prices": [ {"value": 12.50, "at": "noon"}, {"value": 1e400} ], "a.b": {"\\u0063": true}}}';

describe("selectJson", () => {
  it.each([
    ["data.prices[0].value", "12.50"],
    ["$.data.prices[0].at", "noon"],
    [".data.prices[1].value", "1e400"],
    ['data["a.b"].c', "true"],
    ['["data"]["prices"][0]', '{"value":12.50,"at":"noon"}'],
    ["$", PRICES.replaceAll(" ", "")],
    ["", PRICES.replaceAll(" ", "")],
  ])("default: %s", (selector, value) => {
    expect(selectJson(PRICES, selector)).toBe(value);
  });

  it("behavior: every digit of a number stays, a string's escapes are read, spaces in strings stay", () => {
    expect(selectJson('{"n":123456789012345678901234567890.10}', "n")).toBe(
      "123456789012345678901234567890.10",
    );
    expect(selectJson('["a\\u0041\\n\\"\\\\"]', "[0]")).toBe('aA\n"\\');
    expect(selectJson('[ {"a b" : "c  d" } ]', "")).toBe('[{"a b":"c  d"}]');
    expect(selectJson('{"a":1,"a":2}', "a")).toBe("2");
    expect(selectJson(" null ", "")).toBe("null");
    expect(selectJson('{"$a":1}', "$a")).toBe("1");
  });

  it.each(["data.", "data..prices", "data[", "data[-1]", "data[x]", 'data["', 'data["\\x"]', "a[0]b", "a]"])(
    "error: the selector %s",
    (selector) => {
      expect(codeOf(() => selectJson(PRICES, selector))).toBe("SELECTOR_INVALID");
    },
  );

  it("error: nothing there, no JSON, half a surrogate pair, selectors without end", () => {
    for (const selector of [
      "none",
      "data[0]",
      "data.prices.value",
      "data.prices[2]",
      "data.prices[0].value.x",
    ]) {
      expect(codeOf(() => selectJson(PRICES, selector))).toBe("VALUE_MISSING");
    }
    expect(codeOf(() => selectJson("{", ""))).toBe("JSON_INVALID");
    expect(codeOf(() => selectJson('"\\ud800"', ""))).toBe("TEXT_NOT_UNICODE");
    expect(codeOf(() => selectJson("1", "a.".repeat(600)))).toBe("SELECTOR_INVALID");
    expect(codeOf(() => selectJson("1", `a${"[0]".repeat(64)}`))).toBe("SELECTOR_INVALID");
  });

  it("behavior: a megabyte of nesting, of one string, of members", () => {
    const deep = "[".repeat(250_000) + "]".repeat(250_000);
    expect(selectJson(deep, "[0]").length).toBe(499_998);
    expect(selectJson(`{"a":"${"\\\\x".repeat(300_000)}"}`, "").length).toBe(900_008);
    const members = Array.from({ length: 50_000 }, (_, i) => `"k${i}":${i}`).join(",");
    expect(selectJson(`{${members}}`, "k49999")).toBe("49999");
  });

  it("behavior: the value that JSON.parse finds there", () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 3 }), fc.integer({ min: 0, max: 4 }), (compact, indent) => {
        const text = JSON.stringify(JSON.parse(compact), undefined, indent);
        const walk = (value: unknown, selector: string): void => {
          const selected = selectJson(text, selector);
          expect(typeof value === "string" ? selected : JSON.parse(selected)).toEqual(value);
          if (typeof value !== "object" || value === null) return;
          for (const [key, part] of Object.entries(value)) {
            walk(part, `${selector}[${Array.isArray(value) ? key : JSON.stringify(key)}]`);
          }
        };
        walk(JSON.parse(text), "");
      }),
      { numRuns: 300 },
    );
  });
});
