import { afterEach, describe, expect, test } from "vitest";
import { SILENT } from "../../../../base/log.ts";
import type { Head } from "../../../../protocol/chain/follower.ts";
import { healthOf } from "../../../../protocol/service/http/health.ts";
import { type HttpServer, listen } from "../../../../protocol/service/http/listen.ts";
import { metricsApp } from "../../../../protocol/service/metrics/http.ts";
import { Metrics } from "../../../../protocol/service/metrics/metrics.ts";

const head: Head = { number: 100n, hash: `0x${"11".repeat(32)}`, timestamp: 1_000 };
let server: HttpServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});
const answer = async (path: string) => {
  const response = await fetch(`${server?.url}${path}`);
  return { http: response.status, body: await response.text() };
};

describe("healthOf", () => {
  const pulse = (newest: bigint | undefined, silentSinceMs?: number) => ({ newest, silentSinceMs });

  test("default: it is well up to ten blocks behind", () => {
    expect(healthOf(pulse(110n), head, 0)).toMatchObject({ status: "ok", blocksBehind: 10n, head });
    expect(healthOf(pulse(111n), head, 0).status).toBe("behind");
  });

  test("behavior: what is not known is not well", () => {
    expect(healthOf(pulse(undefined), head, 0).status).toBe("node-unreachable");
    expect(healthOf(pulse(100n), undefined, 0).status).toBe("behind");
    const silent = healthOf(pulse(undefined, 5_000), head, 9_000);
    expect(silent).toMatchObject({ status: "node-unreachable", silentSince: 5, silentSeconds: 4 });
  });
});

describe("metricsApp", () => {
  test("behavior: it lives while its node is away, and is not well", async () => {
    let newest: bigint | undefined = 101n;
    const app = metricsApp(new Metrics(), SILENT, () =>
      healthOf({ newest, silentSinceMs: undefined }, head, 0),
    );
    server = await listen(app, "127.0.0.1", 0);
    expect((await answer("/healthz")).http).toBe(200);
    newest = undefined;
    const health = await answer("/healthz");
    expect([health.http, JSON.parse(health.body).status]).toEqual([503, "node-unreachable"]);
    expect((await answer("/livez")).http).toBe(200);
    expect((await answer("/metrics")).http).toBe(200);
  });

  test("behavior: without a health it serves metrics alone", async () => {
    server = await listen(metricsApp(new Metrics()), "127.0.0.1", 0);
    expect(await answer("/livez")).toMatchObject({ http: 404, body: "GET /metrics\n" });
  });
});
