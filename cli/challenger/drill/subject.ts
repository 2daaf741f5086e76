/** What a drill claims on: a request of its own, or an open one. */
import { randomInt } from "node:crypto";
import { fromHex, toHex } from "../../../base/bytes.ts";
import { BaseError } from "../../../base/errors.ts";
import { prepare } from "../../../inference/executor/prepare.ts";
import type { PreparedModel } from "../../../inference/executor/prepared-model.ts";
import { loadModelFolder } from "../../../inference/model-folder.ts";
import { selfTestCalldata } from "../../../inference/self-test.ts";
import { Actions } from "../../../protocol/chain/actions.ts";
import type { Inclusion } from "../../../protocol/chain/journal.ts";
import { newRequest } from "../../../protocol/chain/new-request.ts";
import { readRequest } from "../../../protocol/chain/past.ts";
import type { Sender, SigningChain } from "../../../protocol/chain/sender.ts";
import { requireSent } from "../../../protocol/chain/sent.ts";
import { encodeCall } from "../../../protocol/rules/abi.ts";
import {
  isModelId,
  LANE,
  LIMITS,
  type ModelId,
  type Request,
  type RequestId,
} from "../../../protocol/rules/types.ts";
import { findFolder, findModel, modelFolder } from "../../model-source.ts";
import { refuseArgument } from "../../output.ts";
import { readInputs, unknownRequest } from "../../request.ts";

export interface SubjectOptions {
  readonly request?: string;
  readonly inputs?: string;
  readonly text?: string;
}

/** A request that is on the chain. */
export interface Filed {
  readonly request: Request;
  /** claims on it that fell */
  readonly attempt: number;
  /** in which it is */
  readonly block: bigint;
  /** of its transaction, if this drill filed it */
  readonly inclusion?: Inclusion | undefined;
}

export interface Subject {
  /** its name */
  readonly model: string;
  readonly modelId: ModelId;
  readonly prepared: PreparedModel;
  readonly calldata: Uint8Array;
  /** absent: the drill files it */
  readonly there?: Filed;
}

/** @param name of the model, without `--request`
 *  @throws BaseError ARGUMENT_INVALID, REQUEST_UNKNOWN, REQUEST_NOT_OPEN, NO_BOND_LANE; as findModel and loadModelFolder */
export async function subjectOf(
  chain: SigningChain,
  name: string | undefined,
  options: SubjectOptions,
): Promise<Subject> {
  const { request: id, inputs, text } = options;
  if (id !== undefined) {
    if (inputs !== undefined || text !== undefined)
      refuseArgument("--inputs and --text", inputs ?? text, "absent: the request has its input");
    return openRequest(chain, id);
  }
  const loaded = openModel(modelFolder(String(name)));
  const registered = await findModel(chain, String(name));
  const { prepared } = loaded;
  const random = inputs === undefined && text === undefined;
  // Even seeds give usual inputs.
  const calldata = random
    ? selfTestCalldata(prepared.program, prepared.selector, 2 * randomInt(2 ** 31))
    : fromHex(encodeCall(registered.function, readInputs(registered, options)));
  return { ...loaded, calldata };
}

async function openRequest(chain: SigningChain, id: string): Promise<Subject> {
  if (!isModelId(id)) return refuseArgument("--request", id, "32 bytes as hex");
  const requestId = id as string as RequestId;
  const entry = await readRequest(chain, requestId);
  if (entry === undefined) throw unknownRequest(requestId);
  const { status, request, attempt, block, input } = entry;
  if (status !== "open") {
    throw new BaseError({
      code: "REQUEST_NOT_OPEN",
      shortMessage: `Request ${requestId} is ${status}, and a claim needs an open one.`,
      nextStep: "Name the model instead: the drill then files a request of its own.",
    });
  }
  const there = { request, attempt, block: block.number };
  return { ...openModel(findFolder(request.modelId)), calldata: fromHex(input), there };
}

function openModel(folder: string) {
  const { manifest, model, modelId, selector, laneBits } = loadModelFolder(folder);
  if ((laneBits & LANE.BOND) === 0) {
    throw new BaseError({
      code: "NO_BOND_LANE",
      shortMessage: `${manifest.name} has no BOND lane: nobody can claim its outputs, so none is convicted.`,
      nextStep: "Name a model with the lane BOND.",
    });
  }
  return { model: manifest.name, modelId: modelId as ModelId, prepared: prepare(model, selector) };
}

/** Files a request that offers nothing, and that nobody else may claim. */
export async function fileRequest(
  chain: SigningChain,
  sender: Sender,
  { modelId, calldata }: Subject,
  signal: AbortSignal,
): Promise<Filed> {
  const own = chain.account.address;
  const input = toHex(calldata);
  const expirySeconds = LIMITS.maxExclusive;
  const open = await newRequest(chain, own, modelId, input, { lanes: LANE.BOND, fee: 0n, expirySeconds });
  const request: Request = { ...open, exclusiveProver: own, exclusiveUntil: open.expiry };
  const sent = await sender.send(new Actions(chain.game).request(request, input), signal);
  const inclusion = requireSent("request", sent);
  const block = inclusion?.blockNumber ?? (await chain.client.getBlockNumber());
  return { request, attempt: 0, block, inclusion };
}
