/** What tests of nodes that sign share: a chain with the real contracts, and provers with a stake each. */
import { parseEther } from "viem";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { fromHex } from "../../../base/bytes.ts";
import { type Logger, SILENT } from "../../../base/log.ts";
import { ANVIL_KEYS } from "../../../cli/anvil.ts";
import { PromiseActions } from "../../../protocol/chain/promises/actions.ts";
import { promiseHistory } from "../../../protocol/chain/promises/events.ts";
import { PromiseStateReader } from "../../../protocol/chain/promises/reads.ts";
import { ZERO_ADDRESS } from "../../../protocol/rules/types.ts";
import type { PromiseNode, SignedAnswer } from "../../../prover/promises/node.ts";
import type { SigningOptions } from "../../../prover/promises/open.ts";
import { type LocalChain, startLocalChain } from "../anvil.ts";
import { openLocalSystem, temporaryFolder, tinyInput } from "../deploy.ts";
import { systemAccount } from "../system.ts";
import { tinyOutput } from "./local-promises.ts";
import { type RunningNode, refusalOf, startSigningNode, until } from "./signing-node.ts";

/** W0: four of T = 5 seconds. */
export const W0 = 20;
/** Of a prover that names none. */
export const STAKE = parseEther("1");
const ACCOUNTS = 24;
/** The ninth one's key signs for all of them. */
const [SIGNER, FIRST_PROVER] = [9, 10];
const OPTIONS: SigningOptions = {
  ...{ key: ANVIL_KEYS[SIGNER] as `0x${string}`, signBond: 0n, minFreeStake: parseEther("0.5") },
  ...{ leafBond: 0n, batchSeconds: 0, batchSize: 4, batchWindow: W0 },
};

export interface SigningWorld {
  readonly local: LocalChain;
  readonly system: Awaited<ReturnType<typeof openLocalSystem>>;
  readonly actions: PromiseActions;
  readonly reader: PromiseStateReader;
}

/** Registers the hooks of a test file. @param defaults of its nodes */
export function signingSuite(defaults: Partial<SigningOptions> = {}) {
  let opened: SigningWorld | undefined;
  let next = FIRST_PROVER;
  const closers: (() => unknown)[] = [];
  beforeAll(async () => {
    const local = await startLocalChain({ accounts: ACCOUNTS });
    const system = await openLocalSystem(local, systemAccount(1));
    const reader = new PromiseStateReader(system.chain);
    opened = { local, system, reader, actions: new PromiseActions(reader.at, system.chain.game) };
  });
  afterAll(async () => {
    await opened?.system.close();
    await opened?.local.stop();
  });
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
  });
  const world = (): SigningWorld => {
    if (opened === undefined)
      throw new Error("The chain is not there yet: ask in a test or in a hook of its own.");
    return opened;
  };

  return {
    world,
    /** Called after the test. */
    later: (close: () => unknown) => void closers.push(close),
    /** Starts a node of an account with a stake. @param data its folder @param rpcUrl default: the chain's own */
    async start(
      index: number,
      data: string,
      changes: Partial<SigningOptions> = {},
      log: Logger = SILENT,
      rpcUrl: string = world().local.rpcUrl,
    ): Promise<RunningNode> {
      const { system } = world();
      const options = { ...OPTIONS, ...defaults, ...changes };
      const running = await startSigningNode({ rpcUrl, system, index, data, options, log });
      closers.push(running.stop);
      return running;
    },
    /** A prover with a stake that nobody else uses. */
    async newProver(stake = STAKE): Promise<{ readonly index: number; readonly data: string }> {
      const { system, actions } = world();
      const index = next++;
      const deposit = actions.deposit(systemAccount(index).address, stake, `${index}`);
      if (stake > 0n) expect(await system.sender.send(deposit)).toMatchObject({ status: "sent" });
      const folder = temporaryFolder();
      closers.push(folder.remove);
      return { index, data: folder.path };
    },
    untilReady: (node: PromiseNode) =>
      until(() => (refusalOf(node, world().system.modelId) === undefined ? true : undefined)),
    async sign(node: PromiseNode, byte: number, isBatched = false): Promise<SignedAnswer> {
      const input = tinyInput([byte, 1, 1, 1]);
      const run = { input: fromHex(input), output: fromHex(tinyOutput(input)) };
      const terms = { requester: ZERO_ADDRESS, isBatched };
      const [signed] = await node.sign(world().system.modelId, [run], terms);
      return signed as SignedAnswer;
    },
    async postedBy(index: number) {
      const topic = `0x${systemAccount(index).address.slice(2).toLowerCase().padStart(64, "0")}` as const;
      const events = await promiseHistory(world().system.chain, topic);
      return events.filter(({ name }) => name === "Posted");
    },
  };
}
