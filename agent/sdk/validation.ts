/** Statements for a validator of ERC-8004: what an agent has validated, and the calls that ask and answer
 *  (docs/STANDARDS.md). */
import {
  type Address,
  encodeAbiParameters,
  encodeFunctionData,
  getAbiItem,
  type Hex,
  isAddressEqual,
  keccak256,
  parseAbi,
  zeroAddress,
} from "viem";
import { BaseError } from "../../base/errors.ts";
import type { Chain } from "../../protocol/chain/connect.ts";
import { chainError, decodeRevert, withContext } from "../../protocol/chain/errors.ts";
import { erc8004ValidatorAbi } from "../../protocol/rules/generated/abis.ts";
import { claimIdOf, requestIdOf } from "../../protocol/rules/ids.ts";
import type { Claim, Request } from "../../protocol/rules/types.ts";

/** As far as the deployed registries are asked here. */
const registryAbi = parseAbi([
  "function getIdentityRegistry() view returns (address)",
  "function validationRequest(address validatorAddress, uint256 agentId, string requestURI, bytes32 requestHash)",
  "function getValidationStatus(bytes32 requestHash) view returns (address validatorAddress, uint256 agentId, uint8 response, bytes32 responseHash, string tag, uint256 lastUpdate)",
]);
const identityAbi = parseAbi([
  "function ownerOf(uint256 agentId) view returns (address)",
  "function getAgentWallet(uint256 agentId) view returns (address)",
]);

export interface Validatable {
  /** address of an Erc8004Validator */
  readonly validator: Address;
  /** number of the agent in the identity registry of the validator's registry */
  readonly agentId: bigint;
  readonly request: Request;
  readonly claim: Claim;
  readonly output: Hex;
  /** default 0; another one where somebody filed the hash first */
  readonly salt?: bigint;
}

export interface Call {
  readonly to: Address;
  readonly data: Hex;
}

export interface ValidationStatement {
  /** what the registry files */
  readonly requestHash: Hex;
  /** abi.encode(Statement): what has to stand where the requestURI leads */
  readonly statement: Hex;
  readonly validationRegistry: Address;
  readonly identityRegistry: Address;
  /** true if the registry has the hash for this agent and validator already */
  readonly isFiled: boolean;
  /** to be sent by the agent's owner or an operator of his */
  requestCall(requestUri: string): Call;
  /** to be sent by anybody, as often as the chain shows more */
  readonly respondCall: Call;
}

/** Builds a statement, and finds out before anything is paid whether the validator would answer it for this agent.
 *  @throws BaseError VALIDATOR_OTHER_ASSAY, STATEMENT_INCONSISTENT, NOT_OF_AGENT, STATEMENT_TAKEN; AGENT_UNKNOWN;
 *  faults of the node */
