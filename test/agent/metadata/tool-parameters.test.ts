import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { PARAM_TYPES } from "../../../agent/executor/tool.ts";
import { TOOL_TYPES, toolParameters } from "../../../agent/metadata/tool-parameters.ts";
import type { AbiFunction, AbiParameter } from "../../../inference/manifest/abi.ts";
import { AGENT_EXAMPLES } from "../../support/agent-metadata.ts";

const withInputs = (...inputs: AbiParameter[]): AbiFunction => ({
  type: "function",
  name: "f",
  inputs,
  outputs: [],
});

describe("toolParameters", () => {
  // shows: D-74
  it("default: every type of the interface has exactly one ABI type", () => {
    expect(Object.values(TOOL_TYPES)).toEqual(PARAM_TYPES);
    const inputs = Object.keys(TOOL_TYPES).map((type, i) => ({
      name: `p${i}`,
      type,
      description: `The ${i}th`,
    }));
    expect(toolParameters(withInputs(...inputs))).toEqual({
      offered: true,
      params: PARAM_TYPES.map((type, i) => ({ type, name: `p${i}`, description: `The ${i}th` })),
    });
  });

  // shows: D-74, E1-022
  it("error: bytes, fixed bytes, tuples, small integers, fixed and nested lists, with all reasons", () => {
    for (const type of [
      "bytes",
      "bytes32",
      "tuple",
      "uint8",
      "int128",
      "uint256[3]",
      "string[][]",
      "function",
      "toString",
    ]) {
      const refused = toolParameters(withInputs({ name: "a", type }, { name: "b", type: "bool" }));
      expect(refused).toMatchObject({
        offered: false,
        reasons: [expect.stringContaining(`a is a ${type}, which`)],
      });
    }
    expect(
      toolParameters(withInputs({ name: "", type: "bytes" }, { name: "x", type: "bytes4" })),
    ).toMatchObject({
      offered: false,
      reasons: [
        expect.stringContaining("parameter 0 is a bytes"),
        expect.stringContaining("parameter 0 has no name"),
        expect.stringContaining("x is a bytes4"),
      ],
    });
  });

  // shows: D-74
  it("behavior: of the text's examples all but analyze(bytes) can be tools; the models' methods can", () => {
    const offered = AGENT_EXAMPLES.flatMap(({ abi }) => abi).map((f) => [f.name, toolParameters(f).offered]);
    expect(Object.fromEntries(offered)).toEqual({ fetch: true, generate: true, chat: true, analyze: false });
    for (const model of ["sentiment", "forecast-btc"]) {
      const { abi } = JSON.parse(readFileSync(`models/${model}/manifest.json`, "utf8")) as {
        abi: AbiFunction[];
      };
      expect(toolParameters(abi[0]!).offered).toBe(true);
    }
  });
});
