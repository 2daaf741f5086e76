/** Audits one request: each event that tells of it must be what the machine does then. */
import { type Address, type Hex, keccak256 } from "viem";
import { fromHex, toHex } from "../../../base/bytes.ts";
import { isBaseError } from "../../../base/errors.ts";
import { foldTops } from "../../../inference/commit/reveal.ts";
import { claimIdOf, type GameAddress, requestIdOf } from "../../rules/ids.ts";
import { type ModelFacts, type Move, newGame } from "../../rules/machine.ts";
import type { LeafModel } from "../../rules/promises/leaf.ts";
import {
  type ClaimId,
  FALL_REASONS,
  type GameConstants,
  LANE,
  type ModelId,
  type RequestId,
  type TruthLane,
  ZERO_ADDRESS,
  ZERO_HASH,
} from "../../rules/types.ts";
import type { ChainEvent, EventOf } from "../events.ts";
import type { Accounts } from "./accounts.ts";
import type { Announced, Settlement } from "./announced.ts";
import { type Flow, Replay } from "./replay.ts";
import { must, RuleBroken } from "./rules.ts";

/** Of the block that an event is in. */
export interface AuditedBlock {
  /** seconds */
  readonly timestamp: number;
  /** wei; 0 on a chain without one */
  readonly baseFee: bigint;
}

export interface AuditTerms {
  readonly game: GameAddress;
  readonly constants: GameConstants;
  /** the contract Promises; absent: the deployment has none */
  readonly promises?: Address | undefined;
  /** false: the events begin after the deployment's first block. Requests that were filed before are left out, and
   *  what is withdrawn cannot be checked. */
  readonly isWhole: boolean;
}

export interface AuditedModel extends ModelFacts, LeafModel {
  readonly steps: number;
}

/** What the requests of one audit share. */
export interface AuditContext {
  readonly terms: AuditTerms;
  readonly models: ReadonlyMap<ModelId, AuditedModel>;
  readonly halted: ReadonlySet<ModelId>;
  readonly accounts: Accounts;
  readonly announced: Announced;
}

type ArgsOf<Name extends ChainEvent["name"]> = EventOf<Name>["args"];
type WithoutTime<AMove> = AMove extends unknown ? Omit<AMove, "now"> : never;

export class RequestAudit {
  readonly replay: Replay;
  readonly #context: AuditContext;
  readonly #id: RequestId;
  #block: AuditedBlock;

  /** @throws RuleBroken if nobody may file it so */
  constructor(
    context: AuditContext,
    { requestId, request, input }: ArgsOf<"Requested">,
    block: AuditedBlock,
  ) {
    const { game, constants } = context.terms;
    must("identity", "the request's id", requestId, requestIdOf(game, request));
    this.#context = context;
    this.#id = requestId;
    this.#block = block;
    this.replay = new Replay(newGame(game, constants, context.models), requestId);
    const value = request.fee + request.deliveryFee;
    const asked = { hash: keccak256(input), canonical: true };
    this.#record({ kind: "request", from: request.requester, value, request, input: asked });
  }

  /** @throws RuleBroken if an event other than this one follows from what is known */
  apply(event: ChainEvent, block: AuditedBlock): void {
    this.#block = block;
    switch (event.name) {
      case "Claimed":
        this.#claimed(event.args);
        break;
      case "Challenged":
        this.#challenged(event.args);
        break;
      case "TraceCommitted":
        this.#traceCommitted(event.args);
        break;
      case "Demanded":
        this.#demanded(event.args);
        break;
      case "Revealed": {
        const { claimId, position } = event.args;
        this.#record({ kind: "reveal", from: ZERO_ADDRESS, claimId, position, valid: true });
        break;
      }
      case "Settled":
        this.#context.announced.settled(event);
        break;
      case "Fell":
        this.#fell(event.args);
        break;
      case "Finalized":
        this.#finalized(event.args);
        break;
      case "Delivered":
        this.#delivered(event.args);
        break;
      case "DeliveryReclaimed":
        this.#record({ kind: "reclaimDelivery", from: ZERO_ADDRESS, requestId: this.#id });
        break;
      case "Refunded":
        this.#record({ kind: "refund", from: ZERO_ADDRESS, requestId: this.#id });
        break;
      case "Collected":
        this.#collected(event.args);
    }
  }

