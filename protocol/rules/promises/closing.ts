/** How a promise's claim ends, and who gets what. */
import { isFinal, play } from "../machine.ts";
import type { Claim } from "../types.ts";
import type { ClaimWord } from "../words.ts";
import { changeAccount, changeSigned, credit, done, refuse, setBatch, withEntry } from "./change.ts";
import type { PromiseMoveOf, PromiseResult } from "./moves.ts";
import { firstUnmet, type PromiseRules } from "./rules.ts";
import { accountOf, type Filed, type PromisesState } from "./state.ts";

export function close(
  state: PromisesState,
  move: PromiseMoveOf<"close">,
  rules: PromiseRules,
): PromiseResult {
  const { claimId, now } = move;
  const filed = state.filed.get(claimId);
  const held = state.assay.claims.get(claimId);
  if (filed === undefined || held === undefined) return refuse("NotOpen");
  const isEnded = held.word.state === "FALLEN" || isFinal(held.word, state.constants.answerSeconds, now);
  const unmet = firstUnmet(rules, [
    ["close open", !filed.isClosed],
    ["close ended", isEnded],
  ]);
  if (unmet) return unmet;
  const { promises } = state.address;
  const finalized =
    held.word.state === "ACTIVE"
      ? play(state.assay, { kind: "finalize", from: promises, now, claimId })
      : undefined;
  const ended: PromisesState = {
    ...state,
    assay: finalized?.ok ? finalized.state : state.assay,
    filed: withEntry(state.filed, claimId, { ...filed, isClosed: true }),
  };
  const hasFallen = held.word.state === "FALLEN";
  const closed = hasFallen
    ? fallen(ended, filed, held.claim)
    : final(ended, filed, held.claim, held.word, rules);
  return done(rules.closingPulls && !hasFallen ? pulled(closed) : closed);
}

/** The bond goes back to its parts; half of each ticket is the prover's, and so is half of the deposit. */
function final(
  state: PromisesState,
  filed: Filed,
  claim: Claim,
  { tickets }: ClaimWord,
  rules: PromiseRules,
): PromisesState {
  const { prover, parts, deposit } = filed;
  const account = accountOf(state, prover);
  const halves = (claim.ticketBond / 2n) * BigInt(tickets);
  const share = rules.depositToProver(deposit);
  const batch = batchOf(state, filed);
  // A slot of a batch that fell has nothing left to back.
  const slot = batch === undefined || batch.isFallen ? 0n : parts.slot;
  const leaving = rules.leavingComesBack ? parts.leaving : 0n;
  const paid = changeAccount(state, prover, {
    free: account.free + claim.bond - slot - leaving + halves + share,
    leaving: account.leaving + leaving,
    slots: account.slots + slot,
    away: account.away - claim.bond,
  });
  const booked = {
    ...paid,
    received: state.received + halves,
    burned: state.burned + deposit - share,
  };
  return endPromise(booked, filed, (idle) => idle + (slot > 0n ? 1 : 0), false);
}

function fallen(state: PromisesState, filed: Filed, { bond }: Claim): PromisesState {
  const { prover, opener, deposit } = filed;
  const { away } = accountOf(state, prover);
  const gone = changeAccount(state, prover, { away: away - bond });
  const booked = { ...gone, lost: state.lost + bond };
  return endPromise(credit(booked, opener, deposit), filed, (idle) => idle, true);
}

const batchOf = (state: PromisesState, { of }: Filed) =>
  "batchId" in of ? state.batches.get(of.batchId) : undefined;

function endPromise(
  state: PromisesState,
  { of }: Filed,
  idleSlots: (idle: number) => number,
  hasFallen: boolean,
): PromisesState {
  if ("digest" in of) return changeSigned(state, of.digest, { status: "CLOSED", deposit: 0n });
  const batch = state.batches.get(of.batchId);
  const leaf = batch?.leaves.get(of.index);
  if (batch === undefined || leaf === undefined) return state;
  return setBatch(state, of.batchId, {
    ...batch,
    idleSlots: idleSlots(batch.idleSlots),
    open: batch.open - 1,
    isFallen: batch.isFallen || hasFallen,
    leaves: withEntry(batch.leaves, of.index, { ...leaf, status: "CLOSED", deposit: 0n }),
  });
}

/** Brings what Assay owes this contract. */
function pulled(state: PromisesState): PromisesState {
  const { promises } = state.address;
  const owed = state.assay.credits.get(promises) ?? 0n;
  const taken = play(state.assay, { kind: "withdraw", from: promises, now: 0 });
  return taken.ok ? { ...state, assay: taken.state, balance: state.balance + owed } : state;
}
