/** Audits a deployment by its events: each must be what the machine does in the state that the events before it left,
 *  at its block's time, and every wei must be booked. Pure: events in, the first breach or totals out. */
import { getAddress } from "viem";
import { isBaseError } from "../../../base/errors.ts";
import type { ClaimId, ModelId, RequestId } from "../../rules/types.ts";
import { decodeModelWord } from "../../rules/words.ts";
import { type ChainEvent, subjectOf } from "../events.ts";
import { laneName } from "../finality.ts";
import { Accounts, type Money } from "./accounts.ts";
import { Announced } from "./announced.ts";
import { PromisesAudit, type PromiseTotals } from "./promises.ts";
import {
  type AuditContext,
  type AuditedBlock,
  type AuditedModel,
  type AuditTerms,
  RequestAudit,
} from "./request-audit.ts";
import { type Breach, RuleBroken } from "./rules.ts";
import { type AuditedEvent, isPromiseEvent } from "./source.ts";

type Counts = Readonly<Record<string, number>>;

export interface AuditTotals {
  /** of Assay and the registry */
  readonly events: number;
  /** by state */
  readonly requests: Counts;
  /** by state; fallen ones by reason */
  readonly claims: Counts;
  /** final outputs by lane */
  readonly lanes: Counts;
  readonly money: Money;
  /** absent: the deployment has none, or the events begin after its first block */
  readonly promises?: PromiseTotals;
}

/** All that money and deadlines depend on. @param word the model word @returns undefined for a word of no model */
export function factsOf(word: bigint): AuditedModel | undefined {
  const model = decodeModelWord(word);
  if (model === undefined) return undefined;
  const { lanes, depth, steps, selector, inputCodec, outputCodec, inputSize, outputLength } = model;
  return { lanes, depth, steps, selector, inputCodec, outputCodec, inputSize, outputLength };
}

