/** A system whose blocks a test makes, with the events of Promises and what waits to be mined. */
import { setTimeout } from "node:timers/promises";
import { decodeFunctionData, getAddress, type Hex, isAddressEqual } from "viem";
import { promisesOf } from "../../../protocol/chain/promises/place.ts";
import { iAssayAbi, iPromisesAbi } from "../../../protocol/rules/generated/abis.ts";
import type { System } from "../system.ts";
import { PromiseLog } from "./promise-log.ts";

/** Between two blocks, so that daemons have looked at the one and their moves are in the other. */
const BLOCK_MS = 120;
/** Far more than anything here takes. */
const MAX_BLOCKS = 1_500;

/** A transaction to Assay or Promises that waits to be mined. */
export interface WaitingMove {
  readonly from: string;
  readonly move: string;
  readonly hash: Hex;
}

export class ManualBlocks {
  readonly system: System;
  /** Called before each block. */
  beforeBlock: (waiting: readonly WaitingMove[]) => Promise<void> | void = () => undefined;
  readonly #log: PromiseLog;

  constructor(system: System) {
    this.system = system;
    this.#log = new PromiseLog(system.chain);
  }

  get events(): PromiseLog["events"] {
    return this.#log.events;
  }

  get all(): PromiseLog["all"] {
    return this.#log.all.bind(this.#log);
  }

  async block(): Promise<void> {
    await setTimeout(BLOCK_MS);
    await this.beforeBlock(await this.#waiting());
    await this.system.control.mine({ blocks: 1 });
    const number = await this.system.client.getBlockNumber();
    while (this.#log.head < number || this.system.events.head < number) await setTimeout(10);
  }

  /** Makes blocks until the work is done. */
  async during<T>(work: Promise<T>): Promise<T> {
    let isDone = false;
    const done = work.finally(() => {
      isDone = true;
    });
    // Whoever awaits the result hears of a failure.
    done.catch(() => undefined);
    while (!isDone) await this.block();
    return done;
  }

  /** Makes blocks until this is so. @param what is waited for */
  async until(what: string, isSo: () => Promise<boolean> | boolean): Promise<void> {
    for (let blocks = 1; !(await isSo()); blocks++) {
      if (blocks === MAX_BLOCKS) throw new Error(`${what} does not come.`);
      await this.block();
    }
  }

  async passTime(seconds: number): Promise<void> {
    await this.system.control.increaseTime({ seconds });
    await this.block();
  }

  stop(): Promise<void> {
    return this.#log.stop();
  }

  async #waiting(): Promise<WaitingMove[]> {
    const { pending } = await this.system.control.getTxpoolContent();
    const { game, deployment } = this.system.chain;
    const { promises } = promisesOf(deployment);
    return Object.values(pending)
      .flatMap((byNonce) => Object.values(byNonce))
      .flatMap(({ from, to, hash, input }) => {
        const abi = [
          [game.assay, iAssayAbi],
          [promises, iPromisesAbi],
        ].find(([address]) => to !== null && isAddressEqual(to, address as Hex))?.[1];
        if (abi === undefined) return [];
        const { functionName: move } = decodeFunctionData({ abi: abi as typeof iPromisesAbi, data: input });
        return [{ from: getAddress(from), move, hash }];
      });
  }
}
