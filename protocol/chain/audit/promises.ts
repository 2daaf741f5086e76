/** Audits Promises: each of its events must be what the machine of promises does then, on the claims that Assay's own
 *  audit has (docs/PROMISES.md). What no event says is taken from the chain: who sent a move, and the signature of a signed
 *  claim, for which a key of the prover must have been bound. */
import type { Address } from "viem";
import type { BatchId } from "../../rules/promises/batch.ts";
import type { Digest, PromisesAddress } from "../../rules/promises/signed-claim.ts";
import type { PromiseStatus } from "../../rules/promises/state.ts";
import { ZERO_ADDRESS } from "../../rules/types.ts";
import type { ChainEvent } from "../events.ts";
import type { PromiseEvent } from "../promises/events.ts";
import { BatchAudit } from "./batch-audit.ts";
import type { About, KeptPromises, PromiseMoney } from "./kept-promises.ts";
import { type ArgsOf, type PromiseAuditTerms, PromiseReplay } from "./promise-replay.ts";
import type { AuditedBlock } from "./request-audit.ts";
import { must, RuleBroken } from "./rules.ts";
import { SignedAudit } from "./signed-audit.ts";
import type { AuditedEvent } from "./source.ts";

export interface PromiseTotals {
  readonly events: number;
  /** by status */
  readonly signedClaims: Readonly<Record<string, number>>;
  readonly batches: { readonly posted: number; readonly fallen: number };
  /** that somebody opened, by status */
  readonly leaves: Readonly<Record<string, number>>;
  readonly money: PromiseMoney;
}

/** What the state has an entry for. */
export type Subject = Address | Digest | BatchId;

export class PromisesAudit {
  readonly at: PromisesAddress;
  readonly kept: KeptPromises;
  /** the event that changed an account, a promise or a batch last */
  readonly lastOf = new Map<Subject, PromiseEvent>();
  readonly #replay: PromiseReplay;
  readonly #signed: SignedAudit;
  readonly #batches: BatchAudit;
  /** credit of Promises in Assay, wei */
  #owed = 0n;
  /** absent: there was none */
  last: PromiseEvent | undefined;
  #events = 0;

  constructor(terms: PromiseAuditTerms) {
    this.#replay = new PromiseReplay(terms);
    this.at = terms.at;
    this.kept = this.#replay.kept;
    this.#signed = new SignedAudit(this.#replay);
    this.#batches = new BatchAudit(this.#replay);
  }

  /** Before any event is taken. @throws RuleBroken if another event must come here */
  admit(event: AuditedEvent): void {
    this.#replay.sequence.admit(event);
  }

  /** An event of Assay, which its audit has taken.
   *  @throws RuleBroken if Promises does in Assay what none of its calls does */
  takeFromAssay({ name, args }: ChainEvent): void {
    const { promises } = this.at;
    if (name === "Requested" && args.request.requester === promises)
      this.#replay.sequence.requested(args.input);
    if (name === "Claimed" && args.claim.prover === promises) {
      const { claimId, requestId, output, claim } = args;
      this.#replay.sequence.claimed({ claimId, requestId, output, bond: claim.bond });
    }
    if (name === "Credited" && args.account === promises) this.#owed += args.amount;
    if (name === "Withdrawn" && args.account === promises) {
      this.#replay.sequence.pulled(args.amount);
      this.#owed -= args.amount;
    }
  }

  /** @throws RuleBroken if an event other than this one follows from what is known */
  take(event: PromiseEvent, block: AuditedBlock): void {
    this.#replay.block = block;
    this.#events += 1;
    this.#apply(event);
    this.#note(event);
  }

  /** @throws RuleBroken if an event is missing behind the last one */
  end(): void {
    this.#replay.sequence.end();
  }

  totals(): PromiseTotals {
    const count = (statuses: Iterable<{ readonly status: PromiseStatus }>) => {
      const counts: Record<string, number> = {};
      for (const { status } of statuses) counts[status] = (counts[status] ?? 0) + 1;
      return counts;
    };
    const batches = [...this.kept.batches.values()];
    return {
      events: this.#events,
      signedClaims: count(this.kept.signed.values()),
      batches: { posted: batches.length, fallen: batches.filter(({ isFallen }) => isFallen).length },
      leaves: count(batches.flatMap(({ leaves }) => [...leaves.values()])),
      money: this.kept.money(),
    };
  }

