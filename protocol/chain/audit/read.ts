/** Audits what a chain tells: pages through the events of a deployment, with the headers of their blocks. */
import type { Hex } from "viem";
import { BaseError, isBaseError } from "../../../base/errors.ts";
import type { BlockRef, Chain } from "../connect.ts";
import { withContext } from "../errors.ts";
import type { ChainEvent } from "../events.ts";
import { type Batch, EventFollower, pause } from "../follower.ts";
import { StateReader } from "../reads.ts";
import { Audit, type AuditTotals, factsOf } from "./audit.ts";
import type { AuditedBlock } from "./request-audit.ts";
import type { Breach } from "./rules.ts";

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
  readonly balance?: { readonly held: bigint; readonly booked: bigint };
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
  const audit = new Audit({ game: chain.game, constants: chain.constants, isWhole });
  const follower = new EventFollower(chain, { from, last: to, maxBlocks });
  for (;;) {
    const batch = await persistently(() => follower.next());
    // An audit takes nothing back: after a re-org it begins anew.
    if (batch?.kind === "rollback") return auditChain(chain, options);
    const breach = batch && (await persistently(() => take(chain, audit, batch)));
    if (batch !== undefined) onPage?.(batch.to.number);
    if (batch !== undefined) follower.advance(batch);
    const isLast = batch === undefined || batch.to.number >= to;
    if (breach === undefined && !isLast) continue;
    const end = breach ?? audit.end();
    const last = follower.cursor.at(-1) as BlockRef;
    const totals = audit.totals();
    const held = isWhole && end === undefined ? await balanceAt(chain, last.number) : undefined;
    return {
      ...totals,
      from,
      to: last,
      isWhole,
      ...(end === undefined ? {} : { breach: end }),
      ...(held === undefined ? {} : { balance: { held, booked: bookedOf(totals) } }),
    };
  }
}

/** What the contract holds by its books, wei. */
const bookedOf = ({ money }: AuditTotals): bigint => money.credits + money.held + money.burned;

/** Reads all that the page needs before it takes the first event: a fault leaves the audit as it was. */
async function take(
  chain: Chain,
  audit: Audit,
  { events }: Extract<Batch, { kind: "blocks" }>,
): Promise<Breach | undefined> {
  const blocks = await blocksOf(chain, events);
  const registered = new Set(events.map((event) => event.name === "ModelRegistered" && event.args.modelId));
  const asked = new Set(events.flatMap((event) => (event.name === "Requested" ? [event.args.modelId] : [])));
  for (const modelId of asked) {
    if (registered.has(modelId) || audit.knows(modelId)) continue;
    // Registered before the first block that is looked at; nothing can change a model.
    const facts = factsOf(await new StateReader(chain).modelWord(modelId));
    if (facts !== undefined) audit.learn(modelId, facts);
  }
  for (const event of events) {
    const breach = audit.take(event, blocks.get(event.block.hash) as AuditedBlock);
    if (breach !== undefined) return breach;
  }
  return undefined;
}

async function blocksOf(
  { client }: Chain,
  events: readonly ChainEvent[],
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

async function balanceAt({ client, game }: Chain, blockNumber: bigint): Promise<bigint | undefined> {
  return client.getBalance({ address: game.assay, blockNumber }).catch(() => undefined);
}
