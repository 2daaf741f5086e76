/** Audits what a chain tells: pages through the events of a deployment, with the headers of their blocks. */
import type { Address, Hex } from "viem";
import { BaseError, isBaseError } from "../../../base/errors.ts";
import type { BlockRef, Chain } from "../connect.ts";
import { withContext } from "../errors.ts";
import { type Batch, EventFollower, pause } from "../follower.ts";
import { StateReader } from "../reads.ts";
import { Audit, type AuditTotals, factsOf } from "./audit.ts";
import { breachOfHeld } from "./promises-held.ts";
import type { AuditedBlock } from "./request-audit.ts";
import type { Breach } from "./rules.ts";
import { type AuditedEvent, auditedSource, isPromiseEvent } from "./source.ts";

export interface AuditOptions {
  /** default: the deployment's first block; requests that were filed before are left out */
  readonly from?: bigint | undefined;
  /** default: the newest block */
  readonly to?: bigint | undefined;
  /** most blocks a page */
  readonly pageBlocks?: number;
  /** told the last block of each page */
  readonly onPage?: (to: bigint) => void;
}

export interface AuditReport extends AuditTotals {
  readonly from: bigint;
  readonly to: BlockRef;
  readonly isWhole: boolean;
  /** absent: nothing is broken */
  readonly breach?: Breach;
  /** wei at the last block, beside the proof, which reads events alone; absent where the node does not keep it */
  readonly balance?: Balance;
  /** the same of Promises, whose state at the last block was compared with its events, too */
  readonly promisesBalance?: Balance;
}

interface Balance {
  readonly held: bigint;
  readonly booked: bigint;
}

const PAGE_BLOCKS = 20_000;
/** A page that the node could not give is asked for again so often; what is audited stays audited. */
const TRIES = 5;
const PAUSE_MS = 500;

/** Audits the events of the blocks, until the first breach.
 *  @throws BaseError AUDIT_RANGE_INVALID; RPC_UNREACHABLE, RPC_FAULT, CHAIN_MOVED (retryable) */
export async function auditChain(chain: Chain, options: AuditOptions = {}): Promise<AuditReport> {
  const first = chain.deployment.block.number;
  const head = await withContext("find the newest block", () => chain.client.getBlockNumber());
  const { from = first, to = head } = options;
  if (from > to || to > head) {
    throw new BaseError({
      code: "AUDIT_RANGE_INVALID",
      shortMessage: `Blocks ${from} to ${to} cannot be audited: the chain has blocks ${first} to ${head} of this deployment.`,
      nextStep: "Name two of these, the earlier one first.",
    });
  }
  const { pageBlocks: maxBlocks = PAGE_BLOCKS, onPage } = options;
  const isWhole = from <= first;
  const { promises } = chain.deployment.contracts;
  const audit = new Audit({ game: chain.game, constants: chain.constants, promises, isWhole });
  const source = auditedSource(chain.deployment);
  const follower = new EventFollower(chain, { from, last: to, maxBlocks }, source);
  for (;;) {
    const batch = await persistently(() => follower.next());
    // An audit takes nothing back: after a re-org it begins anew.
    if (batch?.kind === "rollback") return auditChain(chain, options);
    const breach = batch && (await persistently(() => take(chain, audit, batch)));
    if (batch !== undefined) onPage?.(batch.to.number);
    if (batch !== undefined) follower.advance(batch);
    const isLast = batch === undefined || batch.to.number >= to;
    if (breach === undefined && !isLast) continue;
    const last = follower.cursor.at(-1) as BlockRef;
    const proven = breach ?? audit.end();
    const beside = isWhole && proven === undefined ? await stateAt(chain, audit, last) : {};
    return {
      ...audit.totals(),
      ...{ from, to: last, isWhole },
      ...(proven === undefined ? beside : { breach: proven }),
    };
  }
}

/** What the contract holds by its books, wei. */
const bookedOf = ({ money }: AuditTotals): bigint => money.credits + money.held + money.burned;

/** Reads all that the page needs before it takes the first event: a fault leaves the audit as it was. */
async function take(
  chain: Chain,
  audit: Audit,
  { events: all }: Extract<Batch<AuditedEvent>, { kind: "blocks" }>,
): Promise<Breach | undefined> {
  const blocks = await blocksOf(chain, all);
  const { promises } = chain.deployment.contracts;
  const events = all.flatMap((event) => (isPromiseEvent(event, promises) ? [] : [event]));
  const registered = new Set(events.map((event) => event.name === "ModelRegistered" && event.args.modelId));
  const asked = new Set(events.flatMap((event) => (event.name === "Requested" ? [event.args.modelId] : [])));
  for (const modelId of asked) {
    if (registered.has(modelId) || audit.knows(modelId)) continue;
    // Registered before the first block that is looked at; nothing can change a model.
    const facts = factsOf(await new StateReader(chain).modelWord(modelId));
    if (facts !== undefined) audit.learn(modelId, facts);
  }
  for (const event of all) {
    const breach = audit.take(event, blocks.get(event.block.hash) as AuditedBlock);
    if (breach !== undefined) return breach;
  }
  return undefined;
}

async function blocksOf(
  { client }: Chain,
  events: readonly AuditedEvent[],
): Promise<ReadonlyMap<Hex, AuditedBlock>> {
  const hashes = [...new Set(events.map(({ block }) => block.hash))];
  const read = async (blockHash: Hex): Promise<[Hex, AuditedBlock]> => {
    const { timestamp, baseFeePerGas } = await client.getBlock({ blockHash });
    return [blockHash, { timestamp: Number(timestamp), baseFee: baseFeePerGas ?? 0n }];
  };
  return new Map(
    await withContext("read the headers of blocks", () => Promise.all(hashes.map((hash) => read(hash)))),
  );
}

async function persistently<T>(ask: () => Promise<T>): Promise<T> {
  for (let tried = 1; ; tried += 1) {
    try {
      return await ask();
    } catch (error) {
      if (tried === TRIES || !(isBaseError(error) && error.retryable)) throw error;
      await pause(PAUSE_MS * tried, new AbortController().signal);
    }
  }
}

/** What the contracts hold at the last block; nothing where the node does not keep it.
 *  @throws BaseError RPC_UNREACHABLE */
async function stateAt(
  chain: Chain,
  audit: Audit,
  block: BlockRef,
): Promise<Pick<AuditReport, "balance" | "promisesBalance" | "breach">> {
  const { client, game } = chain;
  const heldBy = (address: Address) =>
    client.getBalance({ address, blockNumber: block.number }).catch(() => undefined);
  const totals = audit.totals();
  const inAssay = await heldBy(game.assay);
  const balance = inAssay === undefined ? {} : { balance: { held: inAssay, booked: bookedOf(totals) } };
  const { promises } = audit;
  if (promises === undefined) return balance;
  const held = await heldBy(promises.at.promises);
  if (held === undefined) return balance;
  const breach = await persistently(() => breachOfHeld(chain, promises, block)).catch(unlessUnknown);
  if (breach === "unknown") return balance;
  const promisesBalance = { held, booked: promises.totals().money.balance };
  return { ...balance, promisesBalance, ...(breach === undefined ? {} : { breach }) };
}

/** A node that answers, and does not keep the state of that block, says nothing about the contract. */
function unlessUnknown(error: unknown): "unknown" {
  if (isBaseError(error, "RPC_FAULT")) return "unknown";
  throw error;
}
