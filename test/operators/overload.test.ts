/** What strangers with sockets and a node that is frozen do to daemons: as processes, from outside. */
import { writeFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Daemon, startDaemon } from "../../cli/demo/processes.ts";
import { runAssay } from "../support/assay.ts";
import { fetchMetrics } from "../support/exposition.ts";
import { freeze } from "../support/frozen.ts";
import { encodeText } from "../support/sentiment-call.ts";
import { keyOf, ROLES, type System, startSystem } from "../support/system.ts";

const DESCRIPTORS = 1_024;
const IDLE = 1_500;
/** How long a frozen node keeps a caller waiting, ms: three tries of ten seconds. */
const NODE_TIMEOUT_MS = 30_000;
/** From which the test itself asks: a neighbour of those who take connections. */
const NEIGHBOUR = "127.0.0.2";

let system: System;
let prover: string;
let challenger: string;
let gateway: string;
let mcp: string;
const others: Daemon[] = [];

beforeAll(async () => {
  system = await startSystem({ models: ["sentiment"], answerSeconds: 2 });
  const through = ["bash", "-c", `ulimit -n ${DESCRIPTORS}; exec "$@"`, "limited"];
  const daemon = system.daemon("prover", ROLES.prover, ["prover", "--port", "0", "--metrics-port", "0"], {
    through,
  });
  const watcher = system.daemon("challenger", ROLES.challenger, ["challenger", "watch", "--port", "0"], {
    through,
  });
  const up = await daemon.logged("prover is up");
  prover = String(up.url);
  challenger = String((await watcher.logged("challenger is up")).url);
  const config = { servers: {}, llm: { baseUrl: "http://127.0.0.1:9/v1", model: "none" } };
  writeFileSync(`${system.folder}/gateway.json`, JSON.stringify(config));
  const served = {
    folder: system.folder,
    rpcUrl: system.rpcUrl,
    deployment: `${system.folder}/deployment.json`,
    key: keyOf(ROLES.cheat),
    through,
  };
  const servers = ["--servers", `${system.folder}/gateway.json`];
  others.push(
    startDaemon({ ...served, name: "gateway", args: ["gateway", "serve", "--port", "0", ...servers] }),
    startDaemon({ ...served, name: "mcp", args: ["mcp", "sentiment", "--port", "0"] }),
  );
  gateway = String((await others[0]?.logged("gateway is up"))?.url);
  mcp = String((await others[1]?.logged("mcp is up"))?.url);
  // Metrics are where they were bound, and there alone.
  expect((await fetch(`${prover}/metrics`)).status).toBe(404);
  expect((await fetchMetrics(String(up.metricsUrl))).get("assay_rpc_up")).toBe(1);
});
afterAll(async () => {
  for (const daemon of others) await daemon.stop();
  await system.stop();
});

interface Idle {
  /** connections that the other side has not closed */
  open(): number;
  end(): void;
}

async function openIdle(url: string, count: number, from = "127.0.0.1"): Promise<Idle> {
  const { hostname, port } = new URL(url);
  const sockets: Socket[] = [];
  for (let i = 0; i < count; i++) {
    const socket = connect({ host: hostname, port: Number(port), localAddress: from });
    socket.on("error", () => socket.destroy());
    socket.on("end", () => socket.destroy());
    // A full queue of a listening socket drops the last packet of a handshake, and such a connection is open on this
    // side alone: probes find that out, and carry no byte of a request.
    socket.setKeepAlive(true, 1_000);
    socket.resume();
    sockets.push(socket);
    if (i % 100 === 99) await sleep(20);
  }
  await expect.poll(() => sockets.filter(({ connecting }) => connecting).length, { timeout: 60_000 }).toBe(0);
  const open = () => sockets.filter(({ destroyed }) => !destroyed).length;
  return { open, end: () => sockets.forEach((socket) => void socket.destroy()) };
}

