import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseJsonWithComments } from "../../../protocol/service/json-comments.ts";

describe("parseJsonWithComments", () => {
  test("default: comments and last commas go, strings stay", () => {
    const text = `// head
    { "a": "http://x//y", /* two
      lines */ "b": [1, 2, /* last */ ], // end
      "c": "\\" // no comment /* nor this */ ,]", }`;
    expect(parseJsonWithComments(text)).toEqual({
      a: "http://x//y",
      b: [1, 2],
      c: '" // no comment /* nor this */ ,]',
    });
  });

  test("behavior: JSON is read as it is", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value, undefined, 2);
        expect(parseJsonWithComments(text)).toEqual(JSON.parse(text));
      }),
    );
  });

  test.each(['{"a": 1,, }', '{"a" /* 1 }', "// nothing", '{"a": "x}'])("error: %j", (text) => {
    expect(() => parseJsonWithComments(text)).toThrow(SyntaxError);
  });

  // A pattern that looks at a text's rest again and again takes minutes for each of these.
  test.each(['"\\', "/*", "/", ",", '"', ", "])(
    "behavior: a hundred thousand times %j are refused",
    (part) => {
      expect(() => parseJsonWithComments(part.repeat(100_000))).toThrow(SyntaxError);
    },
  );
});
