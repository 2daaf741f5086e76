/** What a fleet is asked while faults happen: requests on the chain, signed answers and leaves of batches, all of the
 *  shipped model of headlines; some of the right answers are disputed by somebody malicious. */
import { setTimeout } from "node:timers/promises";
import type { Hex } from "viem";
import { fromHex, toHex } from "../../../base/bytes.ts";
import { execute } from "../../../inference/executor/execute.ts";
import { prepare } from "../../../inference/executor/prepare.ts";
import type { LoadedModel } from "../../../inference/model-folder.ts";
import { promisesOf } from "../../../protocol/chain/promises/place.ts";
import { compactLeaf } from "../../../protocol/rules/promises/leaf.ts";
import type { Presented } from "../../../protocol/rules/promises/presented.ts";
import { digestOf } from "../../../protocol/rules/promises/signed-claim.ts";
import type { ClaimId, RequestId } from "../../../protocol/rules/types.ts";
import { of } from "../cases.ts";
import type { Args } from "../event-log.ts";
import { MaliciousChallenger } from "../malicious-challenger.ts";
import type { PromiseLog } from "../promises/promise-log.ts";
import { sentimentPromises } from "../promises/sentiment-promises.ts";
import { ask, presentedOf, promisesBy } from "../promises/signed-answers.ts";
import { encodeText } from "../sentiment-call.ts";
import { type System, systemAccount } from "../system.ts";
import type { Member } from "./member.ts";

/** A request on the chain. */
export interface Plain {
  readonly requestId: RequestId;
  readonly calldata: Uint8Array;
  readonly right: Hex;
  /** index of the account that alone may claim first */
  readonly prover: number;
}

/** A text that was to be answered in a batch. */
export interface Leaf {
  asks: number;
  isAnswered: boolean;
}

type Own = Awaited<ReturnType<System["open"]>>;

/** Of one caller; a prover that hangs is asked again. */
const ASK_MS = 10_000;
const ASK_AGAIN_MS = 250;
/** Callers at once: of provers by HTTP, and of the chain. */
const CALLERS = 16;
const FILERS = 12;
const ANSWER_PATIENCE_MS = 600_000;

export class Traffic {
  readonly plain: Plain[] = [];
  /** What was signed, by its digest. */
  readonly signed = new Map<string, Presented>();
  /** By the leaf's bytes. */
  readonly leaves = new Map<Hex, Leaf>();
  /** Signed claims that somebody opened: right ones, and wrong ones. */
  readonly opened: { readonly presented: Presented; readonly isRight: boolean }[] = [];
  readonly promises: ReturnType<typeof sentimentPromises>;
  readonly at: ReturnType<typeof promisesOf>;
  readonly model: LoadedModel;
  readonly #system: System;
  readonly #log: PromiseLog;
  readonly #opener: Own;
  readonly #malicious: Own;
  readonly #prepared: ReturnType<typeof prepare>;
  readonly #disputes: Promise<void>[] = [];
  #texts = 0;

  constructor(system: System, log: PromiseLog, opener: Own, malicious: Own) {
    this.#system = system;
    this.#log = log;
    this.#opener = opener;
    this.#malicious = malicious;
    this.model = system.model("sentiment");
    this.at = promisesOf(system.chain.deployment);
    this.promises = sentimentPromises(this.model, this.at);
    this.#prepared = prepare(this.model.model, this.model.selector);
  }