  #apply(event: PromiseEvent): void {
    switch (event.name) {
      case "Deposited": {
        const { prover, from, amount: value } = event.args;
        this.#replay.play({ kind: "deposit", from, prover, value }, { prover });
        break;
      }
      case "ExitAnnounced": {
        const { prover, amount, exitAt } = event.args;
        this.#replay.play({ kind: "announceExit", from: prover, amount }, { prover });
        must("deadline", "the second of the exit", exitAt, this.kept.account(prover).exitAt);
        break;
      }
      case "Exited": {
        const { prover, to, amount } = event.args;
        must("payoff", `what ${prover} takes out`, amount, this.kept.account(prover).leaving);
        this.#replay.play({ kind: "exit", from: prover, to }, { prover });
        break;
      }
      case "SignerSet": {
        const { prover, key, until } = event.args;
        this.#replay.play({ kind: "setSigner", from: prover, key, until }, { prover });
        break;
      }
      case "Queued":
        this.#signed.queued(event.args);
        break;
      case "Opened":
        this.#signed.opened(event.args);
        break;
      case "HeadTooDear":
      case "Passed":
        this.#signed.passed(event);
        break;
      case "TakenBack":
        this.#signed.takenBack(event.args);
        break;
      case "Posted":
        this.#batches.posted(event.args);
        break;
      case "LeafQueued":
        this.#batches.leafQueued(event.args);
        break;
      case "LeafOpened":
        this.#batches.leafOpened(event.args);
        break;
      case "LeafDropped":
        this.#batches.leafDropped(event.args);
        break;
      case "Released":
        this.#batches.released(event.args);
        break;
      case "Closed":
        this.#closed(event.args);
        break;
      case "Credited":
        this.#replay.sequence.credited(event.args.account, event.args.amount);
        break;
      case "Withdrawn": {
        const { account, to, amount } = event.args;
        const credit = this.kept.credits.get(account) ?? 0n;
        this.#replay.play({ kind: "withdraw", from: account, to }, { account });
        must("payoff", `what ${account} withdraws`, amount, credit);
        break;
      }
      case "Burned": {
        const { burned } = this.kept.money();
        this.#replay.play({ kind: "pullBurn", from: ZERO_ADDRESS }, {});
        must("payoff", "what is burned", event.args.amount, burned);
      }
    }
  }

  #closed({ claimId, origin, fallen }: ArgsOf<"Closed">): void {
    const filed = this.kept.filed.get(claimId);
    if (filed === undefined) throw new RuleBroken("identity", `no promise became claim ${claimId}`);
    const { prover, of, opener, deposit, requestId } = filed;
    must("identity", "what the claim was filed for", origin, "digest" in of ? of.digest : of.batchId);
    const game = this.#replay.terms.requestIn(requestId);
    const held = game.claims.get(claimId);
    if (held?.word.state === "ACTIVE")
      throw new RuleBroken("order", `Finalized or Fell of claim ${claimId} must come before it`);
    must("fixed", "whether the claim fell", fallen, held?.word.state === "FALLEN");
    const assay = { ...game, credits: new Map([[this.at.promises, this.#owed]]) };
    const about: About = {
      ...{ prover, claimId, account: opener },
      ...("digest" in of ? { digests: [of.digest] } : { batchId: of.batchId }),
    };
    this.#replay.play({ kind: "close", from: ZERO_ADDRESS, claimId }, about, assay);
    this.kept.inAssay(prover, -(held?.claim.bond ?? 0n));
    if (fallen) this.#replay.sequence.credit(opener, deposit);
    else this.#replay.sequence.pull(this.#owed);
  }

  #note(event: PromiseEvent): void {
    const { args } = event;
    this.last = event;
    const named = ["digest", "batchId", "origin", "prover", "account", "opener"].flatMap((subject) =>
      subject in args ? [(args as Record<string, unknown>)[subject] as Subject] : [],
    );
    const batch = "batchId" in args ? [this.#replay.batch(args.batchId).prover] : [];
    const closed = event.name === "Closed" ? this.kept.filed.get(event.args.claimId) : undefined;
    for (const subject of [...named, ...batch, ...(closed === undefined ? [] : [closed.prover])])
      this.lastOf.set(subject, event);
  }
}
