/** Signed answers of real prover processes, over HTTP: right ones that are opened and defended, wrong ones that fall, and
 *  batches that become final. */
import { type Address, type Hex, keccak256 } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { toHex } from "../../base/bytes.ts";
import { execute } from "../../inference/executor/execute.ts";
import { prepare } from "../../inference/executor/prepare.ts";
import { Actions } from "../../protocol/chain/actions.ts";
import { accept } from "../../protocol/chain/promises/accept.ts";
import { promiseHistory } from "../../protocol/chain/promises/events.ts";
import type { Batch } from "../../protocol/rules/promises/batch.ts";
import type { Presented } from "../../protocol/rules/promises/presented.ts";
import { digestOf } from "../../protocol/rules/promises/signed-claim.ts";
import { LANE, type ModelId } from "../../protocol/rules/types.ts";
import { fetchMetrics } from "../support/exposition.ts";
import { documentOf, expectDocumented } from "../support/openapi.ts";
import {
  ask,
  askUntilSigned,
  calldataOf,
  presentedOf,
  promisesBy,
} from "../support/promises/signed-answers.ts";
import { ROLES, type System, startSystem, systemAccount } from "../support/system.ts";

/** Long: windows end when the test lets them. */
const ANSWER_SECONDS = 60;
const ETHER = 10n ** 18n;
const DAY = 86_400;
const SIGNS = ["--sign", "on", "--batch-seconds", "2"];
const CHEAT = ROLES.cheat;

let system: System;
let url: string;
let cheatUrl: string;
let opener: Awaited<ReturnType<System["open"]>> & ReturnType<typeof promisesBy>;

beforeAll(async () => {
  system = await startSystem({ models: ["sentiment"], answerSeconds: ANSWER_SECONDS });
  const opened = await system.open("opener", 12);
  opener = { ...opened, ...promisesBy(opened) };
  for (const index of [ROLES.prover, CHEAT])
    await opener.must(opener.actions.deposit(systemAccount(index).address, 10n * ETHER, `${index}`));
  const prover = system.daemon("prover", ROLES.prover, ["prover", "--port", "0", ...SIGNS]);
  const cheat = system.cheat("cheat", CHEAT, "output", ["--sign", "on"]);
  const challenger = system.daemon("challenger", ROLES.challenger, ["challenger", "defend"]);
  const up = [
    prover.logged("prover is up"),
    cheat.logged("prover is up"),
    challenger.logged("challenger is up"),
  ];
  [url, cheatUrl] = (await Promise.all(up)).map(({ url: at }) => at) as [string, string];
});
afterAll(() => system?.stop());

const model = () => system.model("sentiment");
const rightOutput = (text: string): Hex =>
  toHex(execute(prepare(model().model, model().selector), calldataOf(model(), text)));

/** Waits until the chain says so. */
async function until<T>(what: string, read: () => Promise<T | undefined>): Promise<T> {
  for (let tries = 0; tries < 3_000; tries++) {
    const found = await read();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`${what} did not come`);
}

const statusOf = async (at: string, digest: unknown) =>
  (await (await fetch(`${at}/v1/signed-claims/${digest}`)).json()) as Record<string, unknown>;

