/** Two explorers of one played deployment, on SQLite and on PostgreSQL: the same answers, also after the server of the one
 *  was gone or hung. */
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Health, Overview } from "../../explorer/api/types.ts";
import { ROUTES } from "../../explorer/http/routes.ts";
import { databaseTerms } from "../../protocol/service/postgres/terms.ts";
import { everyPath } from "../support/every-path.ts";
import { caughtUp, startLocalExplorer } from "../support/local-explorer.ts";
import { PASSWORD, type Postgres, startPostgres } from "../support/postgres.ts";
import { type PlayedPromises, playPromises } from "../support/promises/played-promises.ts";

const SOON = { timeout: 120_000, interval: 100 };
type Local = Awaited<ReturnType<typeof startLocalExplorer>>;

let postgres: Postgres;
let played: PlayedPromises;
let [plain, shared] = [] as unknown as [Local, Local];

const start = (data: string, more: Pick<Parameters<typeof startLocalExplorer>[0], "database"> = {}) =>
  startLocalExplorer({
    chain: played.played.chain,
    models: [played.models],
    data: join(played.folder.path, data),
    pagesFolder: join(played.folder.path, "none"),
    ...more,
  });

beforeAll(async () => {
  [postgres, played] = await Promise.all([startPostgres(), playPromises("\u202eabc")]);
  const database = databaseTerms(postgres.url, undefined);
  [plain, shared] = await Promise.all([start("plain"), start("shared", { database })]);
  await Promise.all([plain, shared].map(({ url }) => caughtUp(url, played.played.chain)));
});
afterAll(async () => {
  await Promise.all([plain?.stop(), shared?.stop()]);
  await played?.stop();
  await postgres?.stop();
});

/** Only errors name their request. */
const bodyOf = async ({ url }: Local, path: string): Promise<string> =>
  (await (await fetch(url + path)).text()).replace(/,"requestId":"[^"]*"(?=\}\n$)/, "");

async function expectSame(paths: readonly string[]): Promise<void> {
  // What the node is asked for is left out where it does not answer soon.
  for (const path of paths)
    await expect
      .poll(async () => [path, await bodyOf(shared, path)], SOON)
      .toEqual([path, await bodyOf(plain, path)]);
}
const everything = () => everyPath((path) => bodyOf(plain, path));

/** Each name once, as they come, until the signal. */
async function listen({ url }: Local, signal: AbortSignal, names: Set<string>): Promise<void> {
  const { body } = await fetch(`${url}/v1/stream`, { signal });
  try {
    for await (const chunk of body as ReadableStream<Uint8Array>)
      for (const [, name] of new TextDecoder().decode(chunk).matchAll(/^event: (\w+)$/gm))
        names.add(name as string);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

describe("assay explorer --database", () => {
  test("default: every route answers byte for byte what SQLite answers", async () => {
    const paths = await everything();
    const asked = paths.map((path) => path.split("?")[0] as string);
    for (const { path } of ROUTES) {
      const form = new RegExp(`^${path.replaceAll(/\{\w+\}/g, "[^/]+")}$`);
      expect(
        asked.some((one) => form.test(one)),
        path,
      ).toBe(true);
    }
    await expectSame(paths);
    expect(paths.length).toBeGreaterThan(50);
  });

  test("error: a text that no database takes is refused alike, and finds nothing", async () => {
    await expectSame([
      ...[
        "/v1/search?q=%00",
        "/v1/search?q=0x%00abc",
        "/v1/search?q='%20OR%201=1--",
        "/v1/search?q=999999999999",
      ],
      ...[
        "/v1/claims?before=9999999999999999",
        "/v1/claims?since=9007199254740991",
        "/v1/claims?until=1e308",
      ],
      ...["/v1/claims?disputed=true&state=FALLEN", "/v1/claims?disputed=true&fall=OUTPUT&since=1"],
      ...["/v1/accounts?before=9999999999999999-0x0000000000000000000000000000000000000000"],
    ]);
  });

  test("error: while PostgreSQL is gone, answers name it; then it goes on, and nothing is missing", async () => {
    const [stopping, names] = [new AbortController(), new Set<string>()];
    const listening = listen(shared, stopping.signal, names);
    await expect.poll(() => names.size, SOON).toBeGreaterThan(0);
    await postgres.crash();
    try {
      const answer = await fetch(`${shared.url}/v1/claims`);
      expect(answer.status).toBe(503);
      const { error } = (await answer.json()) as { error: { code: string; message: string } };
      expect(error.code).toBe("DATABASE_UNREACHABLE");
      expect(error.message).toContain(`127.0.0.1:${new URL(postgres.url).port}/postgres`);
      expect(JSON.stringify(error)).not.toContain(PASSWORD);
      const health = async () => ((await (await fetch(`${shared.url}/healthz`)).json()) as Health).status;
      await expect.poll(health, SOON).toBe("database-unreachable");
      expect((await fetch(`${shared.url}/livez`)).status).toBe(200);
      expect((await fetch(`${shared.url}/v1/stream`)).status).toBe(503);
      await played.local.passTime(60);
    } finally {
      await postgres.start();
    }
    const head = async () =>
      ((await (await fetch(`${shared.url}/v1/overview`)).json()) as Partial<Overview>).head?.number ?? -1;
    const newest = Number(await played.local.client.getBlockNumber());
    await expect.poll(head, SOON).toBeGreaterThanOrEqual(newest);
    await caughtUp(plain.url, played.played.chain);
    await expectSame(await everything());
    stopping.abort();
    await listening;
  });

  test("error: one that hangs is not waited for without end", async () => {
    postgres.freeze();
    try {
      const answer = await fetch(`${shared.url}/v1/overview`);
      expect(answer.status).toBe(503);
      expect(await answer.text()).toContain("DATABASE_UNREACHABLE");
    } finally {
      postgres.thaw();
    }
    await expect.poll(async () => (await fetch(`${shared.url}/v1/overview`)).status, SOON).toBe(200);
    await expectSame(["/v1/claims", "/v1/batches"]);
  });

  test("behavior: it starts while PostgreSQL is gone, and follows when it is there", async () => {
    await postgres.crash();
    const database = databaseTerms(postgres.url, undefined);
    const late = await start("late", { database });
    try {
      expect((await fetch(`${late.url}/v1/claims`)).status).toBe(503);
      await postgres.start();
      await expect.poll(() => bodyOf(late, "/v1/claims"), SOON).toBe(await bodyOf(plain, "/v1/claims"));
    } finally {
      await postgres.start();
      await late.stop();
    }
  });
});
