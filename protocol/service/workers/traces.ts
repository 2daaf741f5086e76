/** Traces of runs in workers: what a prover commits to, and reveals, where its own machine is late. */
import { concatBytes, toHex, viewOf } from "../../../base/bytes.ts";
import type { Commitment } from "../../../inference/commit/commitments.ts";
import { HASH_BYTES } from "../../../inference/commit/keccak.ts";
import { decodePosition, encodePosition, type Position } from "../../../inference/commit/positions.ts";
import { type Reveal, revealAt, topsOf } from "../../../inference/commit/reveal.ts";
import type { Canonical } from "../../../inference/runtime/canonical-pool.ts";
import { joinBytes, splitBytes } from "./orders.ts";

const POSITION_BYTES = 8;
/** Of the traces that a worker keeps for demands that follow, about so many bytes beside the newest. */
const MOST_BYTES = 2 ** 28;
/** A trace that was not asked for since is dropped, ms. */
const IDLE_MS = 600_000;

/** What a trace is asked for. */
export interface TraceQuestion {
  readonly calldata: Uint8Array;
  /** return data that the claim states */
  readonly output: Uint8Array;
}

/** What a reveal is asked for. */
export interface RevealQuestion extends TraceQuestion {
  readonly position: Position;
}

/** Input of an order for a trace. */
export const traceInput = ({ calldata, output }: TraceQuestion): Uint8Array => joinBytes([calldata, output]);

/** @returns undefined for bytes that `traceInput` did not write */
export function readTraceInput(input: Uint8Array): TraceQuestion | undefined {
  const [calldata, output, ...rest] = splitBytes(input) ?? [];
  return calldata === undefined || output === undefined || rest.length > 0 ? undefined : { calldata, output };
}

/** Input of an order for a reveal. */
export const revealInput = ({ position, ...run }: RevealQuestion): Uint8Array =>
  joinBytes([positionBytes(position), traceInput(run)]);

function positionBytes(position: Position): Uint8Array {
  const bytes = new Uint8Array(POSITION_BYTES);
  viewOf(bytes).setBigUint64(0, encodePosition(position));
  return bytes;
}

/** @returns undefined for bytes that `revealInput` did not write */
export function readRevealInput(input: Uint8Array): RevealQuestion | undefined {
  const [position, joined, ...rest] = splitBytes(input) ?? [];
  const run = joined && readTraceInput(joined);
  if (position?.length !== POSITION_BYTES || run === undefined || rest.length > 0) return undefined;
  return { position: decodePosition(viewOf(position).getBigUint64(0)), ...run };
}

/** @returns undefined for bytes that are no hashes or words, one after another */
export function splitHashes(joined: Uint8Array | undefined): readonly Uint8Array[] | undefined {
  if (joined === undefined || joined.length % HASH_BYTES !== 0) return undefined;
  return Array.from({ length: joined.length / HASH_BYTES }, (_, i) =>
    joined.slice(HASH_BYTES * i, HASH_BYTES * (i + 1)),
  );
}

/** @returns undefined for bytes that are no answer to an order for a reveal; nothing says here that it is right */
export function readReveal(answer: Uint8Array): Reveal | undefined {
  const [words, siblings, ...rest] = splitBytes(answer) ?? [];
  const [content, path] = [splitHashes(words), splitHashes(siblings)];
  return content === undefined || path === undefined || rest.length > 0 ? undefined : { content, path };
}

interface Kept {
  readonly trace: Promise<Commitment>;
  /** of its trees; 0 while it is made */
  bytes: number;
}

/** A worker's side. Demands come one after another, of some disputes at once: a trace is made once for all of them. */
export class WorkerTraces {
  readonly #canonical: Pick<Canonical, "trace">;
  /** the newest last */
  readonly #kept = new Map<string, Kept>();
  #idle: NodeJS.Timeout | undefined;

  constructor(canonical: Pick<Canonical, "trace">) {
    this.#canonical = canonical;
  }

  /** @returns what commitTrace publishes, joined
   *  @throws RangeError for an input that `traceInput` did not write */
  async trace(model: string, input: Uint8Array, signal: AbortSignal): Promise<Uint8Array> {
    const question = readTraceInput(input);
    if (question === undefined) throw new RangeError(`${input.length} bytes are not calldata and an output`);
    return concatBytes(...topsOf(await this.#traceOf(model, question, signal)));
  }

  /** @throws RangeError for an input that `revealInput` did not write; BaseError POSITION_OUTSIDE */
  async reveal(model: string, input: Uint8Array, signal: AbortSignal): Promise<Uint8Array> {
    const question = readRevealInput(input);
    if (question === undefined)
      throw new RangeError(`${input.length} bytes are not a position, calldata and an output`);
    const trace = await this.#traceOf(model, question, signal);
    const { content, path } = revealAt(trace, question.position);
    return joinBytes([concatBytes(...content), concatBytes(...path)]);
  }

  #traceOf(model: string, question: TraceQuestion, signal: AbortSignal): Promise<Commitment> {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => this.#kept.clear(), IDLE_MS).unref();
    const key = `${model} ${toHex(traceInput(question))}`;
    const kept = this.#kept.get(key) ?? this.#make(key, model, question, signal);
    this.#kept.delete(key);
    this.#kept.set(key, kept);
    return kept.trace;
  }

  #make(key: string, model: string, { calldata, output: claimed }: TraceQuestion, signal: AbortSignal): Kept {
    const trace = this.#canonical.trace(model, calldata, { urgency: "own", signal, claimed });
    const kept: Kept = { trace, bytes: 0 };
    trace.then(
      (commitment) => {
        kept.bytes = bytesOf(commitment);
        this.#trim();
      },
      () => this.#kept.get(key) === kept && this.#kept.delete(key),
    );
    return kept;
  }

  #trim(): void {
    let bytes = 0;
    for (const [key, kept] of [...this.#kept].reverse()) {
      if (bytes > MOST_BYTES) this.#kept.delete(key);
      bytes += kept.bytes;
    }
  }
}

/** Words, and as many hashes above them again. */
const bytesOf = ({ tensors }: Commitment): number =>
  tensors.reduce((sum, { shape: { rows, rowHeight } }) => sum + 2 * HASH_BYTES * rows * 2 ** rowHeight, 0);
