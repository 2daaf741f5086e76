import { type Hex, parseEther } from "viem";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { askSigned, askSignedMany, report, type SignedTerms, spotCheck } from "../../../agent/sdk/index.ts";
import { fromHex, toHex } from "../../../base/bytes.ts";
import { PromiseActions } from "../../../protocol/chain/promises/actions.ts";
import { promisesOf } from "../../../protocol/chain/promises/place.ts";
import { type Presented, renderPresented } from "../../../protocol/rules/promises/presented.ts";
import { accountAt } from "../../support/anvil.ts";
import { type AnsweringProver, startAnsweringProver } from "../../support/promises/answering-prover.ts";
import { signTiny, tinyOutput } from "../../support/promises/local-promises.ts";
import { signedAttacks } from "../../support/promises/signed-attacks.ts";
import { local, model, openLocalSdk, system } from "../../support/sdk.ts";

openLocalSdk();

/** The account of the system's sender. */
const PROVER = accountAt(1);
const DATA = "0x01020304";
const BYTES = [1, 2, 3, 4];

let prover: AnsweringProver;

beforeAll(async () => {
  const at = promisesOf(system.deployment);
  const actions = new PromiseActions(at, system.chain.game);
  await system.sender.send(actions.deposit(PROVER.address, parseEther("1"), "sdk"));
  await system.sender.send(actions.setSigner(PROVER.address, (await local.now()) + 1_000_000));
  prover = await startAnsweringProver();
});
afterAll(() => prover?.stop());

const sign = async (changes: Parameters<typeof signTiny>[5] = {}, bytes = BYTES) =>
  signTiny(system.chain, PROVER, model.modelId, bytes, await local.now(), changes);

/** The prover answers with this. @param output of the body; absent: the signed one */
const answers = (presented: Presented, output?: Hex): void =>
  prover.answers(promisesOf(system.deployment), presented, output);
const ask = (terms: Partial<SignedTerms> = {}) =>
  askSigned(system.chain, model, { data: DATA }, { url: prover.url, leastSeconds: 60, ...terms });

beforeEach(async () => answers(await sign()));

describe("askSigned", () => {
  it("default: the output of a promise that can be counted on", async () => {
    const presented = await sign();
    answers(presented);
    const signed = await ask({ prover: PROVER.address });
    expect(signed).toMatchObject({ presented, end: presented.claim.expiry, values: { output: DATA } });
    expect(signed.bond).toBeGreaterThan(0n);
  });

  it.each<[string, () => Promise<unknown>, string]>([
    [
      "another requester",
      async () => answers(await sign({ requester: PROVER.address })),
      "SIGNED_CLAIM_WRONG",
    ],
    ["another model", async () => answers(await sign({ modelId: system.modelId })), "SIGNED_CLAIM_WRONG"],
    ["another output", async () => answers(await sign(), toHex(new Uint8Array(96))), "OUTPUT_MISMATCH"],
    [
      "too short a life",
      async () => answers(await sign({ expiry: (await local.now()) + 30 })),
      "PROMISE_TOO_SHORT",
    ],
    [
      "a body without end",
      async () =>
        prover.replies(
          (response) => void response.setHeader("Assay-Signed-Claim", "e30").end(Buffer.alloc(1_000_000)),
        ),
      "SIGNED_CLAIM_WRONG",
    ],
    ["no signed claim", async () => prover.replies((response) => void response.end("")), "PROVER_REFUSED"],
    [
      "a header that is no JSON",
      async () => prover.replies((response) => void response.setHeader("Assay-Signed-Claim", "%%").end("")),
      "SIGNED_CLAIM_WRONG",
    ],
  ])("error: %s", async (_what, arrange, code) => {
    await arrange();
    await expect(ask()).rejects.toMatchObject({ code });
  });

  it("error: what nobody may take is refused by name", async () => {
    const at = promisesOf(system.deployment);
    const now = await local.now();
    const attacks = await signedAttacks({
      ...{ at, now, stranger: accountAt(7) },
      sign: (changes, isOther) => sign(changes, isOther ? [9, 9, 9, 9] : BYTES),
    });
    for (const { what, presented, code, reason, at: where } of attacks) {
      prover.answers(where, presented);
      await expect(ask(), what).rejects.toMatchObject({ code, message: expect.stringMatching(reason) });
    }
  });

  it("args: a bond and a prover that the caller names", async () => {
    await expect(ask({ minBond: 1n })).rejects.toMatchObject({ code: "SIGNED_CLAIM_WRONG" });
    await expect(ask({ prover: accountAt(3).address })).rejects.toMatchObject({ code: "SIGNED_CLAIM_WRONG" });
  });
});