describe("finality=signed", () => {
  it("default: a right answer is accepted; opened, it is defended until it is final", async () => {
    const text = "Profit rises above all estimates";
    const body = await askUntilSigned(url, model(), text);
    expect(body).toMatchObject({ status: "signed", output: rightOutput(text) });
    const presented = presentedOf(opener.chain, body);
    const { claim } = presented;
    expect(claim.prover).toBe(systemAccount(ROLES.prover).address);
    expect(digestOf(opener.reader.at, claim)).toBe(body.digest);
    const accepted = await accept(opener.chain, presented, DAY - 3_600);
    expect(accepted).toMatchObject({ accepted: true, digest: body.digest });
    expect(await statusOf(url, body.digest)).toMatchObject({ status: "signed", digest: body.digest });

    // Somebody opens it, and challenges the claim that it becomes: the prover answers with its trace.
    const { deposit } = await opener.reader.check(presented);
    await opener.must(opener.actions.open(presented, deposit));
    const [opened] = await promiseHistory(opener.chain, body.digest as Hex);
    if (opened?.name !== "Opened") throw new Error("it is not open");
    const { claimId } = opened.args;
    const claimed = await system.events.until("Claimed", ({ claimId: id }) => id === claimId);
    await opener.must(new Actions(opener.chain.game).challenge(claimed.claim));
    await system.events.until("TraceCommitted", ({ claimId: id }) => id === claimId);
    expect(
      await until("status opened", async () => {
        const { status } = await statusOf(url, body.digest);
        return status === "opened" ? status : undefined;
      }),
    ).toBe("opened");
    await system.passTime(DAY + 4 * ANSWER_SECONDS + ANSWER_SECONDS);
    await until("the end in the books of Promises", async () =>
      (await opener.reader.signed(digestOf(opener.reader.at, claim))).status === "CLOSED" ? true : undefined,
    );
    expect(
      await until("status final", async () => {
        const found = await statusOf(url, body.digest);
        return found.status === "final" ? found : undefined;
      }),
    ).toMatchObject({ claimId });
    const account = await opener.reader.account(claim.prover);
    expect(account.away).toBe(0n);
    // Half of the ticket and half of the opener's deposit are the prover's.
    expect(account.free).toBeGreaterThan(10n * ETHER);
  });

  it("behavior: a wrong answer looks the same, and falls once it is opened", async () => {
    const text = "Losses everywhere";
    const body = await askUntilSigned(cheatUrl, model(), text);
    expect(body.output).not.toBe(rightOutput(text));
    const presented = presentedOf(opener.chain, body);
    const accepted = await accept(opener.chain, presented, 60);
    if (!accepted.accepted) throw new Error(accepted.reason);
    await opener.must(opener.actions.open(presented, accepted.deposit));
    const [opened] = await promiseHistory(opener.chain, accepted.digest);
    if (opened?.name !== "Opened") throw new Error("it is not open");
    const { claimId } = opened.args;
    await system.events.until("Fell", ({ claimId: id }) => id === claimId);
    await until("the fall in the books", async () =>
      (await opener.reader.signed(accepted.digest)).status === "CLOSED" ? true : undefined,
    );
    expect(await opener.reader.credit(opener.chain.account.address)).toBe(accepted.deposit);
    const account = await opener.reader.account(presented.claim.prover);
    expect(account.free).toBeLessThan(10n * ETHER);
    expect(account.away).toBe(0n);
    expect(
      await until("status fallen", async () => {
        const { status } = await statusOf(cheatUrl, body.digest);
        return status === "fallen" ? status : undefined;
      }),
    ).toBe("fallen");
  });

  it("args: the calldata form says the same in headers", async () => {
    const calldata = calldataOf(model(), "Flat quarter");
    const response = await fetch(`${url}/tools/${model().manifest.name}?finality=signed`, {
      method: "POST",
      headers: { "Content-Type": "application/octet-stream" },
      body: Buffer.from(calldata),
    });
    expect(response.status).toBe(200);
    const output = toHex(new Uint8Array(await response.arrayBuffer()));
    const header = response.headers.get("Assay-Signed-Claim") as string;
    const signed = JSON.parse(Buffer.from(header, "base64url").toString()) as Record<string, unknown>;
    const presented = presentedOf(opener.chain, {
      signedClaim: { ...signed, input: toHex(calldata), output },
    });
    expect(await accept(opener.chain, presented, 60)).toMatchObject({
      ...{ accepted: true, digest: response.headers.get("Assay-Digest") },
    });
    expect(response.headers.get("Assay-Status")).toBe("signed");
  });

  it("error: what cannot be asked is refused by name", async () => {
    const code = async (finality: string, query = "") =>
      ((await ask(url, model(), "x", finality, query)).body as { error?: { code: string } }).error?.code;
    expect(await code("sure")).toBe("QUERY_INVALID");
    expect(await code("signed", "&requester=0x12")).toBe("QUERY_INVALID");
    expect(await code("signed", "&batch=yes")).toBe("QUERY_INVALID");
    expect(await code("final", "&batch=true")).toBe("QUERY_INVALID");
    expect(await code("batched", "&timeout=0")).toBe("QUERY_INVALID");
    // Whoever posts pays the gas, so it does that only where its operator says so.
    for (const query of ["finality=signed&batch=true", "finality=batched"]) {
      const response = await fetch(`${cheatUrl}/v1/tools/${model().manifest.name}?${query}`, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ text: "x" }),
      });
      const { error } = (await response.json()) as { error: { code: string } };
      expect([response.status, error.code]).toEqual([409, "BATCHING_OFF"]);
    }
    const unknown = await statusOf(url, `0x${"12".repeat(32)}`);
    expect(unknown).toMatchObject({ error: { code: "SIGNED_CLAIM_UNKNOWN" } });
    expect(await statusOf(url, "0x12")).toMatchObject({ error: { code: "ID_INVALID" } });
  });
});

