/** Moves on a prover's stake, and the ways out for money. */
import { ZERO_ADDRESS } from "../types.ts";
import { changeAccount, done, pay, receive, refuse, withEntry } from "./change.ts";
import type { PromiseMoveOf, PromiseResult } from "./moves.ts";
import { firstUnmet, type PromiseRules } from "./rules.ts";
import { accountOf, type PromisesState } from "./state.ts";

export function deposit(state: PromisesState, move: PromiseMoveOf<"deposit">): PromiseResult {
  const { prover, value = 0n } = move;
  const { free } = accountOf(state, prover);
  return done(changeAccount(receive(state, value), prover, { free: free + value }));
}

export function announceExit(
  state: PromisesState,
  { from, now, amount }: PromiseMoveOf<"announceExit">,
  rules: PromiseRules,
): PromiseResult {
  const { free, leaving } = accountOf(state, from);
  const unmet = firstUnmet(rules, [["announceExit free", amount <= free]]);
  if (unmet) return unmet;
  const exitAt = now + rules.exitNotice;
  return done(changeAccount(state, from, { free: free - amount, leaving: leaving + amount, exitAt }));
}

export function exit(
  state: PromisesState,
  { from, now }: PromiseMoveOf<"exit">,
  rules: PromiseRules,
): PromiseResult {
  const { leaving, exitAt, queue } = accountOf(state, from);
  const unmet = firstUnmet(rules, [
    ["exit notice", now >= exitAt],
    ["exit queue", queue.length === 0],
  ]);
  return unmet ?? done(pay(changeAccount(state, from, { leaving: 0n }), leaving));
}

export function setSigner(
  state: PromisesState,
  { from, now, key, until }: PromiseMoveOf<"setSigner">,
  rules: PromiseRules,
): PromiseResult {
  if (key === ZERO_ADDRESS) return refuse("SignerIsZero");
  // INVARIANT: what a key signed a moment ago stays bound.
  const unmet = firstUnmet(rules, [["setSigner notice", until >= now + state.constants.answerSeconds]]);
  if (unmet) return unmet;
  const { keys } = accountOf(state, from);
  return done(changeAccount(state, from, { keys: withEntry(keys, key, until) }));
}

export function withdraw(state: PromisesState, { from }: PromiseMoveOf<"withdraw">): PromiseResult {
  const amount = state.credits.get(from) ?? 0n;
  if (amount === 0n) return refuse("NoCredit");
  return done(pay({ ...state, credits: withEntry(state.credits, from, 0n) }, amount));
}

export function pullBurn(state: PromisesState): PromiseResult {
  if (state.burned === 0n) return refuse("NoCredit");
  return done(pay({ ...state, burned: 0n }, state.burned));
}
