/** Accounts: what they have, owe, earned and lost. */
import { type Address, getAddress } from "viem";
import { BaseError } from "../../base/errors.ts";
import { hasPromises } from "../../protocol/chain/promises/place.ts";
import { FALL_REASONS } from "../../protocol/rules/types.ts";
import type { Account, AccountPage, AccountSummary } from "../api/types.ts";
import { blockOf } from "../index/moves.ts";
import { amountIn, type Sum, type Values } from "../index/sums.ts";
import { type AnswerParts, atOneBlock, type ReadParts } from "./parts.ts";
import { accountUnknown } from "./unknown.ts";

const MAX_DAYS = 366;
/** Accounts that are looked at for one page of those in a role. */
const MAX_SCANNED = 2_000;

type Role = AccountSummary["roles"][number];
/** By which sums an account has a role. */
const ROLES: Readonly<Record<Role, readonly string[]>> = {
  requester: ["requests"],
  prover: ["claims", "staked", "leaves", "signed"],
  challenger: ["tickets"],
  operator: ["operated"],
  submitter: ["settled"],
};
const hasRole = (values: Values, role: Role): boolean =>
  ROLES[role].some((name) => amountIn(values, name) > 0n);

/** Those that moved last come first.
 *  @throws BaseError QUERY_INVALID */
export async function accountPage(
  parts: ReadParts,
  {
    limit,
    before,
    role,
  }: { readonly limit: number; readonly before?: string | undefined; readonly role?: Role | undefined },
): Promise<AccountPage> {
  const found: Sum[] = [];
  let cursor = before === undefined ? undefined : cursorOf(before);
  for (let scanned = 0; found.length <= limit && scanned < MAX_SCANNED; ) {
    const part = await parts.index.sums.newest("account", limit + 1, cursor);
    scanned += part.length;
    found.push(...part.filter(({ values }) => role === undefined || hasRole(values, role)));
    const last = part.at(-1);
    if (part.length <= limit || last === undefined) {
      cursor = undefined;
      break;
    }
    cursor = last;
  }
  const shown = found.slice(0, limit);
  // Where none of those that were looked at has the role, the next page goes on behind them.
  const last = found.length > limit ? shown.at(-1) : cursor;
  return {
    items: await Promise.all(shown.map((sum) => summaryOf(parts, sum))),
    ...(last === undefined ? {} : { next: `${last.last}-${last.id}` }),
  };
}

function cursorOf(text: string): { readonly last: number; readonly id: string } {
  const [, last, id] = /^(\d{1,16})-(0x[0-9a-fA-F]{40})$/.exec(text) ?? [];
  if (last !== undefined && id !== undefined) return { last: Number(last), id };
  throw new BaseError({
    code: "QUERY_INVALID",
    shortMessage: `before is ${JSON.stringify(text.slice(0, 80))}, must be \`next\` of a page of accounts.`,
    nextStep: "Correct the query.",
  });
}

async function summaryOf(parts: ReadParts, { id, last, values }: Sum): Promise<AccountSummary> {
  const of = (name: string): bigint => amountIn(values, name);
  return {
    account: id,
    roles: (Object.keys(ROLES) as Role[]).filter((role) => hasRole(values, role)),
    credit: `${of("credit")}`,
    exposure: `${of("bondsHeld") + of("ticketsHeld")}`,
    result: `${of("result")}`,
    lastSeenAt: await parts.index.tables.timeOf(blockOf(last)),
    record: recordOf(values),
  };
}

