/** Daemons of one key that share a PostgreSQL: what they say of their parts, what befalls them, and what they sent. */
import { readFileSync } from "node:fs";
import { expect } from "vitest";
import type { Daemon } from "../../cli/demo/processes.ts";
import { fetchMetrics } from "./exposition.ts";
import type { Postgres } from "./postgres.ts";
import { type System, systemAccount } from "./system.ts";

/** Of their logs. */
export const SIGNS = "this daemon signs with its key";
export const STANDS_BY = "another daemon signs with this key; standing by";
export const GONE =
  "PostgreSQL cannot be used: nothing new is begun, owed answers are journalled in the folder";

/** Within which another takes over, also on a machine that is busy, ms. */
const TAKEOVER_MS = 30_000;

export const signal = ({ pid }: Daemon, name: NodeJS.Signals) => process.kill(pid as number, name);

export async function kill(daemon: Daemon): Promise<void> {
  signal(daemon, "SIGKILL");
  await daemon.ended;
}

/** A daemon that signs, and another of its key that stands by. On a machine so busy that the first was taken for dead the
 *  second signs: then it is ended and begun again.
 *  @param begin starts the second one, under a name that a number ends @param isUp a log line of both */
export async function standbyOf(
  signer: Daemon,
  begin: (name: string) => Daemon,
  isUp: string,
): Promise<Daemon> {
  await Promise.all([signer.logged(SIGNS), signer.logged(isUp)]);
  for (let tries = 1; ; tries++) {
    const standby = begin(`standby-${tries}`);
    await Promise.race([standby.logged(STANDS_BY), standby.logged(SIGNS)]);
    await standby.logged(isUp);
    if (lastRoleOf(standby) === STANDS_BY && lastRoleOf(signer) === SIGNS) return standby;
    await standby.stop();
    await expect.poll(() => lastRoleOf(signer), { timeout: 60_000 }).toBe(SIGNS);
  }
}

/** As a daemon's log has it. */
function lastRoleOf({ log }: Daemon): string | undefined {
  const lines = readFileSync(log, "utf8").split("\n");
  const last = lines.findLast((line) => line.includes(SIGNS) || line.includes(STANDS_BY));
  return last && (last.includes(SIGNS) ? SIGNS : STANDS_BY);
}

/** @param since when the one before it was struck, ms */
export async function expectTakeover(standby: Daemon, since: number): Promise<void> {
  await standby.logged(SIGNS);
  expect(Date.now() - since).toBeLessThan(TAKEOVER_MS);
}

/** What can become of a PostgreSQL, and how it ends, by a name that a test's name goes on with. To a journal all of them
 *  look like one that is gone.
 *  @param running the server, once it is there */
export function postgresFaults(running: () => Postgres) {
  const readOnly = async (value: "on" | "off") => {
    await running().query(`ALTER SYSTEM SET default_transaction_read_only = ${value}`);
    await running().query("SELECT pg_reload_conf()");
  };
  return {
    isStopped: ["is stopped", () => running().crash(), () => running().start()],
    hangs: ["hangs", async () => running().freeze(), async () => running().thaw()],
    takesNoWrites: ["takes no writes", () => readOnly("on"), () => readOnly("off")],
  } as const satisfies Record<string, readonly [string, () => Promise<void>, () => Promise<void>]>;
}

/** Reads one of a daemon's metrics. @param isUp the log line that has its URL */
export async function metricsOf(daemon: Daemon, isUp: string) {
  const { url } = await daemon.logged(isUp);
  return async (name: string) => (await fetchMetrics(String(url))).get(name);
}

/** What an account sent: nothing failed, and nothing was sent twice. */
export async function expectSentOnce({ client }: System, index: number): Promise<void> {
  const { address } = systemAccount(index);
  const inputs: string[] = [];
  const newest = await client.getBlockNumber();
  for (let blockNumber = 0n; blockNumber <= newest; blockNumber++) {
    const { transactions } = await client.getBlock({ blockNumber, includeTransactions: true });
    for (const { from, hash, input } of transactions) {
      if (from.toLowerCase() !== address.toLowerCase()) continue;
      expect((await client.getTransactionReceipt({ hash })).status).toBe("success");
      inputs.push(input);
    }
  }
  expect(inputs.length).toBeGreaterThan(0);
  expect(new Set(inputs).size).toBe(inputs.length);
}
