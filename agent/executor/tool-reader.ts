/** Reads tools from their contracts. */
import { type Address, getAddress, type PublicClient } from "viem";
import { BaseError } from "../../base/errors.ts";
import { withContext } from "../../protocol/chain/errors.ts";
import { iercAgentToolAbi } from "../../protocol/rules/generated/abis.ts";
import { PARAM_TYPES, type Tool } from "./tool.ts";

/** Reads what each tool says of itself, now or at a block. Tools may change what they say, so this is done anew for
 *  each iteration.
 *  @throws BaseError CALL_REVERTED for an address that is no tool, RPC_UNREACHABLE, RPC_FAULT */
export function readTools(
  client: PublicClient,
  addresses: readonly Address[],
  blockNumber?: bigint,
): Promise<Tool[]> {
  return Promise.all(addresses.map((address) => readTool(client, address, blockNumber)));
}

async function readTool(client: PublicClient, address: Address, blockNumber?: bigint): Promise<Tool> {
  const at = blockNumber === undefined ? {} : { blockNumber };
  const contract = { address, abi: iercAgentToolAbi, ...at } as const;
  const [name, description, { paramDescriptions }] = await withContext(`read the tool at ${address}`, () =>
    Promise.all([
      client.readContract({ ...contract, functionName: "name" }),
      client.readContract({ ...contract, functionName: "description" }),
      client.readContract({ ...contract, functionName: "inputDescription" }),
    ]),
  );
  const params = paramDescriptions.map((param) => ({
    type: paramTypeOf(address, param.paramType),
    name: param.name,
    description: param.description,
  }));
  return { address: getAddress(address), name, description, params };
}

/** @throws BaseError TOOL_PARAMETER_INVALID for an ordinal that is no type */
export function paramTypeOf(address: Address, ordinal: number) {
  const type = PARAM_TYPES[ordinal];
  if (type !== undefined) return type;
  throw new BaseError({
    code: "TOOL_PARAMETER_INVALID",
    shortMessage: `The tool at ${address} has a parameter of type ${ordinal}; types go from 0 to ${PARAM_TYPES.length - 1}.`,
    nextStep: "Use another tool.",
  });
}
