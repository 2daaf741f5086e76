/** POST /v1/signed-claims over HTTP, on real contracts: what is taken, and what is refused by name. */
import { type Address, createWalletClient, type Hex, http } from "viem";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { SILENT } from "../../../base/log.ts";
import { INTAKE_CONNECTIONS, intakeApp } from "../../../challenger/promises/intake.ts";
import { type Presented, renderPresented } from "../../../protocol/rules/promises/presented.ts";
import { digestOf } from "../../../protocol/rules/promises/signed-claim.ts";
import { type HttpServer, listen } from "../../../protocol/service/http/listen.ts";
import { accountAt, type LocalChain, startLocalChain } from "../../support/anvil.ts";
import { intakeAttacks, seenBy, WRONG } from "../../support/promises/intake-attacks.ts";
import { signTiny } from "../../support/promises/local-promises.ts";
import {
  ETHER,
  openPromiseChallenger,
  type PromiseChallenger,
} from "../../support/promises/promise-challenger.ts";
import { createRng } from "../../support/rng.ts";

const PROVER = accountAt(1);
const SMALL = accountAt(5);

let local: LocalChain;
let game: PromiseChallenger;
let server: HttpServer;
beforeAll(async () => {
  local = await startLocalChain();
  game = await openPromiseChallenger(local);
  const { system, actions } = game;
  await system.sender.send(actions.deposit(PROVER.address, 10n * ETHER, "stake"));
  await system.sender.send(actions.setSigner(PROVER.address, (await local.now()) + 30 * 86_400));
  await game.settle();
});
afterAll(async () => {
  await game?.close();
  await local?.stop();
});

const serve = async (requestsPerMinute: number) => {
  const { chain, covered, running } = game;
  const app = intakeApp({
    ...{ chain, store: running.store, nowMs: Date.now, log: SILENT, limits: { requestsPerMinute } },
    models: new Map([[covered.id, covered]]),
    check: (digest, presented, report) => running.watch.check(digest, presented, report),
    now: () => running.watch.head?.timestamp,
  });
  return listen(app, "127.0.0.1", 0, INTAKE_CONNECTIONS);
};
beforeEach(async () => {
  server = await serve(10_000);
});
afterEach(() => server.close());

/** What the service takes for now: the block that it saw last, which blocks that no test waits for may lie above. */
const seen = () => seenBy(game);
const ATTACKS = intakeAttacks(() => game, PROVER);
const sign = async (byte: number, changes: Parameters<typeof signTiny>[5] = {}) =>
  signTiny(game.chain, PROVER, game.system.modelId, [byte, 1, 2, 3], seen(), changes);

async function post(body: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(`${server.url}/v1/signed-claims`, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...headers },
    body: typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body),
  });
  const { error, ...rest } = (await response.json()) as Record<string, unknown> & {
    error?: { code: string; message: string };
  };
  return { status: response.status, code: error?.code, message: error?.message ?? "", ...rest };
}
const submit = (presented: Presented) => post(renderPresented(game.at, presented));

