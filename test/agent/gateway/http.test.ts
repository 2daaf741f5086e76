import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it, test, vi } from "vitest";
import type { Agent } from "../../../agent/gateway/store/agent-service.ts";
import { temporaryFolder } from "../../support/deploy.ts";
import { namesOf, only, readEvents, startTestGateway, type TestGateway } from "../../support/gateway.ts";

let gateway: TestGateway;
let agent: Agent;
const SOON = { timeout: 240_000, interval: 20 };

beforeAll(async () => {
  gateway = await startTestGateway({ limits: { maxMessageChars: 1_000, maxTurnsPerCaller: 3 } });
  agent = await gateway.agents.createAgent({ name: "TVL", availableTools: ["magpie/tvl"] });
  gateway.returns("/tvl", { tvl: 5 });
  gateway.model.answers(
    { calls: [{ name: "call_magpie_tvl", arguments: "{}" }] },
    { text: "5 (call_magpie_tvl)" },
  );
});
afterAll(() => gateway.stop());

const bodyOf = async (response: Response) => (await response.json()) as { error: { code: string } };

/** Starts a turn whose model never answers. */
async function hang(): Promise<{ turnId: string; events: string }> {
  gateway.model.answers({ hangs: true });
  return (await (await gateway.post(agent.id, { message: "Hm?" })).json()) as {
    turnId: string;
    events: string;
  };
}

describe("POST /v1/agents/:id/turns", () => {
  test.each<[string, number, string, () => Promise<Response>]>([
    ["an unknown agent", 404, "AGENT_UNKNOWN", () => gateway.post("agent-0", { message: "x" })],
    ["no JSON", 400, "JSON_INVALID", () => gateway.post(agent.id, "{")],
    ["no object", 400, "JSON_INVALID", () => gateway.post(agent.id, "[]")],
    ["no UTF-8 text", 400, "TEXT_NOT_UNICODE", () => gateway.post(agent.id, '{"message":"\\ud800"}')],
    ["no message", 400, "MESSAGE_INVALID", () => gateway.post(agent.id, {})],
    ["an empty message", 400, "MESSAGE_INVALID", () => gateway.post(agent.id, { message: " \n" })],
    ["a message that is no text", 400, "MESSAGE_INVALID", () => gateway.post(agent.id, { message: ["x"] })],
    ["a long message", 400, "MESSAGE_INVALID", () => gateway.post(agent.id, { message: "x".repeat(1_001) })],
    ["a long body", 413, "BODY_TOO_LARGE", () => gateway.post(agent.id, { message: "x".repeat(50_000) })],
    ["another field", 400, "MESSAGE_INVALID", () => gateway.post(agent.id, { message: "x", role: "system" })],
    [
      "a history of its own",
      400,
      "MESSAGE_INVALID",
      () => gateway.post(agent.id, { message: "x", history: [] }),
    ],
    [
      "an unknown conversation",
      400,
      "MESSAGE_INVALID",
      () => gateway.post(agent.id, { message: "x", conversationId: "1" }),
    ],
    [
      "a conversation of nobody",
      404,
      "CONVERSATION_UNKNOWN",
      () => gateway.post(agent.id, { message: "x", conversationId: "0".repeat(32) }),
    ],
    [
      "a form of another site",
      415,
      "CONTENT_TYPE_UNSUPPORTED",
      () => gateway.post(agent.id, { message: "x" }, { "content-type": "text/plain" }),
    ],
    ["a turn that is not there", 404, "TURN_UNKNOWN", () => fetch(`${gateway.url}/v1/turns/x/events`)],
    ["a claim that is no id", 400, "ID_INVALID", () => fetch(`${gateway.url}/v1/claims/0x12`)],
    ["a request that is no id", 400, "ID_INVALID", () => fetch(`${gateway.url}/v1/requests/0x12`)],
    [
      "a request without a chain",
      404,
      "REQUEST_UNKNOWN",
      () => fetch(`${gateway.url}/v1/requests/0x${"ab".repeat(32)}`),
    ],
    ["a route that is not there", 404, "ROUTE_UNKNOWN", () => fetch(`${gateway.url}/v1/admin`)],
    ["a path that is no encoding", 400, "PATH_INVALID", () => fetch(`${gateway.url}/v1/agents/%ff`)],
  ])("error: %s is %i %s", async (_what, status, code, ask) => {
    const response = await ask();
    expect([response.status, (await bodyOf(response)).error.code]).toEqual([status, code]);
    expect(gateway.model.requests).toEqual([]);
  });

  it("error: a request under a foreign name, as after DNS rebinding", async () => {
    const status = await new Promise((resolve, reject) => {
      const { hostname, port } = new URL(gateway.url);
      const request = httpRequest(
        { hostname, port, path: "/v1/agents", headers: { host: "evil.example" } },
        (response) => resolve(response.resume().statusCode),
      );
      request.on("error", reject).end();
    });
    expect(status).toBe(403);
  });

  it("behavior: any body is a turn or a 4xx", async () => {
    gateway.model.answers({ text: "" });
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.string({ unit: "binary" }), fc.json()), async (body) => {
        const { status } = await gateway.post(agent.id, body);
        expect([202, 400, 413, 415, 429]).toContain(status);
      }),
      { numRuns: 60 },
    );
    expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200);
  });
});

