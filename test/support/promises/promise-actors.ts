/** Who plays promises: a cheating prover and its friends, an honest prover, buyers and challengers who look late. */
import type { Address } from "viem";
import { toHex } from "../../../base/bytes.ts";
import type { ClaimState } from "../../../protocol/rules/machine.ts";
import type { BatchId } from "../../../protocol/rules/promises/batch.ts";
import { isAcceptable } from "../../../protocol/rules/promises/check.ts";
import { bondOf, depositOf, leafBondOf, leastBond, max } from "../../../protocol/rules/promises/money.ts";
import type { Digest, SignedClaim } from "../../../protocol/rules/promises/signed-claim.ts";
import { digestOf } from "../../../protocol/rules/promises/signed-claim.ts";
import type { Account, BatchState, Filed } from "../../../protocol/rules/promises/state.ts";
import { type ClaimId, LANE, ZERO_ADDRESS } from "../../../protocol/rules/types.ts";
import { hashOf, shuffled } from "../game-table.ts";
import { batchTree, KEYS, MODELS, PEOPLE, type Side, UNKNOWN_MODEL } from "./promise-models.ts";
import { factsOf, type Promised, type PromiseTable } from "./promise-table.ts";

const DAY = 86_400;
export const BONDED = [0, 1] as const;
const RIGHT_TRACES = MODELS.map(({ traces }) => toHex(traces.right.root));
const WRONG_TRACES = MODELS.map(({ traces }) => toHex(traces.wrong.root));
const GARBAGE_TRACE = hashOf(0xb9);

export interface Terms {
  readonly model: number;
  readonly side: Side;
  readonly isCanonical: boolean;
  readonly issuedAt: number;
  readonly expiry: number;
  readonly minBond: bigint;
  readonly signer: Address;
  readonly isEcdsa: boolean;
  readonly salt: bigint;
}

/** Signs: free of charge, and nobody sees it. */
export function issue(table: PromiseTable, prover: Address, terms: Terms): Promised {
  const { model, side, isCanonical, signer, isEcdsa } = terms;
  const facts = factsOf(Math.min(model, MODELS.length - 1));
  const input = isCanonical ? facts.input : facts.badInput;
  const output = facts[side];
  const claim: SignedClaim = {
    prover,
    modelId: table.ids[model] ?? UNKNOWN_MODEL,
    inputHash: input.hash,
    outputHash: output.hash,
    requester: PEOPLE.victim,
    issuedAt: terms.issuedAt,
    expiry: terms.expiry,
    minBond: terms.minBond,
    salt: terms.salt,
  };
  const promised: Promised = {
    ...{ digest: digestOf(table.state.address, claim), claim, signature: { signer, isEcdsa } },
    ...{ model, input, output, isWrong: side !== "right" },
  };
  table.issued.push(promised);
  return promised;
}

/** A buyer asks the check, and counts on a promise that passes it. */
export function offer(table: PromiseTable, promised: Promised): void {
  const { now, baseFee, rng, state, rules } = table;
  const { claim, digest } = promised;
  if (table.accepted.some((other) => other.digest === digest)) return;
  if (!isAcceptable(state, { ...promised, now, baseFee }, table.answerSeconds, rules)) return;
  const end = rules.end(claim);
  const showAt = rng.pick([end, end, rng.int(now, end), now]);
  const depth = MODELS[promised.model]?.depth ?? 0;
  const least = leastBond(state, depth, 4n * baseFee, rules);
  table.accepted.push({
    ...promised,
    ...{ acceptedAt: now, showAt, lostBefore: table.lostBy.get(claim.prover) ?? 0n },
    backing: max(claim.minBond, least),
  });
}

/** Deposit that opening a signed claim takes now. */
export const dueFor = (table: PromiseTable, { claim }: Promised): bigint =>
  depositOf(bondOf(table.state, table.account(claim.prover), claim, table.baseFee, table.rules));

export function openAs(
  table: PromiseTable,
  from: Address,
  promised: Promised,
  value = dueFor(table, promised),
) {
  const { claim, input, output } = promised;
  // A contract that is asked for its signature agrees for as long as it likes.
  const isDenied = !promised.signature.isEcdsa && from === PEOPLE.victim;
  const signature = isDenied ? { ...promised.signature, signer: ZERO_ADDRESS } : promised.signature;
  return table.do({ kind: "open", from, value, claim, signature, input, output });
}

