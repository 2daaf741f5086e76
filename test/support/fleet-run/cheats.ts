/** Cheats of keys of their own among a fleet's honest provers: a daemon that lies on all it is asked and defends that, and
 *  an account that hides wrong leaves among right ones and answers nothing. */
import { type Address, isAddressEqual } from "viem";
import type { Daemon } from "../../../cli/demo/processes.ts";
import { type BatchId, batchIdOf } from "../../../protocol/rules/promises/batch.ts";
import type { ClaimId } from "../../../protocol/rules/types.ts";
import { of } from "../cases.ts";
import type { PromiseLog } from "../promises/promise-log.ts";
import { promisesBy } from "../promises/signed-answers.ts";
import type { Rng } from "../rng.ts";
import { type System, systemAccount } from "../system.ts";
import type { Traffic } from "./traffic.ts";

const IS_UP = "prover is up";
const ETHER = 10n ** 18n;
const DAY = 86_400;
/** Apart from those of honest traffic, so that no leaf is both right and wrong. */
const FIRST_HIDDEN = 10_000_000;

export interface CheatAmounts {
  /** wrong claims on requests */
  readonly plain: number;
  /** wrong signed claims that a buyer opens */
  readonly signed: number;
  /** answers that the lying daemon puts into batches */
  readonly leaves: number;
  /** batches with some wrong leaves among right ones, and how many leaves each has */
  readonly batches: number;
  readonly batchSize: number;
}

export class Cheats {
  readonly liar: number;
  readonly #system: System;
  readonly #log: PromiseLog;
  readonly #traffic: Traffic;
  readonly #hider: ReturnType<typeof promisesBy>;
  readonly #key: ReturnType<typeof systemAccount>;
  readonly #daemon: Daemon;
  /** Wrong leaves of each batch. */
  readonly #hidden = new Map<BatchId, readonly number[]>();

  /** @param accounts indices of both, which have their stakes already */
  static async start(
    system: System,
    log: PromiseLog,
    traffic: Traffic,
    accounts: { readonly liar: number; readonly hider: number },
  ): Promise<Cheats> {
    const hider = promisesBy(await system.open("hider", accounts.hider));
    const key = systemAccount(accounts.hider);
    await hider.must(
      hider.actions.setSigner(key.address, Number((await system.client.getBlock()).timestamp) + 60 * DAY),
    );
    const args = ["--sign", "on", "--batch-seconds", "2", "--max-bonds", `${100n * ETHER}`];
    const daemon = system.cheat("liar", accounts.liar, "output", args);
    await daemon.logged(IS_UP);
    return new Cheats(system, log, traffic, hider, key, daemon, accounts.liar);
  }

  private constructor(
    system: System,
    log: PromiseLog,
    traffic: Traffic,
    hider: ReturnType<typeof promisesBy>,
    key: ReturnType<typeof systemAccount>,
    daemon: Daemon,
    liar: number,
  ) {
    this.#system = system;
    this.#log = log;
    this.#traffic = traffic;
    this.#hider = hider;
    this.#key = key;
    this.#daemon = daemon;
    this.liar = liar;
  }

  /** @param leastMs in which it comes */
  async play(amounts: CheatAmounts, rng: Rng, leastMs: number): Promise<void> {
    const up = () => this.#daemon.logged(IS_UP);
    const traffic = this.#traffic;
    const lies = async () => {
      for (let n = 0; n < amounts.leaves; n++) await traffic.askSigned(up, `Lie ${n} of many`, "&batch=true");
      for (let n = 0; n < amounts.signed; n++)
        await traffic.open(await traffic.askSigned(up, `Lie ${n} for a buyer`), false);
    };
    await Promise.all([
      traffic.file(amounts.plain, this.liar, 0, leastMs),
      lies(),
      this.#hide(amounts, rng, leastMs),
    ]);
  }

