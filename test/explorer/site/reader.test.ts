/** An exported site's reader on a chain with promises, beside the server. */
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SILENT } from "../../../base/log.ts";
import type { Overview } from "../../../explorer/api/types.ts";
import { readGlossary } from "../../../explorer/glossary-file.ts";
import { Library } from "../../../explorer/library.ts";
import { Reader } from "../../../explorer/site/reader.ts";
import type { SqliteConnection } from "../../../explorer/store/sqlite-store.ts";
import { browserDatabases } from "../../support/browser-database.ts";
import { caughtUp, startLocalExplorer } from "../../support/local-explorer.ts";
import { type PlayedPromises, playPromises } from "../../support/promises/played-promises.ts";
import { readPieces } from "../../support/promises/promise-batches.ts";

const PATIENCE_MS = 60_000;

let browser: () => SqliteConnection;
let played: PlayedPromises;
let explorer: Awaited<ReturnType<typeof startLocalExplorer>>;
beforeAll(async () => {
  browser = await browserDatabases();
  played = await playPromises("\u202eabc");
  explorer = await startLocalExplorer({
    chain: played.played.chain,
    models: [played.models],
    data: join(played.folder.path, "explorer"),
    pagesFolder: join(played.folder.path, "none"),
  });
  await caughtUp(explorer.url, played.played.chain);
});
afterAll(async () => {
  await explorer?.stop();
  await played?.stop();
});

describe("Reader", () => {
  /** Reads the chain as an exported site does, until the work is done. */
  async function reading(maxEvents: number, work: (reader: Reader) => Promise<void>): Promise<void> {
    const { deployment, local, models } = played;
    const stopping = new AbortController();
    const reader = new Reader({
      site: { deployment, rpcUrl: local.rpcUrl, confirmations: 0, pollIntervalMs: 20, maxEvents },
      db: browser(),
      shelf: (fromChain) => new Library([models], SILENT, fromChain),
      glossary: readGlossary(),
      listener: { reading: () => undefined, emit: () => undefined },
    });
    const running = reader.run(stopping.signal);
    try {
      await work(reader);
    } finally {
      stopping.abort();
      await running;
    }
  }
  const state = (reader: Reader) =>
    expect.poll(() => reader.reading.state, { timeout: PATIENCE_MS, interval: 20 });

  it("default: answers about promises what the server does", async () => {
    const { right, fallen, running, queued, stood } = played;
    await reading(1_000, async (reader) => {
      await state(reader).toBe("live");
      for (const path of [
        ...["/v1/batches", "/v1/signed-claims", `/v1/batches/${running.id}`, `/v1/batches/${fallen.id}`],
        ...[`/v1/batches/${right.id}/leaves`, `/v1/batches/${right.id}/leaves/4`],
        ...[`/v1/signed-claims/${queued}`, `/v1/signed-claims/${stood}`, `/v1/events?batch=${fallen.id}`],
      ]) {
        const { status, body } = await reader.answer({ method: "GET", path });
        expect([path, status]).toEqual([path, 200]);
        expect(body, path).toBe(await (await fetch(`${explorer.url}${path}`)).text());
      }
    });
  });

  it("behavior: events of promises count to its limit", async () => {
    const { blocks } = await readPieces(played.played.chain);
    const own = blocks.flatMap(({ events }) => events).length;
    const promised = blocks.flatMap((block) => block.promised).length;
    expect(((await (await fetch(`${explorer.url}/v1/overview`)).json()) as Overview).events).toBe(
      own + promised,
    );
    await reading(own + promised, async (reader) => {
      await state(reader).toBe("full");
      expect(reader.reading).toMatchObject({ progress: { events: own + promised } });
    });
  });
});
