import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type Hex, recoverAddress } from "viem";
import { afterEach, describe, expect, it } from "vitest";
import { toHex } from "../../../base/bytes.ts";
import { SILENT } from "../../../base/log.ts";
import type { BatchId } from "../../../protocol/rules/promises/batch.ts";
import { type Digest, digestOf } from "../../../protocol/rules/promises/signed-claim.ts";
import { openSqlite } from "../../../protocol/service/journal/sqlite.ts";
import { journalPath, SignedJournal } from "../../../prover/promises/journal/journal.ts";
import { Signer } from "../../../prover/promises/signing/signer.ts";
import { temporaryFolder } from "../../support/deploy.ts";
import { draftOf, SIGNED_MODEL, SIGNER_KEY, SIGNER_OWNER } from "../../support/promises/signing-drafts.ts";

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

function folder(): string {
  const made = temporaryFolder();
  closers.push(made.remove);
  return made.path;
}
async function open(data: string, owner = SIGNER_OWNER): Promise<Signer> {
  const signer = await Signer.open({ path: journalPath(data), key: SIGNER_KEY, owner }, SILENT);
  closers.push(() => signer.close());
  return signer;
}
function journalOf(data: string): SignedJournal {
  const journal = new SignedJournal(data, SIGNER_OWNER.prover);
  closers.push(() => journal.close());
  return journal;
}

describe("Signer.sign", () => {
  it("default: the key's signature of what the journal holds", async () => {
    const data = folder();
    const signer = await open(data);
    const draft = draftOf(3);
    const { salt, digest, signature } = await signer.sign(draft);
    expect(toHex(digest)).toBe(digestOf(SIGNER_OWNER, { ...draft.claim, salt }));
    const hash = toHex(digest);
    expect(await recoverAddress({ hash, signature: toHex(signature) })).toBe(SIGNER_OWNER.prover);
    expect(journalOf(data).find(hash as Digest)).toEqual({
      claim: { ...draft.claim, prover: SIGNER_OWNER.prover, salt },
      ...{ signature: toHex(signature), isBatched: false },
    });
  });

  it("behavior: the same answer twice is two promises, and journals of one key share no salt", async () => {
    const signers = [await open(folder()), await open(folder())];
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, i) => (signers[i % 2] as Signer).sign(draftOf(1))),
    );
    expect(new Set(answers.map(({ salt }) => salt)).size).toBe(200);
    expect(new Set(answers.map(({ digest }) => toHex(digest))).size).toBe(200);
  });

  it("error: who bought one signed claim, and computes outputs, does not find what was signed next and is not paid", async () => {
    const data = folder();
    const signer = await open(data);
    const { salt: bought } = await signer.sign(draftOf(1));
    const unpaid = draftOf(2);
    const { digest } = await signer.sign(unpaid);
    const journal = journalOf(data);
    expect(journal.find(toHex(digest) as Digest)).toBeDefined();
    const guesses = Array.from({ length: 256 }, (_, i) => BigInt.asUintN(64, bought + BigInt(i - 127)));
    const found = guesses.filter(
      (salt) => journal.find(digestOf(SIGNER_OWNER, { ...unpaid.claim, salt })) !== undefined,
    );
    expect(found).toEqual([]);
  });

  it("behavior: a journal restored from its backup goes on with other salts", async () => {
    const data = folder();
    const salts: bigint[] = [];
    for (let start = 0; start < 3; start++) {
      const signer = await Signer.open(
        { path: journalPath(data), key: SIGNER_KEY, owner: SIGNER_OWNER },
        SILENT,
      );
      salts.push((await signer.sign(draftOf(1))).salt);
      await signer.close();
    }
    expect(new Set(salts.map((salt) => salt >> 24n)).size).toBe(3);
  });

  it("error: nothing is given out that could not be journalled", async () => {
    const data = folder();
    const signer = await open(data);
    const other = openSqlite(journalPath(data));
    other.exec("BEGIN IMMEDIATE");
    await expect(signer.sign(draftOf(1))).rejects.toMatchObject({ code: "JOURNAL_FAILED", retryable: true });
    other.exec("ROLLBACK");
    other.close();
    await expect(signer.sign(draftOf(1))).resolves.toMatchObject({ digest: expect.anything() });
  });

  it.each([
    ["chain", { chainId: 1 }],
    ["contract", { promises: `0x${"23".repeat(20)}` }],
    ["prover", { prover: `0x${"24".repeat(20)}` }],
    ["chain that was started anew", { blockHash: `0x${"45".repeat(32)}` }],
  ])("error: the journal of another %s", async (_what, changes) => {
    const data = folder();
    const signer = await Signer.open(
      { path: journalPath(data), key: SIGNER_KEY, owner: SIGNER_OWNER },
      SILENT,
    );
    await signer.close();
    await expect(open(data, { ...SIGNER_OWNER, ...(changes as object) })).rejects.toMatchObject({
      code: "SIGNER_LOST",
      shortMessage: expect.stringContaining("was used with"),
    });
  });

  it("behavior: killed at any moment, it holds whatever it gave out", async () => {
    const data = folder();
    const child = join(import.meta.dirname, "../../support/promises/signing-child.ts");
    for (const limit of [1, 20, 150]) {
      const process_ = spawn(process.execPath, ["--import", "tsx", child, journalPath(data)], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      const given: Hex[] = [];
      const ended = once(process_, "close");
      for await (const line of createInterface({ input: process_.stdout })) {
        // The last line may be cut off.
        if (line.length === 66) given.push(line as Hex);
        if (given.length === limit) process_.kill("SIGKILL");
      }
      await ended;
      expect(given.length).toBeGreaterThanOrEqual(limit);
      const journal = new SignedJournal(data, SIGNER_OWNER.prover);
      expect(given.filter((digest) => journal.find(digest as Digest) === undefined)).toEqual([]);
      journal.close();
    }
  });
});

