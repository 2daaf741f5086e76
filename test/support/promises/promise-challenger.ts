/** A challenger's part for promises on a local chain that makes a block for each transaction, moved by the test. */

import { isBaseError } from "../../../base/errors.ts";
import { SILENT } from "../../../base/log.ts";
import { BREAKER_SCHEMA, CircuitBreaker } from "../../../challenger/circuit-breaker.ts";
import type { Notice } from "../../../challenger/notices.ts";
import { PROMISES_SCHEMA, WatchedPromises } from "../../../challenger/promises/store.ts";
import { PromiseWatch } from "../../../challenger/promises/watch.ts";
import type { CoveredModel, FastPath } from "../../../challenger/reexecute.ts";
import { ChainSender, type Limits } from "../../../challenger/transaction-sender.ts";
import { commitWeights } from "../../../inference/commit/commitments.ts";
import { execute } from "../../../inference/executor/execute.ts";
import { prepare } from "../../../inference/executor/prepare.ts";
import { CanonicalPool } from "../../../inference/runtime/canonical-pool.ts";
import { Actions } from "../../../protocol/chain/actions.ts";
import { connect } from "../../../protocol/chain/connect.ts";
import { EventFollower } from "../../../protocol/chain/follower.ts";
import { readClaim } from "../../../protocol/chain/past.ts";
import { PromiseActions } from "../../../protocol/chain/promises/actions.ts";
import { promiseSource } from "../../../protocol/chain/promises/events.ts";
import { promisesOf } from "../../../protocol/chain/promises/place.ts";
import { PromiseStateReader } from "../../../protocol/chain/promises/reads.ts";
import { requireAccount } from "../../../protocol/chain/sender.ts";
import type { ClaimId } from "../../../protocol/rules/types.ts";
import { openDataFolder } from "../../../protocol/service/data-folder.ts";
import { Notes } from "../../../protocol/service/journal/notes.ts";
import { EventStore } from "../../../protocol/service/store/event-store.ts";
import { EVENTS_SCHEMA } from "../../../protocol/service/store/events-schema.ts";
import { accountAt, type LocalChain } from "../anvil.ts";
import {
  LOCAL_CONSTANTS,
  openLocalSystem,
  QUICK,
  TINY_MODEL,
  TINY_SELECTOR,
  temporaryFolder,
} from "../deploy.ts";

const prepared = prepare(TINY_MODEL, TINY_SELECTOR);
export const ETHER = 10n ** 18n;
const QUIET_BLOCKS = 6;
/** The chain's time goes with the machine's: no deadline comes before the test brings it, however slow the machine is. */
const CONSTANTS = { ...LOCAL_CONSTANTS, answerSeconds: 600 };
const LIMITS: Limits = {
  ...{
    maxExposure: 1_000n * ETHER,
    endingBudget: 0n,
    withdrawAbove: 1_000n * ETHER,
  },
};

export type PromiseChallenger = Awaited<ReturnType<typeof openPromiseChallenger>>;

/** A system of its own, whose prover is account 1 and whose challenger is account 3. */
export async function openPromiseChallenger(local: LocalChain, changes: Partial<Limits> = {}) {
  const prover = accountAt(1);
  const system = await openLocalSystem(local, prover, QUICK, CONSTANTS);
  const account = accountAt(3);
  const chain = requireAccount(
    await connect({ rpcUrl: local.rpcUrl, deployment: system.deployment, account }),
  );
  const folder = temporaryFolder();
  const canonical = new CanonicalPool(
    new Map([[system.modelId, { model: TINY_MODEL, selector: TINY_SELECTOR }]]),
  );
  const covered: CoveredModel = {
    ...{ id: system.modelId, name: "tiny", prepared, weights: commitWeights(TINY_MODEL) },
  };
  const fast: FastPath = { run: async (_model, input) => ({ output: execute(prepared, input) }) };
  const notices: Notice[] = [];
  const observe = (notice: Notice) => void notices.push(notice);
  const at = promisesOf(system.deployment);
  const actions = new PromiseActions(at, chain.game);

  /** As a process that starts on this folder. */
  function start() {
    const schemas = [EVENTS_SCHEMA, BREAKER_SCHEMA, PROMISES_SCHEMA];
    const data = openDataFolder(folder.path, chain, schemas, QUICK);
    const store = new WatchedPromises(data.db);
    const stopping = new AbortController();
    const sender = new ChainSender({
      ...{ chain, sender: data.sender, actions: new Actions(chain.game), store: new EventStore(data.db) },
      ...{
        limits: { ...LIMITS, ...changes },
        maxFee: 500n * 10n ** 9n,
        confirmations: 0,
        observe,
        log: SILENT,
      },
      breaker: new CircuitBreaker(new Notes(data.db), {
        maxPerHour: changes.maxExposure ?? LIMITS.maxExposure,
        ...{ nowMs: Date.now, observe, log: SILENT },
      }),
      ...{ nowMs: Date.now, signal: stopping.signal, deposits: () => store.deposits },
    });
    const watch = new PromiseWatch({
      ...{ chain, store, sender, observe, fast, canonical, log: SILENT, nowMs: Date.now },
      models: new Map([[system.modelId, covered]]),
      ...{ claims: () => undefined, pollIntervalMs: 20, confirmations: 0 },
    });
    const follower = new EventFollower(chain, { cursor: store.cursor() }, promiseSource(system.deployment));
    return {
      ...{ store, sender, watch },
      /** wei that the circuit breaker counts */
      counted: () =>
        ["ticket:", "back:"]
          .flatMap((prefix) => new Notes(data.db).textsSince(prefix, 0))
          .reduce((sum, text) => sum + BigInt(text), 0n),
      own: data.sender,
      /** Until nothing is under way, and nothing is sent in as many blocks as a refused move waits for. */
      async settle(): Promise<void> {
        const { address } = account;
        for (let [quiet, sent] = [0, -1]; quiet < QUIET_BLOCKS; ) {
          await this.follow();
          const count = await chain.client.getTransactionCount({ address });
          [quiet, sent] = [count === sent ? quiet + 1 : 0, count];
          await local.control.mine({ blocks: 1 });
        }
        await this.follow();
      },
      /** Takes the blocks that are there. */
      async follow(): Promise<void> {
        for (;;) {
          const blocks = await follower.next().catch(untilSteady);
          if (blocks === "moved") continue;
          if (blocks === undefined) return;
          watch.take(blocks);
          follower.advance(blocks);
          await watch.idle();
        }
      },
      async stop(): Promise<void> {
        stopping.abort();
        await watch.stop();
        await data.close();
      },
    };
  }
  let running = start();
  return {
    ...{ system, chain, at, actions, notices, covered, canonical, fast, prover },
    reader: new PromiseStateReader(chain),
    get running() {
      return running;
    },
    settle: () => running.settle(),
    async restart(): Promise<void> {
      await running.stop();
      running = start();
    },
    /** A claim that its prover does not defend falls by this challenger's ticket. */
    async fall(id: ClaimId): Promise<void> {
      const { claim } = await readClaim(chain, id);
      const assay = new Actions(chain.game);
      await running.own.send(assay.challenge(claim.claim));
      await local.control.increaseTime({ seconds: chain.constants.answerSeconds + 1 });
      await running.own.send(assay.timeoutTrace(claim.claim));
    },
    async close(): Promise<void> {
      await running.stop();
      canonical.close();
      await system.close();
      folder.remove();
    },
  };
}

/** The chain moved while it was read: it is read again. */
function untilSteady(error: unknown): "moved" {
  if (isBaseError(error, "CHAIN_MOVED")) return "moved";
  throw error;
}
