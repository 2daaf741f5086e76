/** Moves on signed claims: shown, queued, passed, taken back, opened. */
import type { Address } from "viem";
import { play } from "../machine.ts";
import { LANE } from "../types.ts";
import { changeAccount, changeSigned, credit, done, partsOf, receive, refuse, withEntry } from "./change.ts";
import { file } from "./filing.ts";
import { bondOf, depositOf, min } from "./money.ts";
import type { InputFacts, OutputFacts, PromiseMoveOf, PromiseResult } from "./moves.ts";
import { firstUnmet, type PromiseRules } from "./rules.ts";
import type { Digest } from "./signed-claim.ts";
import { digestOf } from "./signed-claim.ts";
import { type Account, accountOf, type PromisesState, type SignedEntry, stakeOf } from "./state.ts";

/** What a signed claim must fulfil to be opened now: `open` and the check of who accepts it ask the same. */
export function unmetOfClaim(
  state: PromisesState,
  { claim, signature, input, output, now }: Omit<PromiseMoveOf<"open">, "kind" | "from" | "value">,
  rules: PromiseRules,
): PromiseResult | undefined {
  const entry = state.signed.get(digestOf(state.address, claim));
  const isShown = entry !== undefined && rules.staysShown;
  const { keys } = accountOf(state, claim.prover);
  const until = keys.get(signature.signer);
  const model = state.assay.models.get(claim.modelId);
  const other = firstUnmet(rules, [
    ["open input", input.hash === claim.inputHash],
    ["open output", output.hash === claim.outputHash],
  ]);
  if (other) return other;
  if (model === undefined) return refuse("UnknownModel");
  return firstUnmet(rules, [
    ["open lane", (model.lanes & LANE.BOND) !== 0],
    ["open canonical", input.canonical],
    ["open length", output.length === model.outputLength],
    ["open once", entry === undefined || entry.status === "NONE"],
    ["open ecdsa", signature.isEcdsa],
    ["open key", until !== undefined && claim.issuedAt <= until],
    ["open issued", claim.issuedAt <= now],
    ["open end", isShown || now <= rules.end(claim)],
  ]);
}

export function open(state: PromisesState, move: PromiseMoveOf<"open">, rules: PromiseRules): PromiseResult {
  const { claim, signature, from, baseFee, value = 0n } = move;
  const { prover } = claim;
  const unmet = unmetOfClaim(state, move, rules);
  if (unmet) return unmet;
  const account = accountOf(state, prover);
  const bond = bondOf(state, account, claim, baseFee, rules);
  const deposit = depositOf(bond);
  const tooLow = firstUnmet(rules, [["open deposit", value >= deposit]]);
  if (tooLow) return tooLow;
  const kept = min(value, deposit);
  const paid = credit(receive(state, value), from, value - kept);
  const digest = digestOf(state.address, claim);
  const entry: SignedEntry = {
    status: "QUEUED",
    queuedAt: move.now,
    claim,
    key: signature.signer,
    opener: from,
    deposit: kept,
  };
  const shown = { ...paid, signed: withEntry(paid.signed, digest, entry) };
  const waits = account.queue.length > 0 && rules.waitsBehindQueue;
  if (!waits && partsOf(account, bond) !== undefined) return openEntry(shown, digest, bond, move, rules);
  return done(changeAccount(shown, prover, { queue: [...account.queue, digest] }));
}

/** Files the claim of an entry whose bond is there. */
function openEntry(
  state: PromisesState,
  digest: Digest,
  bond: bigint,
  facts: {
    readonly input: InputFacts;
    readonly output: OutputFacts;
    readonly now: number;
    readonly baseFee: bigint;
  },
  rules: PromiseRules,
): PromiseResult {
  const entry = state.signed.get(digest) as SignedEntry;
  const { claim, key, opener, deposit } = entry;
  const account = accountOf(state, claim.prover);
  // Without its condition a bond is taken that is not there.
  const parts = partsOf(account, bond) ?? { slot: 0n, free: bond, leaving: 0n };
  const window = rules.window(claim, facts.now, state.constants.answerSeconds);
  return file(
    changeSigned(state, digest, { status: "OPEN" }),
    { ...facts, modelId: claim.modelId, bond, window, key, salt: claim.salt },
    { prover: claim.prover, of: { digest }, parts, opener, deposit },
    rules,
  );
}