export class Audit {
  readonly #context: AuditContext & {
    readonly models: Map<ModelId, AuditedModel>;
    readonly halted: Set<ModelId>;
  };
  readonly #requests = new Map<RequestId, RequestAudit>();
  readonly #requestOf = new Map<ClaimId, RequestId>();
  readonly promises: PromisesAudit | undefined;
  #events = 0;
  #last: AuditedEvent | undefined;

  constructor(terms: AuditTerms) {
    const accounts = new Accounts();
    const announced = new Announced(accounts, terms.isWhole);
    const models = new Map<ModelId, AuditedModel>();
    this.#context = { terms, models, halted: new Set(), accounts, announced };
    const { promises, isWhole, game, constants } = terms;
    if (promises === undefined || !isWhole) return;
    const at = { chainId: game.chainId, promises };
    const requestIn = (id: RequestId) => this.#known(id).replay.state;
    this.promises = new PromisesAudit({ at, game, constants, models, requestIn });
  }

  knows(modelId: ModelId): boolean {
    return this.#context.models.has(modelId);
  }

  /** A model that was registered before the first event. */
  learn(modelId: ModelId, facts: AuditedModel): void {
    this.#context.models.set(modelId, facts);
  }

  /** Takes the next event in chain order. After a breach there is nothing more to take.
   *  @param block that the event is in */
  take(event: AuditedEvent, block: AuditedBlock): Breach | undefined {
    return naming(event, () => {
      const last = this.#last;
      if (last !== undefined && !isAfter(event, last)) {
        throw new RuleBroken(
          "order",
          `event ${last.logIndex} of block ${last.block.number} stands before it`,
        );
      }
      this.#last = event;
      this.promises?.admit(event);
      if (isPromiseEvent(event, this.#context.terms.promises)) this.promises?.take(event, block);
      else this.#takeOwn(event, block);
    });
  }

  /** After the last event: nothing that was announced may be missing. */
  end(): Breach | undefined {
    return (
      this.#last &&
      naming(this.#last, () => {
        this.#context.announced.end();
        this.promises?.end();
      })
    );
  }

  totals(): AuditTotals {
    const requests: Record<string, number> = {};
    const claims: Record<string, number> = {};
    const lanes: Record<string, number> = {};
    const count = (counts: Record<string, number>, name: string) => {
      counts[name] = (counts[name] ?? 0) + 1;
    };
    for (const { replay } of this.#requests.values()) {
      const { word } = replay.request;
      count(requests, word.state);
      if (word.state === "DONE") count(lanes, laneName(word.lane) ?? String(word.lane));
      for (const claim of replay.claims) {
        count(claims, claim.word.state === "FALLEN" ? `FALLEN by ${claim.word.fall}` : claim.word.state);
      }
    }
    const totals = { events: this.#events, requests, claims, lanes, money: this.#context.accounts.money() };
    return this.promises === undefined ? totals : { ...totals, promises: this.promises.totals() };
  }

  /** An event of Assay or the registry. */
  #takeOwn(event: ChainEvent, block: AuditedBlock): void {
    this.#events += 1;
    this.#context.announced.admit(event);
    this.#apply(event, block);
    this.#context.accounts.check();
    this.promises?.takeFromAssay(event);
  }

  #apply(event: ChainEvent, block: AuditedBlock): void {
    const { terms, accounts, announced, halted } = this.#context;
    switch (event.name) {
      case "ModelRegistered":
        this.#registered(event.args.modelId, event.args.word);
        break;
      case "ProofHalted": {
        const { modelId } = event.args;
        if (halted.has(modelId))
          throw new RuleBroken("moves", `proofs of model ${modelId} are halted already`);
        halted.add(modelId);
        break;
      }
      case "Credited":
        announced.credited(event.args.account, event.args.amount);
        break;
      case "Withdrawn":
        if (terms.isWhole) accounts.withdrawn(event.args.account, event.args.amount);
        break;
      case "Burned":
        if (terms.isWhole) accounts.pulled(event.args.amount);
        break;
      case "Requested": {
        const { requestId } = event.args;
        if (this.#requests.has(requestId))
          throw new RuleBroken("once", `request ${requestId} is filed already`);
        this.#requests.set(requestId, new RequestAudit(this.#context, event.args, block));
        break;
      }
      default:
        this.#requestIn(event)?.apply(event, block);
        if (event.name === "Claimed") this.#requestOf.set(event.args.claimId, event.args.requestId);
    }
  }

  #registered(modelId: ModelId, word: bigint): void {
    const facts = registeredAs(word);
    if (facts === undefined || this.knows(modelId)) {
      throw new RuleBroken("identity", `model ${modelId} is registered twice, or as nothing`);
    }
    this.learn(modelId, facts);
  }

  /** @returns undefined for a request that was filed before the first event
   *  @throws RuleBroken for one that was never filed */
  #requestIn(event: ChainEvent): RequestAudit | undefined {
    const { requestId, claimId } = subjectOf(event);
    const id = requestId ?? (claimId && this.#requestOf.get(claimId));
    const found = id && this.#requests.get(id);
    if (found !== undefined || !this.#context.terms.isWhole) return found;
    const what = claimId !== undefined && id === undefined ? `claim ${claimId}` : `request ${id}`;
    throw new RuleBroken("identity", `no event before it files ${what}`);
  }

  #known(id: RequestId): RequestAudit {
    const found = this.#requests.get(id);
    if (found === undefined) throw new RuleBroken("identity", `no event before it files request ${id}`);
    return found;
  }
}

function registeredAs(word: bigint): AuditedModel | undefined {
  try {
    return factsOf(word);
  } catch (error) {
    if (isBaseError(error, "WORD_INVALID")) throw new RuleBroken("identity", error.shortMessage);
    throw error;
  }
}

export function naming(event: AuditedEvent, work: () => void): Breach | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    if (!(error instanceof RuleBroken)) throw error;
    const { name, contract, block, logIndex, transactionHash } = event;
    return {
      rule: error.rule,
      why: error.message,
      event: { name, contract: getAddress(contract), block, logIndex, transactionHash },
    };
  }
}

const isAfter = (event: AuditedEvent, before: AuditedEvent): boolean =>
  event.block.number > before.block.number ||
  (event.block.number === before.block.number && event.logIndex > before.logIndex);