describe("POST /v1/signed-claims", () => {
  test("default: what is wrong is kept, what is right is not, and the same again says the same", async () => {
    const [right, wrong] = [await sign(1), await sign(2, { output: WRONG })];
    const digest = digestOf(game.at, wrong.claim);
    for (let i = 0; i < 2; i++) {
      expect(await submit(right)).toMatchObject({ status: 200, verdict: "right", kept: false });
      expect(await submit(wrong)).toMatchObject({ status: 202, verdict: "wrong", kept: true, digest });
    }
    expect(game.running.store.has(digest)).toBe(true);
    expect(game.running.store.has(digestOf(game.at, right.claim))).toBe(false);
    const compared = game.notices.filter(({ kind }) => kind === "signed-claim");
    expect(compared).toHaveLength(2);
  });

  test.each(ATTACKS)("error: $name", async ({ make, status, code, message }) => {
    const body = await make();
    const kept = game.running.store.open;
    const answer = await post(body);
    expect([answer.status, answer.code]).toEqual([status, code]);
    expect(answer.message).toMatch(message);
    expect(game.running.store.open).toBe(kept);
  });

  test("error: another content type or method, and compressed bodies", async () => {
    expect(await post("{}", { "Content-Type": "text/plain" })).toMatchObject({ status: 415 });
    expect(await post("{}", { "Content-Encoding": "gzip" })).toMatchObject({
      code: "CONTENT_TYPE_UNSUPPORTED",
    });
    expect((await fetch(`${server.url}/v1/signed-claims`)).status).toBe(404);
    expect((await fetch(`${server.url}/metrics`)).status).toBe(404);
  });

  test("behavior: garbage in any byte is refused, and what comes after it is taken", async () => {
    const good = JSON.stringify(renderPresented(game.at, await sign(10, { output: WRONG })));
    const random = createRng(22);
    const kept = game.running.store.open;
    let refused = 0;
    for (let i = 0; i < 150; i++) {
      const bytes = Buffer.from(good);
      for (let n = random.int(1, 4); n > 0; n--) bytes[random.int(0, bytes.length - 1)] = random.int(0, 255);
      // A letter of an address' checksum may turn into its other case: the same signed claim.
      if (bytes.toString().toLowerCase() === good.toLowerCase()) continue;
      const { status } = await post(bytes);
      expect([400, 404, 409, 413]).toContain(status);
      refused += 1;
    }
    expect(refused).toBeGreaterThan(100);
    expect(game.running.store.open).toBe(kept);
    expect(await post(good)).toMatchObject({ status: 202, kept: true });
  });

  test("behavior: one caller has so many requests in a minute, and so many at once", async () => {
    await server.close();
    server = await serve(3);
    const answers = [];
    for (let i = 0; i < 4; i++) answers.push((await post("{")).code);
    expect(answers).toEqual(["JSON_INVALID", "JSON_INVALID", "JSON_INVALID", "RATE_LIMITED"]);
    await server.close();
    server = await serve(10_000);
    const many = await Promise.all(Array.from({ length: 12 }, (_, i) => sign(20 + i)));
    const codes = await Promise.all(many.map(async (presented) => (await submit(presented)).code));
    expect(codes.every((code) => code === undefined || code === "TOO_MANY_OF_ONE")).toBe(true);
    expect(codes).toContain(undefined);
  });

  test("behavior: one that was signed some seconds after the newest block is kept, and opened with a later one", async () => {
    const early = await sign(60, { output: WRONG, issuedAt: seen() + 45 });
    const digest = digestOf(game.at, early.claim);
    expect(await submit(early)).toMatchObject({ status: 202, kept: true });
    const unbound = await sign(61, { output: WRONG, issuedAt: early.claim.issuedAt, key: accountAt(9) });
    expect(await submit(unbound)).toMatchObject({ status: 409, code: "SIGNED_CLAIM_REFUSED" });
    await game.settle();
    await local.passTime(60);
    await game.settle();
    expect((await game.reader.signed(digest)).status).toBe("OPEN");
  });

  test("behavior: what another contract opened is kept without a signature, which its buyer hands over", async () => {
    const wrong = await sign(62, { output: WRONG });
    const digest = digestOf(game.at, wrong.claim);
    const { store } = game.running;
    store.addSigned({ kind: "signed", digest, presented: { ...wrong, signature: "0x" } });
    const forged = await signTiny(
      ...([game.chain, PROVER, game.system.modelId, [62, 1, 2, 3], wrong.claim.issuedAt] as const),
      { ...wrong.claim, output: WRONG, key: accountAt(9) },
    );
    expect(digestOf(game.at, forged.claim)).toBe(digest);
    expect(await submit(forged)).toMatchObject({ status: 409, code: "SIGNED_CLAIM_REFUSED" });
    expect(store.lacksSignature(digest)).toBe(true);
    expect(await submit(wrong)).toMatchObject({ status: 202, kept: true });
    expect(store.get(digest)?.promise).toMatchObject({ presented: { signature: wrong.signature } });
  });

  test("behavior: before the first block it asks to come again", async () => {
    const signed = await sign(50);
    await game.restart();
    await server.close();
    server = await serve(10_000);
    expect(await submit(signed)).toMatchObject({ status: 503, code: "CHAIN_NOT_READ_YET" });
  });
});

describe("a prover with a small stake", () => {
  test("behavior: it fills as many places as its stake has bonds, and what is stronger takes one", async () => {
    // Nothing is opened, so that all of it waits.
    const withheld = await openPromiseChallenger(local, { maxExposure: 0n });
    const before = game;
    game = withheld;
    const small = await serve(10_000);
    try {
      const { system, actions, reader } = withheld;
      const send = (action: { to: Address; data: Hex; value: bigint }) =>
        createWalletClient({ account: SMALL, transport: http(local.rpcUrl) }).sendTransaction({
          ...{ to: action.to, data: action.data, value: action.value, chain: null },
        });
      await send(actions.setSigner(SMALL.address, (await local.now()) + 30 * 86_400));
      await withheld.settle();
      const of = async (byte: number, minBond = 0n) =>
        signTiny(withheld.chain, SMALL, system.modelId, [byte, 1, 2, 3], seen(), {
          ...{ output: WRONG, minBond, salt: BigInt(byte) },
        });
      const submitTo = async (presented: Presented) => {
        const response = await fetch(`${small.url}/v1/signed-claims`, {
          ...{ method: "POST", headers: { "Content-Type": "application/json" } },
          body: JSON.stringify(renderPresented(withheld.at, presented)),
        });
        const { error, ...rest } = (await response.json()) as Record<string, unknown>;
        return { status: response.status, ...rest, ...(error as object | undefined) };
      };
      // Without a stake nothing could be taken.
      const none = await submitTo(await of(1));
      expect(none).toMatchObject({ status: 409, code: "STAKE_TOO_LOW" });
      expect((none as { message?: string }).message).toContain("is 0 ether, and the least bond");

      const { bond } = await reader.check(await of(2));
      await system.sender.send(actions.deposit(SMALL.address, (bond * 3n) / 2n, "small"));
      const [first, second] = [await of(3), await of(4)];
      for (const one of [first, second])
        expect(await submitTo(one)).toMatchObject({ status: 202, kept: true });
      expect(await submitTo(await of(5))).toMatchObject({ status: 503, code: "TOO_BUSY" });
      const strong = await of(6, (bond * 3n) / 2n);
      expect(await submitTo(strong)).toMatchObject({ status: 202, kept: true });
      const kept = [first, second, strong].map(({ claim }) =>
        withheld.running.store.has(digestOf(withheld.at, claim)),
      );
      expect(kept).toEqual([false, true, true]);
    } finally {
      game = before;
      await small.close();
      await withheld.close();
    }
  });
});
