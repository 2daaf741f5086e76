/** Traces of runs in workers: what a prover commits to, and reveals, where its own machine is late. */
import { concatBytes, toHex, viewOf } from "../../../base/bytes.ts";
import { RecentMap } from "../../../base/recent.ts";
import type { Commitment } from "../../../inference/commit/commitments.ts";
import { HASH_BYTES } from "../../../inference/commit/keccak.ts";
import { decodePosition, encodePosition, type Position } from "../../../inference/commit/positions.ts";
import { type Reveal, revealAt, topsOf } from "../../../inference/commit/reveal.ts";
import type { Canonical } from "../../../inference/runtime/canonical-pool.ts";
import { joinBytes, splitBytes } from "./orders.ts";

const POSITION_BYTES = 8;
/** Traces that a worker keeps for demands that follow, which come one after another. */
const TRACES_KEPT = 2;

/** What a reveal is asked for. */
export interface RevealQuestion {
  readonly position: Position;
  readonly calldata: Uint8Array;
}

/** Input of an order for a reveal. */
export const revealInput = ({ position, calldata }: RevealQuestion): Uint8Array =>
  joinBytes([positionBytes(position), calldata]);

function positionBytes(position: Position): Uint8Array {
  const bytes = new Uint8Array(POSITION_BYTES);
  viewOf(bytes).setBigUint64(0, encodePosition(position));
  return bytes;
}

/** @returns undefined for bytes that `revealInput` did not write */
export function readRevealInput(input: Uint8Array): RevealQuestion | undefined {
  const [position, calldata, ...rest] = splitBytes(input) ?? [];
  if (position?.length !== POSITION_BYTES || calldata === undefined || rest.length > 0) return undefined;
  return { position: decodePosition(viewOf(position).getBigUint64(0)), calldata };
}

/** @returns undefined for bytes that are no hashes or words, one after another */
function splitHashes(joined: Uint8Array | undefined): readonly Uint8Array[] | undefined {
  if (joined === undefined || joined.length % HASH_BYTES !== 0) return undefined;
  return Array.from({ length: joined.length / HASH_BYTES }, (_, i) =>
    joined.slice(HASH_BYTES * i, HASH_BYTES * (i + 1)),
  );
}

/** What a worker answers to an order for a trace: what commitTrace publishes. */
export const readTops = splitHashes;

/** @returns undefined for bytes that are no answer to an order for a reveal; nothing says here that it is right */
export function readReveal(answer: Uint8Array): Reveal | undefined {
  const [words, siblings, ...rest] = splitBytes(answer) ?? [];
  const [content, path] = [splitHashes(words), splitHashes(siblings)];
  return content === undefined || path === undefined || rest.length > 0 ? undefined : { content, path };
}

/** A worker's side. */
export class WorkerTraces {
  readonly #canonical: Pick<Canonical, "trace">;
  readonly #kept = new RecentMap<string, Commitment>(TRACES_KEPT);

  constructor(canonical: Pick<Canonical, "trace">) {
    this.#canonical = canonical;
  }

  async trace(model: string, calldata: Uint8Array, signal: AbortSignal): Promise<Uint8Array> {
    return concatBytes(...topsOf(await this.#traceOf(model, calldata, signal)));
  }

  /** @throws RangeError for an input that `revealInput` did not write; BaseError POSITION_OUTSIDE */
  async reveal(model: string, input: Uint8Array, signal: AbortSignal): Promise<Uint8Array> {
    const question = readRevealInput(input);
    if (question === undefined) throw new RangeError(`${input.length} bytes are not a position and calldata`);
    const { content, path } = revealAt(
      await this.#traceOf(model, question.calldata, signal),
      question.position,
    );
    return joinBytes([concatBytes(...content), concatBytes(...path)]);
  }

  async #traceOf(model: string, calldata: Uint8Array, signal: AbortSignal): Promise<Commitment> {
    const key = `${model} ${toHex(calldata)}`;
    const kept = this.#kept.get(key);
    if (kept !== undefined) return kept;
    const { commitment } = await this.#canonical.trace(model, calldata, { urgency: "own", signal });
    this.#kept.set(key, commitment);
    return commitment;
  }
}