describe("askSignedMany", () => {
  const at = () => promisesOf(system.deployment);
  const OTHER = [5, 6, 7, 8];
  const askMany = (inputs: readonly Hex[] = [DATA, "0x05060708"], terms: Partial<SignedTerms> = {}) =>
    askSignedMany(...[system.chain, model, inputs.map((data) => ({ data }))], {
      url: prover.url,
      leastSeconds: 60,
      ...terms,
    });

  it("default: an answer for each input, in their order", async () => {
    const signed = [await sign(), await sign({}, OTHER)];
    prover.answersMany(at(), signed);
    const taken = await askMany();
    expect(taken.map(({ presented }) => presented)).toEqual(signed);
    expect(taken.map(({ values }) => values)).toEqual([{ output: DATA }, { output: "0x05060708" }]);
    prover.replies((response) => void response.writeHead(500).end());
    expect(await askMany([])).toEqual([]);
  });

  it.each<[string, () => Promise<unknown>, string]>([
    ["fewer answers", async () => prover.answersMany(at(), [await sign()]), "SIGNED_CLAIM_WRONG"],
    [
      "answers in another order",
      async () => prover.answersMany(at(), [await sign({}, OTHER), await sign()]),
      "SIGNED_CLAIM_WRONG",
    ],
    [
      "the same answer to all",
      async () => prover.answersMany(at(), [await sign(), await sign()]),
      "SIGNED_CLAIM_WRONG",
    ],
    [
      "another requester in one of them",
      async () => prover.answersMany(at(), [await sign(), await sign({ requester: PROVER.address }, OTHER)]),
      "SIGNED_CLAIM_WRONG",
    ],
    [
      "another output in one of them",
      async () =>
        prover.answersMany(at(), [
          await sign(),
          { ...(await sign({}, OTHER)), output: (await sign()).output },
        ]),
      "OUTPUT_MISMATCH",
    ],
    ["no JSON", async () => prover.replies((response) => void response.end("{")), "SIGNED_CLAIM_WRONG"],
    ["null", async () => prover.replies((response) => void response.end("null")), "SIGNED_CLAIM_WRONG"],
    [
      "an answer without end",
      async () => prover.replies((response) => void response.end(Buffer.alloc(1_000_000))),
      "SIGNED_CLAIM_WRONG",
    ],
  ])("error: %s", async (_what, arrange, code) => {
    await arrange();
    await expect(askMany()).rejects.toMatchObject({ code });
  });

  it("args: calldata goes in the form that is compared, so many in a request as is said", async () => {
    const signed = [await sign(), await sign({}, OTHER)];
    prover.answersMany(at(), signed);
    const inputs = [{ data: Uint8Array.of(...BYTES) }, { data: "0x05060708" }];
    const terms = { url: prover.url, leastSeconds: 60 };
    await askSignedMany(system.chain, model, inputs, terms);
    const calldata = signed.map(({ input }) => input);
    expect(prover.asked.at(-1)).toEqual({ calldata });
    const letters = await sign({}, [0xab, 0xcd, 7, 8]);
    prover.answersMany(at(), [letters]);
    const [upper] = await askSignedMany(system.chain, model, [{ data: "0xABCD0708" }], terms);
    expect(upper?.presented).toEqual(letters);
    prover.answersMany(at(), signed.slice(0, 1));
    const singly = { ...terms, inputsPerRequest: 1 };
    await expect(askSignedMany(system.chain, model, inputs, singly)).rejects.toMatchObject({
      message: expect.stringContaining("answer 0 has no signed claim of input 0"),
    });
    expect(prover.asked.slice(-2)).toEqual(calldata.map((one) => ({ calldata: [one] })));
  });

  it("error: an input that the model does not take, before any is bought", async () => {
    prover.replies(() => expect.unreachable("it was asked"));
    await expect(
      askSignedMany(system.chain, model, [{ data: DATA }, { text: "x" }], prover),
    ).rejects.toMatchObject({ code: "INPUTS_INVALID" });
  });
});

describe("spotCheck", () => {
  it("default: a wrong output is seen when it is run, and only then", async () => {
    answers(await sign({ output: `${(await sign()).output.slice(0, -64)}ff${"00".repeat(31)}` as never }));
    const signed = await ask();
    const execute = (input: Uint8Array) => fromHex(tinyOutput(toHex(input)));
    const check = (random: number) =>
      spotCheck(system.chain, model, signed, { probability: 0.25, execute, random: () => random });
    expect(await check(0.25)).toEqual({ isChecked: false });
    expect(await check(0.24)).toMatchObject({ isChecked: true, isRight: false });
    answers(await sign());
    const right = await ask();
    expect(await spotCheck(system.chain, model, right, { probability: 1, execute })).toMatchObject({
      ...{ isChecked: true, isRight: true, output: right.presented.output },
    });
  });

  it("error: what could not be run is no verdict", async () => {
    const signed = await ask();
    const execute = () => Promise.reject(new Error("no memory"));
    await expect(spotCheck(system.chain, model, signed, { probability: 1, execute })).rejects.toThrow(
      "no memory",
    );
    await expect(spotCheck(system.chain, model, signed, { probability: 2 })).rejects.toMatchObject({
      code: "PROBABILITY_INVALID",
    });
  });
});

describe("report", () => {
  it("default: each challenger gets the whole of it, and one that is away stops nobody", async () => {
    const signed = await ask();
    prover.replies((response) => void response.end('{"status":"queued"}'));
    const reported = await report(system.chain, signed, [prover.url, "http://127.0.0.1:1"]);
    expect(reported.map(({ isTaken }) => isTaken)).toEqual([true, false]);
    expect(prover.reported.at(-1)).toEqual(
      JSON.parse(JSON.stringify(renderPresented(promisesOf(system.deployment), signed.presented))),
    );
  });
});
