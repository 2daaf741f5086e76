import { afterEach, describe, expect, it } from "vitest";
import type { Inclusion, SignedTransaction } from "../../../protocol/chain/journal.ts";
import { JOURNAL_SCHEMA, openDatabase } from "../../../protocol/service/journal/database.ts";
import { LocalJournal } from "../../../protocol/service/journal/journal.ts";
import { temporaryFolder } from "../../support/deploy.ts";
import { hashOf } from "../../support/orders.ts";

const ADDRESS = `0x${"22".repeat(20)}` as const;
const OWNER = { chainId: 31_337, assay: ADDRESS, blockHash: hashOf(1), account: ADDRESS };
const ACTION = { key: "move", to: ADDRESS, data: "0x00ff7f80", value: 3n, doneBy: [] } as const;
const signed = (hash: number): SignedTransaction => ({
  ...{ hash: hashOf(hash), raw: `0x02${hash.toString(16).padStart(2, "0")}`, signedAtMs: 5 },
  ...{ maxFeePerGas: 9n, maxPriorityFeePerGas: 1n },
});
const inclusion = (hash: number): Inclusion => ({
  ...{ hash: hashOf(hash), blockNumber: 7n, blockHash: hashOf(7), gasUsed: 1n, gasPrice: 2n },
});

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0).reverse()) close();
});
function open(): LocalJournal {
  const folder = temporaryFolder();
  const db = openDatabase(`${folder.path}/assay.sqlite`, [JOURNAL_SCHEMA]);
  closers.push(folder.remove, () => db.close());
  return new LocalJournal(db, OWNER);
}

describe("LocalJournal", () => {
  it("default: an entry has its data, byte for byte, wherever it comes from", () => {
    const journal = open();
    const entry = journal.sign(ACTION, 0, 21_000n, signed(11));
    expect(
      [entry, journal.get("move"), ...journal.inState("signed")].map(({ data } = entry) => data),
    ).toEqual(Array.from({ length: 3 }, () => ACTION.data));
    expect(journal.transactionsOf(entry)).toEqual([signed(11)]);
    expect(journal.transactionAt(0)).toBe("0x020b");
  });

  it("behavior: that a displaced transaction was mined is no word about the next one of its action", () => {
    const journal = open();
    const first = journal.sign(ACTION, 0, 21_000n, signed(11));
    journal.markDisplaced(first);
    const [displaced] = journal.unheld();
    expect(displaced?.nonce).toBe(0);
    // Its receipt is asked for; meanwhile whoever wants the action sends it again.
    const second = journal.sign(ACTION, 1, 21_000n, signed(12));
    journal.markMined(displaced as typeof first, inclusion(11));
    expect(journal.get("move")).toMatchObject({ state: "signed", nonce: 1 });
    journal.markReverted(displaced as typeof first, inclusion(11), {
      ...{ name: "NotOpen", args: {}, message: "NotOpen()" },
    });
    expect(journal.inState("signed")).toMatchObject([{ nonce: 1 }]);
    journal.markMined(second, inclusion(12));
    expect(journal.get("move")).toMatchObject({ state: "mined", nonce: 1, inclusion: inclusion(12) });
  });
});