  async #hide({ batches, batchSize }: CheatAmounts, rng: Rng, leastMs: number): Promise<void> {
    const { actions, must } = this.#hider;
    const window = 4 * this.#system.chain.constants.answerSeconds;
    for (let n = 0; n < batches; n++) {
      const wrong = Array.from({ length: rng.int(1, 3) }, () => rng.int(0, batchSize - 1));
      const from = FIRST_HIDDEN + n * batchSize;
      const { batch, posting } = this.#traffic.promises.batch(this.#key, from, batchSize, wrong, window);
      await must(actions.post(batch, posting));
      this.#hidden.set(batchIdOf(this.#traffic.at, batch), wrong);
      await new Promise((resolve) => setTimeout(resolve, leastMs / batches));
    }
  }

  /** The lying daemon claims no more: it takes up requests again whose wrong claims fell. */
  stop(): Promise<void> {
    return this.#daemon.stop();
  }

  get #liarAddress(): Address {
    return systemAccount(this.liar).address;
  }

  /** Batches in which something is wrong. */
  #batches(): { readonly batchId: BatchId; readonly prover: Address }[] {
    const cheats = [this.#liarAddress, this.#key.address];
    return this.#log
      .all("Posted", ({ prover }) => cheats.some((cheat) => isAddressEqual(cheat, prover)))
      .map(({ batchId, prover }) => ({ batchId: batchId as BatchId, prover }));
  }

  /** How many wrong claims, promises and batches there are. */
  get count(): number {
    const plain = this.#system.events.all("Claimed", ({ claim }) =>
      isAddressEqual(claim.prover, this.#liarAddress),
    );
    return (
      plain.length + this.#traffic.opened.filter(({ isRight }) => !isRight).length + this.#batches().length
    );
  }

  /** What is wrong and nobody disputes, or, by a cheat that answers, has not fallen. */
  undoubted(): string[] {
    const { events } = this.#system;
    return this.#batches().flatMap(({ batchId, prover }) => {
      if (isAddressEqual(prover, this.#liarAddress)) return [];
      const leaves = this.#log.all("LeafOpened", (args) => args.batchId === batchId);
      const isDoubted = leaves.some(
        ({ claimId }) => events.all("Challenged", of({ claimId: claimId as ClaimId })).length > 0,
      );
      return isDoubted ? [] : [`batch ${batchId} is not disputed`];
    });
  }

  /** What is wrong and has not fallen. @param whose absent: everybody's */
  unfallen(whose?: "liar"): string[] {
    const { events } = this.#system;
    const hasFallen = (claimId: string) => events.all("Fell", of({ claimId })).length > 0;
    const plain = events
      .all("Claimed", ({ claim }) => isAddressEqual(claim.prover, this.#liarAddress))
      .filter(({ claimId }) => !hasFallen(claimId))
      .map(({ claimId }) => `claim ${claimId} stands`);
    const closed = new Set(
      this.#log.all("Closed", ({ fallen }) => fallen).map(({ origin }) => origin as string),
    );
    const signed = this.#traffic.openedDigests(false).filter((digest) => !closed.has(digest));
    const batches = this.#batches().filter(
      ({ batchId, prover }) =>
        !closed.has(batchId) && (whose === undefined || isAddressEqual(prover, this.#liarAddress)),
    );
    return [
      ...plain,
      ...signed.map((digest) => `promise ${digest} stands`),
      ...batches.map(({ batchId }) => `batch ${batchId} stands`),
    ];
  }

  /** What is wrong and became final. */
  final(): string[] {
    const { events } = this.#system;
    const wrong = events.all("Claimed", ({ claim }) => isAddressEqual(claim.prover, this.#liarAddress));
    const ids = new Set<string>(wrong.map(({ claimId }) => claimId));
    return events.all("Finalized", ({ claimId }) => ids.has(claimId)).map(({ claimId }) => claimId);
  }

  /** Right leaves that somebody opened among wrong ones. */
  rightLeavesOpened(): string[] {
    return this.#log
      .all("LeafOpened")
      .filter(({ batchId, index }) => this.#hidden.get(batchId as BatchId)?.includes(Number(index)) === false)
      .map(({ batchId, index }) => `${batchId}:${index}`);
  }
}