function recordOf(values: Values): AccountSummary["record"] {
  const count = (name: string): number => Number(amountIn(values, name));
  const falls = FALL_REASONS.filter((reason) => reason !== "NONE").flatMap((reason) => {
    const times = count(`fall:${reason}`);
    return times === 0 ? [] : [[reason, times] as const];
  });
  const fellAt = count("greatest:fellAt");
  return {
    requests: count("requests"),
    claims: count("claims"),
    finalClaims: count("finalClaims"),
    fallenClaims: count("falls"),
    liveClaims: count("liveClaims"),
    tickets: count("tickets"),
    ticketsWon: count("ticketsWon"),
    ticketsLost: count("ticketsLost"),
    ticketsLive: count("ticketsLive"),
    settled: count("settled"),
    falls: Object.fromEntries(falls),
    ...(fellAt === 0 ? {} : { lastFallAt: fellAt }),
  };
}

/** @throws BaseError ACCOUNT_UNKNOWN */
export async function accountView(parts: AnswerParts, text: string): Promise<Account> {
  const account: Address = getAddress(text);
  const { values, summary, days, waiting } = await atOneBlock(parts, async (own) => {
    const { sums, tables } = own.index;
    const sum = await sums.find("account", account);
    if (sum === undefined) throw accountUnknown(account);
    const [summary, days, waiting] = await Promise.all([
      summaryOf(own, sum),
      daysOf(own, account, amountIn(sum.values, "result")),
      tables.waitingOf(account),
    ]);
    return { values: sum.values, summary, days, waiting };
  });
  const balance = await parts.reads.balance(account);
  const of = (name: string): string => `${amountIn(values, name)}`;
  return {
    ...summary,
    ...(balance === undefined ? {} : { balance: `${balance}` }),
    money: {
      paidFees: of("paidFees"),
      feesHeld: of("feesHeld"),
      bondsHeld: of("bondsHeld"),
      ticketsHeld: of("ticketsHeld"),
      uncollected: of("uncollected"),
      paidIn: of("paidIn"),
      credited: of("credited"),
      withdrawn: of("withdrawn"),
      transactionFees: of("transactionFees"),
      transactions: Number(of("transactions")),
    },
    ...(await promisesOf(parts, account, values, waiting)),
    days,
  };
}

/** Sums that only events of Promises add to. */
const PROMISED = ["staked", "promiseCredit", "opened", "leaves", "signed"] as const;

/** @param waiting signed claims of the account that wait for stake */
async function promisesOf(
  { reads, chain }: AnswerParts,
  account: Address,
  values: Values,
  waiting: number,
): Promise<Pick<Account, "promises">> {
  if (!hasPromises(chain.deployment) || PROMISED.every((name) => !values.has(name))) return {};
  const word = await reads.stake(account);
  const count = (name: string): number => Number(amountIn(values, name));
  return {
    promises: {
      stake: `${amountIn(values, "stake")}`,
      ...(word === undefined
        ? {}
        : {
            split: {
              free: `${word.free}`,
              leaving: `${word.leaving}`,
              ...(word.leaving === 0n ? {} : { exitAt: word.exitAt }),
              away: `${word.away}`,
              slots: `${word.slots}`,
            },
          }),
      credit: `${amountIn(values, "promiseCredit")}`,
      deposits: `${amountIn(values, "deposits")}`,
      waiting,
      opened: count("opened"),
      batches: count("batches"),
      batchesFallen: count("batchesFallen"),
      leaves: count("leaves"),
      signed: count("signed"),
      signedFell: count("signedFell"),
    },
  };
}

/** @param result of all days */
async function daysOf({ index }: ReadParts, account: Address, result: bigint): Promise<Account["days"]> {
  let total = result;
  return (await index.sums.days("accountDay", account, MAX_DAYS))
    .map(({ day, values }) => {
      const own = amountIn(values, "result");
      const shown = {
        day,
        paidIn: `${amountIn(values, "paidIn")}`,
        credited: `${amountIn(values, "credited")}`,
        transactionFees: `${amountIn(values, "transactionFees")}`,
        claims: Number(amountIn(values, "claims")),
        falls: Number(amountIn(values, "falls")),
        result: `${own}`,
        total: `${total}`,
      };
      total -= own;
      return shown;
    })
    .reverse();
}
