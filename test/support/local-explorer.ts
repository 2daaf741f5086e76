/** An explorer in this process. */
import { expect, vi } from "vitest";
import { type Logger, SILENT } from "../../base/log.ts";
import type { Overview } from "../../explorer/api/types.ts";
import { type ExplorerOptions, runExplorer } from "../../explorer/main.ts";
import type { Chain } from "../../protocol/chain/connect.ts";

/** Resolves once the explorer's index has the chain's newest block. */
export async function caughtUp(url: string, { client }: Pick<Chain, "client">): Promise<void> {
  const newest = Number(await client.getBlockNumber());
  await vi.waitFor(
    async () => {
      const overview = (await (await fetch(`${url}/v1/overview`)).json()) as Overview;
      expect(overview.head?.number).toBeGreaterThanOrEqual(newest);
    },
    { timeout: 600_000, interval: 50 },
  );
}

/** Starts it on a free port; call `stop` when done. */
export async function startLocalExplorer(
  options: Pick<ExplorerOptions, "chain" | "data" | "models" | "pagesFolder" | "database">,
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
