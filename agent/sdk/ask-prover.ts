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

/** Sends bytes to a prover. @param longest answer, bytes
 *  @throws BaseError PROVER_REFUSED, SIGNED_CLAIM_WRONG for a longer answer */
export async function post(
  place: string,
  { type, body, longest }: { readonly type: string; readonly body: Uint8Array; readonly longest: number },
  { url, signal, fetch: send = fetch }: ProverTerms,
): Promise<{ readonly response: Response; readonly body: Uint8Array }> {
  try {
    const response = await send(place, {
      method: "POST",
      // What another address answers is no word of this prover, and may be none that anybody should read.
      redirect: "error",
      headers: { "Content-Type": type },
      body: new Blob([body as Uint8Array<ArrayBuffer>]),
      ...(signal === undefined ? {} : { signal }),
    });
    const read = await readAtMost(response, response.ok ? longest : MAX_ERROR_BYTES);
    if (!response.ok) throw refused(url, answered(response, read));
    return { response, body: read };
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
