import { afterEach, describe, expect, test } from "vitest";
import { fromHex } from "../../base/bytes.ts";
import type { HttpServer } from "../../protocol/service/http/listen.ts";
import { Metrics } from "../../protocol/service/metrics/metrics.ts";
import type { HttpLimits } from "../../prover/http/parts.ts";
import { fetchMetrics } from "../support/exposition.ts";
import {
  bodyOf,
  calldata,
  JSON_TYPE,
  OCTETS,
  prover,
  serveForTests,
  startApp,
} from "../support/http-prover.ts";

serveForTests();

const SOON = { timeout: 240_000, interval: 5 };
const servers: HttpServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

async function start(limits: Partial<HttpLimits>) {
  const server = await startApp(limits, new Metrics());
  servers.push(server);
  const ask = (init: { signal?: AbortSignal; query?: string } = {}) =>
    fetch(`${server.url}/tools/forecast-vix${init.query ?? ""}`, {
      method: "POST",
      headers: { "content-type": OCTETS },
      body: Buffer.from(fromHex(calldata)),
      ...(init.signal === undefined ? {} : { signal: init.signal }),
    });
  const cancelled = async (by: string) =>
    (await fetchMetrics(server.url)).get(`assay_prover_runs_cancelled_total{by="${by}"}`);
  return { url: server.url, ask, cancelled };
}

/** Runs begin, and end when they are told to or nobody waits. */
function hang(): { readonly begun: () => number; readonly stopped: () => number } {
  let [begun, stopped] = [0, 0];
  prover.run = (_id, _calldata, signal) => {
    begun += 1;
    return new Promise((resolve) => {
      signal?.addEventListener("abort", () => {
        stopped += 1;
        resolve({ failure: "stopped" });
      });
    });
  };
  return { begun: () => begun, stopped: () => stopped };
}

describe("rate limit", () => {
  test("error: 429 with the limit, the time to wait and the standard's headers", async () => {
    const { url } = await start({ requestsPerMinute: 2 });
    const get = (headers: Record<string, string> = {}) => fetch(`${url}/v1/models`, { headers });
    const first = await get();
    expect([first.status, (await get()).status]).toEqual([200, 200]);
    expect(first.headers.get("ratelimit-policy")).toContain("q=2; w=60");
    const refused = await get();
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect((await bodyOf(refused)).error).toMatchObject({
      code: "RATE_LIMITED",
      details: { limit: 2, windowSeconds: 60 },
      retryable: true,
    });
    // An address that a caller makes up is not believed.
    expect((await get({ "x-forwarded-for": "203.0.113.7" })).status).toBe(429);
  });

  test("behavior: behind a trusted proxy each caller has a limit of his own", async () => {
    const { url } = await start({ requestsPerMinute: 1, trustProxy: "loopback" });
    const get = async (from: string) =>
      (await fetch(`${url}/v1/models`, { headers: { "x-forwarded-for": from } })).status;
    expect([await get("203.0.113.7"), await get("203.0.113.7"), await get("203.0.113.8")]).toEqual([
      200, 429, 200,
    ]);
    // What is left of the proxy's own entry is the caller's word.
    expect(await get("198.51.100.1, 203.0.113.7")).toBe(429);
    // One machine has all of a /56.
    expect([await get("2001:db8:0:1::1"), await get("2001:db8:0:2::1")]).toEqual([200, 429]);
  });
});

describe("back-pressure", () => {
  test("error: 503 with the queue and when to come again; place comes back when a caller leaves", async () => {
    const { ask, cancelled } = await start({ maxRuns: 2 });
    const { begun, stopped } = hang();
    const leaving = new AbortController();
    const held = [ask({ signal: leaving.signal }), ask({ signal: leaving.signal })];
    await expect.poll(begun, SOON).toBe(2);
    const refused = await ask();
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "1"]);
    expect((await bodyOf(refused)).error).toMatchObject({
      code: "TOO_BUSY",
      message: "2 runs are under way, the limit is 2.",
      details: { queue: 2, limit: 2, retryAfterSeconds: 1 },
    });
    leaving.abort();
    await Promise.allSettled(held);
    await expect.poll(stopped, SOON).toBe(2);
    expect(await cancelled("left")).toBe(2);
    prover.run = undefined;
    expect((await ask()).status).toBe(200);
  });
});

describe("time limit", () => {
  test("error: a run whose time is over is cancelled, counted, and its place is free again", async () => {
    const { ask, cancelled, url } = await start({ maxRuns: 1, runTimeoutSeconds: 1 });
    const { stopped } = hang();
    const refused = await ask();
    expect(refused.status).toBe(503);
    expect((await bodyOf(refused)).error).toMatchObject({
      code: "RUN_TIMEOUT",
      message: expect.stringContaining("gave no output within 1 s, its wait for others included."),
    });
    expect(stopped()).toBe(1);
    expect([await cancelled("timeout"), await cancelled("left")]).toEqual([1, 0]);
    expect((await fetchMetrics(url)).get("assay_prover_runs")).toBe(0);
  });

  test("behavior: a run that ended is not cancelled by its caller who leaves later", async () => {
    const { ask, cancelled } = await start({});
    const answer = await ask();
    await answer.arrayBuffer();
    expect([answer.status, await cancelled("left"), await cancelled("timeout")]).toEqual([200, 0, 0]);
  });
});

describe("count of inputs", () => {
  test("error: more values than any model takes, in few bytes", async () => {
    const { url } = await start({});
    const body = `{"closes":[${"1,".repeat(5_000)}1]}`;
    const send = () =>
      fetch(`${url}/v1/tools/forecast-vix`, { method: "POST", headers: { "content-type": JSON_TYPE }, body });
    const refused = await send();
    expect(refused.status).toBe(400);
    expect((await bodyOf(refused)).error).toMatchObject({
      code: "INPUTS_TOO_MANY",
      message: "The body holds more than 4096 values.",
    });
  });
});
