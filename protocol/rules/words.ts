/** The packed words of requests, claims and models (docs/PROTOCOL.md, sections 1 and 2). */
import { BaseError } from "../../base/errors.ts";
import {
  INPUT_CODECS,
  type InputCodec,
  OUTPUT_CODECS,
  type OutputCodec,
} from "../../inference/program/form.ts";
import {
  CLAIM_STATES,
  type ClaimStatus,
  DELIVERY_STATES,
  type DeliveryStatus,
  FALL_REASONS,
  type FallReason,
  REQUEST_STATES,
  type RequestStatus,
} from "./types.ts";

/** First bit and number of bits of each field. */
type Layout<Field extends string> = Readonly<Record<Field, readonly [offset: number, bits: number]>>;

const REQUEST = {
  state: [0, 8],
  lane: [8, 8],
  delivered: [16, 8],
  attempt: [24, 32],
  requestedAt: [56, 40],
  settledAt: [96, 40],
} as const;
const CLAIM = {
  windowEnd: [0, 40],
  lastEvent: [40, 40],
  hardEnd: [80, 40],
  traceDeadline: [120, 40],
  tickets: [160, 32],
  pending: [192, 32],
  state: [224, 8],
  fall: [232, 8],
  depth: [240, 8],
  truthShare: [248, 1],
} as const;
const MODEL = {
  registered: [0, 8],
  lanes: [8, 8],
  depth: [16, 8],
  traceHeight: [24, 8],
  steps: [32, 16],
  weights: [48, 16],
  selector: [64, 32],
  maxCalldata: [96, 32],
  outputLength: [128, 32],
  inputCodec: [160, 8],
  outputCodec: [168, 8],
  inputSize: [176, 32],
} as const;

export interface RequestWord {
  readonly state: RequestStatus;
  /** lane of the final result, 0 before */
  readonly lane: number;
  readonly delivered: DeliveryStatus;
  readonly attempt: number;
  /** seconds since 1970, as all times below */
  readonly requestedAt: number;
  readonly settledAt: number;
}

export interface ClaimWord {
  readonly windowEnd: number;
  /** last challenge with a trace there, trace or reveal; 0: none yet */
  readonly lastEvent: number;
  readonly hardEnd: number;
  /** 0 before the first ticket */
  readonly traceDeadline: number;
  readonly tickets: number;
  /** owed trace + unanswered demands */
  readonly pending: number;
  readonly state: ClaimStatus;
  readonly fall: FallReason;
  readonly depth: number;
  /** true if the claim fell by truth and its submitter took a share */
  readonly truthShare: boolean;
}

export interface ModelWord {
  readonly lanes: number;
  readonly depth: number;
  readonly traceHeight: number;
  readonly steps: number;
  /** number of weight tensors */
  readonly weights: number;
  /** 4 bytes */
  readonly selector: number;
  readonly maxCalldata: number;
  readonly outputLength: number;
  readonly inputCodec: InputCodec;
  readonly outputCodec: OutputCodec;
  readonly inputSize: number;
}

export const EMPTY_REQUEST_WORD: RequestWord = decodeRequestWord(0n);
export const EMPTY_CLAIM_WORD: ClaimWord = decodeClaimWord(0n);

/** @throws BaseError WORD_INVALID for a code that has no name */
export function decodeRequestWord(word: bigint): RequestWord {
  const fields = unpack(REQUEST, word, "request word");
  return {
    ...fields,
    state: named(REQUEST_STATES, fields.state, "request state"),
    delivered: named(DELIVERY_STATES, fields.delivered, "delivery state"),
  };
}

export function encodeRequestWord(word: RequestWord): bigint {
  return pack(REQUEST, {
    ...word,
    state: REQUEST_STATES.indexOf(word.state),
    delivered: DELIVERY_STATES.indexOf(word.delivered),
  });
}

/** @throws BaseError WORD_INVALID for a code that has no name */
export function decodeClaimWord(word: bigint): ClaimWord {
  const fields = unpack(CLAIM, word, "claim word");
  return {
    ...fields,
    state: named(CLAIM_STATES, fields.state, "claim state"),
    fall: named(FALL_REASONS, fields.fall, "fall reason"),
    truthShare: fields.truthShare === 1,
  };
}

export function encodeClaimWord(word: ClaimWord): bigint {
  return pack(CLAIM, {
    ...word,
    state: CLAIM_STATES.indexOf(word.state),
    fall: FALL_REASONS.indexOf(word.fall),
    truthShare: word.truthShare ? 1 : 0,
  });
}

/** @returns undefined for 0: not registered
 *  @throws BaseError WORD_INVALID for a code that has no name */
export function decodeModelWord(word: bigint): ModelWord | undefined {
  if (word === 0n) return undefined;
  const { registered, ...fields } = unpack(MODEL, word, "model word");
  if (registered !== 1) named([], registered, "registration mark");
  return {
    ...fields,
    inputCodec: named(INPUT_CODECS, fields.inputCodec - 1, "input codec less one"),
    outputCodec: named(OUTPUT_CODECS, fields.outputCodec - 1, "output codec less one"),
  };
}

function unpack<Field extends string>(layout: Layout<Field>, word: bigint, what: string) {
  const fields = {} as Record<Field, number>;
  let rest = word;
  for (const [field, [offset, bits]] of entries(layout)) {
    const value = BigInt.asUintN(bits, word >> BigInt(offset));
    fields[field] = Number(value);
    rest -= value << BigInt(offset);
  }
  if (rest !== 0n) throw invalid(what, `0x${word.toString(16)} has bits outside its fields`);
  return fields;
}

function pack<Field extends string>(layout: Layout<Field>, fields: Readonly<Record<Field, number>>): bigint {
  let word = 0n;
  for (const [field, [offset, bits]] of entries(layout)) {
    const value = BigInt(fields[field]);
    if (value < 0n || value >> BigInt(bits) !== 0n) {
      throw invalid(field, `${value} does not fit in ${bits} bits`);
    }
    word |= value << BigInt(offset);
  }
  return word;
}

function entries<Field extends string>(layout: Layout<Field>) {
  return Object.entries(layout) as [Field, readonly [number, number]][];
}

function named<Name>(names: readonly Name[], code: number, what: string): Name {
  const name = names[code];
  if (name === undefined) throw invalid(what, `code ${code} is unknown; known: 0 to ${names.length - 1}`);
  return name;
}

function invalid(what: string, why: string): BaseError {
  return new BaseError({
    code: "WORD_INVALID",
    shortMessage: `The chain's ${what} cannot be read: ${why}.`,
    nextStep: "Check that the deployment file names contracts of this version.",
  });
}
