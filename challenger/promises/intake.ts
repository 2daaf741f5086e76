/** POST /v1/signed-claims: anybody hands over a signed claim that may be wrong; it is free. */
import type { Express } from "express";
import type { Address } from "viem";
import { formatAmount } from "../../base/amounts.ts";
import { BaseError, isBaseError } from "../../base/errors.ts";
import { jsonOf, parseObject } from "../../base/json.ts";
import type { Logger } from "../../base/log.ts";
import { RecentSet } from "../../base/recent.ts";
import type { Chain } from "../../protocol/chain/connect.ts";
import { promisesOf } from "../../protocol/chain/promises/place.ts";
import { PromiseStateReader } from "../../protocol/chain/promises/reads.ts";
import { bondsOf } from "../../protocol/rules/money.ts";
import { endOf } from "../../protocol/rules/promises/limits.ts";
import { max, min } from "../../protocol/rules/promises/money.ts";
import {
  MAX_PRESENTED_BYTES,
  type Presented,
  parsePresented,
} from "../../protocol/rules/promises/presented.ts";
import { signerOf } from "../../protocol/rules/promises/signature.ts";
import { type Digest, digestOf } from "../../protocol/rules/promises/signed-claim.ts";
import { stakeOf } from "../../protocol/rules/promises/state.ts";
import type { ModelId } from "../../protocol/rules/types.ts";
import { readBody, requireType } from "../../protocol/service/http/body.ts";
import { addressOf, type CallerLimits, createService } from "../../protocol/service/http/service.ts";
import { Slots } from "../../protocol/service/http/slots.ts";
import type { CoveredModel, Verdict } from "../reexecute.ts";
import { depthOf } from "./facts.ts";
import type { WatchedPromises } from "./store.ts";
import type { Report } from "./watch.ts";

export interface IntakeParts {
  readonly chain: Chain;
  readonly store: WatchedPromises;
  /** models whose claims are checked, by id */
  readonly models: ReadonlyMap<ModelId, CoveredModel>;
  /** Compares a signed claim, and keeps it if it is wrong. */
  readonly check: (digest: Digest, presented: Presented, report: Report) => Promise<Verdict | undefined>;
  /** time of the newest block, seconds; undefined before the first */
  readonly now: () => number | undefined;
  readonly nowMs: () => number;
  readonly log: Logger;
  readonly limits: CallerLimits;
}

/** Hex of the bytes, and the rest of the form. */
const MAX_BODY_BYTES = 2 * MAX_PRESENTED_BYTES + 4_096;
/** Signed claims that are looked at together, and those of one caller. */
const MAX_AT_ONCE = 16;
const MAX_OF_ONE = 4;
/** Wrong ones that are kept at once, and of them those of one prover: as many as its stake could pay bonds for, and no
 *  more than these. What is stronger takes the place of what is weaker. */
const MAX_KEPT = 10_000;
const MAX_OF_PROVER = 64;
/** What ends sooner takes no place of what lives longer: a cheat would sign it only for that. */
const LASTING_SECONDS = 1_800;
/** A prover signs by its own clock, and the newest block is some seconds old. */
const MAX_EARLY_SECONDS = 60;
/** Digests of right ones, so that none is run again. */
const MAX_REMEMBERED = 100_000;

/** What became of a signed claim that was handed over. `kept`: it is wrong, and is opened as soon as that pays. */
export interface Taken {
  readonly digest: Digest;
  readonly verdict: "right" | "wrong";
  readonly kept: boolean;
}

export class Intake {
  readonly #parts: IntakeParts;
  readonly #slots: Slots;
  readonly #right = new RecentSet<Digest>(MAX_REMEMBERED);

