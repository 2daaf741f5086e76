import { expect, test } from "vitest";
import { SILENT } from "../../../../base/log.ts";
import { listen } from "../../../../protocol/service/http/listen.ts";
import { countAs, createService } from "../../../../protocol/service/http/service.ts";

const LIMIT = 10;

/** A service whose one route counts a request as so many. */
async function start(requestsPerMinute: number) {
  const app = createService({
    ...{ log: SILENT, nowMs: Date.now, limits: { requestsPerMinute }, routes: ["GET /:count"] },
    mount: (mounted) => {
      mounted.get("/:count", async (request, response) => {
        await countAs(request, Number(request.params.count));
        response.end();
      });
    },
  });
  const server = await listen(app, "127.0.0.1", 0);
  return { server, ask: (count: number) => fetch(`${server.url}/${count}`) };
}

test("behavior: a request counts as so many, and costs one where the rest does not fit", async () => {
  const { server, ask } = await start(LIMIT);
  try {
    expect((await ask(6)).status).toBe(200);
    const refused = await ask(5);
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(await refused.json()).toMatchObject({
      error: { code: "RATE_LIMITED", details: { limit: LIMIT } },
    });
    expect((await ask(3)).status).toBe(200);
    expect((await ask(1)).status).toBe(429);
  } finally {
    await server.close();
  }
});

test("behavior: of several at once no more pass than there is room for", async () => {
  const { server, ask } = await start(LIMIT);
  try {
    const statuses = await Promise.all(Array.from({ length: 8 }, async () => (await ask(4)).status));
    expect(statuses.filter((status) => status === 200).length).toBeLessThanOrEqual(LIMIT / 4);
  } finally {
    await server.close();
  }
});

test("behavior: without a limit nothing is counted", async () => {
  const { server, ask } = await start(0);
  try {
    for (let asked = 0; asked < 3; asked++) expect((await ask(1_000)).status).toBe(200);
  } finally {
    await server.close();
  }
});
