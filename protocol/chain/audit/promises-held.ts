/** Compares what Promises holds with what its events say: stakes, promises, batches and credits, at one block. */
import type { Address } from "viem";
import type { SignedEntry } from "../../rules/promises/state.ts";
import type { BlockRef, Chain } from "../connect.ts";
import { PromiseStateReader } from "../promises/reads.ts";
import { naming } from "./audit.ts";
import type { PromisesAudit, Subject } from "./promises.ts";
import { type Breach, must } from "./rules.ts";

/** Asked of the node at once. */
const AT_ONCE = 32;

interface Comparison {
  /** an event about it is what a difference is blamed on */
  readonly subject: Subject;
  /** @returns what the contract says and what must be so, by name */
  read(
    reader: PromiseStateReader,
  ): Promise<Readonly<Record<string, readonly [found: unknown, due: unknown]>>>;
}

/** @returns the first difference
 *  @throws BaseError RPC_UNREACHABLE, RPC_FAULT (retryable; also where the node does not keep the state of that block) */
export async function breachOfHeld(
  chain: Chain,
  audit: PromisesAudit,
  block: BlockRef,
): Promise<Breach | undefined> {
  const { last } = audit;
  if (last === undefined) return undefined;
  const reader = new PromiseStateReader(chain, block.hash);
  const all = comparisonsOf(audit);
  for (let at = 0; at < all.length; at += AT_ONCE) {
    const some = all.slice(at, at + AT_ONCE);
    const read = await Promise.all(some.map((one) => one.read(reader)));
    for (const [index, values] of read.entries()) {
      const { subject } = some[index] as Comparison;
      const breach = naming(audit.lastOf.get(subject) ?? last, () => {
        for (const [what, [found, due]] of Object.entries(values))
          must("held", `${what} of ${subject} in the contract`, found, due);
      });
      if (breach !== undefined) return breach;
    }
  }
  const burned = await reader.burned();
  return naming(last, () => must("held", "what the contract will burn", burned, audit.kept.money().burned));
}

/** Ended promises and batches are left out: nothing depends on them any more. */
function comparisonsOf({ kept }: PromisesAudit): Comparison[] {
  const { accounts, credits, batches, signed } = kept;
  return [
    ...[...accounts].map(([prover, { queue, keys, ...account }]) => ({
      subject: prover,
      read: async (reader: PromiseStateReader) => {
        const word = await reader.account(prover);
        const bound = [...keys].map(async ([key, until]) => {
          const found = await reader.boundUntil(prover, key);
          return [`the last second of key ${key}`, [found, until]] as const;
        });
        return {
          "the free stake": [word.free, account.free] as const,
          "the leaving stake": [word.leaving, account.leaving] as const,
          "the second of the exit": [word.exitAt, account.exitAt] as const,
          "the stake away": [word.away, account.away] as const,
          "the stake in slots": [word.slots, account.slots] as const,
          "the second since which the head is too dear": [word.hotSince, account.hotSince] as const,
          "the head of the queue": [word.head, queue[0]] as const,
          "the tail of the queue": [word.tail, queue.at(-1)] as const,
          ...Object.fromEntries(await Promise.all(bound)),
        };
      },
    })),
    ...[...credits].map(([account, amount]: [Address, bigint]) => ({
      subject: account,
      read: async (reader: PromiseStateReader) => ({
        "the credit": [await reader.credit(account), amount] as const,
      }),
    })),
    ...[...batches]
      .filter(([, { idleSlots, open }]) => idleSlots > 0 || open > 0)
      .map(([id, batch]) => ({
        subject: id,
        read: async (reader: PromiseStateReader) => {
          const word = await reader.batch(id);
          return {
            "the end of the window": [word?.windowEnd, batch.windowEnd] as const,
            "the number of open leaves": [word?.open, batch.open] as const,
            "the number of idle slots": [word?.idle, batch.idleSlots] as const,
            "the bond of a slot": [word?.bond, batch.bond] as const,
            "the fall": [word?.fallen, batch.isFallen] as const,
            "the number of leaves that wait": [word?.queued, batch.queue.length] as const,
          };
        },
      })),
    ...[...signed].filter(isRunning).map(([digest, { status, opener, deposit }]) => ({
      subject: digest,
      read: async (reader: PromiseStateReader) => {
        const word = await reader.signed(digest);
        return {
          "the status": [word.status, status] as const,
          "the opener": [word.opener, opener] as const,
          "the deposit": [word.deposit, deposit] as const,
        };
      },
    })),
  ];
}

const isRunning = ([, { status }]: readonly [Subject, SignedEntry]): boolean => status !== "CLOSED";