describe("GET /v1/turns/:id/events", () => {
  it("behavior: a client that comes back goes on after the last event that it saw", async () => {
    gateway.model.answers(
      { calls: [{ name: "call_magpie_tvl", arguments: "{}" }] },
      { text: "5 (call_magpie_tvl)" },
    );
    const { events } = (await (await gateway.post(agent.id, { message: "TVL?" })).json()) as {
      events: string;
    };
    const whole = await readEvents(await fetch(`${gateway.url}${events}`));
    expect(namesOf(whole)).toEqual(["tool_call", "tool_result", "text", "done"]);
    const from = async (id: string) =>
      readEvents(await fetch(`${gateway.url}${events}`, { headers: { "last-event-id": id } }));
    expect(await from("2")).toEqual(whole.slice(2));
    expect(await from("4")).toEqual([]);
    expect(await from("0")).toEqual(whole);
    for (const id of ["5", "-1", "x", "99999999999"]) {
      const response = await fetch(`${gateway.url}${events}`, { headers: { "last-event-id": id } });
      expect([response.status, (await bodyOf(response)).error.code]).toEqual([400, "LAST_EVENT_ID_INVALID"]);
    }
  });

  it("behavior: a connection that breaks in the middle loses nothing", async () => {
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    gateway.on("/tvl", (_request, response) => {
      void released.then(() =>
        response.writeHead(200, { "content-type": "application/json" }).end('{"tvl":5}'),
      );
    });
    gateway.model.answers(
      { calls: [{ name: "call_magpie_tvl", arguments: "{}" }] },
      { text: "5 (call_magpie_tvl)" },
    );
    const { events } = (await (await gateway.post(agent.id, { message: "TVL?" })).json()) as {
      events: string;
    };
    const broken = new AbortController();
    const first = await fetch(`${gateway.url}${events}`, { signal: broken.signal });
    const { value } = (await first.body?.getReader().read()) ?? {};
    expect(new TextDecoder().decode(value)).toMatch(/^id: 1\nevent: tool_call\n/);
    broken.abort();
    release();
    const rest = await readEvents(
      await fetch(`${gateway.url}${events}`, { headers: { "last-event-id": "1" } }),
    );
    expect(namesOf(rest)).toEqual(["tool_result", "text", "done"]);
    gateway.returns("/tvl", { tvl: 5 });
  });

  it("behavior: a turn that is cancelled stops asking its model", async () => {
    const left = gateway.model.left;
    const { turnId, events } = await hang();
    await vi.waitUntil(() => gateway.model.requests.at(-1)?.messages.at(-1)?.content === "Hm?", SOON);
    expect((await fetch(`${gateway.url}/v1/turns/${turnId}`, { method: "DELETE" })).status).toBe(204);
    expect(only(await readEvents(await fetch(`${gateway.url}${events}`)), "done")).toEqual({
      outcome: "cancelled",
    });
    await vi.waitUntil(() => gateway.model.left > left, SOON);
  });

  it("behavior: turns of one caller at once are limited", async () => {
    const turns = [await hang(), await hang(), await hang()];
    const fourth = await gateway.post(agent.id, { message: "x" });
    expect([fourth.status, (await bodyOf(fourth)).error.code]).toEqual([429, "TOO_MANY_TURNS"]);
    for (const { turnId } of turns) await fetch(`${gateway.url}/v1/turns/${turnId}`, { method: "DELETE" });
    for (const { events } of turns) await (await fetch(`${gateway.url}${events}`)).text();
    expect((await gateway.post(agent.id, { message: "x" })).status).toBe(202);
  });
});

