/** Registers a model: its program as data contracts, then its identity. Harmless to repeat. */
import { type Address, encodeFunctionData, type Hex, keccak256 } from "viem";
import { toHex } from "../../base/bytes.ts";
import { BaseError } from "../../base/errors.ts";
import type { ModelIdentity } from "../../inference/commit/commitments.ts";
import { iModelRegistryAbi } from "../rules/generated/abis.ts";
import { modelIdOf } from "../rules/ids.ts";
import type { ModelId } from "../rules/types.ts";
import type { Action } from "./actions.ts";
import type { Chain } from "./connect.ts";
import { withContext } from "./errors.ts";
import { StateReader } from "./reads.ts";
import type { ActionSender, OnProgress } from "./sender.ts";

/** Most bytes of a program in one data contract. Source: docs/PROTOCOL.md, section 1. */
const CHUNK_BYTES = 24_544;

export interface RegisterResult {
  readonly modelId: ModelId;
  /** false if it was registered before */
  readonly isNew: boolean;
}

/** @param program encoded (docs/EXACT.md, section 2) @param identity of the same program
 *  @param onProgress called before each transaction
 *  @throws BaseError JUDGE_TOO_OLD; MODEL_REFUSED with the registry's reason; RPC_UNREACHABLE, RPC_FAULT, NOT_MINED_YET (retryable) */
export async function registerModel(
  chain: Chain,
  sender: ActionSender,
  program: Uint8Array,
  identity: ModelIdentity,
  onProgress: OnProgress = () => undefined,
): Promise<RegisterResult> {
  requireJudge(chain, identity);
  const modelId = modelIdOf(identity);
  const reader = new StateReader(chain);
  if ((await reader.model(modelId)) !== undefined) return { modelId, isNew: false };
  const chunks = chunksOf(program);
  const transactions = chunks.length + 1;
  const pointers: Address[] = [];
  for (const [index, chunk] of chunks.entries()) {
    const size = chunk.length / 2 - 1;
    const message = `store part ${index + 1} of ${chunks.length} of the program, ${size} bytes`;
    onProgress(message, index, transactions);
    pointers.push(await storeChunk(chain, sender, chunk));
  }
  onProgress(`register ${modelId}`, chunks.length, transactions);
  const data = encodeFunctionData({
    abi: iModelRegistryAbi,
    functionName: "register",
    args: [
      pointers,
      toHex(identity.weightsRoot),
      toHex(identity.selector),
      identity.lanes,
      toHex(identity.vkHash),
    ],
  });
  await sent(sender, action(chain, `register:${modelId}`, data));
  if ((await reader.model(modelId)) !== undefined) return { modelId, isNew: true };
  throw new BaseError({
    code: "MODEL_REFUSED",
    shortMessage: `The registry gave the model another id than ${modelId}.`,
    nextStep: "Check that program, weights root, selector and lanes are of one model and one version.",
  });
}

/** A deployment's judge may be older than what a program uses.
 *  @throws BaseError JUDGE_TOO_OLD */
export function requireJudge(
  { deployment }: Pick<Chain, "deployment">,
  { judgeVersion }: Pick<ModelIdentity, "judgeVersion">,
): void {
  if (judgeVersion <= deployment.judgeVersion) return;
  throw new BaseError({
    code: "JUDGE_TOO_OLD",
    shortMessage: `The program needs judge version ${judgeVersion}, the deployment has ${deployment.judgeVersion}.`,
    nextStep:
      "Use a deployment of this version, or import the model again with --products pairs and --arithmetic float32.",
    details: { required: judgeVersion, version: deployment.judgeVersion },
  });
}

/** Stores one part unless it is there, and finds its address: the same bytes have the same one. */
async function storeChunk(chain: Chain, sender: ActionSender, chunk: Hex): Promise<Address> {
  const { registry } = chain.deployment.contracts;
  const pointer = await withContext("find the address of a part of the program", async () => {
    const { result } = await chain.client.simulateContract({
      address: registry,
      abi: iModelRegistryAbi,
      functionName: "storeChunk",
      args: [chunk],
    });
    return result;
  });
  const code = await withContext("look for a part of the program", () =>
    chain.client.getCode({ address: pointer }),
  );
  if (code !== undefined && code !== "0x") return pointer;
  const data = encodeFunctionData({ abi: iModelRegistryAbi, functionName: "storeChunk", args: [chunk] });
  await sent(sender, action(chain, `storeChunk:${keccak256(chunk)}`, data));
  return pointer;
}

/** Sends one step of a registration. @throws BaseError MODEL_REFUSED; what is retryable as it is */
export async function sent(sender: ActionSender, wanted: Action): Promise<void> {
  const result = await sender.send(wanted);
  if (result.status === "retryable") throw result.error;
  if (result.status !== "refused") return;
  throw new BaseError({
    code: "MODEL_REFUSED",
    shortMessage: `The contract refused ${wanted.key}: ${result.revert.message}.`,
    nextStep: "Check the model with `assay model inspect`.",
    details: { revert: result.revert.name },
  });
}

function action(chain: Chain, key: string, data: Hex): Action {
  return { key, to: chain.deployment.contracts.registry, data, value: 0n, doneBy: [] };
}

/** A program's bytes as the registry stores them. */
export function chunksOf(program: Uint8Array): Hex[] {
  const count = Math.ceil(program.length / CHUNK_BYTES);
  return Array.from({ length: count }, (_, i) =>
    toHex(program.subarray(i * CHUNK_BYTES, (i + 1) * CHUNK_BYTES)),
  );
}
