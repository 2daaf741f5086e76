import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import express from "express";
import { expect, test } from "vitest";
import { SILENT } from "../../../../base/log.ts";
import { listen } from "../../../../protocol/service/http/listen.ts";
import { createService } from "../../../../protocol/service/http/service.ts";

test("error: a part that a file has not, or another state of it, is no fault of ours that caches keep for a year", async () => {
  const folder = mkdtempSync(join(tmpdir(), "unmet-"));
  writeFileSync(join(folder, "a.js"), "0");
  const mount = (app: express.Express) => {
    app.use(express.static(folder, { immutable: true, maxAge: "1y" }));
  };
  const limits = { requestsPerMinute: 0 };
  const app = createService({ log: SILENT, nowMs: Date.now, limits, routes: [], mount });
  const server = await listen(app, "127.0.0.1", 0);
  try {
    for (const [headers, status, code] of [
      [{ Range: "bytes=9-" }, 416, "RANGE_OUTSIDE"],
      [{ "If-Match": '"x"' }, 412, "FILE_CHANGED"],
    ] as const) {
      const response = await fetch(`${server.url}/a.js`, { headers });
      expect([response.status, response.headers.get("cache-control")]).toEqual([status, "no-store"]);
      expect(await response.json()).toMatchObject({ error: { code } });
    }
  } finally {
    await server.close();
    rmSync(folder, { recursive: true });
  }
});
