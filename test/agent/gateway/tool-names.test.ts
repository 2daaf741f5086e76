import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { canonicalName, parseToolId, slugFrom, toolNameOf } from "../../../agent/gateway/tool-names.ts";
import { isBaseError } from "../../../base/errors.ts";

const slug = fc.stringMatching(/^[a-z0-9-]{1,29}$/);

describe("toolNameOf", () => {
  // shows: X-23
  it("default: call_<server>_<api>", () => {
    expect(toolNameOf("magpie/tvl")).toBe("call_magpie_tvl");
  });

  // shows: D-57
  it("behavior: no two ids make one name, and every name is one that chat endpoints take", () => {
    fc.assert(
      fc.property(slug, slug, slug, slug, (a, b, c, d) => {
        const [one, other] = [`${a}/${b}`, `${c}/${d}`];
        expect(toolNameOf(one)).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
        if (one !== other) expect(toolNameOf(one)).not.toBe(toolNameOf(other));
      }),
    );
  });

  // shows: D-57, D-58
  test.each([
    "a/b_c",
    "a_b/c",
    "a/b/c",
    "a",
    "/b",
    "a/",
    "A/b",
    "a/B",
    "a.b/c",
    "a b/c",
    "ä/b",
    "a/b\n",
    `${"a".repeat(30)}/${"b".repeat(30)}`,
    "\u212a/b",
  ])("error: %j is no tool", (id) => {
    expect(() => toolNameOf(id)).toThrow(expect.objectContaining({ code: "TOOL_ID_INVALID" }));
  });

  it("args: 58 characters of slugs are the most", () => {
    expect(toolNameOf(`${"a".repeat(29)}/${"b".repeat(29)}`)).toHaveLength(64);
  });
});

describe("canonicalName", () => {
  // shows: X-23, D-58
  it("default: case is folded, and the canonical name is what is used then", () => {
    expect(canonicalName("CALL_Magpie_TVL")).toBe("call_magpie_tvl");
  });

  // shows: D-58
  test.each([
    "CALL_\u212aelvin_a",
    "call_magpie_tvl\n",
    " call_magpie_tvl",
    "call_magpie",
    "call__",
    "call_a_b_c",
    "",
    "x".repeat(1_000_000),
  ])("error: %#: no name of a tool", (name) => {
    expect(canonicalName(name)).toBeUndefined();
  });
});

describe("slugFrom", () => {
  // shows: D-81
  it("default: names that differ by case and punctuation meet", () => {
    expect(["getPrice", "GETPRICE", "get.price", "get_price", "__get price!"].map(slugFrom)).toEqual([
      "getprice",
      "getprice",
      "get-price",
      "get-price",
      "get-price",
    ]);
  });

  it("behavior: whatever comes, a slug or nothing", () => {
    fc.assert(fc.property(fc.string({ unit: "binary" }), (name) => /^[a-z0-9-]*$/.test(slugFrom(name))));
  });
});

describe("parseToolId", () => {
  it("behavior: any text is an id or refused by name", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        try {
          const { server, api } = parseToolId(text);
          expect(`${server}/${api}`).toBe(text);
        } catch (error) {
          expect(isBaseError(error, "TOOL_ID_INVALID")).toBe(true);
        }
      }),
    );
  });
});
