/** An explorer in this process. */
import { type Logger, SILENT } from "../../base/log.ts";
import { type ExplorerOptions, runExplorer } from "../../explorer/main.ts";

/** Starts it on a free port; call `stop` when done. */
export async function startLocalExplorer(
  options: Pick<ExplorerOptions, "chain" | "data" | "models" | "pagesFolder">,
): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const stopping = new AbortController();
  let running: Promise<void> = Promise.resolve();
  const url = await new Promise<string>((resolve, reject) => {
    const log: Logger = { ...SILENT, info: (fields) => "url" in fields && resolve(String(fields.url)) };
    const usual = {
      log,
      watch: [],
      provers: [],
      host: "127.0.0.1",
      port: 0,
      pollIntervalMs: 20,
      confirmations: 0,
    };
    running = runExplorer({ ...usual, limits: { requestsPerMinute: 0 }, ...options }, stopping.signal);
    running.catch(reject);
  });
  return {
    url,
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
}
