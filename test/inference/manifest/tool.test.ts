import { describe, expect, it } from "vitest";
import { type ToolDescription, toolFaults } from "../../../inference/manifest/tool.ts";

const tool = (settings: object): ToolDescription =>
  ({
    name: "t",
    description: "d",
    version: "1.0.0",
    abi: [],
    import: settings,
  }) as unknown as ToolDescription;

describe("toolFaults", () => {
  it("default", () => {
    expect(
      toolFaults(
        tool({ codec: "text", output: "words", textBytes: 512, products: "dot", arithmetic: "integers" }),
      ),
    ).toEqual([]);
  });

  it("error: every wrong setting is named, unknown ones included", () => {
    expect(
      toolFaults(
        tool({ codec: "morse", textBytes: 0, products: "rows", arithmetic: "halves", maxBytes: 512 }),
      ),
    ).toEqual([
      "$.import.maxBytes: is no setting; there are codec, output, textBytes, dims, nudge, products, arithmetic, inputTypes, quantizedInputs, keep, claimed",
      "$.import.codec: must be one of text, prices, int16s, raw",
      "$.import.textBytes: must be 1 to 4096",
      "$.import.products: must be one of auto, pairs, dot",
      "$.import.arithmetic: must be one of float32, integers",
    ]);
    expect(toolFaults(tool({ keep: "label", claimed: ["answer"] }))).toEqual([
      "$.import.keep: must be a list of outputs' names",
      "$.import.claimed: must be an input's name",
    ]);
  });
});
