/** Moves on batches: posted with all their leaves as data, each of which opens as a claim. */
import { LANE } from "../types.ts";
import { batchIdOf } from "./batch.ts";
import { changeAccount, credit, done, partsOf, receive, refuse, setBatch, withEntry } from "./change.ts";
import { file } from "./filing.ts";
import { PROMISE_LIMITS } from "./limits.ts";
import { depositOf, leafBondOf, leastBond, max, min } from "./money.ts";
import type { PromiseMoveOf, PromiseResult } from "./moves.ts";
import { firstUnmet, type PromiseRules } from "./rules.ts";
import { mayAct } from "./signed-moves.ts";
import { accountOf, type BatchState, type LeafEntry, type Parts, type PromisesState } from "./state.ts";

export function isBatchFinal({ windowEnd, open, isFallen }: BatchState, now: number): boolean {
  return now >= windowEnd && open === 0 && !isFallen;
}

export function post(state: PromisesState, move: PromiseMoveOf<"post">, rules: PromiseRules): PromiseResult {
  const { from, now, baseFee, prover, modelId, window, leafBond, count, root } = move;
  const account = accountOf(state, prover);
  const model = state.assay.models.get(modelId);
  const early = firstUnmet(rules, [
    ["post sender", mayAct(state, prover, from, now)],
    ["post queue", account.queue.length === 0],
  ]);
  if (early) return early;
  if (model === undefined) return refuse("UnknownModel");
  const bond = max(leastBond(state, model.depth, baseFee, rules), leafBond * BigInt(count));
  const reserved = bond * BigInt(rules.slots);
  const batchId = batchIdOf(state.address, { prover, modelId, window, count, root });
  const unmet = firstUnmet(rules, [
    ["post lane", (model.lanes & LANE.BOND) !== 0],
    ["post lengths", move.lengthsRight],
    ["post count", count >= 1 && count <= PROMISE_LIMITS.maxLeaves],
    ["post shortest", window >= rules.leafWindow(state.constants.answerSeconds)],
    ["post longest", window <= PROMISE_LIMITS.maxBatchWindow],
    ["post stake", account.free >= reserved],
    ["post once", !state.batches.has(batchId)],
  ]);
  if (unmet) return unmet;
  const taken = changeAccount(state, prover, {
    free: account.free - reserved,
    slots: account.slots + reserved,
  });
  const batch: BatchState = {
    ...{ prover, modelId, window, windowEnd: now + window, count, root, bond },
    ...{ idleSlots: rules.slots, open: 0, queue: [], isFallen: false, leaves: new Map() },
  };
  return done(setBatch(taken, batchId, batch), { batchId });
}

/** A leaf's bond: an idle slot first, the rest of what is at home. */
function leafParts(state: PromisesState, batch: BatchState, bond: bigint): Parts | undefined {
  const slot = batch.idleSlots > 0 ? batch.bond : 0n;
  const rest = partsOf(accountOf(state, batch.prover), bond - slot);
  return rest && { ...rest, slot };
}

export function openLeaf(
  state: PromisesState,
  move: PromiseMoveOf<"openLeaf">,
  rules: PromiseRules,
): PromiseResult {
  const { batchId, index, from, now, baseFee, value = 0n } = move;
  const batch = state.batches.get(batchId);
  if (batch === undefined) return refuse("UnknownBatch");
  const status = batch.leaves.get(index)?.status ?? "NONE";
  const bond = leafBondOf(state, batch, baseFee, rules);
  const deposit = rules.leafDeposit(depositOf(bond), batch.open);
  const unmet = firstUnmet(rules, [
    ["openLeaf once", status === "NONE"],
    ["openLeaf window", now < batch.windowEnd],
    ["openLeaf path", move.folds],
    ["openLeaf deposit", value >= deposit],
  ]);
  if (unmet) return unmet;
  const kept = min(value, deposit);
  const paid = credit(receive(state, value), from, value - kept);
  const leaf: LeafEntry = { status: "QUEUED", opener: from, deposit: kept };
  const waits = batch.queue.length > 0 && rules.waitsBehindLeaves;
  const canOpen = !waits && leafParts(state, batch, bond) !== undefined;
  const shown: BatchState = {
    ...batch,
    open: batch.open + (canOpen || rules.queuedLeafIsOpen ? 1 : 0),
    leaves: withEntry(batch.leaves, index, leaf),
  };
  if (canOpen) return fileLeaf(setBatch(paid, batchId, shown), { ...move, batch: shown, bond }, rules);
  return done(setBatch(paid, batchId, { ...shown, queue: [...batch.queue, index] }));
}

