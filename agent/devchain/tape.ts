/** Answers of the model as a chain sees them: fixed the moment they are given.
 *
 *  A model may answer otherwise tomorrow, so a block that asks one can be executed again only with what it was told.
 *  Each block keeps its answers, and its header their hash (in extraData, which no opcode reads): the answers are part
 *  of the block, as its transactions are. */
import { RLP } from "@ethereumjs/rlp";
import { type Hex, keccak256 } from "viem";
import { BaseError } from "../../base/errors.ts";
import { RecentMap } from "../../base/recent.ts";

/** What a question got: return data, or the data of a revert. */
export interface Answer {
  readonly ok: boolean;
  readonly data: Uint8Array;
}

export type Ask = (question: Uint8Array) => Promise<Answer>;

/** keccak256 of a question, and its answer. */
export type Recorded = readonly [question: Hex, answer: Answer];

/** The answers of one execution, in the order in which they were first needed. A question asked twice has one. */
export class Tape {
  readonly #ask: Ask;
  readonly #answers = new Map<Hex, Answer>();

  constructor(ask: Ask) {
    this.#ask = ask;
  }

  async answer(question: Uint8Array): Promise<Answer> {
    const key = keccak256(question);
    const held = this.#answers.get(key);
    if (held !== undefined) return held;
    const answer = await this.#ask(question);
    this.#answers.set(key, answer);
    return answer;
  }

  get recorded(): readonly Recorded[] {
    return [...this.#answers];
  }
}

/** Answers that are kept for the transaction that follows an estimate; blocks keep theirs for ever. */
const MAX_KEPT = 1_000;

/** Asks the model once for each question: calls, estimates and the transaction that follows see one answer. A failure
 *  is not kept; the next transaction asks again. */
export function askOnce(ask: Ask): Ask {
  const kept = new RecentMap<Hex, Answer>(MAX_KEPT);
  return async (question) => {
    const key = keccak256(question);
    const answer = kept.get(key) ?? (await ask(question));
    if (answer.ok) kept.set(key, answer);
    return answer;
  };
}

/** Answers from a block's record alone.
 *  @throws BaseError BLOCK_DIVERGED for a question that the block did not record */
export function replay(recorded: readonly Recorded[]): Ask {
  const answers = new Map(recorded);
  return async (question) => {
    const key = keccak256(question);
    const answer = answers.get(key);
    if (answer !== undefined) return answer;
    throw new BaseError({
      code: "BLOCK_DIVERGED",
      shortMessage: `The block asks the model ${key}, which its record does not answer.`,
      nextStep: "The chain's file was changed, or written by another version; begin with a new one.",
    });
  };
}

/** What a header says of a block's answers: 32 bytes, none if the block asked nothing. */
export function answersHash(recorded: readonly Recorded[]): Uint8Array {
  if (recorded.length === 0) return new Uint8Array(0);
  const items = recorded.map(([question, { ok, data }]) => [question, ok ? 1 : 0, data]);
  return keccak256(RLP.encode(items), "bytes");
}
