/** What a fleet leaves on the chain and in its journals, compared with what it was asked and with each other. */
import { type Address, decodeFunctionData, type Hex, isAddressEqual } from "viem";
import { fromHex, toHex } from "../../../base/bytes.ts";
import { iAssayAbi, iPromisesAbi } from "../../../protocol/rules/generated/abis.ts";
import { splitBatch } from "../../../protocol/rules/promises/leaf.ts";
import { FALL_REASONS } from "../../../protocol/rules/types.ts";
import { schemaNameOf } from "../../../protocol/service/postgres/schema.ts";
import type { Postgres } from "../postgres.ts";
import type { PromiseLog } from "../promises/promise-log.ts";
import { type System, systemAccount } from "../system.ts";
import type { Traffic } from "./traffic.ts";

export interface Sent {
  readonly hash: Hex;
  readonly nonce: number;
  /** target, value and calldata: what the transaction does */
  readonly move: string;
  /** of the function that is called */
  readonly name: string;
  readonly value: bigint;
  readonly succeeded: boolean;
}

/** All transactions of some accounts, in the order of the chain. */
export async function transactionsOf(
  { client }: System,
  accounts: readonly number[],
): Promise<ReadonlyMap<number, readonly Sent[]>> {
  const sent = new Map(accounts.map((account) => [account, [] as Sent[]]));
  const names = new Map(accounts.map((account) => [systemAccount(account).address.toLowerCase(), account]));
  const newest = await client.getBlockNumber();
  for (let blockNumber = 0n; blockNumber <= newest; blockNumber++) {
    const { transactions } = await client.getBlock({ blockNumber, includeTransactions: true });
    for (const { from, hash, nonce, to, value, input } of transactions) {
      const account = names.get(from.toLowerCase());
      if (account === undefined) continue;
      const { status } = await client.getTransactionReceipt({ hash });
      const move = `${to}:${value}:${input}`;
      sent.get(account)?.push({
        hash,
        nonce,
        move,
        name: nameOf(input),
        value,
        succeeded: status === "success",
      });
    }
  }
  return sent;
}

function nameOf(input: Hex): string {
  try {
    return decodeFunctionData({ abi: [...iAssayAbi, ...iPromisesAbi], data: input }).functionName;
  } catch {
    return input.slice(0, 10);
  }
}

/** Moves that a key made again after one had been taken: such as were taken twice, and such as put a bond at stake, which
 *  one daemon at a time begins. An answer that is owed may be sent by each of two daemons that know nothing of each other;
 *  the contract takes one. */
export function sentTwice(sent: readonly Sent[]): string[] {
  const moves = new Map<string, Sent[]>();
  for (const one of sent) moves.set(one.move, [...(moves.get(one.move) ?? []), one]);
  return [...moves.values()].flatMap((made) => {
    const again = made.slice(made.findIndex(({ succeeded }) => succeeded) + 1);
    const [{ name, value } = { name: "", value: 0n }] = made;
    // Each takes out what there is then.
    const isAllowed = name === "withdraw" || made.every(({ succeeded }) => !succeeded);
    const isTwice = value > 0n ? again.length > 0 : again.some(({ succeeded }) => succeeded);
    return isTwice && !isAllowed ? [`${name}: ${made.map(({ hash }) => hash).join(" ")}`] : [];
  });
}

const journalOf = ({ chain }: System, account: number) =>
  schemaNameOf({ chainId: chain.game.chainId, account: systemAccount(account).address });

/** Keys of all actions that the journal of an account has begun. */
export async function begunActions(
  system: System,
  postgres: Postgres,
  account: number,
): Promise<ReadonlySet<string>> {
  const actions = await postgres.query<{ key: string }>(
    `SELECT key FROM ${journalOf(system, account)}.actions`,
  );
  return new Set(actions.map(({ key }) => key));
}

/** Where the shared journal of a key and the chain differ: a transaction that only one of them has, and actions whose
 *  state is not the chain's.
 *  @param settled keys of actions that must have come to their end. Another one, such as a withdrawal of what was paid just
 *  now, may be on its way still, or be mined unseen by a daemon that ended. */
