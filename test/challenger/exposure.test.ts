/** What counts as being at risk while a transaction is on its way: each ticket and each opening once, whoever sent it. */
import { describe, expect, test } from "vitest";
import { SILENT } from "../../base/log.ts";
import type { CircuitBreaker } from "../../challenger/circuit-breaker.ts";
import { keyOfLeaf } from "../../challenger/promises/store.ts";
import { ChainSender, type ChainSenderParts } from "../../challenger/transaction-sender.ts";
import { openingOf } from "../../protocol/chain/promises/actions.ts";
import type { BatchId } from "../../protocol/rules/promises/batch.ts";
import type { ClaimId } from "../../protocol/rules/types.ts";
import { accountAt } from "../support/anvil.ts";
import { hashOf } from "../support/batches.ts";

const OWN = accountAt(3).address;
const CLAIM = hashOf(1) as ClaimId;
const [DIGEST, BATCH] = [hashOf(2), hashOf(3) as BatchId];

/** @param unmined keys of the journal's transactions on their way, 10 wei each */
function open(unmined: string[], deposits: ReadonlyMap<string, bigint> = new Map(), maxExposure = 10n) {
  return new ChainSender({
    chain: { account: { address: OWN } },
    sender: {
      ...{ leads: true, unmined: () => unmined.map((key) => ({ key, value: 10n })) },
      send: async () => ({ status: "sent" }),
    },
    store: { index: { claims: new Map() } },
    limits: { maxExposure, endingBudget: 0n, withdrawAbove: 0n },
    breaker: { admits: () => true } as unknown as CircuitBreaker,
    ...{ observe: () => {}, log: SILENT, nowMs: () => 0, deposits: () => deposits },
    ...{ maxFee: 0n, confirmations: 0, signal: new AbortController().signal },
  } as unknown as ChainSenderParts);
}

describe("exposure", () => {
  test.each([
    ["a ticket", `challenge:${CLAIM}`],
    ["a signed claim", `open:${DIGEST}`],
    ["one that was taken back before", `open:${DIGEST}:7`],
    ["a leaf", `openLeaf:${BATCH}:12`],
  ])("default: %s that another daemon of the key has on its way counts", (_name, key) => {
    expect(open([key]).exposure).toBe(10n);
  });

  test.each([[`openNext:${DIGEST}:7`], [`nextLeaf:${BATCH}:1`], [`stake:${OWN}:1`], [`close:${CLAIM}`]])(
    "args: %s puts nothing at risk",
    (key) => expect(open([key]).exposure).toBe(0n),
  );

  test("behavior: an opening that is noted already counts once", () => {
    const [signed, leaf] = [DIGEST as string, keyOfLeaf(BATCH, 12)];
    const keys = [`open:${DIGEST}`, `openLeaf:${BATCH}:12`];
    expect(keys.map(openingOf)).toEqual([signed, leaf]);
    expect(open(keys, new Map([[signed, 9n]])).exposure).toBe(19n);
    expect(open(keys, new Map([signed, leaf].map((key) => [key, 9n]))).exposure).toBe(18n);
  });

  test("behavior: who takes over sends the ticket that is on its way, and not a second one beside it", async () => {
    const entry = { id: CLAIM, claim: { ticketBond: 10n }, challengers: new Set(), collected: new Set() };
    const sender = open([`challenge:${CLAIM}`]);
    expect(await sender.act({} as never, { move: "challenge" }, entry as never)).toBe(true);
    const other = { ...entry, id: hashOf(9) as ClaimId };
    expect(await sender.act({} as never, { move: "challenge" }, other as never)).toBe(false);
  });

  test("behavior: who takes over sends the opening that is on its way", async () => {
    const deposit = { key: DIGEST, wei: 10n, counted: 10n };
    const sender = open([`open:${DIGEST}`], new Map([[DIGEST, 10n]]));
    expect(await sender.move({} as never, {}, deposit)).toMatchObject({ status: "sent" });
  });

  test("error: what is on its way leaves no room for another opening", async () => {
    const deposit = { key: hashOf(9), wei: 1n, counted: 1n };
    const sender = open([`open:${DIGEST}`], new Map([[deposit.key, 1n]]));
    expect(await sender.move({} as never, {}, deposit)).toMatchObject({ status: "withheld" });
  });
});
