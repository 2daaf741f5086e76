import { describe, expect, it } from "vitest";
import { type Draft, draftOf, settingsOf } from "../../../explorer/app/pages/import/draft.ts";

describe("settingsOf", () => {
  it("default: an untouched form leaves everything to tool.json", () => {
    expect(settingsOf(draftOf("mine"))).toEqual({ dims: new Map() });
  });

  it("behavior: each field becomes its setting", () => {
    const draft: Draft = {
      ...draftOf("mine"),
      ...{ nudge: true, quantizedInputs: true, products: "dot", arithmetic: "integers" },
      ...{ codec: "int16s", output: "words", textBytes: " 64 ", dims: "batch=4\n\n x:1=2 " },
      ...{ inputTypes: "prompt=int32", keep: "label\n", claimed: " answer " },
    };
    expect(settingsOf(draft)).toEqual({
      ...{ nudge: true, quantizedInputs: true, products: "dot", arithmetic: "integers" },
      ...{ codec: "int16s", output: "words", textBytes: 64, keep: ["label"], claimed: "answer" },
      dims: new Map([
        ["batch", 4],
        ["x:1", 2],
      ]),
      inputTypes: new Map([["prompt", "int32"]]),
    });
  });

  it.each([
    ["dims", "batch"],
    ["inputTypes", "prompt:int32"],
    ["textBytes", "4097"],
  ] as const)("error: %s %s", (field, text) => {
    expect(() => settingsOf({ ...draftOf("mine"), [field]: text })).toThrow(JSON.stringify(text));
  });
});