export const dueForLeaf = (table: PromiseTable, batch: BatchState): bigint =>
  table.rules.leafDeposit(depositOf(leafBondOf(table.state, batch, table.baseFee, table.rules)), batch.open);

export function openLeafAs(
  table: PromiseTable,
  from: Address,
  batchId: BatchId,
  index: number,
  value?: bigint,
) {
  const batch = table.state.batches.get(batchId) as BatchState;
  const { model, leaves } = table.posted.find((posted) => posted.batchId === batchId) as {
    model: number;
    leaves: readonly Side[];
  };
  const facts = factsOf(model);
  return table.do({
    ...{ kind: "openLeaf", from, batchId, index, value: value ?? dueForLeaf(table, batch) },
    ...{ input: facts.input, output: facts[leaves[index] as Side], folds: true },
  });
}

export function postAs(
  table: PromiseTable,
  from: Address,
  prover: Address,
  batch: {
    readonly model: number;
    readonly leaves: readonly Side[];
    readonly window: number;
    readonly leafBond: bigint;
  },
): BatchId | undefined {
  const { model, leaves, window, leafBond } = batch;
  const { root } = batchTree(model, leaves);
  table.rootsOf.set(root, leaves);
  const count = leaves.length;
  const lengthsRight = !leaves.includes("long");
  const modelId = table.ids[model] ?? UNKNOWN_MODEL;
  const move = {
    kind: "post",
    from,
    prover,
    modelId,
    window,
    leafBond,
    count,
    root,
    lengthsRight,
  } as const;
  const made = table.do(move);
  if (!made.ok || made.batchId === undefined) return undefined;
  table.posted.push({ batchId: made.batchId, model, leaves, prover });
  return made.batchId;
}

/** What anybody can do for a prover's queue. */
export function serveQueue(table: PromiseTable, from: Address, prover: Address): boolean {
  const { queue } = table.account(prover);
  const [head] = queue;
  if (head === undefined) return false;
  const next = openHead(table, from, head);
  if (next) return true;
  for (const behind of queue.slice(1)) {
    const pass = { kind: "passNext", from, prover, behind } as const;
    if (table.allows(pass)) return table.do(pass).ok;
  }
  return false;
}

function openHead(table: PromiseTable, from: Address, digest: Digest): boolean {
  const promised = table.issued.find((issued) => issued.digest === digest);
  if (promised === undefined) return false;
  const { claim, input, output } = promised;
  const move = { kind: "openNext", from, claim, input, output } as const;
  if (!table.allows(move)) {
    // A move that Assay refuses is a fault of the rules, which the table must see.
    const { free, leaving } = table.account(claim.prover);
    const bond = bondOf(table.state, table.account(claim.prover), claim, table.baseFee, table.rules);
    if (bond <= free + leaving && table.account(claim.prover).queue[0] === digest) table.do(move);
    return false;
  }
  return table.do(move).ok;
}

/** What anybody can do for batches: the next queued leaf, those of a fallen batch, idle slots. */
export function serveBatches(table: PromiseTable, from: Address, prover?: Address): boolean {
  let served = false;
  for (const { batchId, model, leaves, prover: owner } of table.posted) {
    if (prover !== undefined && owner !== prover) continue;
    const batch = table.state.batches.get(batchId) as BatchState;
    const [index] = batch.queue;
    const drop = { kind: "dropLeaf", from, batchId } as const;
    if (batch.isFallen && index !== undefined && table.allows(drop)) served = table.do(drop).ok || served;
    else if (index !== undefined) {
      const facts = factsOf(model);
      const output = facts[leaves[index] as Side];
      const next = { kind: "nextLeaf", from, batchId, input: facts.input, output, matches: true } as const;
      if (table.allows(next)) served = table.do(next).ok || served;
    }
    const release = { kind: "release", from, batchId } as const;
    if (batch.idleSlots > 0 && table.allows(release)) served = table.do(release).ok || served;
  }
  return served;
}

