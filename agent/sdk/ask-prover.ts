/** Asking a prover over HTTP: its answer whole and bounded, or why there is none. */
import { concatBytes } from "../../base/bytes.ts";
import { BaseError } from "../../base/errors.ts";

/** Of an error that is answered. */
export const MAX_ERROR_BYTES = 16_384;

/** A prover, and what is sent to it. */
export interface ProverTerms {
  /** of its HTTP interface */
  readonly url: string;
  /** one that pays what an answer asks for, such as `wrapFetchWithPayment` of @x402/fetch; default: the global one, which
   *  pays nothing */
  readonly fetch?: typeof fetch;
  readonly signal?: AbortSignal;
}

/** What is sent to a prover, and how long its answer may be. */
interface Sent {
  readonly type: string;
  readonly body: Uint8Array;
  /** bytes */
  readonly longest: number;
}

interface Answer {
  readonly response: Response;
  readonly body: Uint8Array;
}

/** Sends bytes to a prover. @returns its answer, an error too
 *  @throws BaseError SIGNED_CLAIM_WRONG for a longer answer; faults of `fetch` */
export async function exchange(
  place: string,
  { type, body, longest }: Sent,
  { signal, fetch: send = fetch }: Omit<ProverTerms, "url">,
): Promise<Answer> {
  const response = await send(place, {
    method: "POST",
    // What another address answers is no word of this prover, and may be none that anybody should read.
    redirect: "error",
    headers: { "Content-Type": type },
    body: new Blob([body as Uint8Array<ArrayBuffer>]),
    ...(signal === undefined ? {} : { signal }),
  });
  return { response, body: await readAtMost(response, response.ok ? longest : MAX_ERROR_BYTES) };
}

/** Sends bytes to a prover, of which an error is no answer.
 *  @throws BaseError PROVER_REFUSED, SIGNED_CLAIM_WRONG for a longer answer */
export async function post(place: string, sent: Sent, terms: ProverTerms): Promise<Answer> {
  const { url } = terms;
  try {
    const answer = await exchange(place, sent, terms);
    if (!answer.response.ok) throw refused(url, answered(answer.response, answer.body));
    return answer;
  } catch (cause) {
    if (cause instanceof BaseError) throw cause;
    throw refused(url, cause instanceof Error ? cause.message : String(cause), cause);
  }
}

export const answered = ({ status }: Response, body: Uint8Array): string =>
  `it answers ${status}: ${new TextDecoder().decode(body).slice(0, 400)}`;

/** @throws BaseError SIGNED_CLAIM_WRONG for a longer body */
export async function readAtMost(response: Response, limit: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let length = 0;
  const reader = response.body?.getReader();
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
    if (done || value === undefined) return concatBytes(...parts);
    parts.push(value);
    length += value.length;
    if (length <= limit) continue;
    await reader?.cancel();
    throw wrong(`the answer has more than ${limit} bytes`);
  }
}

export const refused = (url: string, why: string, cause?: unknown): BaseError =>
  new BaseError({
    code: "PROVER_REFUSED",
    shortMessage: `The prover at ${url} gave no signed answer: ${why}`,
    nextStep: "Ask again later, or another prover.",
    retryable: true,
    cause,
  });

export const wrong = (why: string): BaseError =>
  new BaseError({
    code: "SIGNED_CLAIM_WRONG",
    shortMessage: `The prover's answer is not what was asked for: ${why}.`,
    nextStep: "Ask another prover.",
  });
