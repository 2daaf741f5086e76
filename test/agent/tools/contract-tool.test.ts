import { type AbiFunction, createWalletClient, http, parseAbiItem, toFunctionSelector } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type ContractTool,
  contractToolArguments,
  deployContractTool,
  describedSignature,
  describeFunction,
} from "../../../agent/tools/contract-tool.ts";
import { loadArtifact } from "../../../cli/artifacts.ts";
import { simpleSmartContractToolAbi } from "../../../protocol/rules/generated/abis.ts";
import { ensureCompiled } from "../../../tools/compile.ts";
import { accountAt, type LocalChain, startLocalChain } from "../../support/anvil.ts";

const TARGET = "0x00000000000000000000000000000000000000aa";
const item = (signature: string) => parseAbiItem(signature) as AbiFunction;

function toolOf(signature: string, descriptions: Record<string, string>): ContractTool {
  const fn = item(signature);
  return {
    name: "TransferTool",
    description: "Transfers tokens",
    target: TARGET,
    functionName: fn.name,
    selector: toFunctionSelector(fn),
    params: describeFunction(fn, descriptions),
    result: { text: "Transferred" },
  };
}

const TRANSFER = "function transfer(address to, uint256 amount) returns (bool)";
const TEXTS = { to: "who gets them", amount: "how many, in the token's smallest unit" };

describe("describeFunction", () => {
  // shows: E1-013, E1-022
  it("behavior: maps all ten types in their order", () => {
    const fn = item(
      "function f(string a, address b, bool c, int256 d, uint256 e, string[] f, address[] g, bool[] h, int256[] i, uint256[] j)",
    );
    const params = describeFunction(fn, Object.fromEntries([..."abcdefghij"].map((name) => [name, "it"])));
    expect(params.map(({ type }) => type)).toEqual([
      "STRING",
      "ADDRESS",
      "BOOL",
      "INT",
      "UINT",
      "STRING_ARRAY",
      "ADDRESS_ARRAY",
      "BOOL_ARAY",
      "INT_ARRAY",
      "UINT_ARRAY",
    ]);
    expect(toFunctionSelector(describedSignature("f", params))).toBe(toFunctionSelector(fn));
  });

  // shows: E1-022, D-74
  it.each([
    "function f(bytes a)",
    "function f(bytes32 a)",
    "function f((uint256 x, uint256 y) a)",
    "function f(uint8 a)",
    "function f(uint256[2] a)",
    "function f(uint256[][] a)",
  ])("error: %s has a type that a tool cannot take", (signature) => {
    expect(() => describeFunction(item(signature), { a: "it" })).toThrow(
      expect.objectContaining({ code: "TOOL_TYPE_UNSUPPORTED" }),
    );
  });

  // shows: E1-089
  it("error: more than one output", () => {
    expect(() => describeFunction(item("function f() returns (uint256, bool)"), {})).toThrow(
      expect.objectContaining({ code: "TOOL_OUTPUTS_UNSUPPORTED" }),
    );
  });

  // shows: E1-026
  it("error: a parameter without a name or a description", () => {
    expect(() => describeFunction(item("function f(uint256)"), {})).toThrow(
      expect.objectContaining({ code: "TOOL_PARAMETER_UNNAMED" }),
    );
    expect(() => describeFunction(item(TRANSFER), { to: "who" })).toThrow(
      expect.objectContaining({ code: "TOOL_PARAMETER_UNDESCRIBED" }),
    );
  });
});

describe("contractToolArguments", () => {
  // shows: E1-084
  it("default", () => {
    const args = contractToolArguments(toolOf(TRANSFER, TEXTS));
    expect(args).toHaveLength(8);
    expect(args[3]).toBe("0xa9059cbb");
    expect(args[4].paramDescriptions.map(({ paramType }) => paramType)).toEqual([1, 4]);
  });

  // shows: E1-089
  it("error: the selector of another function", () => {
    const tool = toolOf(TRANSFER, TEXTS);
    expect(() =>
      contractToolArguments({ ...tool, selector: toFunctionSelector("approve(address,uint256)") }),
    ).toThrow(expect.objectContaining({ code: "TOOL_SELECTOR_MISMATCH" }));
    expect(() => contractToolArguments({ ...tool, params: tool.params.slice(1) })).toThrow(
      expect.objectContaining({ code: "TOOL_SELECTOR_MISMATCH" }),
    );
    expect(() => contractToolArguments({ ...tool, params: [...tool.params].reverse() })).toThrow(
      expect.objectContaining({ code: "TOOL_SELECTOR_MISMATCH" }),
    );
  });
});

describe("deployContractTool", () => {
  let chain: LocalChain;
  beforeAll(async () => {
    ensureCompiled();
    chain = await startLocalChain();
  });
  afterAll(() => chain.stop());

  // shows: E1-084, E1-090
  it("behavior: the deployed tool says what was described", async () => {
    // Any code will do as the target.
    await chain.control.setCode({ address: TARGET, bytecode: "0x00" });
    const wallet = createWalletClient({ account: accountAt(0), transport: http(chain.rpcUrl) });
    const tool = toolOf(TRANSFER, TEXTS);
    const hash = await deployContractTool(wallet, loadArtifact("SimpleSmartContractTool").bytecode, tool);
    const { contractAddress } = await chain.client.waitForTransactionReceipt({ hash, pollingInterval: 20 });
    const read = { address: contractAddress as `0x${string}`, abi: simpleSmartContractToolAbi } as const;
    expect(await chain.client.readContract({ ...read, functionName: "name" })).toBe("TransferTool");
    const described = await chain.client.readContract({ ...read, functionName: "inputDescription" });
    expect(described.paramDescriptions).toEqual([
      { paramType: 1, name: "to", description: TEXTS.to },
      { paramType: 4, name: "amount", description: TEXTS.amount },
    ]);
  });
});
