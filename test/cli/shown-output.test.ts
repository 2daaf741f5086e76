/** An output's lines, of which a model that lies writes some. */
import { expect, it } from "vitest";
import { outputLines } from "../../cli/shown-output.ts";

it("behavior: no line of an answer looks like a value of the output", () => {
  const lines = outputLines({ text: "yes\nids = 7", values: { ids: 5n } });
  expect(lines).toEqual(["| yes", "| ids = 7", "ids = 5"]);
});
