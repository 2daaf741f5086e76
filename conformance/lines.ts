/** The lines by which an implementation is asked, and its answers (docs/CONFORMANCE.md, Lines). */
import { concatBytes, type Hex, toHex } from "../base/bytes.ts";
import type { SignedClaim } from "../protocol/rules/promises/signed-claim.ts";
import type { Claim, Request } from "../protocol/rules/types.ts";

/** What a line can ask. */
export const LINES = [
  "lines",
  "program",
  "run",
  "claimed",
  "codec",
  "output",
  "returned",
  "element",
  "model",
  "tops",
  "reveal",
  "request",
  "claim",
  "order",
  "pack",
  "signals",
  "receipt",
  "digest",
  "signer",
  "expand",
  "compact",
  "batch",
  "path",
  "member",
] as const;
export type LineName = (typeof LINES)[number];

/** A line's words, its name first. */
export type Line = readonly [name: LineName, ...words: string[]];

/** The words behind "ok", or that it is refused. */
export type Answer = readonly string[] | "refused";

/** Bytes of a number whose field is not named. */
const NUMBER_BYTES = 16;

/** A number as big-endian bytes. */
export const packed = (value: bigint | number, bytes = NUMBER_BYTES): Hex =>
  `0x${value.toString(16).padStart(2 * bytes, "0")}`;

/** Words of 32 bytes as one word of a line. */
export const joined = (words: readonly Uint8Array[]): Hex => toHex(concatBytes(...words));

/** Fields of the structs in the order of docs/PROTOCOL.md, section 2. */
export const REQUEST_FIELDS: readonly (keyof Request)[] = [
  "requester",
  "modelId",
  "inputHash",
  "lanes",
  "fee",
  "deliveryFee",
  "minBond",
  "window",
  "expiry",
  "exclusiveProver",
  "exclusiveUntil",
  "callback",
  "callbackGas",
  "salt",
];
const CLAIM_FIELDS: readonly (keyof Claim)[] = [
  "requestId",
  "modelId",
  "attempt",
  "prover",
  "operator",
  "outputHash",
  "bond",
  "ticketBond",
  "gasPrice",
];

/** Fields in the order of docs/PROMISES.md, section 1. */
const SIGNED_FIELDS: readonly (keyof SignedClaim)[] = [
  "prover",
  "modelId",
  "inputHash",
  "outputHash",
  "requester",
  "issuedAt",
  "expiry",
  "minBond",
  "salt",
];

/** A field as a line has it: bytes as they are, a number in 16 bytes. */
const fieldWord = (value: string | number | bigint): string =>
  typeof value === "string" ? value.toLowerCase() : packed(value);

export const requestWords = (request: Request): string[] =>
  REQUEST_FIELDS.map((field) => fieldWord(request[field]));
export const signedWords = (signed: SignedClaim): string[] =>
  SIGNED_FIELDS.map((field) => fieldWord(signed[field]));
export const claimWords = (claim: Claim): string[] => CLAIM_FIELDS.map((field) => fieldWord(claim[field]));

const OK = /^ok(?: (?:0x(?:[0-9a-f]{2})*))*$/;

/** @returns undefined for what is no answer
 *  @param isNames the answer to `lines` has names instead of bytes */
export function readAnswer(text: string, isNames = false): Answer | undefined {
  if (text === "refused" || text.startsWith("refused ")) return "refused";
  const form = isNames ? /^ok(?: [a-z]+)*$/ : OK;
  return form.test(text) ? text.split(" ").slice(1) : undefined;
}

export const renderAnswer = (answer: Answer): string =>
  answer === "refused" ? answer : ["ok", ...answer].join(" ");
