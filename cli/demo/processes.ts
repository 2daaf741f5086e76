/** The demo's daemons: the assay program, and provers that lie, as separate processes, each with its own key and
 *  folder. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Hex } from "viem";
import { BaseError } from "../../base/errors.ts";
import { projectRoot } from "../../tools/foundry.ts";

export interface Daemon {
  readonly name: string;
  /** file of its log, JSON lines */
  readonly log: string;
  readonly pid: number | undefined;
  /** Resolves when the process has ended, by itself or not. */
  readonly ended: Promise<unknown>;
  /** Resolves with the fields of the first log line that has this message. */
  logged(message: string): Promise<Record<string, unknown>>;
  stop(): Promise<void>;
}

export interface DaemonOptions {
  readonly name: string;
  /** what Node.js runs; absent: the assay program */
  readonly program?: readonly string[];
  readonly args: readonly string[];
  readonly key: Hex;
  readonly folder: string;
  readonly rpcUrl: string;
  readonly deployment: string;
  /** variables besides */
  readonly env?: Readonly<Record<string, string>>;
  /** a command that ends in running the one that follows it */
  readonly through?: readonly string[];
}

const ASSAY: readonly string[] = [join(projectRoot, "bin/assay.js")];
/** A prover that lies as its `--fault` says. */
export const DISHONEST_PROVER: readonly string[] = [join(projectRoot, "cli/demo/dishonest/start.mjs")];

const STOP_TIMEOUT_MS = 5_000;

/** Starts one daemon; it ends with this process. */
export function startDaemon(options: DaemonOptions): Daemon {
  const { name, program = ASSAY, args, key, folder, rpcUrl, deployment, env = {}, through = [] } = options;
  const inherited = Object.entries(process.env).filter(([variable]) => !variable.startsWith("ASSAY_"));
  const command = [...through, process.execPath, ...program, ...args];
  const child = spawn(command[0] as string, command.slice(1), {
    cwd: projectRoot,
    env: {
      ...Object.fromEntries(inherited),
      ASSAY_RPC_URL: rpcUrl,
      ASSAY_DEPLOYMENT: deployment,
      ASSAY_KEY: key,
      ASSAY_DATA: join(folder, name),
      // A few looks within a block of one second.
      ASSAY_POLL_INTERVAL_MS: "250",
      ...env,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const killWithParent = () => child.kill("SIGKILL");
  process.once("exit", killWithParent);
  const ended = once(child, "exit").then(() => process.removeListener("exit", killWithParent));
  const log = join(folder, `${name}.log`);
  const file = createWriteStream(log);
  child.stderr.pipe(file, { end: false });
  const lines: string[] = [];
  const listeners = new Set<(line: string) => unknown>();
  createInterface({ input: child.stdout }).on("line", (line) => {
    file.write(`${line}\n`);
    lines.push(line);
    for (const listener of listeners) listener(line);
  });
  return {
    name,
    log,
    pid: child.pid,
    ended,
    logged: (message) => waitFor(child, name, log, lines, listeners, message),
    stop: async () => {
      child.kill("SIGTERM");
      const kill = setTimeout(() => child.kill("SIGKILL"), STOP_TIMEOUT_MS);
      await ended;
      clearTimeout(kill);
    },
  };
}

function waitFor(
  child: ChildProcess,
  name: string,
  log: string,
  lines: readonly string[],
  listeners: Set<(line: string) => unknown>,
  message: string,
): Promise<Record<string, unknown>> {
  return new Promise((resolve, reject) => {
    const read = (line: string): boolean => {
      const found = fieldsOf(line, message);
      if (found === undefined) return false;
      listeners.delete(read);
      resolve(found);
      return true;
    };
    if (lines.some(read)) return;
    listeners.add(read);
    child.once("exit", (code) =>
      reject(
        new BaseError({
          code: "DAEMON_ENDED",
          shortMessage: `The ${name} ended with exit code ${code} before it said "${message}".`,
          nextStep: `Read ${log}.`,
        }),
      ),
    );
  });
}

/** Of a log line that has this message; of no other line is the JSON read: a busy daemon logs thousands a second. */
function fieldsOf(line: string, message: string): Record<string, unknown> | undefined {
  if (!line.includes(JSON.stringify(message))) return undefined;
  try {
    const fields = JSON.parse(line) as Record<string, unknown>;
    return fields.msg === message ? fields : undefined;
  } catch {
    // Not a log line; the file has it.
    return undefined;
  }
}
