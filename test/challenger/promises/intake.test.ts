/** POST /v1/signed-claims over HTTP, on real contracts: what is taken, and what is refused by name. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { SILENT } from "../../../base/log.ts";
import { INTAKE_CONNECTIONS, intakeApp } from "../../../challenger/promises/intake.ts";
import { type Presented, renderPresented } from "../../../protocol/rules/promises/presented.ts";
import { digestOf } from "../../../protocol/rules/promises/signed-claim.ts";
import type { ModelId } from "../../../protocol/rules/types.ts";
import { type HttpServer, listen } from "../../../protocol/service/http/listen.ts";
import { accountAt, type LocalChain, startLocalChain } from "../../support/anvil.ts";
import { hashOf } from "../../support/batches.ts";
import { tinyInput } from "../../support/deploy.ts";
import { signTiny, tinyOutput } from "../../support/promises/local-promises.ts";
import {
  ETHER,
  openPromiseChallenger,
  type PromiseChallenger,
} from "../../support/promises/promise-challenger.ts";
import { createRng } from "../../support/rng.ts";

const PROVER = accountAt(1);
const WRONG = tinyOutput(tinyInput([9, 9, 9, 9]));

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
    check: (digest, presented) => running.watch.check(digest, presented),
    now: () => running.watch.head?.timestamp,
  });
  return listen(app, "127.0.0.1", 0, INTAKE_CONNECTIONS);
};
beforeEach(async () => {
  server = await serve(10_000);
});
afterEach(() => server.close());

const sign = async (byte: number, changes: Parameters<typeof signTiny>[5] = {}) =>
  signTiny(game.chain, PROVER, game.system.modelId, [byte, 1, 2, 3], await local.now(), changes);

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

  const renders = (change: (json: ReturnType<typeof renderPresented>) => unknown) => async () =>
    change(renderPresented(game.at, await sign(3, { output: WRONG })));
  test.each<[string, () => Promise<unknown>, number, string, RegExp]>([
    ["no JSON", async () => "{", 400, "JSON_INVALID", /./],
    ["an array", async () => [], 400, "JSON_INVALID", /array/],
    ["nothing in it", async () => ({}), 400, "SIGNED_CLAIM_INVALID", /chainId/],
    ["a field more", renders((json) => ({ ...json, more: 1 })), 400, "SIGNED_CLAIM_INVALID", /more/],
    [
      "a short signature",
      renders((json) => ({ ...json, signature: json.signature.slice(0, -2) })),
      400,
      "SIGNED_CLAIM_INVALID",
      /65 bytes/,
    ],
    [
      "an amount as a number",
      renders((json) => ({ ...json, claim: { ...json.claim, minBond: 5 } })),
      400,
      "SIGNED_CLAIM_INVALID",
      /minBond/,
    ],
    [
      "another chain",
      renders((json) => ({ ...json, chainId: 1 })),
      400,
      "SIGNED_CLAIM_ELSEWHERE",
      /chain 1, not .* chain 31337/,
    ],
    [
      "another contract",
      renders((json) => ({ ...json, promises: PROVER.address })),
      400,
      "SIGNED_CLAIM_ELSEWHERE",
      /not for/,
    ],
    [
      "another input",
      renders((json) => ({ ...json, input: `${json.input}00` })),
      400,
      "INPUT_MISMATCH",
      /hash/,
    ],
    ["another output", renders((json) => ({ ...json, output: "0x00" })), 400, "OUTPUT_MISMATCH", /hash/],
    [
      "an input that no transaction holds",
      renders((json) => ({ ...json, input: `0x${"00".repeat(90_001)}` })),
      400,
      "SIGNED_CLAIM_INVALID",
      /input/,
    ],
    [
      "input and output that no transaction holds",
      renders((json) => ({ ...json, input: `0x${"00".repeat(60_000)}`, output: `0x${"00".repeat(30_001)}` })),
      413,
      "SIGNED_CLAIM_TOO_LARGE",
      /90001 .* 90000/,
    ],
    [
      "a body that is larger still",
      async () => `{"a":"${"0".repeat(200_000)}"}`,
      413,
      "BODY_TOO_LARGE",
      /184096/,
    ],
    [
      "a v of another form",
      renders((json) => ({ ...json, signature: `${json.signature.slice(0, -2)}01` })),
      400,
      "SIGNATURE_INVALID",
      /its v is 1/,
    ],
    [
      "the twin of a signature",
      renders((json) => ({ ...json, signature: twinOf(json.signature) })),
      400,
      "SIGNATURE_INVALID",
      /half/,
    ],
    [
      "a model that nobody here has",
      async () => renderPresented(game.at, await sign(4, { modelId: hashOf(77) as ModelId })),
      404,
      "MODEL_NOT_SERVED",
      /0x0+4d/,
    ],
    [
      "its end has passed",
      async () => renderPresented(game.at, await sign(5, { expiry: (await local.now()) - 9 })),
      409,
      "SIGNED_CLAIM_EXPIRED",
      /until \d+, it is \d+/,
    ],
    [
      "a day after it was issued",
      async () => renderPresented(game.at, await sign(5, { issuedAt: (await local.now()) - 86_500 })),
      409,
      "SIGNED_CLAIM_EXPIRED",
      /until/,
    ],
    [
      "it is postdated",
      async () => renderPresented(game.at, await sign(6, { issuedAt: (await local.now()) + 999 })),
      409,
      "SIGNED_CLAIM_EARLY",
      /issued at/,
    ],
    [
      "a key that binds nobody",
      async () => renderPresented(game.at, await sign(7, { output: WRONG, key: accountAt(9) })),
      409,
      "SIGNED_CLAIM_REFUSED",
      /SignerNotBound/,
    ],
    [
      "an output of another length",
      async () => renderPresented(game.at, await sign(8, { output: "0x00" })),
      409,
      "SIGNED_CLAIM_REFUSED",
      /OutputLengthWrong.*96/,
    ],
  ])("error: %s", async (_name, make, status, code, message) => {
    const kept = game.running.store.open;
    const answer = await post(await make());
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
    const early = await sign(60, { output: WRONG, issuedAt: (await local.now()) + 45 });
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
    await game.restart();
    await server.close();
    server = await serve(10_000);
    expect(await submit(await sign(50))).toMatchObject({ status: 503, code: "CHAIN_NOT_READ_YET" });
  });
});

/** The other signature of the same key for the same digest. */
function twinOf(signature: string): string {
  const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
  const s = (order - BigInt(`0x${signature.slice(66, 130)}`)).toString(16).padStart(64, "0");
  return `${signature.slice(0, 66)}${s}${signature.endsWith("1b") ? "1c" : "1b"}`;
}
