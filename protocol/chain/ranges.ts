/** Logs of many blocks, asked for in ranges that the node takes. */
import {
  HttpRequestError,
  ResponseBodyTooLargeError,
  RpcError,
  RpcRequestError,
  BaseError as ViemError,
} from "viem";

/** Blocks of the first question; providers that allow less say so. */
const WIDEST = 100_000n;
/** How providers say that a question is too large: by blocks, by answers, by bytes or by their time. */
const TOO_MUCH =
  /range|limit|exceed|more than \d+|too (many|large|wide|big|much)|response size|query (timeout|timed out)/i;

/** What one connection has learned of its node's limit. */
export class BlockRanges {
  #width: bigint;

  constructor(width = WIDEST) {
    this.#width = width;
  }

  /** Most blocks of a question, as far as is known. */
  get width(): bigint {
    return this.#width;
  }

  /** Asks for blocks `from` to `to`, both included, in order. Where the node says that this is too much, with half as
   *  many blocks, from then on.
   *  @throws whatever `query` throws for another reason, or for a single block */
  async ask<T>(
    from: bigint,
    to: bigint,
    query: (from: bigint, to: bigint) => Promise<readonly T[]>,
  ): Promise<T[]> {
    const found: T[] = [];
    for (let first = from; first <= to; ) {
      const end = first + this.#width - 1n;
      const last = end < to ? end : to;
      try {
        found.push(...(await query(first, last)));
        first = last + 1n;
      } catch (error) {
        if (first === last || !isTooMuch(error)) throw error;
        const half = (last - first + 1n) / 2n;
        // Another question may have learned more while this one was under way.
        if (half < this.#width) this.#width = half;
      }
    }
    return found;
  }
}

export function isTooMuch(error: unknown): boolean {
  if (!(error instanceof ViemError)) return false;
  if (error.walk((link) => link instanceof ResponseBodyTooLargeError) !== null) return true;
  // What the node answered; a node that cannot be reached has answered nothing.
  const answer = error.walk(
    (link) =>
      link instanceof RpcRequestError ||
      link instanceof RpcError ||
      (link instanceof HttpRequestError && link.status !== undefined),
  );
  return answer instanceof ViemError && TOO_MUCH.test(answer.details);
}