  constructor(parts: IntakeParts) {
    this.#parts = parts;
    this.#slots = new Slots({
      what: "signed claims",
      limit: MAX_AT_ONCE,
      perKey: MAX_OF_ONE,
      nowMs: parts.nowMs,
    });
  }

  /** @param value JSON as a prover gives it @param caller who hands it over
   *  @throws BaseError as parsePresented; SIGNATURE_INVALID, SIGNED_CLAIM_EXPIRED, SIGNED_CLAIM_EARLY, MODEL_NOT_SERVED,
   *  SIGNED_CLAIM_REFUSED, STAKE_TOO_LOW, COULD_NOT_CHECK, TOO_BUSY, TOO_MANY_OF_ONE (these three retryable) */
  async take(value: unknown, caller: string): Promise<Taken> {
    const giveBack = this.#slots.take(caller);
    try {
      return await this.#take(value);
    } finally {
      giveBack();
    }
  }

  async #take(value: unknown): Promise<Taken> {
    const { chain, store, models, check } = this.#parts;
    const at = promisesOf(chain.deployment);
    const presented = parsePresented(at, value);
    const digest = digestOf(at, presented.claim);
    if (store.has(digest)) {
      if (store.lacksSignature(digest)) await this.#complete(digest, presented);
      return { digest, verdict: "wrong", kept: true };
    }
    if (this.#right.has(digest)) return { digest, verdict: "right", kept: false };
    this.#requireInTime(presented);
    const { modelId } = presented.claim;
    if (!models.has(modelId)) throw notServed(modelId);
    // Refuses, without asking the chain, what no key signed.
    await signerOf(digest, presented.signature);
    const report = await this.#roomFor(digest, presented, models.get(modelId) as CoveredModel);
    // The contract's own conditions: who binds whom is known to the chain alone.
    await this.#requireBinding(presented);
    const verdict = await check(digest, presented, report);
    if (verdict?.kind === "right") {
      this.#right.add(digest);
      return { digest, verdict: "right", kept: false };
    }
    if (verdict?.kind === "wrong") return { digest, verdict: "wrong", kept: store.has(digest) };
    throw couldNotCheck(digest, verdict?.reason ?? "no folder here holds its model");
  }

  /** @throws BaseError STAKE_TOO_LOW, TOO_BUSY */
  async #roomFor(digest: Digest, presented: Presented, model: CoveredModel): Promise<Report> {
    const { chain, store, now } = this.#parts;
    const { prover, minBond } = presented.claim;
    const { gasPriceFloor: gasPrice } = chain.constants;
    const stake = stakeOf(await new PromiseStateReader(chain).account(prover));
    const least = bondsOf(chain.constants, { gasPrice, depth: depthOf(model), minBond: 0n, attempt: 0 }).bond;
    if (stake < least) throw stakeTooLow(prover, stake, least);
    const bonds = (stake + least - 1n) / least;
    const ofProver = bonds < MAX_OF_PROVER ? Number(bonds) : MAX_OF_PROVER;
    const limits = { ofProver, inAll: MAX_KEPT, lasting: (now() ?? 0) + LASTING_SECONDS };
    const report = { strength: max(least, min(minBond, stake)), limits };
    if (store.hasRoom({ kind: "signed", digest, presented }, report.strength, report.limits)) return report;
    throw full(prover, report);
  }

  /** Adds the signature to what another contract opened. */
  async #complete(digest: Digest, presented: Presented): Promise<void> {
    const { chain, store } = this.#parts;
    const { prover, issuedAt } = presented.claim;
    const key = await signerOf(digest, presented.signature);
    const until = await new PromiseStateReader(chain).boundUntil(prover, key);
    if (until === 0 || issuedAt > until) {
      throw refused(`the key ${key} binds ${prover} until ${until}, and it was issued at ${issuedAt}`);
    }
    store.addSigned({ kind: "signed", digest, presented });
  }

  #requireInTime({ claim }: Presented): void {
    const now = this.#parts.now();
    if (now === undefined) throw notYet();
    const end = endOf(claim);
    if (now > end) {
      throw new BaseError({
        code: "SIGNED_CLAIM_EXPIRED",
        shortMessage: `The signed claim could be shown until ${end}, it is ${now}.`,
        nextStep: "Hand over a signed claim before its end.",
        details: { now, limit: end },
      });
    }
    if (now + MAX_EARLY_SECONDS < claim.issuedAt) {
      throw new BaseError({
        code: "SIGNED_CLAIM_EARLY",
        shortMessage: `The signed claim is issued at ${claim.issuedAt}, it is ${now}; ${MAX_EARLY_SECONDS} s are taken.`,
        nextStep: "Hand it over then.",
        details: { now, limit: claim.issuedAt },
      });
    }
  }

  async #requireBinding(presented: Presented): Promise<void> {
    try {
      await new PromiseStateReader(this.#parts.chain).check(presented);
    } catch (error) {
      if (!isBaseError(error, "CALL_REVERTED")) throw error;
      // The key binds, which the contract asks before; the next block is late enough.
      if (error.details.revert === "NotYetIssued") return;
      throw refused(error.shortMessage);
    }
  }
}

/** Bodies are large, so connections are few. */
export const INTAKE_CONNECTIONS = { most: 256, perAddress: 16 } as const;

export function intakeApp(parts: IntakeParts): Express {
  const { log, nowMs, limits } = parts;
  const intake = new Intake(parts);
  const mount = (app: Express) => {
    app.post("/v1/signed-claims", async (request, response) => {
      requireType(request, "application/json");
      const value = parseObject(await readBody(request, MAX_BODY_BYTES));
      const taken = await intake.take(value, addressOf(request));
      response
        .status(taken.kept ? 202 : 200)
        .type("application/json")
        .send(jsonOf(taken));
    });
  };
  return createService({ log, nowMs, limits, mount, routes: ["POST /v1/signed-claims"] });
}

const notServed = (modelId: ModelId) =>
  new BaseError({
    code: "MODEL_NOT_SERVED",
    shortMessage: `This challenger has no folder of model ${modelId}.`,
    nextStep: "Hand it to another challenger.",
  });

const refused = (reason: string) =>
  new BaseError({
    code: "SIGNED_CLAIM_REFUSED",
    shortMessage: `The contract would refuse to open it: ${reason}`,
    nextStep: "Only what binds its prover's stake can be opened.",
  });

const stakeTooLow = (prover: Address, stake: bigint, least: bigint) =>
  new BaseError({
    code: "STAKE_TOO_LOW",
    shortMessage: `The stake of ${prover} is ${formatAmount(stake)}, and the least bond ${formatAmount(least)}: nothing could be taken.`,
    nextStep: "Take no answer of this prover.",
  });

const full = (prover: Address, { strength, limits: { ofProver, inAll } }: Report) =>
  new BaseError({
    code: "TOO_BUSY",
    shortMessage: `${ofProver} wrong promises of ${prover}, or ${inAll} in all, wait here already, and none that makes room, by which less than ${formatAmount(strength)} could be taken.`,
    nextStep: "Hand it to another challenger, or open it with `assay promise open`.",
    details: { limit: ofProver, inAll },
    retryable: true,
  });

const couldNotCheck = (digest: Digest, reason: string) =>
  new BaseError({
    code: "COULD_NOT_CHECK",
    shortMessage: `Signed claim ${digest} could not be checked: ${reason}.`,
    nextStep: "Try again; this says nothing about the claim.",
    retryable: true,
  });

const notYet = () =>
  new BaseError({
    code: "CHAIN_NOT_READ_YET",
    shortMessage: "This challenger has read no block yet.",
    nextStep: "Try again in some seconds.",
    retryable: true,
  });