export function openNext(
  state: PromisesState,
  move: PromiseMoveOf<"openNext">,
  rules: PromiseRules,
): PromiseResult {
  const { claim, input, output, baseFee } = move;
  const { prover } = claim;
  const digest = digestOf(state.address, claim);
  const account = accountOf(state, prover);
  const early = firstUnmet(rules, [
    ["openNext input", input.hash === claim.inputHash],
    ["openNext output", output.hash === claim.outputHash],
    ["openNext head", account.queue[0] === digest],
  ]);
  if (early) return early;
  if (!account.queue.includes(digest)) return refuse("NotHead");
  const bond = bondOf(state, account, claim, baseFee, rules);
  const unmet = firstUnmet(rules, [["openNext stake", partsOf(account, bond) !== undefined]]);
  if (unmet) return unmet;
  return openEntry(
    changeAccount(state, prover, withoutEntry(account, digest, rules)),
    digest,
    bond,
    move,
    rules,
  );
}

export function passNext(
  state: PromisesState,
  move: PromiseMoveOf<"passNext">,
  rules: PromiseRules,
): PromiseResult {
  const { prover, behind, now, baseFee } = move;
  const account = accountOf(state, prover);
  const { free, leaving, hotSince, queue } = account;
  const [head] = queue;
  if (head === undefined) return refuse("QueueEmpty");
  const isDear = (digest: Digest): boolean => {
    const entry = state.signed.get(digest);
    return entry !== undefined && bondOf(state, account, entry.claim, baseFee, rules) > free + leaving;
  };
  const unmet = firstUnmet(rules, [
    ["passNext away", account.away === 0n],
    ["passNext slots", account.slots === 0n],
    ["passNext dear", isDear(head)],
  ]);
  if (unmet) return unmet;
  if (hotSince === 0 && !rules.dropped.has("passNext patience")) {
    return done(changeAccount(state, prover, { hotSince: now }));
  }
  const early = firstUnmet(rules, [
    ["passNext patience", now >= hotSince + rules.patience(state.constants.answerSeconds)],
    ["passNext behind", queue.includes(behind)],
    ["passNext cheaper", !isDear(behind)],
  ]);
  if (early) return early;
  const passed = withoutEntry(account, head, rules);
  return done(changeAccount(state, prover, { ...passed, queue: [...queue.slice(1), head] }));
}

export function takeBack(
  state: PromisesState,
  move: PromiseMoveOf<"takeBack">,
  rules: PromiseRules,
): PromiseResult {
  const { digest, from, now, baseFee } = move;
  const entry = state.signed.get(digest);
  if (entry === undefined) return refuse("NotOpener");
  const { prover } = entry.claim;
  const account = accountOf(state, prover);
  const bond = bondOf(state, account, entry.claim, baseFee, rules);
  const unmet = firstUnmet(rules, [
    ["takeBack opener", from === entry.opener],
    ["takeBack queued", entry.status === "QUEUED"],
    ["takeBack dear", bond > stakeOf(account)],
  ]);
  if (unmet) return unmet;
  // INVARIANT: anybody can open it again before stake leaves that it waited for.
  const exitAt = Math.max(account.exitAt, now + rules.noticeAfterTakingBack(state.constants.answerSeconds));
  const left = changeAccount(state, prover, { ...withoutEntry(account, digest, rules), exitAt });
  return done(credit(changeSigned(left, digest, { status: "NONE", deposit: 0n }), from, entry.deposit));
}

/** The queue without an entry; the patience with a head ends with it. */
function withoutEntry(account: Account, digest: Digest, rules: PromiseRules): Partial<Account> {
  const { queue, hotSince } = account;
  const hot = queue[0] === digest ? rules.hotAfterChange(hotSince) : hotSince;
  return { queue: queue.filter((other) => other !== digest), hotSince: hot };
}

export function commitTrace(
  state: PromisesState,
  { claimId, traceRoot, from, now }: PromiseMoveOf<"commitTrace">,
  rules: PromiseRules,
): PromiseResult {
  const filed = state.filed.get(claimId);
  if (filed === undefined || filed.isClosed) return refuse("NotOpen");
  const unmet = firstUnmet(rules, [["commitTrace sender", mayAct(state, filed.prover, from, now)]]);
  if (unmet) return unmet;
  const { promises } = state.address;
  const made = play(state.assay, { kind: "commitTrace", from: promises, now, claimId, traceRoot });
  return made.ok ? done({ ...state, assay: made.state }) : refuse(`Assay: ${made.refusal}`);
}

/** The prover, or a key that is bound now. */
export function mayAct(state: PromisesState, prover: Address, from: Address, now: number): boolean {
  return from === prover || now <= (accountOf(state, prover).keys.get(from) ?? -1);
}
