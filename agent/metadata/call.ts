/** Calls an agent over HTTP. */
import {
  type Abi,
  type ContractFunctionArgs,
  type ContractFunctionName,
  type ContractFunctionReturnType,
  decodeFunctionResult,
  encodeFunctionData,
} from "viem";
import { fromHex, toHex } from "../../base/bytes.ts";
import { BaseError } from "../../base/errors.ts";
import type { AbiFunction } from "../../inference/manifest/abi.ts";
import { agentCodec } from "./codec.ts";

type Mutability = "nonpayable" | "payable" | "pure" | "view";

export interface CallOptions {
  readonly timeoutMs?: number;
  /** most bytes of a reply that are read */
  readonly maxBytes?: number;
}

/** Calls a method with viem's types for its arguments and result.
 *  @param url the agent's, `POST` goes there
 *  @throws BaseError AGENT_UNREACHABLE, AGENT_REFUSED with the agent's own message, OUTPUT_INVALID */
export async function callAgent<
  const A extends Abi,
  const N extends ContractFunctionName<A, Mutability>,
  const Args extends ContractFunctionArgs<A, Mutability, N>,
>(
  url: string,
  call: { readonly abi: A; readonly functionName: N; readonly args: Args },
  options: CallOptions = {},
): Promise<ContractFunctionReturnType<A, Mutability, N, Args>> {
  const calldata = fromHex(encodeFunctionData(call as never));
  const reply = await postCalldata(url, calldata, options);
  // viem takes replies that no agent may send: ours refuses them first.
  agentCodec(call.abi as readonly AbiFunction[]).decodeReply(call.functionName, reply);
  const { abi, functionName } = call;
  return decodeFunctionResult({ abi, functionName, data: toHex(reply) } as never) as never;
}

/** Calldata to return data. The status is looked at first: the body of an error is text, no ABI.
 *  @throws BaseError AGENT_UNREACHABLE, AGENT_REFUSED, REPLY_TOO_LARGE */
export async function postCalldata(
  url: string,
  calldata: Uint8Array,
  { timeoutMs = 30_000, maxBytes = 10_000_000 }: CallOptions = {},
): Promise<Uint8Array> {
  let response: Response;
  try {
    response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/octet-stream" },
      body: Buffer.from(calldata),
      redirect: "error",
      signal: AbortSignal.timeout(timeoutMs),
    });
    const body = await readBounded(response, maxBytes);
    if (response.status === 200) return body;
    throw refused(url, response.status, body);
  } catch (cause) {
    throw cause instanceof BaseError ? cause : unreachable(url, cause);
  }
}

async function readBounded(response: Response, limit: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of response.body ?? []) {
    size += part.length;
    if (size > limit) {
      throw new BaseError({
        code: "REPLY_TOO_LARGE",
        shortMessage: `The reply has more than ${limit} bytes.`,
        nextStep: "Ask for less.",
      });
    }
    parts.push(part);
  }
  return Buffer.concat(parts);
}

function refused(url: string, status: number, body: Uint8Array): BaseError {
  const text = new TextDecoder().decode(body.subarray(0, 2_000));
  return new BaseError({
    code: "AGENT_REFUSED",
    shortMessage: `The agent at ${url} answered with HTTP ${status}: ${JSON.stringify(text)}.`,
    nextStep: status >= 500 ? "Ask again later." : "Correct the call.",
    details: { status },
    retryable: status >= 500,
  });
}

const unreachable = (url: string, cause: unknown) =>
  new BaseError({
    code: "AGENT_UNREACHABLE",
    shortMessage: `The agent at ${url} gave no answer: ${(cause as Error).message}.`,
    nextStep: "Check the address, and that the agent runs.",
    retryable: true,
    cause,
  });