export async function validationStatement(chain: Chain, what: Validatable): Promise<ValidationStatement> {
  const { validator, agentId, request, claim, output, salt = 0n } = what;
  requireConsistent(chain, what);
  const { client, game } = chain;
  const [assay, validationRegistry] = await withContext(`read the validator ${validator}`, () => {
    const contract = { address: validator, abi: erc8004ValidatorAbi } as const;
    return Promise.all([
      client.readContract({ ...contract, functionName: "assay" }),
      client.readContract({ ...contract, functionName: "validationRegistry" }),
    ]);
  });
  if (!isAddressEqual(assay, game.assay)) {
    throw refusal(
      "VALIDATOR_OTHER_ASSAY",
      `Validator ${validator} asks the Assay at ${assay}, not ${game.assay}.`,
      "Take the validator of this deployment.",
    );
  }
  const registry = { address: validationRegistry, abi: registryAbi } as const;
  const identityRegistry = await withContext(`read the registry ${validationRegistry}`, () =>
    client.readContract({ ...registry, functionName: "getIdentityRegistry" }),
  );
  const terms = { chainid: BigInt(game.chainId), assay: game.assay, identityRegistry, agentId, salt };
  const { inputs } = getAbiItem({ abi: erc8004ValidatorAbi, name: "respond" });
  const full = { ...terms, request, claim, output };
  const statement = encodeAbiParameters(inputs, [full]);
  const requestHash = keccak256(statement);
  const filed = await filedFor(chain, validationRegistry, requestHash);
  const isFiled =
    filed !== undefined && filed.agentId === agentId && isAddressEqual(filed.validator, validator);
  if (filed !== undefined && !isFiled) {
    throw refusal(
      "STATEMENT_TAKEN",
      `The registry has ${requestHash} already, for agent ${filed.agentId} and validator ${filed.validator}.`,
      `Take another salt than ${salt}: each gives a hash of its own.`,
    );
  }
  await requirePart(chain, identityRegistry, what);
  return {
    requestHash,
    statement,
    validationRegistry,
    identityRegistry,
    isFiled,
    requestCall: (uri) => ({
      to: validationRegistry,
      data: encodeFunctionData({
        abi: registryAbi,
        functionName: "validationRequest",
        args: [validator, agentId, uri, requestHash],
      }),
    }),
    respondCall: {
      to: validator,
      data: encodeFunctionData({ abi: erc8004ValidatorAbi, functionName: "respond", args: [full] }),
    },
  };
}

function requireConsistent({ game }: Chain, { request, claim, output }: Validatable): void {
  const requestId = requestIdOf(game, request);
  const hash = keccak256(output);
  if (claim.requestId === requestId && claim.outputHash === hash) return;
  throw refusal(
    "STATEMENT_INCONSISTENT",
    `Claim ${claimIdOf(game, claim)} is about request ${claim.requestId} and the output with hash ${claim.outputHash}, not ${requestId} and ${hash}.`,
    "Take request, claim and output of one final result.",
  );
}

/** For whom the registry has a hash; undefined if for nobody. */
async function filedFor({ client }: Chain, address: Address, requestHash: Hex) {
  try {
    const [validator, agentId] = await client.readContract({
      address,
      abi: registryAbi,
      functionName: "getValidationStatus",
      args: [requestHash],
    });
    return validator === zeroAddress ? undefined : { validator, agentId };
  } catch (error) {
    // The deployed registries revert for a hash that they do not know.
    if (decodeRevert(error) !== undefined) return undefined;
    throw chainError(error, `read the registry ${address}`);
  }
}

/** The validator answers for an agent whose owner or wallet made the claim or the request. */
async function requirePart(
  { client, game }: Chain,
  address: Address,
  { agentId, claim, request }: Validatable,
) {
  const contract = { address, abi: identityAbi, args: [agentId] } as const;
  const read = (functionName: "ownerOf" | "getAgentWallet") =>
    client.readContract({ ...contract, functionName }).catch((error: unknown) => {
      if (decodeRevert(error) === undefined) throw chainError(error, `read agent ${agentId}`);
      throw refusal(
        "AGENT_UNKNOWN",
        `The registry ${address} has no agent ${agentId}.`,
        "Check the number; the registry counts from 0.",
      );
    });
  const [owner, wallet] = await Promise.all([read("ownerOf"), read("getAgentWallet")]);
  const own = [owner, wallet];
  const makers = [claim.prover, request.requester];
  if (own.some((account) => makers.some((maker) => isAddressEqual(account, maker)))) return;
  throw refusal(
    "NOT_OF_AGENT",
    `Claim ${claimIdOf(game, claim)} is by ${claim.prover} on a request of ${request.requester}; agent ${agentId} has the owner ${owner} and the wallet ${wallet}.`,
    "Name the agent that claimed or asked, or make the prover's account its wallet in the identity registry.",
  );
}

const refusal = (code: string, shortMessage: string, nextStep: string) =>
  new BaseError({ code, shortMessage, nextStep });