export async function journalFaults(
  system: System,
  postgres: Postgres,
  account: number,
  sent: readonly Sent[],
  settled: ReadonlySet<string>,
): Promise<string[]> {
  const schema = journalOf(system, account);
  const signed = await postgres.query<{ hash: Hex; key: string }>(
    `SELECT hash, key FROM ${schema}.transactions`,
  );
  const actions = await postgres.query<{ key: string; state: string; hash: Hex | null }>(
    `SELECT key, state, hash FROM ${schema}.actions`,
  );
  const keys = new Map(signed.map(({ hash, key }) => [hash, key]));
  const rows = new Map(actions.map((action) => [action.key, action]));
  const mined = new Set(sent.map(({ hash }) => hash));
  const refused = new Set(sent.filter(({ succeeded }) => !succeeded).map(({ hash }) => hash));
  const mayBeSigned = (key: string) => !settled.has(key);
  const faults = sent.flatMap(({ hash, succeeded }) => {
    const key = keys.get(hash);
    if (key === undefined) return [`${hash} is mined and not journalled`];
    const { state, hash: last = null } = rows.get(key) ?? {};
    const isNew = state === "signed" && mayBeSigned(key);
    // The same answer by a second daemon that knew nothing of this one's: the contract refused it, and the row is its.
    const isAgain = state === "reverted" && last !== hash && refused.has(last as Hex);
    const isSo = succeeded ? state === "mined" || state === "done" || isNew || isAgain : state !== undefined;
    return isSo ? [] : [`${key} is mined (${hash}), and ${state} in the journal`];
  });
  for (const { key, state, hash } of actions) {
    if (state === "signed" && !mayBeSigned(key)) faults.push(`${key} is signed, and not mined`);
    if ((state === "mined" || state === "done") && (hash === null || !mined.has(hash)))
      faults.push(`${key} is ${state} in the journal, and not on the chain`);
  }
  return faults;
}

/** Falls of claims of these provers: missed deadlines, or right claims that somebody brought down. */
export const fallsOf = ({ events }: System, provers: readonly Address[]): string[] =>
  events.all("Fell").flatMap(({ claimId, reason }) => {
    const [made] = events.all("Claimed", (claimed) => claimed.claimId === claimId);
    const isTheirs = provers.some(
      (prover) => made !== undefined && isAddressEqual(prover, made.claim.prover),
    );
    return isTheirs ? [`${claimId} fell by ${FALL_REASONS[reason]}`] : [];
  });

/** Where claims on requests are not as asked: none by their prover, or two, or another output than the right one. */
export function plainFaults({ events }: System, traffic: Traffic, prover: number): string[] {
  const { address } = systemAccount(prover);
  const claims = new Map<string, Hex[]>();
  for (const { requestId, claim, output } of events.all("Claimed"))
    if (isAddressEqual(claim.prover, address))
      claims.set(requestId, [...(claims.get(requestId) ?? []), output]);
  return traffic.plain
    .filter((plain) => plain.prover === prover)
    .flatMap(({ requestId, right }) => {
      const outputs = claims.get(requestId) ?? [];
      return outputs.length === 1 && outputs[0] === right
        ? []
        : [`request ${requestId} has ${outputs.length} claims`];
    });
}

/** Answers that are not on the chain, or more often than they were asked for. */
export function leafFaults(log: PromiseLog, traffic: Traffic, prover: Address): string[] {
  const posted = new Map<string, number>();
  for (const { prover: poster, data } of log.all("Posted")) {
    if (!isAddressEqual(poster, prover)) continue;
    for (const payload of splitBatch(traffic.promises.leafModel, fromHex(data)).map(toHex))
      posted.set(payload, (posted.get(payload) ?? 0) + 1);
  }
  const faults = [...traffic.leaves].flatMap(([payload, { asks, isAnswered }]) => {
    const times = posted.get(payload) ?? 0;
    posted.delete(payload);
    if (times > asks) return [`a leaf that was asked for ${asks} times is posted ${times} times`];
    return times === 0 && isAnswered ? [`${payload.slice(0, 20)}… was answered and is not posted`] : [];
  });
  if (posted.size > 0) faults.push(`${posted.size} leaves that nobody asked for are posted`);
  return faults;
}

/** Tickets of honest challengers that were not paid more than they cost. */
export const unpaidTickets = ({ events }: System, challengers: readonly Address[]): string[] =>
  events.all("Challenged").flatMap(({ claimId, challenger }) => {
    if (!challengers.some((one) => isAddressEqual(one, challenger))) return [];
    const [made] = events.all("Claimed", (claimed) => claimed.claimId === claimId);
    const isPaid = events
      .all("Collected", (args) => args.claimId === claimId && isAddressEqual(args.owner, challenger))
      .some(({ amount }) => amount > (made?.claim.ticketBond ?? 0n));
    return isPaid ? [] : [`the ticket of ${challenger} on ${claimId}`];
  });
