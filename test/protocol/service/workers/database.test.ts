import { once } from "node:events";
import { createServer } from "node:net";
import { describe, expect, test } from "vitest";
import { type Logger, SILENT } from "../../../../base/log.ts";
import { databaseTerms } from "../../../../protocol/service/postgres/terms.ts";
import { WorkDatabase } from "../../../../protocol/service/workers/database.ts";
import { ANSWERED } from "../../../../protocol/service/workers/orders.ts";

describe("WorkDatabase", () => {
  test("behavior: a server that takes no connection is logged once, however often it is tried", async () => {
    const over = new AbortController();
    const TRIES = 3;
    let tries = 0;
    const server = createServer((socket) => {
      tries += 1;
      socket.destroy();
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as { port: number };
    const warnings: unknown[] = [];
    const log: Logger = { ...SILENT, warn: (facts) => void warnings.push(facts) };
    const database = new WorkDatabase({
      terms: databaseTerms(`postgres://127.0.0.1:${port}/none`, undefined),
      makesTables: true,
      listen: { channel: ANSWERED, onNews: () => undefined },
      log,
    });
    const running = database.run(over.signal);
    await expect.poll(() => tries, { timeout: 60_000 }).toBeGreaterThan(TRIES);
    over.abort();
    await running;
    server.close();
    expect(warnings).toHaveLength(1);
  });
});
