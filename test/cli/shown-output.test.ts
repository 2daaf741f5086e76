/** An output's lines, of which a model that lies writes some. */
import { expect, it } from "vitest";
import { toJson } from "../../cli/output.ts";
import { outputLines } from "../../cli/shown-output.ts";

it("behavior: no line of an answer looks like a value of the output", () => {
  const lines = outputLines({ text: "yes\nids = 7", values: { ids: 5n } });
  expect(lines).toEqual(["| yes", "| ids = 7", "ids = 5"]);
});

it("behavior: JSON of it commands no terminal, and says the same", () => {
  const text = "a\u009b2J\u202eb\u2028\u007f\n\t😀";
  const json = toJson({ text });
  expect(json).not.toMatch(/(?!\n)[\p{Cc}\p{Bidi_Control}\p{Zl}]/u);
  expect(JSON.parse(json)).toEqual({ text });
});