  #claimed({ claimId, requestId, claim, windowEnd, output }: ArgsOf<"Claimed">): void {
    must("identity", "the claim's id", claimId, claimIdOf(this.#context.terms.game, claim));
    const { prover: from, bond: value, operator, gasPrice } = claim;
    const claimed = { hash: keccak256(output), length: (output.length - 2) / 2 };
    const { baseFee } = this.#block;
    const made = this.#record({
      ...{ kind: "claim", from, value, requestId, operator, gasPrice, output: claimed, baseFee },
    });
    must("identity", "the claim's id", claimId, made.claimId);
    must("deadline", "the end of the window", windowEnd, this.replay.claim(claimId).word.windowEnd);
  }

  #challenged({ claimId, challenger: from, traceDeadline, hardEnd }: ArgsOf<"Challenged">): void {
    const value = this.replay.claim(claimId).claim.ticketBond;
    this.#record({ kind: "challenge", from, value, claimId });
    const { word } = this.replay.claim(claimId);
    must("deadline", "the trace's deadline", traceDeadline, word.traceDeadline);
    must("deadline", "the end of all demands", hardEnd, word.hardEnd);
  }

  #traceCommitted({ claimId, traceRoot, tops }: ArgsOf<"TraceCommitted">): void {
    // Prover or operator: the event does not say which, and the rules treat them alike.
    const { prover: from, modelId } = this.replay.claim(claimId).claim;
    this.#record({ kind: "commitTrace", from, claimId, traceRoot });
    const steps = this.#context.models.get(modelId)?.steps ?? 0;
    must("identity", "the trace root", traceRoot, rootOf(steps, tops));
  }

  #demanded({ claimId, challenger: from, position, deadline }: ArgsOf<"Demanded">): void {
    const { traceRoot = ZERO_HASH } = this.replay.claim(claimId);
    this.#record({ kind: "demand", from, claimId, traceRoot, position });
    const required = this.replay.claim(claimId).demands.get(position)?.deadline;
    must("deadline", "the demand's deadline", deadline, required);
  }

  #fell(args: ArgsOf<"Fell">): void {
    const { claimId, requestId, step, element, expected, claimed } = args;
    const { claim } = this.replay.claim(claimId);
    must("identity", "the request of the fallen claim", requestId, claim.requestId);
    const reason = FALL_REASONS[args.reason];
    const on = { from: ZERO_ADDRESS, claimId } as const;
    switch (reason) {
      case "TRUTH":
        this.#context.announced.fell(args);
        break;
      case "TRACE_TIMEOUT":
        this.#record({ kind: "timeoutTrace", ...on });
        break;
      case "DEMAND_TIMEOUT":
        must("identity", "the step of the unanswered position", step, element >> 48n);
        this.#record({ kind: "timeoutDemand", ...on, position: element });
        break;
      case "ELEMENT":
      case "CODEC":
      case "OUTPUT":
        this.#record({ kind: "convict", ...on, reason, holds: expected !== claimed });
        break;
      default:
        throw new RuleBroken("moves", `no claim can fall for reason ${args.reason}`);
    }
  }

  #finalized({ claimId, lane, outputHash }: ArgsOf<"Finalized">): void {
    const truth = this.#context.announced.takeSettlement();
    if (truth === undefined) {
      must("fixed", "the output that becomes final", outputHash, this.replay.claim(claimId).claim.outputHash);
      must("fixed", "its lane", lane, LANE.BOND);
      this.#record({ kind: "finalize", from: ZERO_ADDRESS, claimId });
      return;
    }
    must("fixed", "the output that becomes final", outputHash, keccak256(truth.output));
    must("fixed", "its lane", lane, truth.lane);
    this.#settle(truth, claimId);
  }

  #settle({ submitter: from, lane, output, fell }: Settlement, claimId: ClaimId): void {
    const { live } = this.replay;
    const claim = live && this.replay.claim(live).claim;
    const outputHash = keccak256(output);
    const agrees = claim?.outputHash === outputHash;
    must("fixed", "the claim that becomes final", claimId, agrees ? live : ZERO_HASH);
    must("order", "the claim that falls by truth", fell?.claimId, agrees ? undefined : live);
    if (fell !== undefined) {
      must("identity", "the true output", fell.expected, BigInt(outputHash));
      must("identity", "the fallen claim's output", fell.claimed, BigInt(claim?.outputHash ?? 0));
    }
    const evidence = { lane: lane as TruthLane, outputHash, accepted: true };
    const settled = { kind: "settle", from, requestId: this.#id, ...evidence } as const;
    this.#record(live === undefined ? settled : { ...settled, claimId: live }, agrees ? "next" : "later");
  }

  #delivered({ by: from, success }: ArgsOf<"Delivered">): void {
    const { accounts, announced } = this.#context;
    const paid = announced.takeLoose();
    const facts = { outputMatches: true, gasEnough: true, callbackSucceeds: success };
    const { credited } = this.#record({ kind: "deliver", from, requestId: this.#id, ...facts }, "before");
    must("payoff", "who was credited for the delivery", paid?.account, credited[0]?.account);
    must("payoff", "what was credited for the delivery", paid?.amount, credited[0]?.amount);
    if (paid !== undefined) accounts.credited(paid.account, paid.amount);
  }

  #collected({ claimId, owner, amount }: ArgsOf<"Collected">): void {
    const { credited } = this.#record({ kind: "collect", from: ZERO_ADDRESS, claimId, owner });
    must("payoff", `what ${owner} collects`, amount, credited[0]?.amount);
  }

  /** Plays and records a move at the time of the event's block.
   *  @param when its events Credited come: next, at the end of the settlement, or before */
  #record(
    move: WithoutTime<Move>,
    when: "next" | "later" | "before" = "next",
  ): Flow & { readonly claimId?: ClaimId } {
    const { accounts, announced, halted } = this.#context;
    const flow = this.replay.play({ ...move, now: this.#block.timestamp } as Move, halted);
    accounts.record(flow);
    for (const { account, amount } of flow.credited) {
      if (when === "next") announced.credit(account, amount);
      if (when === "later") announced.reward(account, amount);
    }
    return flow;
  }
}

/** @returns a word for hashes that no trace of so many steps has */
function rootOf(steps: number, tops: readonly Hex[]): string {
  try {
    return toHex(foldTops(steps, tops.map(fromHex)));
  } catch (error) {
    if (!isBaseError(error, "REVEAL_NOT_CANONICAL")) throw error;
    return "that of other hashes";
  }
}