describe("limits of time", () => {
  it("behavior: a client that left and does not come back ends the turn", async () => {
    const own = await startTestGateway({ limits: { graceMs: 20 } });
    const { id } = await own.agents.createAgent({ name: "TVL", availableTools: ["magpie/tvl"] });
    own.model.answers({ hangs: true });
    const { events } = (await (await own.post(id, { message: "x" })).json()) as { events: string };
    const leave = new AbortController();
    // A reader holds it, however short the grace.
    const response = await fetch(`${own.url}${events}`, { signal: leave.signal }).catch(() => undefined);
    leave.abort();
    await response?.text().catch(() => undefined);
    await vi.waitUntil(() => [...own.audit.rows({ kind: "done" })].length === 1, SOON);
    expect([...own.audit.rows({ kind: "done" })][0]).toMatchObject({ outcome: "cancelled" });
    await own.stop();
  });

  it("behavior: a turn that takes too long is ended", async () => {
    const own = await startTestGateway({ limits: { turnTimeoutMs: 50 } });
    const { id } = await own.agents.createAgent({ name: "TVL", availableTools: ["magpie/tvl"] });
    own.model.answers({ hangs: true });
    const events = await own.chat(id, "x");
    expect(only(events, "error")).toEqual({ message: "This took too long. Please try again." });
    expect(only(events, "done")).toEqual({ outcome: "error" });
    await own.stop();
  });
});

describe("callers", () => {
  it("behavior: with tokens, only their owners chat, and only in their own conversations", async () => {
    const hash = (token: string) => createHash("sha256").update(token).digest("hex");
    const own = await startTestGateway({ callers: { alice: hash("a-token"), bob: hash("b-token") } });
    const { id } = await own.agents.createAgent({ name: "TVL", availableTools: ["magpie/tvl"] });
    const as = (token: string, body: object) => own.post(id, body, { authorization: `Bearer ${token}` });
    for (const refused of [await own.post(id, { message: "x" }), await as("c-token", { message: "x" })]) {
      expect([refused.status, (await bodyOf(refused)).error.code]).toEqual([401, "CALLER_UNKNOWN"]);
    }
    const started = await as("a-token", { message: "x" });
    expect(started.status).toBe(202);
    const { conversationId, events } = (await started.json()) as { conversationId: string; events: string };
    await (await fetch(`${own.url}${events}`)).text();
    expect((await as("a-token", { message: "y", conversationId })).status).toBe(202);
    const foreign = await as("b-token", { message: "y", conversationId });
    expect([foreign.status, (await bodyOf(foreign)).error.code]).toEqual([404, "CONVERSATION_UNKNOWN"]);
    expect(new Set([...own.audit.rows()].map(({ caller }) => caller))).toEqual(new Set(["alice"]));
    await own.stop();
  });
});

describe("GET /", () => {
  it("default: the page runs no script but its own and cannot be framed, and its files are served", async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder.path, "assets"));
    writeFileSync(join(folder.path, "index.html"), "<!doctype html><title>Chat</title>");
    writeFileSync(join(folder.path, "assets", "main-abc123.js"), "export {};\n");
    const own = await startTestGateway({ pageFolder: folder.path });
    const page = await fetch(`${own.url}/`);
    expect(page.headers.get("content-security-policy")).toMatchInlineSnapshot(
      `"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"`,
    );
    expect(page.headers.get("x-content-type-options")).toBe("nosniff");
    expect(page.headers.get("cross-origin-opener-policy")).toBe("same-origin");
    expect(await page.text()).toContain("<title>Chat</title>");
    const script = await fetch(`${own.url}/assets/main-abc123.js`);
    expect([script.status, script.headers.get("content-type")]).toEqual([
      200,
      "text/javascript; charset=utf-8",
    ]);
    expect((await fetch(`${own.url}/other`)).status).toBe(404);
    expect((await fetch(`${own.url}/..%2f..%2fgateway.sqlite`)).status).toBe(404);
    await own.stop();
    folder.remove();
  });

  it("error: where the page is not built, its address and the log say how to, and the interface is there", async () => {
    const own = await startTestGateway({ pageFolder: "/nowhere" });
    const page = await fetch(`${own.url}/`);
    expect([page.status, (await bodyOf(page)).error]).toMatchObject([
      404,
      { code: "PAGE_NOT_BUILT", nextStep: expect.stringContaining("npm run build") },
    ]);
    expect(own.lines.map(({ fields }) => fields.code)).toContain("PAGE_NOT_BUILT");
    expect((await fetch(`${own.url}/v1/agents`)).status).toBe(200);
    await own.stop();
  });
});
