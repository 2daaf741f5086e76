import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { alertOf } from "../../challenger/alerts.ts";
import type { Notice } from "../../challenger/notices.ts";
import { Webhook } from "../../challenger/webhook.ts";
import type { ClaimEntry } from "../../protocol/chain/claim-index.ts";
import { type Claim, type ClaimId, ZERO_ADDRESS } from "../../protocol/rules/types.ts";

const id = (i: number) => `0x${i.toString(16).padStart(64, "0")}` as ClaimId;
const entry = (i: number) => ({ id: id(i), claim: { prover: ZERO_ADDRESS } as Claim }) as ClaimEntry;
const wrong = (i: number): Notice => ({
  kind: "verdict",
  claim: entry(i),
  model: "m",
  verdict: { kind: "wrong", honest: "0x" },
  seconds: 0,
});

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

/** Longer than any machine takes to answer. */
const PATIENT_MS = 60_000;

/** A receiver that answers as told. @param timeoutMs of one try */
async function receiver(
  answer: (request: IncomingMessage, response: ServerResponse, count: number) => void,
  timeoutMs = PATIENT_MS,
) {
  const bodies: Record<string, unknown>[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      bodies.push(JSON.parse(Buffer.concat(parts).toString()) as Record<string, unknown>);
      answer(request, response, bodies.length);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closers.push(
    () => server.closeAllConnections(),
    () => server.close(),
  );
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/secret-token`;
  const logged: string[] = [];
  const note = (fields: object, message: string) => void logged.push(`${message} ${JSON.stringify(fields)}`);
  const log = { debug: note, info: note, warn: note, error: note };
  const game = { chainId: 7, assay: ZERO_ADDRESS };
  const webhook = new Webhook({ url, game, log, nowMs: () => 0, retryMs: 1, timeoutMs });
  return { bodies, webhook, logged, url };
}

describe("alertOf", () => {
  const kinds = (...notices: Notice[]) => notices.map((notice) => alertOf(notice)?.kind);

  test("default: what an operator must know, and no more", () => {
    const about = { claim: entry(1), model: "m", seconds: 1 };
    expect(
      kinds(
        { kind: "verdict", verdict: { kind: "right" }, ...about },
        { kind: "verdict", verdict: { kind: "could-not-check", reason: "r" }, ...about },
        wrong(1),
        { kind: "engine", subject: { claim: id(1) }, model: "m", outcome: "differs" },
        { kind: "uncovered", claim: entry(1) },
        { kind: "unaffordable", claim: entry(1), exposure: 5n },
        { kind: "move", claim: id(1), move: "challenge", done: true },
        { kind: "attention", model: "m", result: "detected", seconds: 1 },
        { kind: "attention", model: "m", result: "missed", seconds: 1 },
        { kind: "over", claim: id(1), lost: true },
        { kind: "over", claim: id(1), lost: false },
      ),
    ).toEqual([
      undefined,
      "could-not-check",
      "wrong-claim",
      "engine-differs",
      "uncovered-claim",
      "unaffordable",
      undefined,
      undefined,
      "attention-missed",
      "lost",
      "fallen",
    ]);
  });
});

describe("Webhook", () => {
  test("default: one POST for each, in order, each once", async () => {
    const { bodies, webhook } = await receiver((_request, response) => response.end());
    for (const i of [1, 2, 1, 2]) webhook.observe(wrong(i));
    await expect.poll(() => bodies.length, { timeout: 60_000 }).toBe(2);
    await webhook.stop();
    expect(bodies).toMatchObject([
      { kind: "wrong-claim", severity: "critical", claim: id(1), chainId: 7, at: "1970-01-01T00:00:00.000Z" },
      { claim: id(2) },
    ]);
    expect(bodies[0]?.text).toContain("is wrong");
  });

  test("behavior: a receiver that fails is tried again", async () => {
    const { bodies, webhook, logged } = await receiver((_request, response, count) => {
      response.statusCode = count < 3 ? 500 : 204;
      response.end();
    });
    webhook.observe(wrong(1));
    await expect.poll(() => bodies.length, { timeout: 60_000 }).toBe(3);
    await webhook.stop();
    expect(logged).toEqual([]);
  });

  test("error: one that never answers is given up, and its address stays out of the log", async () => {
    const { webhook, logged, bodies } = await receiver(() => {}, 1_000);
    webhook.observe(wrong(1));
    await expect.poll(() => logged.length, { timeout: 60_000 }).toBe(1);
    expect(logged[0]).toContain('"tries":5');
    expect(bodies).toHaveLength(5);
    expect(logged[0]).toMatch(/not delivered .*TimeoutError/);
    expect(logged.join()).not.toContain("secret-token");
    await webhook.stop();
  });

  test("behavior: it follows nobody elsewhere", async () => {
    const other = await receiver((_request, response) => response.end());
    const { webhook, logged } = await receiver((_request, response) => {
      response.writeHead(307, { Location: other.url });
      response.end();
    });
    webhook.observe(wrong(1));
    await expect.poll(() => logged.length, { timeout: 60_000 }).toBe(1);
    await webhook.stop();
    expect(other.bodies).toEqual([]);
  });

  test("behavior: whoever stops waits for one try, not for a hundred", async () => {
    const { webhook, bodies, logged } = await receiver(() => {}, 2_000);
    for (let i = 1; i <= 50; i += 1) webhook.observe(wrong(i));
    await expect.poll(() => bodies.length, { timeout: 60_000 }).toBe(1);
    await webhook.stop();
    expect(logged).toHaveLength(1);
    expect(bodies.length).toBeLessThanOrEqual(2);
  });

  test("behavior: a flood keeps the newest hundred, and says how many are missing", async () => {
    let open = () => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const { bodies, webhook } = await receiver((_request, response) => void gate.then(() => response.end()));
    for (let i = 1; i <= 150; i += 1) webhook.observe(wrong(i));
    open();
    await expect.poll(() => bodies.length, { timeout: 60_000 }).toBe(101);
    await webhook.stop();
    expect(bodies.at(-1)).toMatchObject({ claim: id(150) });
    expect(bodies.find(({ dropped }) => dropped !== undefined)).toMatchObject({ dropped: 49, claim: id(51) });
    expect(bodies.filter(({ dropped }) => dropped !== undefined)).toHaveLength(1);
  });
});