/** Files the claim of a leaf whose stake is there. */
function fileLeaf(
  state: PromisesState,
  move: Pick<PromiseMoveOf<"openLeaf">, "batchId" | "index" | "input" | "output" | "now" | "baseFee"> & {
    readonly batch: BatchState;
    readonly bond: bigint;
  },
  rules: PromiseRules,
): PromiseResult {
  const { batchId, index, batch, bond } = move;
  const { prover, modelId } = batch;
  const leaf = batch.leaves.get(index) as LeafEntry;
  const parts = leafParts(state, batch, bond) ?? { slot: 0n, free: bond, leaving: 0n };
  const next = setBatch(state, batchId, {
    ...batch,
    idleSlots: batch.idleSlots - (parts.slot > 0n ? 1 : 0),
    leaves: withEntry(batch.leaves, index, { ...leaf, status: "OPEN" }),
  });
  const window = rules.leafWindow(state.constants.answerSeconds);
  return file(
    next,
    { ...move, modelId, window, key: prover, salt: BigInt(index) },
    { prover, of: { batchId, index }, parts, opener: leaf.opener, deposit: leaf.deposit },
    rules,
  );
}

export function nextLeaf(
  state: PromisesState,
  move: PromiseMoveOf<"nextLeaf">,
  rules: PromiseRules,
): PromiseResult {
  const { batchId, baseFee } = move;
  const batch = state.batches.get(batchId);
  if (batch === undefined) return refuse("UnknownBatch");
  const [index, ...queue] = batch.queue;
  if (index === undefined) return refuse("NoLeafQueued");
  const bond = leafBondOf(state, batch, baseFee, rules);
  const unmet = firstUnmet(rules, [
    ["nextLeaf payload", move.matches],
    ["nextLeaf stake", leafParts(state, batch, bond) !== undefined],
  ]);
  if (unmet) return unmet;
  const left = { ...batch, queue };
  return fileLeaf(setBatch(state, batchId, left), { ...move, index, batch: left, bond }, rules);
}

export function dropLeaf(
  state: PromisesState,
  { batchId }: PromiseMoveOf<"dropLeaf">,
  rules: PromiseRules,
): PromiseResult {
  const batch = state.batches.get(batchId);
  if (batch === undefined) return refuse("UnknownBatch");
  const unmet = firstUnmet(rules, [["dropLeaf fallen", batch.isFallen]]);
  if (unmet) return unmet;
  const [index, ...queue] = batch.queue;
  const leaf = index === undefined ? undefined : batch.leaves.get(index);
  if (index === undefined || leaf === undefined) return refuse("NoLeafQueued");
  const ended: LeafEntry = { ...leaf, status: "CLOSED", deposit: 0n };
  const leaves = withEntry(batch.leaves, index, ended);
  const dropped = setBatch(state, batchId, { ...batch, queue, leaves, open: batch.open - 1 });
  return done(credit(dropped, leaf.opener, leaf.deposit));
}

/** Idle slots are free again; those that are still in Assay follow when their claims are closed. */
export function release(
  state: PromisesState,
  { batchId, now }: PromiseMoveOf<"release">,
  rules: PromiseRules,
): PromiseResult {
  const batch = state.batches.get(batchId);
  if (batch === undefined) return refuse("UnknownBatch");
  const unmet = firstUnmet(rules, [["release ended", batch.isFallen || isBatchFinal(batch, now)]]);
  if (unmet) return unmet;
  const idle = batch.bond * BigInt(batch.idleSlots);
  const { free, slots } = accountOf(state, batch.prover);
  const next = changeAccount(state, batch.prover, { free: free + idle, slots: slots - idle });
  return done(setBatch(next, batchId, { ...batch, idleSlots: 0 }));
}
