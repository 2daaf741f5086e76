/** The structs of the agent text, as the compiler sees them. */
import { type AbiParameter, getAbiItem } from "viem";
import { describe, expect, it } from "vitest";
import { iercAgentToolAbi } from "../../protocol/rules/generated/abis.ts";

/** `name: type`, tuples by their components. */
function shape(parameter: AbiParameter): string {
  const inner = "components" in parameter ? `(${parameter.components.map(shape).join(", ")})` : "";
  return `${parameter.name ?? ""}: ${parameter.internalType ?? parameter.type}${inner}`;
}

describe("IERCAgentTool", () => {
  // shows: E1-014, E1-015
  it("default: InputDescription and ParamDescription, fields in order", () => {
    const { outputs } = getAbiItem({ abi: iercAgentToolAbi, name: "inputDescription" });
    expect(outputs.map(shape)).toEqual([
      ": struct IERCAgentTool.InputDescription(paramDescriptions: struct IERCAgentTool.ParamDescription[](paramType: enum IERCAgentTool.ParamType, name: string, description: string))",
    ]);
  });

  // shows: E1-016, E1-017, E1-027
  it("default: ParamValue and Input, fields in order; run", () => {
    const { inputs, outputs } = getAbiItem({ abi: iercAgentToolAbi, name: "run" });
    expect(inputs.map(shape)).toEqual([
      "input: struct IERCAgentTool.Input(params: struct IERCAgentTool.ParamValue[](paramType: enum IERCAgentTool.ParamType, value: bytes), abiEncodedParams: bytes)",
      "resultHandler: address",
    ]);
    expect(outputs.map(shape)).toEqual(["runId: int256", "result: string"]);
  });
});
