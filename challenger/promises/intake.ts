/** POST /v1/signed-claims: anybody hands over a signed claim that may be wrong; it is free. */
import type { Express } from "express";
import { BaseError, isBaseError } from "../../base/errors.ts";
import { jsonOf, parseObject } from "../../base/json.ts";
import type { Logger } from "../../base/log.ts";
import { RecentSet } from "../../base/recent.ts";
import type { Chain } from "../../protocol/chain/connect.ts";
import { promisesOf } from "../../protocol/chain/promises/place.ts";
import { PromiseStateReader } from "../../protocol/chain/promises/reads.ts";
import { endOf } from "../../protocol/rules/promises/limits.ts";
import {
  MAX_PRESENTED_BYTES,
  type Presented,
  parsePresented,
} from "../../protocol/rules/promises/presented.ts";
import { signerOf } from "../../protocol/rules/promises/signature.ts";
import { type Digest, digestOf } from "../../protocol/rules/promises/signed-claim.ts";
import type { ModelId } from "../../protocol/rules/types.ts";
import { readBody, requireType } from "../../protocol/service/http/body.ts";
import { addressOf, type CallerLimits, createService } from "../../protocol/service/http/service.ts";
import { Slots } from "../../protocol/service/http/slots.ts";
import type { Verdict } from "../reexecute.ts";
import type { WatchedPromises } from "./store.ts";

export interface IntakeParts {
  readonly chain: Chain;
  readonly store: WatchedPromises;
  /** models whose claims are checked, by id */
  readonly models: ReadonlyMap<ModelId, unknown>;
  /** Compares a signed claim, and keeps it if it is wrong. */
  readonly check: (digest: Digest, presented: Presented) => Promise<Verdict | undefined>;
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
/** Wrong ones that are kept at once: each has a signature that binds somebody's stake. */
const MAX_KEPT = 10_000;
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
   *  SIGNED_CLAIM_REFUSED, COULD_NOT_CHECK, TOO_BUSY, TOO_MANY_OF_ONE (these three retryable) */
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
    if (store.open >= MAX_KEPT) throw full();
    // The contract's own conditions: who binds whom is known to the chain alone.
    await this.#requireBinding(presented);
    const verdict = await check(digest, presented);
    if (verdict?.kind === "right") {
      this.#right.add(digest);
      return { digest, verdict: "right", kept: false };
    }
    if (verdict?.kind === "wrong") return { digest, verdict: "wrong", kept: true };
    throw couldNotCheck(digest, verdict?.reason ?? "no folder here holds its model");
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

const full = () =>
  new BaseError({
    code: "TOO_BUSY",
    shortMessage: `${MAX_KEPT} wrong promises wait here already, which is the limit.`,
    nextStep: "Hand it to another challenger, or open it with `assay promise open`.",
    details: { limit: MAX_KEPT },
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