describe("Signer.keepBatch", () => {
  it("default: leaves are in one batch, whatever is asked later", async () => {
    const data = folder();
    const signer = await open(data);
    for (const number of [1, 2, 3]) await signer.sign(draftOf(number, true));
    const journal = journalOf(data);
    const [first, second] = journal.waiting(SIGNED_MODEL, 10);
    if (first === undefined || second === undefined) throw new Error("nothing waits");
    const batch = (id: number, rows: readonly number[]) => ({
      ...{ id: new Uint8Array(32).fill(id), modelId: new Uint8Array(32).fill(0x55), window: 20 },
      ...{ root: new Uint8Array(32), leafBond: 0n, data: new Uint8Array(8), count: rows.length },
      ...{ rows: rows.map((row, leaf) => ({ row, leaf })), isPosted: false },
    });
    await signer.keepBatch(batch(1, [first.row, second.row]));
    await signer.keepBatch(batch(2, [second.row]));
    expect(journal.waiting(SIGNED_MODEL, 10)).toHaveLength(1);
    expect(journal.unposted().map(({ id }) => id.slice(0, 4))).toEqual(["0x01", "0x02"]);
    await signer.markPosted(new Uint8Array(32).fill(1));
    expect(journal.unposted()).toHaveLength(1);
    // After its end, what is in a batch that is not on the chain is kept; what is in none, or in one that is, is not.
    const [third] = journal.waiting(SIGNED_MODEL, 10);
    if (third === undefined) throw new Error("nothing waits");
    await signer.keepBatch(batch(3, [third.row]));
    await signer.sign(draftOf(4, true));
    expect(journal.countWaiting()).toBe(1);
    await signer.prune(3_000);
    expect(journal.countWaiting()).toBe(0);
    const holds = [1, 3].map((id) => journal.holdsLeavesOf(toHex(new Uint8Array(32).fill(id)) as BatchId));
    expect(holds).toEqual([false, true]);
  });
});
