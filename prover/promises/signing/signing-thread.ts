/** A thread that signs answers and journals them, many in one commit: nothing leaves it that is not on the disk. */
import { randomBytes } from "node:crypto";
import { parentPort, workerData } from "node:worker_threads";
import { sign as ecdsa } from "viem/accounts";
import { fromHex, toHex } from "../../../base/bytes.ts";
import { digestBytes } from "../../../protocol/rules/promises/signed-claim.ts";
import { openDatabase } from "../../../protocol/service/journal/database.ts";
import { requireSigner, SIGNED_SCHEMA } from "../journal/schema.ts";
import type { Draft, FromThread, MadeBatch, Signature, ThreadData, ToThread } from "./messages.ts";

/** Tasks of one commit: who comes meanwhile waits no longer than for so many signatures. */
const GROUP = 64;
const COUNTER_BITS = 24n;

const { path, key, owner } = workerData as ThreadData;
const db = openDatabase(path, [SIGNED_SCHEMA]);
requireSigner(db, owner);

/** 40 random bits of this process, then a counter: no two journals, nor one and its backup, share salts. */
let salt = firstSalt();
function firstSalt(): bigint {
  return BigInt(`0x${randomBytes(5).toString("hex")}`) << COUNTER_BITS;
}
function nextSalt(): bigint {
  const taken = salt;
  salt = (taken + 1n) % (1n << COUNTER_BITS) === 0n ? firstSalt() : taken + 1n;
  return taken;
}

const put = db.prepare(
  "INSERT INTO signed (digest, model_id, requester, issued_at, expiry, min_bond, salt, signature, input, output, payload) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
);
const putBatch = db.prepare("INSERT OR IGNORE INTO batches VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
const assign = db.prepare("UPDATE signed SET batch = ?, leaf = ? WHERE id = ? AND batch IS NULL");
const markPosted = db.prepare("UPDATE batches SET is_posted = 1 WHERE id = ?");
const prune = db.prepare(
  "DELETE FROM signed WHERE expiry < ? AND (payload IS NULL OR batch IN (SELECT id FROM batches WHERE is_posted = 1))",
);

async function sign({ claim }: Draft): Promise<Signature> {
  const own = nextSalt();
  const digest = digestBytes(owner, { ...claim, salt: own });
  const signature = await ecdsa({ hash: toHex(digest), privateKey: key, to: "bytes" });
  return { salt: own, digest, signature };
}

function journal(
  { claim, input, output, payload }: Draft,
  { salt: own, digest, signature }: Signature,
): void {
  const { modelId, requester, issuedAt, expiry, minBond } = claim;
  put.run(
    ...[digest, fromHex(modelId), fromHex(requester), issuedAt, expiry, `${minBond}`, `${own}`, signature],
    ...[input, output, payload ?? null],
  );
}

function keep({ id, modelId, window, count, root, leafBond, data, rows, isPosted }: MadeBatch): void {
  putBatch.run(id, modelId, window, count, root, `${leafBond}`, data, Number(isPosted));
  for (const { row, leaf } of rows) assign.run(id, leaf, row);
}

/** @param signed of a task that signs */
function carryOut(task: ToThread, signed: Signature | undefined): void {
  switch (task.kind) {
    case "sign":
      journal(task.draft, signed as Signature);
      break;
    case "batch":
      keep(task.batch);
      break;
    case "posted":
      markPosted.run(task.batch);
      break;
    case "prune":
      prune.run(task.before);
      break;
  }
}

const inbox: ToThread[] = [];
let busy: Promise<void> | undefined;
const commit = db.transaction((tasks: readonly ToThread[], signed: readonly (Signature | undefined)[]) => {
  for (const [index, task] of tasks.entries()) carryOut(task, signed[index]);
});

/** One group at a time. */
function flush(): Promise<void> {
  busy ??= flushAll().finally(() => {
    busy = undefined;
  });
  return busy;
}

async function flushAll(): Promise<void> {
  while (inbox.length > 0) await flushGroup(inbox.splice(0, GROUP));
}

async function flushGroup(tasks: readonly ToThread[]): Promise<void> {
  try {
    const signed = await Promise.all(
      tasks.map((task) => (task.kind === "sign" ? sign(task.draft) : undefined)),
    );
    commit.immediate(tasks, signed);
    emit({
      kind: "committed",
      answers: tasks.map(({ id }, index) => ({ id, ...(signed[index] && { signed: signed[index] }) })),
    });
  } catch (error) {
    // What was signed is not given away: it is not on the disk.
    emit({ kind: "failed", ids: tasks.map(({ id }) => id), reason: String(error) });
  }
}

function emit(message: FromThread): void {
  parentPort?.postMessage(message);
}

parentPort?.on("message", async (task: ToThread | "close") => {
  if (task === "close") {
    await flush();
    db.close();
    parentPort?.close();
    return;
  }
  inbox.push(task);
  // All that came by now go together.
  setImmediate(() => void flush());
});
emit({ kind: "ready" });
