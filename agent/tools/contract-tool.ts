/** One function of a contract as a tool: its description, checked against the function, and its deployment. */
import {
  type AbiFunction,
  type Account,
  type Address,
  type Chain,
  type Hex,
  type Transport,
  toFunctionSelector,
  type WalletClient,
  zeroAddress,
} from "viem";
import { BaseError } from "../../base/errors.ts";
import { simpleSmartContractToolAbi } from "../../protocol/rules/generated/abis.ts";
import { ABI_TYPES, PARAM_TYPES, type Param } from "../executor/tool.ts";

/** What a contract tool says and calls. */
export interface ContractTool {
  readonly name: string;
  readonly description: string;
  readonly target: Address;
  /** name of the target's function */
  readonly functionName: string;
  readonly selector: Hex;
  /** every parameter of the function, in order */
  readonly params: readonly Param[];
  /** what a use answers: a fixed text, or what a converter makes of the return data */
  readonly result: { readonly text: string } | { readonly converter: Address };
}

/** The parameters of a function, described.
 *  @param descriptions of every parameter, by its name
 *  @throws BaseError TOOL_TYPE_UNSUPPORTED, TOOL_OUTPUTS_UNSUPPORTED, TOOL_PARAMETER_UNNAMED,
 *  TOOL_PARAMETER_UNDESCRIBED */
export function describeFunction(fn: AbiFunction, descriptions: Readonly<Record<string, string>>): Param[] {
  if (fn.outputs.length > 1) {
    throw new BaseError({
      code: "TOOL_OUTPUTS_UNSUPPORTED",
      shortMessage: `${fn.name} returns ${fn.outputs.length} values, a contract tool at most 1.`,
      nextStep: "Wrap it in a function that returns one value.",
    });
  }
  return fn.inputs.map(({ name, type }, index) => {
    const paramType = PARAM_TYPES.find((candidate) => ABI_TYPES[candidate] === type);
    if (paramType === undefined) {
      throw new BaseError({
        code: "TOOL_TYPE_UNSUPPORTED",
        shortMessage: `Parameter ${index} of ${fn.name} is of type ${type}; a tool takes ${Object.values(ABI_TYPES).join(", ")}.`,
        nextStep: "Wrap the function in one that takes these types.",
      });
    }
    if (name === undefined || name === "") {
      throw new BaseError({
        code: "TOOL_PARAMETER_UNNAMED",
        shortMessage: `Parameter ${index} of ${fn.name} has no name for a model to fill it in by.`,
        nextStep: "Name it in the ABI.",
      });
    }
    const description = descriptions[name];
    if (description === undefined || description === "") {
      throw new BaseError({
        code: "TOOL_PARAMETER_UNDESCRIBED",
        shortMessage: `Parameter ${name} of ${fn.name} has no description.`,
        nextStep: "Say what it is, in words that a model can fill it in by.",
      });
    }
    return { type: paramType, name, description };
  });
}

/** `transfer(address,uint256)` */
export function describedSignature(functionName: string, params: readonly Param[]): string {
  return `${functionName}(${params.map(({ type }) => ABI_TYPES[type]).join(",")})`;
}

/** Arguments of SimpleSmartContractTool's constructor.
 *  @throws BaseError TOOL_SELECTOR_MISMATCH if the selector is not that of the described function: the tool would hand
 *  a model's values to another function, or read them as other types */
export function contractToolArguments(tool: ContractTool) {
  const signature = describedSignature(tool.functionName, tool.params);
  const required = toFunctionSelector(signature);
  if (tool.selector.toLowerCase() !== required) {
    throw new BaseError({
      code: "TOOL_SELECTOR_MISMATCH",
      shortMessage: `The selector of ${tool.name} is ${tool.selector}, that of ${signature} is ${required}.`,
      nextStep: "Describe every parameter of the function with its own type, in its order.",
    });
  }
  const isStatic = "text" in tool.result;
  return [
    tool.name,
    tool.description,
    tool.target,
    tool.selector,
    {
      paramDescriptions: tool.params.map(({ type, name, description }) => ({
        paramType: PARAM_TYPES.indexOf(type),
        name,
        description,
      })),
    },
    isStatic,
    "text" in tool.result ? tool.result.text : "",
    "text" in tool.result ? zeroAddress : tool.result.converter,
  ] as const;
}

/** Deploys the tool, after the same checks.
 *  @param bytecode creation code of SimpleSmartContractTool
 *  @returns hash of the transaction */
export function deployContractTool(
  wallet: WalletClient<Transport, Chain | undefined, Account>,
  bytecode: Hex,
  tool: ContractTool,
): Promise<Hex> {
  return wallet.deployContract({
    abi: simpleSmartContractToolAbi,
    bytecode,
    args: contractToolArguments(tool),
    chain: wallet.chain ?? null,
    account: wallet.account,
  });
}
