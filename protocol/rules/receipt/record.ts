/** Correctness records: how a claim stands or ended, right or wrong, with all that shows it to whoever trusts one
 *  block's hash. A receipt shows finality by a policy; a record shows a fall as well, for whoever has paid for, or used,
 *  what was claimed. After truth that no claim agreed with, a record without a claim shows the output. */
import { type Hex, keccak256 } from "viem";
import * as z from "zod";
import type { BaseError } from "../../../base/errors.ts";
import { jsonOf } from "../../../base/json.ts";
import { isFinal } from "../machine.ts";
import { type ClaimId, type FallReason, LANE, type RequestId } from "../types.ts";
import { type Evidence, openEvidence, type Trust, verdictOf } from "./evidence.ts";
import { amount, bytes, EVIDENCE_FORM, hash, MAX_CALLDATA_DIGITS, parseForm } from "./form.ts";
import type { Header } from "./header.ts";
import { unmet, unproven } from "./refusal.ts";

export const RECORD_FORMAT = "assay-record-1";

export interface CorrectnessRecord extends Evidence {
  readonly format: typeof RECORD_FORMAT;
  /** calldata: whoever runs the model on it sees which output is the right one */
  readonly input: Hex;
  /** what whoever made the record says besides; the block shows none of it */
  readonly unproven: Unproven;
}

export interface Unproven {
  /** the transaction in which the claim was made */
  readonly claimed?: Hex | undefined;
  /** the transaction in which claim or request ended, and its event; absent: it is final by time alone, or not over */
  readonly ended?: { readonly event: (typeof ENDINGS)[number]; readonly transaction: Hex } | undefined;
  /** what the event Fell says of the convicted element */
  readonly fault?: Fault | undefined;
  /** the transfer that paid for the output, on the chain of its token */
  readonly payment?: Payment | undefined;
}

export interface Fault {
  readonly step: bigint;
  readonly element: bigint;
  readonly expected: bigint;
  readonly claimed: bigint;
}

export interface Payment {
  /** CAIP-2 */
  readonly network: string;
  readonly transaction: Hex;
}

export const ENDINGS = ["Fell", "Finalized", "Settled"] as const;

/** What the reader wants the record to be about; what is absent is not asked. */
export interface Subject {
  readonly modelId?: Hex;
  readonly inputHash?: Hex;
  readonly requestId?: Hex;
  readonly claimId?: Hex;
}

export type RecordVerdict =
  | {
      readonly valid: true;
      /** FINAL: nothing can change it; FALLEN: it was convicted, or left without an answer; PENDING: it can still fall */
      readonly end: "FINAL" | "FALLEN" | "PENDING";
      /** why it fell: a timeout says that its prover gave no answer, the others that it was wrong; else NONE */
      readonly fall: FallReason;
      readonly requestId: RequestId;
      readonly claimId?: ClaimId;
      /** of a final one */
      readonly lane?: number;
      /** what was claimed, or is final */
      readonly output: Hex;
      /** the trusted block */
      readonly block: Header;
    }
  | {
      readonly valid: false;
      /** RECEIPT_MALFORMED, RECEIPT_UNPROVEN, or WRONG_MODEL and the like: it is no record of the subject */
      readonly error: BaseError;
    };

const words = amount(256);
const record = z.strictObject({
  format: z.literal(RECORD_FORMAT),
  ...EVIDENCE_FORM,
  input: bytes(MAX_CALLDATA_DIGITS),
  unproven: z.strictObject({
    claimed: hash.optional(),
    ended: z.strictObject({ event: z.enum(ENDINGS), transaction: hash }).optional(),
    fault: z.strictObject({ step: words, element: words, expected: words, claimed: words }).optional(),
    payment: z
      .strictObject({ network: z.string().regex(/^[a-z0-9-]{3,8}:\w{1,32}$/), transaction: hash })
      .optional(),
  }),
});

export const renderRecord = (value: CorrectnessRecord): string => jsonOf(value);

/** @throws BaseError RECEIPT_MALFORMED with the first field that is wrong */
export const parseRecord = (text: string): CorrectnessRecord => parseForm(record, text);

/** Verifies a record offline. Never throws for a record, whatever is in it. */
export const verifyRecord = (value: CorrectnessRecord, trust: Trust, subject: Subject = {}): RecordVerdict =>
  verdictOf(() => check(value, trust, subject));

function check(value: CorrectnessRecord, trust: Trust, subject: Subject) {
  const { request, claim, output, input } = value;
  const shown = openEvidence(value, trust);
  const { block, requestId, claimId } = shown;
  const about = { modelId: request.modelId, inputHash: request.inputHash, requestId, claimId };
  for (const [name, code] of SUBJECTS) {
    const wanted = subject[name];
    if (wanted !== undefined && about[name] !== wanted)
      throw unmet(code, `its ${name} is ${about[name] ?? "none"}, not ${wanted}`);
  }
  const word = shown.requestWord();
  if (keccak256(input) !== request.inputHash) throw unproven("its input is not the request's");
  if (claim === undefined) {
    const settled = shown.settled();
    if (settled === undefined) throw unproven(`no truth settled request ${requestId} without a claim`);
    requireHash(output, settled);
    return { end: "FINAL" as const, fall: "NONE" as const, requestId, lane: word.lane, output, block };
  }
  if (claim.requestId !== requestId)
    throw unproven(`its claim is of request ${claim.requestId}, not ${requestId}`);
  const { state, fall, ...rest } = shown.claimWord();
  if (state === "NONE") throw unproven(`there is no claim ${claimId} at the block`);
  requireHash(output, claim.outputHash);
  const named = { requestId, claimId: claimId as ClaimId, output, block, fall };
  if (state === "FALLEN") return { end: "FALLEN" as const, ...named };
  if (!isFinal({ state, fall, ...rest }, trust.answerSeconds, block.timestamp))
    return { end: "PENDING" as const, ...named };
  return { end: "FINAL" as const, lane: word.state === "DONE" ? word.lane : LANE.BOND, ...named };
}

const SUBJECTS = [
  ["modelId", "WRONG_MODEL"],
  ["inputHash", "WRONG_INPUT"],
  ["requestId", "WRONG_REQUEST"],
  ["claimId", "WRONG_CLAIM"],
] as const satisfies readonly (readonly [keyof Subject, string])[];

function requireHash(output: Hex, expected: Hex): void {
  if (keccak256(output) === expected) return;
  throw unmet("WRONG_OUTPUT", `the output's hash is ${keccak256(output)}, the claimed one ${expected}`);
}
