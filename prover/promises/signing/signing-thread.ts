/** A thread that signs answers and journals them, many in one commit: nothing leaves it that is not on the disk. */
import { randomBytes } from "node:crypto";
import { parentPort, workerData } from "node:worker_threads";
import { fromHex } from "../../../base/bytes.ts";
import { digestBytes } from "../../../protocol/rules/promises/signed-claim.ts";
import { openDatabase } from "../../../protocol/service/journal/database.ts";
import { requireSigner, SIGNED_SCHEMA } from "../journal/schema.ts";
import { signDigest } from "./ecdsa.ts";
import type { Draft, FromThread, MadeBatch, Signature, ThreadData, ToThread } from "./messages.ts";

/** Tasks of one commit: who comes meanwhile waits no longer than for so many signatures. */
const GROUP = 64;

const { path, key: hexKey, owner } = workerData as ThreadData;
const key = fromHex(hexKey);
const db = openDatabase(path, [SIGNED_SCHEMA]);
requireSigner(db, owner);

/** Random as a whole. No two journals, nor one and its backup, share salts; and whoever has one signed claim, and can
 *  compute outputs, does not find the digest of another, which may not be paid for. */
const nextSalt = (): bigint => randomBytes(8).readBigUInt64BE();

const put = db.prepare(
  "INSERT INTO signed (digest, model_id, requester, issued_at, expiry, min_bond, salt, signature, input, output, payload) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
);
const awaitBatch = db.prepare("UPDATE signed SET payload = ? WHERE digest = ? AND payload IS NULL");
const putBatch = db.prepare("INSERT OR IGNORE INTO batches VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
const assign = db.prepare("UPDATE signed SET batch = ?, leaf = ? WHERE id = ? AND batch IS NULL");
const markUnposted = db.prepare("UPDATE batches SET is_posted = 0 WHERE id = ?");
const markPosted = db.prepare("UPDATE batches SET is_posted = 1 WHERE id = ?");
const prune = db.prepare(
  "DELETE FROM signed WHERE expiry < ? AND (batch IS NULL OR batch IN (SELECT id FROM batches WHERE is_posted = 1))",
);
const forget = db.prepare(
  "DELETE FROM batches WHERE id = ? AND is_posted = 1 AND NOT EXISTS (SELECT 1 FROM signed WHERE batch = batches.id)",
);

function sign({ claim }: Draft): Signature {
  const own = nextSalt();
  const digest = digestBytes(owner, { ...claim, salt: own });
  return { salt: own, digest, signature: signDigest(digest, key) };
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
    case "await":
      awaitBatch.run(task.payload, task.digest);
      break;
    case "posted":
      markPosted.run(task.batch);
      break;
    case "unposted":
      markUnposted.run(task.batch);
      break;
    case "forget":
      forget.run(task.batch);
      break;
    case "prune":
      prune.run(task.before);
      break;
  }
}

const inbox: ToThread[] = [];
const commit = db.transaction((tasks: readonly ToThread[], signed: readonly (Signature | undefined)[]) => {
  for (const [index, task] of tasks.entries()) carryOut(task, signed[index]);
});

function flush(): void {
  while (inbox.length > 0) flushGroup(inbox.splice(0, GROUP));
}

function flushGroup(tasks: readonly ToThread[]): void {
  try {
    const signed = tasks.map((task) => (task.kind === "sign" ? sign(task.draft) : undefined));
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

parentPort?.on("message", (tasks: readonly ToThread[] | "close") => {
  if (tasks === "close") {
    flush();
    db.close();
    parentPort?.close();
    return;
  }
  inbox.push(...tasks);
  // All that came by now go together.
  setImmediate(flush);
});
emit({ kind: "ready" });