  /** Files requests. @param disputed of how many the claim is disputed @param leastMs in which they come */
  async file(count: number, prover: number, disputed: number, leastMs: number): Promise<void> {
    await spread(count, FILERS, leastMs, async (n) => {
      const calldata = encodeText(this.model, this.#nextText());
      const right = toHex(execute(this.#prepared, calldata));
      const { address } = systemAccount(prover);
      const { requestId } = await this.#system.ask({ model: this.model, calldata, prover: address });
      this.plain.push({ requestId, calldata, right, prover });
      if (!isChosen(n, count, disputed)) return;
      const claimed = this.#system.events
        .until("Claimed", (event) => event.requestId === requestId, ANSWER_PATIENCE_MS)
        .then((claim) => this.#dispute(claim, calldata));
      this.#follow(claimed);
    });
  }

  /** Asks a prover that signs for answers. @param opened how many of them somebody opens and disputes */
  async sign(prover: Member, count: number, opened: number, leastMs: number): Promise<void> {
    await spread(count, CALLERS, leastMs, async (n) => {
      const presented = await this.askSigned(() => prover.up(), this.#nextText());
      if (isChosen(n, count, opened)) this.#follow(this.#openAndDispute(presented));
    });
  }

  /** Asks a prover for answers that go into batches. */
  async batch(prover: Member, count: number, leastMs: number): Promise<void> {
    await spread(count, CALLERS, leastMs, async () => {
      const text = this.#nextText();
      const calldata = encodeText(this.model, text);
      const content = { input: calldata, output: execute(this.#prepared, calldata) };
      const leaf: Leaf = { asks: 0, isAnswered: false };
      this.leaves.set(toHex(compactLeaf(this.promises.leafModel, content)), leaf);
      await this.askSigned(
        () => {
          leaf.asks += 1;
          return prover.up();
        },
        text,
        "&batch=true",
      );
      leaf.isAnswered = true;
    });
  }

  /** Asks until the answer is signed, and keeps it. @param up of the prover */
  async askSigned(up: () => Promise<Record<string, unknown>>, text: string, query = ""): Promise<Presented> {
    for (;;) {
      const { url } = await up();
      const signal = AbortSignal.timeout(ASK_MS);
      const reply = await ask(String(url), this.model, text, "signed", query, signal).catch(() => undefined);
      if (reply?.status === 200) {
        const presented = presentedOf(this.#system.chain, reply.body);
        const digest = digestOf(this.at, presented.claim);
        if (this.signed.has(digest)) throw new Error(`${digest} was signed for two callers.`);
        this.signed.set(digest, presented);
        return presented;
      }
      if (reply !== undefined && reply.status !== 503) throw new Error(JSON.stringify(reply.body));
      await setTimeout(ASK_AGAIN_MS);
    }
  }

  /** A buyer opens what it was given. */
  async open(presented: Presented, isRight: boolean): Promise<ClaimId> {
    const { actions, reader, must } = promisesBy(this.#opener);
    const { deposit } = await reader.check(presented);
    await must(actions.open(presented, deposit));
    this.opened.push({ presented, isRight });
    const digest = digestOf(this.at, presented.claim);
    for (;;) {
      const [found] = this.#log.all("Opened", (args) => args.digest === digest);
      if (found !== undefined) return found.claimId;
      await setTimeout(ASK_AGAIN_MS);
    }
  }

  /** Runs it again. */
  isRight({ input, output }: Presented): boolean {
    return toHex(execute(this.#prepared, fromHex(input))) === output;
  }

  openedDigests(isRight: boolean): string[] {
    return this.opened
      .filter((opened) => opened.isRight === isRight)
      .map(({ presented: { claim } }) => digestOf(this.at, claim));
  }

  /** Resolves when every malicious dispute has had all its answers. */
  async settled(): Promise<void> {
    await Promise.all(this.#disputes);
  }

  #follow(dispute: Promise<void>): void {
    // `settled` is where a failure is met.
    dispute.catch(() => undefined);
    this.#disputes.push(dispute);
  }

  async #openAndDispute(presented: Presented): Promise<void> {
    const claimId = await this.open(presented, true);
    const claimed = await this.#system.events.until("Claimed", of({ claimId }));
    await this.#dispute(claimed, fromHex(presented.input));
  }

  async #dispute(claimed: Args<"Claimed">, calldata: Uint8Array): Promise<void> {
    const { events } = this.#system;
    const malicious = new MaliciousChallenger(this.#malicious, claimed, { model: this.model, calldata });
    await malicious.challenge();
    const { traceRoot } = await events.until("TraceCommitted", of(claimed), ANSWER_PATIENCE_MS);
    const demanded = await malicious.demandAll(traceRoot);
    await events.when(
      () => events.all("Revealed", of(claimed)).length === demanded.length || undefined,
      () => `Not every demand on claim ${claimed.claimId} is answered`,
      ANSWER_PATIENCE_MS,
    );
  }

  #nextText(): string {
    const n = this.#texts++;
    return `Company ${n} raises its outlook by ${n % 17} percent after quarter ${n % 4}`;
  }
}

/** Every so many of all, evenly. */
const isChosen = (n: number, all: number, chosen: number): boolean =>
  Math.floor(((n + 1) * chosen) / all) > Math.floor((n * chosen) / all);

/** Does something so many times, some at once, over at least so much time. */
async function spread(
  count: number,
  width: number,
  leastMs: number,
  work: (n: number) => Promise<void>,
): Promise<void> {
  const startedAt = performance.now();
  let next = 0;
  const worker = async () => {
    for (let n = next++; n < count; n = next++) {
      const early = startedAt + (n * leastMs) / count - performance.now();
      if (early > 0) await setTimeout(early);
      await work(n);
    }
  };
  await Promise.all(Array.from({ length: width }, worker));
}
