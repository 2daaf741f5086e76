/** The explorer in a thread of another daemon: what its callers ask for never holds up the daemon's own event loop, which
 *  has deadlines to keep. It has no key. */
import { parentPort, workerData } from "node:worker_threads";
import { Command } from "commander";
import { BaseError } from "../base/errors.ts";
import type { ExplorerThreadData, FromExplorerThread } from "./beside-explorer.ts";
import { serveExplorer } from "./explorer.ts";
import { createLogger } from "./log.ts";

const { flags, logFlags } = workerData as ExplorerThreadData;
const port = parentPort;
if (port === null) throw new Error("This is no program of its own: assay explorer is.");
const report = (message: FromExplorerThread): void => port.postMessage(message);
const stopping = new AbortController();
port.once("message", () => stopping.abort());
try {
  const self = new Command();
  for (const [name, value] of Object.entries(logFlags)) self.setOptionValue(name, value);
  const sources = { flags, env: process.env };
  await serveExplorer(sources, createLogger("explorer", self), stopping.signal, {
    onUp: (url) => report({ kind: "up", url }),
  });
} catch (error) {
  const failure =
    error instanceof BaseError
      ? error
      : { code: "UNEXPECTED", shortMessage: String(error), nextStep: "Report it." };
  const { code, shortMessage, nextStep = "" } = failure;
  report({ kind: "failed", code, shortMessage, nextStep });
}
port.close();
