/** The shared journal against the one of a folder, over random changes. */
import fc from "fast-check";
import { keccak256, toHex } from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isBaseError } from "../../base/errors.ts";
import type { Action } from "../../protocol/chain/actions.ts";
import type { ActionState, SignedTransaction, TransactionJournal } from "../../protocol/chain/journal.ts";
import { type Postgres, startPostgres } from "../support/postgres.ts";
import { scaled } from "../support/scale.ts";
import { newOwner, openOwn, openShared, type Shared, SOON, sharedFolder } from "../support/shared-journal.ts";

const STATES: readonly ActionState[] = ["signed", "mined", "done", "reverted", "displaced"];
const KEYS = ["a", "b", "c", "d", "e"];

let postgres: Postgres;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(async () => {
  await postgres?.stop();
  sharedFolder.remove();
});

const becomes = (one: Shared, role: string) => expect.poll(() => one.journal.role, SOON).toBe(role);

const action = (key: string): Action => ({
  key,
  to: `0x${"33".repeat(20)}`,
  data: toHex(key),
  value: 7n,
  doneBy: [],
});

let fee = 1n;
function transaction(text: string): SignedTransaction {
  fee += 1n;
  return {
    hash: keccak256(toHex(text)),
    raw: toHex(text),
    maxFeePerGas: fee,
    maxPriorityFeePerGas: 1n,
    signedAtMs: 5,
  };
}
const inclusion = {
  hash: `0x${"44".repeat(32)}`,
  blockHash: `0x${"55".repeat(32)}`,
  blockNumber: 9n,
  gasUsed: 1n,
  gasPrice: 2n,
} as const;

/** Everything that a journal tells. */
const contentOf = (journal: TransactionJournal) => ({
  entries: KEYS.map((key) => journal.get(key)),
  states: STATES.map((state) => journal.inState(state)),
  unheld: journal.unheld(),
  next: journal.nextNonce(),
  transactions: KEYS.map((key) => journal.get(key)).map((entry) => entry && journal.transactionsOf(entry)),
  at: Array.from({ length: 8 }, (_, nonce) => journal.transactionAt(nonce)),
});

type Step =
  | { readonly kind: "sign" | "replace" | "mined" | "done" | "signed" | "displaced"; readonly key: string }
  | { readonly kind: "reverted"; readonly key: string; readonly name: string }
  /** of the shared journal alone: nothing of it may show */
  | { readonly kind: "cut" | "hand over"; readonly key?: never };
const CHANGES = ["sign", "sign", "replace", "mined", "done", "signed", "displaced"] as const;
const STEP: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: fc.constantFrom(...CHANGES), key: fc.constantFrom(...KEYS) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("reverted" as const),
      key: fc.constantFrom(...KEYS),
      name: fc.string(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom("cut" as const, "hand over" as const) }) },
);

/** Does a step as the sender would, where the entry's state lets it. */
async function play(
  journal: TransactionJournal,
  step: Step,
  at: number,
  signed: SignedTransaction,
): Promise<void> {
  if (step.key === undefined) return;
  const entry = journal.get(step.key);
  const ended = entry === undefined || entry.state === "reverted" || entry.state === "displaced";
  if (step.kind === "sign") {
    if (!ended) return;
    // The chain counts what is done; the journal leaves that to it.
    const count = Math.max(0, ...journal.inState("done").map(({ nonce }) => nonce + 1));
    const nonce = Math.max(count, journal.nextNonce()) + (at % 2);
    await journal.sign(action(step.key), nonce, 21_000n, signed);
    return;
  }
  if (entry === undefined) return;
  if (step.kind === "replace" && entry.state === "signed") return journal.replace(entry, signed);
  if (step.kind === "mined" && entry.state === "signed") return journal.markMined(entry, inclusion);
  if (step.kind === "reverted" && (entry.state === "signed" || entry.state === "mined"))
    return journal.markReverted(entry, inclusion, { name: step.name, args: { x: 1n }, message: "no" });
  if (step.kind === "done") return journal.markDone(entry);
  if (step.kind === "signed") return journal.markSigned(entry);
  if (step.kind === "displaced") return journal.markDisplaced(entry);
}

describe("SharedJournal", () => {
  test("behavior: random changes, broken connections and new signers leave what one folder alone would hold", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(STEP, { minLength: 10, maxLength: 40 }), async (steps) => {
        const owner = newOwner();
        const own = openOwn(owner);
        const open = () => openShared(owner, postgres.url);
        let [signer, standby] = [open(), open()];
        try {
          await expect.poll(() => signer.journal.leads || standby.journal.leads, SOON).toBe(true);
          if (standby.journal.leads) [signer, standby] = [standby, signer];
          for (const [at, step] of steps.entries()) {
            const signed = transaction(`${owner.account} ${at}`);
            await play(own, step, at, signed);
            if (step.kind === "cut")
              await postgres.query(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'assay%'",
              );
            if (step.kind === "hand over") {
              await becomes(standby, "standby");
              await signer.close();
              [signer, standby] = [standby, open()];
            }
            // A signer that lost its connection may not know it yet, and the other may be faster then.
            for (let isDone = false; !isDone; ) {
              await expect.poll(() => signer.journal.leads || standby.journal.leads, SOON).toBe(true);
              if (!signer.journal.leads) [signer, standby] = [standby, signer];
              isDone = await play(signer.journal, step, at, signed).then(
                () => true,
                (error: unknown) => {
                  if (!isBaseError(error, "NOT_SIGNER") && !isBaseError(error, "JOURNAL_CUT_OFF"))
                    throw error;
                  return false;
                },
              );
            }
            expect(contentOf(signer.journal)).toEqual(contentOf(own));
          }
          expect(signer.journal.unshared).toBe(0);
          await becomes(standby, "standby");
          await signer.close();
          await becomes(standby, "signer");
          expect(contentOf(standby.journal)).toEqual(contentOf(own));
        } finally {
          await Promise.all([signer.close().catch(() => undefined), standby.close()]);
        }
      }),
      { numRuns: scaled(6, 100) },
    );
  });
});
