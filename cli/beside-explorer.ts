/** `--explorer-port`: a daemon that serves the explorer as well, in a thread of its own. */
import { Worker } from "node:worker_threads";
import type { Command } from "commander";
import { BaseError } from "../base/errors.ts";
import type { Logger } from "../base/log.ts";
import { CHAIN_SETTINGS, integer, LOG_SETTINGS, type Setting } from "../protocol/service/config.ts";

export const EXPLORER_PORT_SETTING = {
  schema: integer(0, 65_535),
  description:
    "port at which this process serves the explorer too, 0 for any; absent: none. The rest is as the section explorer of the configuration says",
} as const satisfies Setting;

/** What the thread is started with: flags by setting's name. */
export interface ExplorerThreadData {
  readonly flags: Readonly<Record<string, unknown>>;
  readonly logFlags: Readonly<Record<string, unknown>>;
}
export type FromExplorerThread =
  | { readonly kind: "up"; readonly url: string }
  | {
      readonly kind: "failed";
      readonly code: string;
      readonly shortMessage: string;
      readonly nextStep: string;
    };

/** Flags of a daemon that mean the same for its explorer; the key and its file are not among them. */
const SHARED = [
  "config",
  "models",
  ...Object.keys(CHAIN_SETTINGS).filter((name) => !/^(keystore|signer)/.test(name)),
];
/** Variables that hold or unlock a key. */
const SECRET = /^ASSAY_(KEY|SIGNER)/;

/** Does the work, with an explorer beside it where a port is given. One that cannot start ends both; one that ends later
 *  is told in the log, and the work goes on.
 *  @throws BaseError what `assay explorer` fails with; what the work throws */
export async function besideExplorer(
  self: Command,
  port: number | undefined,
  log: Logger,
  work: () => Promise<void>,
): Promise<void> {
  if (port === undefined) return work();
  const stop = await startThread(self.optsWithGlobals(), port, log);
  try {
    await work();
  } finally {
    await stop();
  }
}

/** @returns what ends it */
async function startThread(
  options: Readonly<Record<string, unknown>>,
  port: number,
  log: Logger,
): Promise<() => Promise<void>> {
  const picked = (names: readonly string[]) =>
    Object.fromEntries(names.map((name) => [name, options[name]]).filter(([, value]) => value !== undefined));
  const flags = { ...picked(SHARED), port };
  const logFlags = picked(["config", ...Object.keys(LOG_SETTINGS)]);
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !SECRET.test(name)));
  const workerData: ExplorerThreadData = { flags, logFlags };
  const worker = new Worker(new URL("explorer-thread.mjs", import.meta.url), {
    ...{ workerData, env },
    execArgv: [],
  });
  // Before it is up its end is that of the daemon, and while it is stopped it has to end.
  let mayEnd = true;
  const ended = new Promise<void>((resolve) => {
    worker.once("exit", () => {
      if (!mayEnd) log.error({}, "the explorer of this process has ended; the rest goes on");
      resolve();
    });
  });
  await new Promise<void>((resolve, reject) => {
    worker.on("message", (message: FromExplorerThread) => {
      if (message.kind === "up") {
        mayEnd = false;
        return resolve();
      }
      const { kind: _, ...fields } = message;
      reject(new BaseError(fields));
      log.error({ error: new BaseError(fields) }, "the explorer of this process failed");
    });
    worker.on("error", (error) => {
      reject(error);
      log.error({ error }, "the explorer of this process failed");
    });
    ended.then(() => reject(new Error("The explorer's thread ended before it was up.")));
  });
  return async () => {
    mayEnd = true;
    worker.postMessage("stop");
    await ended;
  };
}
