/** What workers are asked, and how an answer names what it answers. */
import { createHash } from "node:crypto";
import { type Hex, numberToHex } from "viem";
import { z } from "zod";
import { fromHex, toHex, viewOf } from "../../../base/bytes.ts";

/** Schema of the queue's engine, and that of answers, in a database that daemons and workers share. */
export const QUEUE_SCHEMA = "assay_work";
export const ANSWERS_SCHEMA = "assay_workers";
/** Each worker takes from one of these first, so that the two copies of an order seldom come to the same. */
export const QUEUES = ["orders-1", "orders-2"] as const;
export type QueueName = (typeof QUEUES)[number];
/** Channels: an order waits; an answer is there, which names the job. */
export const ORDERED = "assay_work_ordered";
export const ANSWERED = "assay_work_answered";

/** Most bytes of calldata that an order carries; what is longer is run where it is. */
export const MAX_INPUT_BYTES = 2 ** 20;
/** Most bytes of an answer; the table of answers has the same limit. */
export const MAX_CONTENT_BYTES = 2 ** 20;
/** After which a worker that is not heard of counts as gone, ms. */
export const SILENT_MS = 5_000;

/** Of these the input is `proofInput`. `groth16`: a proof; `ezkl`: a proof behind the output that it proves, joined. */
export const PROOF_TASKS = ["groth16", "ezkl"] as const;
export type ProofTask = (typeof PROOF_TASKS)[number];
/** `outputs`: of many inputs, which are joined as the outputs are. `trace`: what a prover commits to of a run. `reveal`: a
 *  part of such a trace; the input is `revealInput`. */
export const TASKS = ["output", "outputs", "trace", "reveal", ...PROOF_TASKS] as const;
export type WorkerTask = (typeof TASKS)[number];

export const isProofTask = (task: WorkerTask): task is ProofTask =>
  (PROOF_TASKS as readonly WorkerTask[]).includes(task);

const hex = z.string().regex(/^0x([0-9a-f]{2})*$/);

/** A job is a pure function of model and input. */
const order = z.object({
  task: z.enum(TASKS),
  /** id of the model */
  model: hex.length(66),
  /** calldata, joined calldata, `revealInput` or `proofInput` */
  input: hex.max(2 + 2 * MAX_INPUT_BYTES),
  /** the same in all copies of which no worker should do two */
  copies: z.string().max(100),
});

export interface WorkerOrder {
  readonly task: WorkerTask;
  readonly model: Hex;
  readonly input: Hex;
  readonly copies: string;
}

/** @returns undefined for what this program did not write */
export function readOrder(data: unknown): WorkerOrder | undefined {
  const parsed = order.safeParse(data);
  return parsed.success ? (parsed.data as WorkerOrder) : undefined;
}

/** One after another, each behind its length in four bytes. */
export function joinBytes(parts: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(parts.reduce((sum, { length }) => sum + LENGTH_BYTES + length, 0));
  const view = viewOf(joined);
  let at = 0;
  for (const part of parts) {
    view.setUint32(at, part.length);
    joined.set(part, at + LENGTH_BYTES);
    at += LENGTH_BYTES + part.length;
  }
  return joined;
}
const LENGTH_BYTES = 4;

/** @returns undefined for bytes that `joinBytes` did not write */
export function splitBytes(joined: Uint8Array): readonly Uint8Array[] | undefined {
  const view = viewOf(joined);
  const parts: Uint8Array[] = [];
  let at = 0;
  while (at < joined.length) {
    if (at + LENGTH_BYTES > joined.length) return undefined;
    const from = at + LENGTH_BYTES;
    at = from + view.getUint32(at);
    if (at > joined.length) return undefined;
    parts.push(joined.subarray(from, at));
  }
  return parts;
}

const BINDING_BYTES = 32;

/** What a proof is asked for: a run on calldata. */
export interface ProofStatement {
  /** whoever may present it, as a word */
  readonly binding: bigint;
  readonly calldata: Uint8Array;
}

export const proofInput = ({ binding, calldata }: ProofStatement): Uint8Array =>
  joinBytes([fromHex(numberToHex(binding, { size: BINDING_BYTES })), calldata]);

/** @returns undefined for bytes that `proofInput` did not write */
export function readProofInput(input: Uint8Array): ProofStatement | undefined {
  const [word, calldata, ...rest] = splitBytes(input) ?? [];
  if (word?.length !== BINDING_BYTES || calldata === undefined || rest.length > 0) return undefined;
  return { binding: BigInt(toHex(word)), calldata };
}

/** Of what was run: an answer to an order that was changed on its way has another. */
export const digestOf = ({ task, model, input }: Omit<WorkerOrder, "copies">): string =>
  createHash("sha256").update(`${task} ${model} ${input}`).digest("hex");