describe("POST /v1/tools/{name}/signed-claims", () => {
  const askMany = async (at: string, body: unknown, query = "") => {
    const response = await fetch(`${at}/v1/tools/${model().manifest.name}/signed-claims${query}`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
    const route = "POST /v1/tools/{name}/signed-claims";
    await expectDocumented(await documentOf(at), route, response.clone());
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  const inputsOf = (texts: readonly string[]) => ({ inputs: texts.map((text) => ({ text })) });
  const signedByNow = async () =>
    (await fetchMetrics(url)).get('assay_prover_signed_total{finality="signed"}') ?? 0;

  it("default: a signed claim for each input, in their order, each taken by the contract", async () => {
    const texts = Array.from({ length: 64 }, (_, i) => `Company ${i} raises its outlook`);
    const { status, body } = await askMany(url, inputsOf(texts));
    expect([status, body.modelId, body.status]).toEqual([200, model().modelId, "signed"]);
    const answers = body.answers as Record<string, unknown>[];
    expect(answers.map(({ output }) => output)).toEqual(texts.map(rightOutput));
    const presented = answers.map((one) => presentedOf(opener.chain, one));
    expect(presented.map(({ input }) => input)).toEqual(
      texts.map((text) => toHex(calldataOf(model(), text))),
    );
    expect(new Set(answers.map(({ digest }) => digest)).size).toBe(texts.length);
    for (const index of [0, 63]) {
      expect(await accept(opener.chain, presented[index] as Presented, 60)).toMatchObject({
        ...{ accepted: true, digest: answers[index]?.digest },
      });
      expect(await statusOf(url, answers[index]?.digest)).toMatchObject({ status: "signed" });
    }
    expect(await single(texts[0] as string)).toEqual(Object.keys(answers[0] as object).sort());
  });

  /** What an answer in a request of its own says, without what is said once here. */
  const single = async (text: string) => {
    const { body } = await ask(url, model(), text, "signed");
    return Object.keys(body)
      .filter((name) => name !== "modelId" && name !== "status")
      .sort();
  };

  it("args: calldata in, and answers without names", async () => {
    const texts = ["One", "Another"];
    const { status, body } = await askMany(url, {
      calldata: texts.map((text) => toHex(calldataOf(model(), text))),
    });
    expect(status).toBe(200);
    const answers = body.answers as Record<string, unknown>[];
    const outputs = answers.map((one) => presentedOf(opener.chain, one).output);
    expect([outputs, answers[0]?.result]).toEqual([texts.map(rightOutput), undefined]);
  });

  it("behavior: all of them go into batches", async () => {
    const { body } = await askMany(url, inputsOf(["One waits", "Another waits"]), "?batch=true");
    const answers = body.answers as { readonly digest: Hex }[];
    for (const { digest } of answers) {
      await until("its batch", async () =>
        (await statusOf(url, digest)).status === "batched" ? true : undefined,
      );
    }
  });

  it.each<[string, unknown, string, number, string, RegExp]>([
    ["no inputs", { inputs: [] }, "", 400, "INPUTS_INVALID", /no inputs/],
    ["a list", [{ text: "x" }], "", 400, "INPUTS_INVALID", /no inputs/],
    ["nothing", null, "", 400, "INPUTS_INVALID", /no inputs/],
    [
      "more than inputs",
      { inputs: [{ text: "x" }], batch: true },
      "",
      400,
      "INPUTS_INVALID",
      /more than inputs/,
    ],
    [
      "an input that is a text",
      { inputs: [{ text: "x" }, "y"] },
      "",
      400,
      "JSON_INVALID",
      /^Of inputs\[1\]: /,
    ],
    [
      "another parameter",
      { inputs: [{ text: "x" }, { txt: "y" }] },
      "",
      400,
      "INPUTS_INVALID",
      /^Of inputs\[1\]: /,
    ],
    [
      "too long a text",
      { inputs: [{ text: "x" }, { text: "y".repeat(20_000) }] },
      ...(["", 400, "TEXT_TOO_LONG", /^Of inputs\[1\]: /] as const),
    ],
    [
      "too many",
      { inputs: Array.from({ length: 65 }, () => ({ text: "x" })) },
      "",
      400,
      "INPUTS_TOO_MANY",
      /65 .* 64/,
    ],
    [
      "calldata without a selector",
      { calldata: ["0x", "0x1"] },
      "",
      400,
      "SELECTOR_MISMATCH",
      /^Of calldata\[0\]: /,
    ],
    ["half a byte", { calldata: ["0x1"] }, "", 400, "INPUTS_INVALID", /^Of calldata\[0\]: .*0x1/],
    ["a number", { calldata: [7] }, "", 400, "INPUTS_INVALID", /^Of calldata\[0\]: It is 7/],
    [
      "both forms",
      { inputs: [{ text: "x" }], calldata: ["0x"] },
      "",
      400,
      "INPUTS_INVALID",
      /more than inputs/,
    ],
    ["another query", { inputs: [{ text: "x" }] }, "?finality=signed", 400, "QUERY_INVALID", /finality/],
    ["no address", { inputs: [{ text: "x" }] }, "?requester=0x12", 400, "QUERY_INVALID", /requester/],
  ])("error: %s; nothing is signed", async (_what, request, query, status, code, message) => {
    const before = await signedByNow();
    const answer = await askMany(url, request, query);
    expect(answer).toMatchObject({
      status,
      body: { error: { code, message: expect.stringMatching(message) } },
    });
    expect(await signedByNow()).toBe(before);
  });

  it("error: a prover that posts no batches", async () => {
    expect(await askMany(cheatUrl, inputsOf(["x"]), "?batch=true")).toMatchObject({
      ...{ status: 409, body: { error: { code: "BATCHING_OFF" } } },
    });
  });
});

describe("finality=signed&batch=true", () => {
  it("default: answers at once, and says later where the answer is in a batch", async () => {
    const { status, body } = await ask(url, model(), "Shares wait for a batch", "signed", "&batch=true");
    expect([status, body.leaf]).toEqual([200, undefined]);
    const found = await until("its batch", async () => {
      const one = await statusOf(url, body.digest);
      return one.status === "batched" ? one : undefined;
    });
    expect(found.leaf).toMatchObject({ index: 0, windowEnd: expect.any(Number) });
  });
});

describe("finality=batched", () => {
  it("default: answers get a place in a batch, and are final after its window", async () => {
    const texts = ["Shares jump", "Shares fall", "Shares sleep"];
    const answers = await Promise.all(
      texts.map((text) => ask(url, model(), text, "batched", "&timeout=300")),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    interface Leaf {
      readonly batch: Batch;
      readonly batchId: Hex;
      readonly index: number;
      readonly payload: Hex;
      readonly path: readonly Hex[];
      readonly windowEnd: number;
    }
    const policyOf = (text: string) => ({
      ...{ modelId: model().modelId as ModelId, inputHash: keccak256(toHex(calldataOf(model(), text))) },
      ...{ lanes: LANE.BOND, minBond: 0n, minWindow: 4 * ANSWER_SECONDS },
    });
    const gate = ({ batch, index, payload, path }: Leaf, text: string) =>
      opener.reader.requireFinalLeaf(batch, index, payload, path, policyOf(text));
    const leaves = answers.map(({ body }) => body.leaf as Leaf);
    await expect(gate(leaves[0] as Leaf, texts[0] as string)).rejects.toMatchObject({
      details: { revert: "BatchNotFinal" },
    });
    await system.passTime(4 * ANSWER_SECONDS);
    const prover: Address = systemAccount(ROLES.prover).address;
    // The prover takes its stake back by itself.
    await until("the release", async () =>
      (await opener.reader.account(prover)).slots === 0n ? true : undefined,
    );
    for (const [index, text] of texts.entries())
      expect(await gate(leaves[index] as Leaf, text)).toBe(rightOutput(text));
    const found = await until("status final", async () => {
      const one = await statusOf(url, answers[0]?.body.digest);
      return one.status === "final" ? one : undefined;
    });
    expect(found.leaf).toEqual(leaves[0]);
  });
});
