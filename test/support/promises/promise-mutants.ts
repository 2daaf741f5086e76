/** One rule of promises left out or changed at a time. Games must lose without each. */

import { endOf, PROMISE_LIMITS } from "../../../protocol/rules/promises/limits.ts";
import { CONDITIONS, type Condition } from "../../../protocol/rules/promises/moves.ts";
import { PROMISE_RULES, type PromiseRules } from "../../../protocol/rules/promises/rules.ts";

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
  "a queued leaf is not open": { queuedLeafIsOpen: false },
  "the gas price is the floor's": { gasPrice: ({ gasPriceFloor }) => gasPriceFloor },
  "the promise's own salt": { salt: (_counter, { salt }) => salt },
  "PROOF is a lane": { lanes: (lanes) => lanes },
  "the signer is operator": { operator: (_prover, key) => key },
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

/** The directed game (promise-scenarios.ts) that is lost without a rule. The others are found by random games. */
export const FOUND_BY: Readonly<Record<string, string>> = {
  "exit notice": "the cheat takes its stake before the promise is shown",
  "an exit is announced a day before": "the cheat takes its stake before the promise is shown",
  "exit queue": "a spike of nine days, and the cheat leaves on the eighth",
  "no notice after taking back": "the cheat opens for the buyer, takes back and leaves",
  "what was taken back ends": "the cheat opens for the buyer, takes back and leaves",
  "setSigner notice": "a key is unbound behind a promise's back",
  "open ecdsa": "a contract denies its signature",
  "open issued": "a postdated promise whose key is unbound before it counts",
  "open end": "a key that was stolen signs once more",
  "a promise lives as long as it says": "a key that was stolen signs once more",
  "openNext head": "the queue is jumped",
  "openNext output": "another output is filed for the head",
  "openNext input": "another input is filed for the head",
  "passNext away": "the head is passed while stake is away",
  "passNext dear": "a head that the stake reaches for is passed, for a buyer who looks once a day",
  "passNext patience": "a fee of one second passes the head",
  "a head is passed at once": "a fee of one second passes the head",
  "hotSince stays with another head": "an old patience passes a new head",
  "passNext behind": "a head is passed for nobody's sake",
  "passNext cheaper": "a head is passed for a dearer one's sake",
  "takeBack opener": "a stranger takes back",
  "takeBack queued": "an opened promise is taken back",
  "takeBack dear": "the cheat opens first and takes back, again and again",
  "commitTrace sender": "a trace of garbage in the prover's name",
  "the signer is operator": "a key that was unbound answers",
  "post queue": "batch after batch while a promise waits",
  "post longest": "a batch of sixty days",
  "post shortest": "a batch without a window",
  "post lengths": "a leaf that nobody can open",
  "nextLeaf payload": "another leaf is filed for the first that waits",
  "dropLeaf fallen": "a queued leaf is dropped",
  "a queued leaf is not open": "a queued leaf is dropped",
  "release ended": "slots are released early, and the stake is used",
  "no slots": "a batch sets nothing aside",
  "a leaf overtakes queued leaves": "right leaves overtake the wrong one",
  "a promise overtakes the queue": "a promise overtakes the queue",
  "the promise's own salt": "two openings in a block",
  "every leaf costs the same": "a leaf waits in a batch that falls",
  "the deposit is the prover's": "a cheat opens its own promises",
  "the deposit burns": "an honest prover defends a promise",
  "open once": "the reward of an opener goes to the cheat",
  "leaving stake comes back free": "a stranger delays an honest exit",
};

/** Kept for other reasons than a game. */
export const NOT_IN_GAMES: Readonly<Record<string, string>> = {
  "passNext slots":
    "slots cannot last while something waits; with them at home an entry stores only its model's depth",
  "post count": "a limit of the data: a count is 16 bits, and a batch one transaction",
  "one slot": "a second slot doubles how fast leaves are disputed, and guards nothing",
};