/** Ends claims of a prover that have ended in Assay. */
export function closeEnded(table: PromiseTable, from: Address, prover?: Address): boolean {
  let closed = false;
  for (const [claimId, filed] of table.live()) {
    if (prover !== undefined && filed.prover !== prover) continue;
    if (table.isEnded(claimId)) closed = table.do({ kind: "close", from, claimId }).ok || closed;
  }
  return closed;
}

/** A challenger's work on one wrong claim. @param mayWait true for one who files its ticket in the last second */
export function dispute(table: PromiseTable, who: Address, claimId: ClaimId, mayWait: boolean): boolean {
  const held = table.state.assay.claims.get(claimId) as ClaimState;
  if (held.word.state !== "ACTIVE") return false;
  const { word } = held;
  if (!held.tickets.has(who)) {
    if (mayWait && table.now < word.windowEnd - 1) return false;
    return table.inAssay({ kind: "challenge", from: who, claimId, value: held.claim.ticketBond }).ok;
  }
  if (held.traceRoot !== undefined) {
    return table.inAssay({ kind: "convict", from: who, claimId, ...verdictOn(table, claimId, held) }).ok;
  }
  return false;
}

/** Ends claims whose answers are overdue, whoever made them. */
export function endOverdue(table: PromiseTable, from: Address): boolean {
  let ended = false;
  for (const [claimId] of table.live()) {
    const held = table.state.assay.claims.get(claimId) as ClaimState;
    if (held.word.state !== "ACTIVE" || held.word.pending === 0) continue;
    const trace = { kind: "timeoutTrace", from, claimId } as const;
    const { traceDeadline } = held.word;
    if (held.traceRoot === undefined && traceDeadline !== 0 && table.now > traceDeadline) {
      ended = table.inAssay(trace).ok || ended;
      continue;
    }
    for (const [position, { deadline, answered }] of held.demands) {
      if (answered || table.now <= deadline) continue;
      ended = table.inAssay({ kind: "timeoutDemand", from, claimId, position }).ok || ended;
      break;
    }
  }
  return ended;
}

/** What a judge would find: the trace's codec step, or the claimed output against the trace. */
export function verdictOn(table: PromiseTable, claimId: ClaimId, { traceRoot }: ClaimState) {
  const model = table.modelOf(claimId);
  const isOwnInput = table.rightOutput(claimId) === factsOf(model).right.hash;
  const isRightTrace = traceRoot === (isOwnInput ? RIGHT_TRACES : WRONG_TRACES)[model];
  if (!isRightTrace) return { reason: "CODEC", holds: true } as const;
  return { reason: "OUTPUT", holds: table.isWrong(claimId) } as const;
}

/** The honest prover answers for its claims: in the last second, or at once. */
export function defend(table: PromiseTable, isLate: boolean): void {
  const { honest } = PEOPLE;
  for (const [claimId, filed] of table.live()) {
    if (filed.prover !== honest) continue;
    const held = table.state.assay.claims.get(claimId) as ClaimState;
    const { traceDeadline } = held.word;
    const model = table.modelOf(claimId);
    if (held.word.state !== "ACTIVE") continue;
    if (traceDeadline !== 0 && held.traceRoot === undefined && (!isLate || table.now >= traceDeadline)) {
      const traceRoot = RIGHT_TRACES[model] as `0x${string}`;
      const made = table.do({ kind: "commitTrace", from: honest, claimId, traceRoot });
      if (!made.ok && table.now <= traceDeadline)
        table.fail(1, `an honest trace is refused: ${made.refusal}`);
    }
    for (const [position, { deadline, answered }] of held.demands) {
      if (answered || (isLate && table.now < deadline)) continue;
      table.inAssay({ kind: "reveal", from: honest, claimId, position, valid: true });
    }
  }
}

export const pickLive = (table: PromiseTable, prover?: Address): readonly [ClaimId, Filed] | undefined => {
  const live = table.live().filter(([, filed]) => prover === undefined || filed.prover === prover);
  return live.length === 0 ? undefined : table.rng.pick(live);
};

export const stakeHome = ({ free, leaving }: Account): bigint => free + leaving;
export { DAY, GARBAGE_TRACE, KEYS, LANE, RIGHT_TRACES, shuffled, WRONG_TRACES };
