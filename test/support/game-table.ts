/** Who plays, with what, and what they see: shared by the game and its actors. */
import { type Address, getAddress, type Hex, numberToHex } from "viem";
import type { ClaimState, GameState, Move, MoveResult } from "../../protocol/rules/machine.ts";
import type { ClaimId, RequestId } from "../../protocol/rules/types.ts";
import type { Rng } from "./rng.ts";

export const addressOf = (n: number): Address => getAddress(numberToHex(n, { size: 20 }));
export const hashOf = (n: number): Hex => numberToHex(n, { size: 32 });

export const WHO = {
  requester: addressOf(0x100),
  prover: addressOf(0x101),
  secondProver: addressOf(0x102),
  honest: addressOf(0x103),
  submitter: addressOf(0x104),
  stranger: addressOf(0x105),
} as const;
export const RIGHT_OUTPUT = hashOf(0xa1);
export const TRACE_ROOT = hashOf(0xb1);

/** The game as its actors see it. */
export interface Table {
  state: GameState;
  now: number;
  readonly rng: Rng;
  readonly answerSeconds: number;
  readonly claimId: ClaimId;
  readonly requestId: RequestId;
  /** positions that show the lie; none if only the output is wrong */
  readonly lie: readonly bigint[];
  readonly isHonest: boolean;
  /** positions inside the shape */
  readonly positions: readonly bigint[];
  /** when tickets were filed (by owner), positions revealed and the trace committed */
  readonly happenedAt: ReadonlyMap<Address | bigint | "trace", number>;
  claim(): ClaimState;
  attempt(move: Move): MoveResult;
}

export function shuffled<T>(rng: Rng, items: readonly T[]): T[] {
  const copy = [...items];
  for (let i = copy.length - 1; i > 0; i -= 1) {
    const j = rng.int(0, i);
    [copy[i], copy[j]] = [copy[j] as T, copy[i] as T];
  }
  return copy;
}