/** Waits until so many are left, less long than a server waits for a request's head (10 s): what a busy one has not closed
 *  yet is not held. */
const expectAtMost = (open: () => number, most: number) =>
  expect.poll(open, { timeout: 8_000, interval: 100 }).toBeLessThanOrEqual(most);

/** The whole answer, asked from another address. @param head lines of the request besides */
function askFrom(address: string, url: string, method: string, head: string, body: string): Promise<string> {
  const { hostname, port, pathname, host } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port), localAddress: address });
    let text = "";
    socket.on("data", (part) => (text += part.toString()));
    socket.on("close", () => resolve(text));
    socket.on("error", reject);
    socket.write(
      `${method} ${pathname} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n${head}\r\n${body}`,
    );
  });
}
const getFrom = (address: string, url: string) => askFrom(address, url, "GET", "", "");
const postFrom = (address: string, url: string, body: string) =>
  askFrom(
    address,
    url,
    "POST",
    `Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length: ${body.length}\r\n`,
    body,
  );
const statusFrom = async (address: string, url: string) =>
  (await getFrom(address, url)).split("\r\n", 1)[0] as string;

const answers = async (text: string): Promise<void> => {
  const { requestId } = await system.ask({
    model: system.model("sentiment"),
    calldata: encodeText(system.model("sentiment"), text),
  });
  await system.events.until("Claimed", (event) => event.requestId === requestId, 120_000);
};

describe("1,500 idle connections to a process of 1,024 descriptors", () => {
  test("behavior: from one address: the prover works, its node is there, and others reach it", async () => {
    const idle = await openIdle(prover, IDLE);
    await expectAtMost(idle.open, DESCRIPTORS / 16);
    expect(await statusFrom(NEIGHBOUR, `${prover}/healthz`)).toBe("HTTP/1.1 200 OK");
    await answers("Asked while one holds connections");
    idle.end();
  });

  test("behavior: from many addresses: connections are full, and the daemon works", async () => {
    const held = await Promise.all(
      Array.from({ length: 30 }, (_, i) => openIdle(prover, IDLE / 30, `127.0.1.${i + 1}`)),
    );
    const open = () => held.reduce((sum, idle) => sum + idle.open(), 0);
    await expectAtMost(open, DESCRIPTORS / 4);
    await answers("Asked while many hold connections");
    // Who says nothing is closed, and others get in again.
    await expect.poll(open, { timeout: 60_000, interval: 500 }).toBe(0);
    expect(await statusFrom(NEIGHBOUR, `${prover}/livez`)).toBe("HTTP/1.1 200 OK");
    for (const idle of held) idle.end();
  });

  test("behavior: the gateway serves others, and its node is there", async () => {
    const idle = await openIdle(gateway, IDLE);
    await expectAtMost(idle.open, DESCRIPTORS / 16);
    // A turn opens connections of its own, to its model: agents are made by the command beside it.
    const answer = await getFrom(NEIGHBOUR, `${gateway}/healthz`);
    expect(answer.split("\r\n", 1)[0]).toBe("HTTP/1.1 200 OK");
    expect(answer).toContain('"status":"ok"');
    idle.end();
  });

  test("behavior: the MCP server serves others, and reads its chain for them", async () => {
    const idle = await openIdle(mcp, IDLE);
    await expectAtMost(idle.open, DESCRIPTORS / 16);
    const claimId = `0x${"ab".repeat(32)}`;
    const call = { name: "verify_claim", arguments: { claimId } };
    const body = { jsonrpc: "2.0", id: 1, method: "tools/call", params: call };
    const answer = await postFrom(NEIGHBOUR, mcp, JSON.stringify(body));
    expect(answer.split("\r\n", 1)[0]).toBe("HTTP/1.1 200 OK");
    // It asked its node.
    expect(answer).toContain(`"structuredContent":{"status":"unknown","claimId":"${claimId}"}`);
    idle.end();
  });

  test("behavior: a challenger's metrics take few, and it goes on checking", async () => {
    const idle = await openIdle(challenger, IDLE);
    await expectAtMost(idle.open, 32);
    await answers("Checked while somebody holds connections");
    idle.end();
    await expect
      .poll(
        async () =>
          [...(await fetchMetrics(challenger))].filter(
            ([name, value]) => name.startsWith("assay_challenger_claims_checked_total") && value > 2,
          ).length,
        { timeout: 60_000, interval: 500 },
      )
      .toBe(1);
  });
});

