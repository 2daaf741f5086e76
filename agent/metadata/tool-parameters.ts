/** Which methods of an agent can be an IERCAgentTool, and with which parameters. That interface knows ten types of
 *  parameters (text, address, bool, int256, uint256, and lists of them); the others stay callable over HTTP. */
import type { AbiFunction, AbiParameter } from "../../inference/manifest/abi.ts";
import { ABI_TYPES, PARAM_TYPES, type Param, type ParamType } from "../executor/tool.ts";

export type ToolParameters =
  | { readonly offered: true; readonly params: readonly Param[] }
  | { readonly offered: false; readonly reasons: readonly string[] };

/** ABI types and what they are called there. Smaller integers have no counterpart: a caller that is told "uint" may
 *  give one that the method cannot take. */
export const TOOL_TYPES: Readonly<Record<string, ParamType>> = Object.fromEntries(
  PARAM_TYPES.map((type) => [ABI_TYPES[type], type]),
);

/** All reasons at once where a method cannot be offered. The arguments' encoding is the same in both. */
export function toolParameters({ inputs }: AbiFunction): ToolParameters {
  const reasons = inputs.flatMap(reasonsAgainst);
  if (reasons.length > 0) return { offered: false, reasons };
  return {
    offered: true,
    params: inputs.map(({ name = "", type, description = "" }) => {
      return { type: TOOL_TYPES[type] as ParamType, name, description };
    }),
  };
}

function reasonsAgainst({ name = "", type }: AbiParameter, index: number): string[] {
  const shown = name === "" ? `parameter ${index}` : name;
  const isKnown = Object.hasOwn(TOOL_TYPES, type);
  return [
    ...(isKnown ? [] : [`${shown} is a ${type}, which is none of ${Object.keys(TOOL_TYPES).join(", ")}`]),
    ...(name === "" ? [`${shown} has no name, by which a model would fill it in`] : []),
  ];
}
