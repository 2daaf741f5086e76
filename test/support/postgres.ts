/** A PostgreSQL server for a test, of the version that the machine has. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { pause } from "../../protocol/chain/follower.ts";
import { postgresPrograms } from "../../tools/postgres.ts";

/** What no log and no message may hold. */
export const PASSWORD = "p4ss-of-the-test";
const USER = "assay";
/** The server refuses to run as root. */
const asServer: readonly string[] =
  process.getuid?.() === 0 ? ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", "--"] : [];

/** Below those that systems give to connections, of which one could take it while a server is down. */
async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 32_000);
    const server = createServer().listen(port, "127.0.0.1");
    try {
      await once(server, "listening");
    } catch {
      continue;
    }
    server.close();
    await once(server, "close");
    return port;
  }
}

export type Postgres = Awaited<ReturnType<typeof startPostgres>>;

export async function startPostgres() {
  const programs = postgresPrograms();
  if (programs === undefined) throw new Error("There is no PostgreSQL on this machine.");
  const folder = mkdtempSync(join(tmpdir(), "assay-postgres-"));
  const data = join(folder, "data");
  const passwordFile = join(folder, "password");
  writeFileSync(passwordFile, `${PASSWORD}\n`);
  if (asServer.length > 0) execFileSync("chown", ["-R", "postgres:", folder]);
  const runAs = (program: string, args: readonly string[]) => {
    const [command = "", ...rest] = [...asServer, join(programs, program), ...args];
    return [command, rest] as const;
  };
  execFileSync(
    ...runAs("initdb", ["-D", data, "-U", USER, "-A", "scram-sha-256", `--pwfile=${passwordFile}`, "-N"]),
    { stdio: "ignore", cwd: folder },
  );
  const port = await freePort();
  appendFileSync(
    join(data, "postgresql.conf"),
    `port = ${port}\nlisten_addresses = '127.0.0.1'\nunix_socket_directories = '${folder}'\n`,
  );
  const url = `postgres://${USER}:${PASSWORD}@127.0.0.1:${port}/postgres`;
  let server: ChildProcess | undefined;

  const query = async <Row extends pg.QueryResultRow>(
    sql: string,
    values: unknown[] = [],
  ): Promise<Row[]> => {
    const client = new pg.Client({ connectionString: url, options: "-c default_transaction_read_only=off" });
    client.on("error", () => undefined);
    await client.connect();
    try {
      return (await client.query<Row>(sql, values)).rows;
    } finally {
      await client.end();
    }
  };

  const runs = () => server !== undefined && server.exitCode === null && server.signalCode === null;

  const start = async (): Promise<void> => {
    if (runs()) return;
    server = spawn(...runAs("postgres", ["-D", data]), { stdio: "ignore", cwd: folder });
    process.once("exit", () => server?.kill("SIGKILL"));
    for (;;) {
      try {
        await query("SELECT 1");
        return;
      } catch (error) {
        if (!runs()) throw error;
      }
      await pause(50, new AbortController().signal);
    }
  };

  /** The postmaster and all that it has started. */
  const processes = (): number[] => {
    const main = server?.pid as number;
    try {
      const children = execFileSync("ps", ["-o", "pid=", "--ppid", `${main}`], { encoding: "utf8" });
      return [main, ...children.split("\n").map(Number).filter(Boolean)];
    } catch {
      return [main];
    }
  };
  const signalAll = (signal: NodeJS.Signals) => {
    for (const pid of processes()) {
      try {
        process.kill(pid, signal);
      } catch {
        // It has ended meanwhile.
      }
    }
  };

  /** As a server that loses its power does. */
  const crash = async (): Promise<void> => {
    if (server === undefined || !runs()) return;
    const ended = once(server, "exit");
    signalAll("SIGCONT");
    server.kill("SIGQUIT");
    await ended;
  };

  await start();
  return {
    url,
    urlWithoutPassword: url.replace(`:${PASSWORD}`, ""),
    passwordFile,
    query,
    /** Starts it again. */
    start,
    crash,
    freeze: () => signalAll("SIGSTOP"),
    thaw: () => signalAll("SIGCONT"),
    stop: async (): Promise<void> => {
      await crash();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