describe("a node that is frozen", () => {
  test("behavior: health and metrics answer at once and say since when; doctor ends and says what it waits for", async () => {
    await freeze(system.pid);
    try {
      const at = async (url: string) => {
        const startedAt = performance.now();
        const answer = await fetch(url);
        return { answer, ms: performance.now() - startedAt };
      };
      const live = await at(`${prover}/livez`);
      const first = await at(`${prover}/healthz`);
      const unread = await at(`${prover}/v1/claims/0x${"ab".repeat(32)}`);
      expect([unread.answer.status, unread.ms < NODE_TIMEOUT_MS / 3]).toEqual([503, true]);
      const metrics = await at(`${challenger}/metrics`);
      expect(live.answer.status).toBe(200);
      for (const { ms } of [live, first, metrics]) expect(ms).toBeLessThan(NODE_TIMEOUT_MS / 2);
      await expect
        .poll(async () => (await at(`${prover}/healthz`)).answer.status, { timeout: 30_000, interval: 500 })
        .toBe(503);
      const { answer, ms } = await at(`${prover}/healthz`);
      expect(ms).toBeLessThan(NODE_TIMEOUT_MS / 2);
      const body = (await answer.json()) as { status: string; silentSince: number; silentSeconds: number };
      expect(body.status).toBe("node-unreachable");
      expect(body.silentSeconds).toBeGreaterThanOrEqual(3);
      expect(Math.abs(Date.now() / 1_000 - body.silentSince - body.silentSeconds)).toBeLessThan(5);
      // What has to ask the node says so, at once or after a short wait.
      const id = `0x${"ab".repeat(32)}`;
      for (const route of [`/v1/claims/${id}`, `/v1/claims/${id}/events`, `/v1/requests/${id}`]) {
        const read = await at(`${prover}${route}`);
        expect([route, read.answer.status, read.ms < NODE_TIMEOUT_MS / 3]).toEqual([route, 503, true]);
        const { error } = (await read.answer.json()) as { error: { code: string; message: string } };
        expect(error.code).toBe("NODE_SILENT");
        expect(error.message).toMatch(/has given no answer for \d+ seconds/);
      }
      const seen = await fetchMetrics(challenger);
      expect([seen.get("assay_rpc_up"), (seen.get("assay_rpc_silent_seconds") ?? 0) > 3]).toEqual([0, true]);

      const doctor = await runAssay(["doctor"], {
        ASSAY_RPC_URL: system.rpcUrl,
        ASSAY_DEPLOYMENT: `${system.folder}/deployment.json`,
        ASSAY_DATA: `${system.folder}/doctor`,
        ASSAY_PROVER_MODELS: `${system.folder}/models`,
        ASSAY_KEY: keyOf(ROLES.requester),
      });
      expect(doctor.code).toBe(4);
      expect(doctor.stderr).toContain(`node: waiting for ${system.rpcUrl}, at most 10 s`);
      expect(doctor.stdout).toMatch(/FAIL {2}node .*(timed out|took too long|no answer)/);
      expect(doctor.stdout).toContain("contracts, balance and registrations are not looked at");
    } finally {
      process.kill(system.pid, "SIGCONT");
    }
    await expect
      .poll(async () => (await fetch(`${prover}/healthz`)).status, { timeout: 60_000, interval: 500 })
      .toBe(200);
  });
});
