/** x402: a model as a tool that a prover is paid for by HTTP, once its output is final (docs/X402.md). The caller needs
 *  no ether and no request of his own. What the prover says is not believed: it names the request that it filed, and
 *  the output is read from the chain, by the caller's policy. */
import { type Hex, keccak256 } from "viem";
import { abortAfter } from "../../../base/abort.ts";
import { fromHex } from "../../../base/bytes.ts";
import { BaseError } from "../../../base/errors.ts";
import type { Chain } from "../../../protocol/chain/connect.ts";
import { lastOf } from "../../../protocol/chain/finality.ts";
import { pause } from "../../../protocol/chain/follower.ts";
import { historyOf } from "../../../protocol/chain/history.ts";
import { encodeCall } from "../../../protocol/rules/abi.ts";
import type { Policy, Request, RequestId } from "../../../protocol/rules/types.ts";
import { abiValuesOf, argumentSchema, plainOutputOf } from "../../plain-values.ts";
import type { Model } from "../model.ts";
import type { FinalTool } from "../tool.ts";
import { wait } from "../wait.ts";

export {
  type Bought,
  boundScheme,
  checkedFetch,
  type PayingScheme,
  type PayingSigner,
} from "./bound-payments.ts";

export interface PaidToolOptions {
  readonly chain: Chain;
  readonly model: Model;
  /** letters, digits, _ and -: what the language model calls it */
  readonly name: string;
  /** default: the manifest's */
  readonly description?: string;
  /** the prover's address of the model: https://…/tools/sentiment */
  readonly url: string;
  /** pays what an answer asks for: `wrapFetchWithPayment` of @x402/fetch */
  readonly fetch: typeof fetch;
  /** what an output must be final by; the prover chooses the request's terms */
  readonly policy: Omit<Policy, "modelId" | "inputHash">;
  /** blocks that must lie above the block in which it is final; default 0 */
  readonly confirmations?: number;
  /** how long a call waits for finality, seconds */
  readonly waitSeconds: number;
}

const POLL_MS = 1_000;
const MAX_REASON = 300;
/** Errors of provers have some 500. */
const MAX_ERROR_BYTES = 16_384;

/** A call whose time is over goes on: the same call again finds its order, and the price is taken once.
 *  Its `run` throws BaseError PAID_CALL_FAILED with the prover's reason, REQUEST_OTHER, and what `wait` throws. */
export function paidTool(options: PaidToolOptions): FinalTool {
  const { chain, model, name, description, policy, confirmations = 0, waitSeconds } = options;
  return {
    name,
    description: description ?? model.description,
    parameters: argumentSchema(model),
    run: async (plain, signal) => {
      const input = encodeCall(model.function, abiValuesOf(model, plain));
      const both = abortAfter(1_000 * waitSeconds, signal);
      const requestId = await pay(options, input, both);
      const asked = { requestId, request: await requestOf(options, requestId, input, both), input, model };
      const {
        claimId,
        lane = "BOND",
        values,
        meaning,
      } = await wait(chain, asked, {
        policy,
        confirmations,
        signal: both,
      });
      const named = claimId === undefined ? {} : { claimId };
      const read = meaning === undefined ? {} : { meaning };
      return { status: "final", lane, requestId, ...named, values: plainOutputOf(model, values), ...read };
    },
  };
}

/** Has the prover make the output final. @returns the request by which it did */
async function pay(options: PaidToolOptions, input: Hex, signal: AbortSignal): Promise<RequestId> {
  const { url, fetch, waitSeconds } = options;
  const target = new URL(url);
  target.searchParams.set("finality", "final");
  target.searchParams.set("timeout", `${waitSeconds}`);
  const headers = { "content-type": "application/octet-stream" };
  let response: Response;
  try {
    response = await fetch(target, { method: "POST", headers, body: fromHex(input).slice(), signal });
  } catch (error) {
    throw failed(url, `it cannot be reached: ${error instanceof Error ? error.message : error}`, true, error);
  }
  if (!response.ok) {
    const why = await reasonIn(response);
    throw failed(url, `it answered ${response.status}${why}`, response.status >= 500);
  }
  await response.body?.cancel();
  const requestId = response.headers.get("assay-request") ?? "";
  if (/^0x[0-9a-f]{64}$/.test(requestId)) return requestId as RequestId;
  throw failed(url, "its answer names no request", false);
}

/** What the chain has under this id, once the caller's node has it too.
 *  @throws BaseError PAID_CALL_FAILED when the signal aborts before; REQUEST_OTHER; faults of the node */
async function requestOf(
  { chain, model, url }: PaidToolOptions,
  requestId: RequestId,
  input: Hex,
  signal: AbortSignal,
): Promise<Request> {
  for (;;) {
    const found = lastOf(await historyOf(chain, requestId), "Requested")?.args.request;
    if (found?.modelId === model.modelId && found.inputHash === keccak256(input)) return found;
    if (found !== undefined) throw other(url, requestId);
    await pause(POLL_MS, signal);
    if (signal.aborted) throw failed(url, `the chain has no request ${requestId}, which it names`, true);
  }
}

/** `: message` of a prover's error; "" where there is none, or it is longer than errors are. */
async function reasonIn(response: Response): Promise<string> {
  try {
    const { error } = JSON.parse(await textOf(response)) as {
      readonly error?: { readonly message?: unknown };
    };
    return typeof error?.message === "string" ? `: ${error.message.slice(0, MAX_REASON)}` : "";
  } catch {
    return "";
  }
}

/** @throws RangeError above the limit: what comes after it is not read */
async function textOf({ body }: Response): Promise<string> {
  if (body === null) return "";
  const decoder = new TextDecoder();
  const reader = body.getReader();
  let [text, size] = ["", 0];
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    size += value.length;
    if (size > MAX_ERROR_BYTES) {
      await reader.cancel();
      throw new RangeError(`The body has more than ${MAX_ERROR_BYTES} bytes.`);
    }
    text += decoder.decode(value, { stream: true });
  }
}

const failed = (url: string, why: string, retryable: boolean, cause?: unknown) =>
  new BaseError({
    code: "PAID_CALL_FAILED",
    shortMessage: `The prover at ${url} made no output final: ${why}.`,
    nextStep: retryable
      ? "Send the same call again: what it ordered is paid once."
      : "Check the address, the input and what the prover asks for.",
    retryable,
    cause,
  });

const other = (url: string, requestId: RequestId) =>
  new BaseError({
    code: "REQUEST_OTHER",
    shortMessage: `The prover at ${url} names request ${requestId}, which is about another model or input.`,
    nextStep: "Do not use this prover.",
    details: { requestId },
  });
