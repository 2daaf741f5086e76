/** One rule of promises left out or changed at a time. Games must lose without each. */

import { CONDITIONS, type Condition } from "../../../protocol/rules/promises/moves.ts";
import { PROMISE_RULES, type PromiseRules } from "../../../protocol/rules/promises/rules.ts";
import { endOf, PROMISE_LIMITS } from "../../../protocol/rules/promises/types.ts";
import { ZERO_ADDRESS } from "../../../protocol/rules/types.ts";

/** Conditions that a move does not ask for. */
export const without = (...dropped: Condition[]): PromiseRules => ({
  ...PROMISE_RULES,
  dropped: new Set(dropped),
});

const CHANGED: Readonly<Record<string, Partial<PromiseRules>>> = {
  "a promise lives as long as it says": { end: ({ expiry }) => expiry },
  "an opened promise has a window of W0": { window: (_claim, _now, answerSeconds) => 4 * answerSeconds },
  "an opened promise has no W0 past its end": { window: (claim, now) => Math.max(endOf(claim) - now, 0) },
  "a leaf has half of W0": { leafWindow: (answerSeconds) => 2 * answerSeconds },
  "an exit is announced a day before": { exitNotice: PROMISE_LIMITS.maxLife - 1 },
  "no notice after taking back": { noticeAfterTakingBack: () => 0 },
  "a head is passed at once": { patience: () => 0 },
  "hotSince stays with another head": { hotAfterChange: (hotSince) => hotSince },
  "what was taken back ends": { staysShown: false },
  "a promise overtakes the queue": { waitsBehindQueue: false },
  "a leaf overtakes queued leaves": { waitsBehindLeaves: false },
  "a leaf takes the queue's stake": { leafLeavesQueueItsStake: false },
  "a queued leaf is not open": { queuedLeafIsOpen: false },
  "the gas price is the floor's": { gasPrice: ({ gasPriceFloor }) => gasPriceFloor },
  "the promise's own salt": { salt: (_counter, { salt }) => salt },
  "PROOF is a lane": { lanes: (lanes) => lanes },
  "the signer is operator": { operator: (prover, key) => (key === ZERO_ADDRESS ? prover : key) },
  "others may claim on the request": { isExclusive: false },
  "one slot": { slots: 1 },
  "no slots": { slots: 0 },
  "every leaf costs the same": { leafDeposit: (share) => share },
  "the deposit is the prover's": { depositToProver: (deposit) => deposit },
  "the deposit burns": { depositToProver: () => 0n },
  "closing pulls nothing": { closingPulls: false },
  "leaving stake comes back free": { leavingComesBack: false },
};

export const MUTANTS: readonly (readonly [name: string, rules: PromiseRules])[] = [
  ...(Object.keys(CONDITIONS) as Condition[]).map((condition) => [condition, without(condition)] as const),
  ...Object.entries(CHANGED).map(([name, change]) => [name, { ...PROMISE_RULES, ...change }] as const),
];
