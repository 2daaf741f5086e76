/** What an executor knows of a tool: its contract, and what the contract says of itself. */
import { type Address, isAddressEqual, zeroAddress } from "viem";
import { BaseError } from "../../base/errors.ts";

/** Types of a parameter, in the order of the contract's enum; the spelling of BOOL_ARAY is the ERC text's own. */
export const PARAM_TYPES = [
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
] as const;
export type ParamType = (typeof PARAM_TYPES)[number];

/** The one ABI type of each parameter type: nothing is widened, a tool for `uint8` would let a model write 256. */
export const ABI_TYPES: Readonly<Record<ParamType, string>> = {
  STRING: "string",
  ADDRESS: "address",
  BOOL: "bool",
  INT: "int256",
  UINT: "uint256",
  STRING_ARRAY: "string[]",
  ADDRESS_ARRAY: "address[]",
  BOOL_ARAY: "bool[]",
  INT_ARRAY: "int256[]",
  UINT_ARRAY: "uint256[]",
};

export interface Param {
  readonly type: ParamType;
  readonly name: string;
  readonly description: string;
}

/** A tool's contract together with its metadata: whoever chooses by name gets the contract too. */
export interface Tool {
  readonly address: Address;
  readonly name: string;
  readonly description: string;
  /** in the order in which the tool takes them */
  readonly params: readonly Param[];
}

/** Letters, digits and `_ . -`, words divided by single spaces: a name stands in a line of the prompt between commas
 *  and brackets, and must not be able to leave it. */
const NAME = /^(?=.{1,64}$)[A-Za-z0-9_.-]+(?: [A-Za-z0-9_.-]+)*$/;

/** Tools by name, in their order.
 *  @throws BaseError TOOL_NAME_INVALID, TOOL_DUPLICATE, TOOL_PARAMETER_INVALID, TOOL_ADDRESS_ZERO */
export function toolsByName(tools: readonly Tool[]): ReadonlyMap<string, Tool> {
  const byName = new Map<string, Tool>();
  const folded = new Map<string, Tool>();
  for (const tool of tools) {
    checkTool(tool);
    const other = folded.get(tool.name.toLowerCase());
    if (other !== undefined) {
      throw new BaseError({
        code: "TOOL_DUPLICATE",
        shortMessage: `The tools at ${other.address} and ${tool.address} have the same name, ${quote(tool.name)}.`,
        nextStep: "Give the agent tools whose names differ by more than capital letters.",
      });
    }
    byName.set(tool.name, tool);
    folded.set(tool.name.toLowerCase(), tool);
  }
  return byName;
}

function checkTool({ address, name, params }: Tool): void {
  if (isAddressEqual(address, zeroAddress)) {
    throw new BaseError({
      code: "TOOL_ADDRESS_ZERO",
      shortMessage: `The tool ${quote(name)} has the zero address.`,
      nextStep: "Set all tools of the agent.",
    });
  }
  if (!NAME.test(name)) {
    throw new BaseError({
      code: "TOOL_NAME_INVALID",
      shortMessage: `The tool at ${address} calls itself ${quote(name)}: a name is 1 to 64 letters, digits, "_", "." and "-", in words divided by single spaces.`,
      nextStep: "Use another tool, or wrap it under a plain name.",
      details: { address },
    });
  }
  const names = new Set(params.map((param) => param.name));
  const bad = params.find((param) => param.name === "" || param.name.length > 64);
  if (bad === undefined && names.size === params.length) return;
  throw new BaseError({
    code: "TOOL_PARAMETER_INVALID",
    shortMessage: `The tool ${quote(name)} has ${bad === undefined ? "two parameters of one name" : `a parameter called ${quote(bad.name)}`}: names are unique, of 1 to 64 characters.`,
    nextStep: "Use another tool.",
    details: { address },
  });
}

/** For messages: what others wrote, short and escaped. */
export function quote(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
}
