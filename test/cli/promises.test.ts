/** assay stake, promise and batch, on a chain that makes a block for each transaction. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Hex } from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { toHex } from "../../base/bytes.ts";
import { Actions } from "../../protocol/chain/actions.ts";
import { readClaim } from "../../protocol/chain/past.ts";
import { PromiseActions } from "../../protocol/chain/promises/actions.ts";
import { promisesOf } from "../../protocol/chain/promises/place.ts";
import { batchIdOf } from "../../protocol/rules/promises/batch.ts";
import { type Presented, renderPresented } from "../../protocol/rules/promises/presented.ts";
import { digestOf, type PromisesAddress } from "../../protocol/rules/promises/signed-claim.ts";
import type { ClaimId } from "../../protocol/rules/types.ts";
import { runInProcess } from "../support/assay.ts";
import { sentimentPromises } from "../support/promises/sentiment-promises.ts";
import { keyOf, ROLES, type System, startSystem, systemAccount } from "../support/system.ts";

const ANSWER_SECONDS = 60;
const PROVER = systemAccount(ROLES.prover);
const CHALLENGER = systemAccount(ROLES.challenger);

let system: System;
let at: PromisesAddress;
let made: ReturnType<typeof sentimentPromises>;
let files = 0;

beforeAll(async () => {
  system = await startSystem({
    ...{ models: ["sentiment"], answerSeconds: ANSWER_SECONDS, blocks: "on-demand" },
  });
  at = promisesOf(system.chain.deployment);
  made = sentimentPromises(system.model("sentiment"), at);
});
afterAll(() => system.stop());

/** @param index of the account */
const run = (index: number, words: string) =>
  runInProcess(words.split(" "), {
    ...{ ASSAY_RPC_URL: system.rpcUrl, ASSAY_DEPLOYMENT: join(system.folder, "deployment.json") },
    ...{
      ASSAY_KEY: keyOf(index),
      ASSAY_DATA: join(system.folder, `cli-${index}`),
      ASSAY_POLL_INTERVAL_MS: "20",
    },
  });
async function json(index: number, words: string) {
  const { code, stdout, stderr } = await run(index, `${words} --json`);
  return { code, ...(JSON.parse(stdout || stderr) as Record<string, never>) } as Record<string, never> & {
    code: number;
  };
}
function file(presented: Presented): string {
  const path = join(system.folder, `signed-${files++}.json`);
  writeFileSync(path, JSON.stringify(renderPresented(at, presented)));
  return path;
}
const now = async () => Number((await system.chain.client.getBlock()).timestamp);

describe("assay stake", () => {
  test("default: deposited, shown, bound, announced; a dry run sends nothing", async () => {
    const dry = await json(ROLES.prover, "stake deposit 4ether --dry-run");
    expect(dry).toMatchObject({
      code: 0,
      valueWei: "4000000000000000000",
      gas: expect.stringMatching(/^\d+$/),
    });
    expect(await json(ROLES.prover, "stake show")).toMatchObject({ stakeWei: "0" });
    expect((await run(ROLES.prover, "stake deposit 4ether")).stdout).toMatch(
      /^Stake was deposited, with 4 ether \(0x/,
    );
    expect((await run(ROLES.challenger, `stake deposit 1ether --prover ${PROVER.address}`)).code).toBe(0);
    expect(await json(ROLES.prover, `stake signer ${PROVER.address} --days 2`)).toMatchObject({ code: 0 });
    expect((await run(ROLES.prover, "stake exit 1ether")).stdout).toContain("1 ether leave in eight days");
    const shown = await json(ROLES.challenger, `stake show --prover ${PROVER.address}`);
    expect(shown).toMatchObject({
      ...{ prover: PROVER.address, stakeWei: `${5n * 10n ** 18n}`, freeWei: `${4n * 10n ** 18n}` },
      ...{ leavingWei: `${10n ** 18n}`, keys: [{ key: PROVER.address }] },
    });
    const { stdout } = await run(ROLES.prover, "stake show");
    expect(stdout).toContain("  free     4 ether");
    const early = await run(ROLES.prover, "stake exit");
    expect([early.code, early.stderr]).toEqual([1, expect.stringContaining("ExitTooEarly")]);
    await system.passTime(8 * 86_400 + 1);
    expect((await run(ROLES.prover, "stake exit")).stdout).toContain("Stake was taken out");
    expect(await json(ROLES.prover, "stake show")).toMatchObject({
      leavingWei: "0",
      stakeWei: `${4n * 10n ** 18n}`,
    });
  });

  test.each([
    ["stake deposit much", 'amount is "much": it must be an amount'],
    ["stake deposit 0", 'amount is "0": it must be more than 0'],
    ["stake deposit 1 --prover 0x12", '--prover is "0x12": it must be an address'],
    ["stake exit 1 --to 0x000000000000000000000000000000000000dEaD", "left out with an amount"],
    ["stake signer 0x12", 'key is "0x12": it must be an address'],
    ["stake signer 0x000000000000000000000000000000000000dEaD --days 9999", '--days is "9999"'],
    ["promise show 0x12", 'digest is "0x12": it must be 32 bytes'],
    ["promise queue 0x12", 'prover is "0x12": it must be an address'],
    ["promise close 0x12", 'claim is "0x12": it must be 32 bytes'],
    ["batch show 0x12", 'batch is "0x12": it must be 32 bytes'],
    [`batch prove 0x${"00".repeat(32)} 12345`, 'index is "12345"'],
  ])("error: %s", async (words, message) => {
    const { code, stderr } = await run(ROLES.prover, words);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
  });

  test("error: more than there is, and no credit", async () => {
    const more = await run(ROLES.prover, "stake exit 9ether");
    expect([more.code, more.stderr]).toEqual([
      1,
      expect.stringContaining("ExitTooLarge(amount: 9000000000000000000"),
    ]);
    const none = await run(ROLES.requester, "stake withdraw --dry-run");
    expect([none.code, none.stderr]).toEqual([1, expect.stringContaining("NoCredit")]);
  });
});

describe("assay promise", () => {
  test("default: a wrong one is verified, opened, disputed, closed and shown; a right one is refused", async () => {
    expect((await run(ROLES.prover, `stake signer ${PROVER.address}`)).code).toBe(0);
    const issued = await now();
    const [right, wrong] = [
      await made.sign(PROVER, 1, issued),
      await made.sign(PROVER, 2, issued, { isWrong: true }),
    ];
    const digest = digestOf(at, wrong.claim);
    expect(await json(ROLES.challenger, `promise verify ${file(right)}`)).toMatchObject({
      ...{ code: 0, verdict: { kind: "right" }, binding: { accepted: true, end: issued + 86_400 } },
    });
    expect(await json(ROLES.challenger, `promise verify ${file(wrong)}`)).toMatchObject({
      ...{ code: 4, digest, verdict: { kind: "wrong", honest: toHex(made.answer(2).output) } },
    });
    const refused = await run(ROLES.challenger, `promise open ${file(right)}`);
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringContaining("is right: half of a deposit"),
    ]);
    const dry = await json(ROLES.challenger, `promise open ${file(wrong)} --dry-run`);
    expect(dry).toMatchObject({ code: 0, gas: expect.stringMatching(/^\d+$/) });
    expect(await json(ROLES.challenger, `promise show ${digest}`)).toMatchObject({
      status: "NONE",
      events: [],
    });
    const opened = await json(ROLES.challenger, `promise open ${file(wrong)}`);
    expect(opened).toMatchObject({ code: 0, status: "OPEN", opener: CHALLENGER.address });
    const claimId = opened.claimId as unknown as ClaimId;
    const early = await run(ROLES.challenger, `promise close ${claimId}`);
    expect([early.code, early.stderr]).toEqual([1, expect.stringContaining("ClaimNotFinal")]);
    await fall(claimId);
    expect(await json(ROLES.challenger, `promise close ${claimId}`)).toMatchObject({ code: 0 });
    const { stdout } = await run(ROLES.challenger, `promise show ${digest}`);
    expect(stdout).toMatch(/CLOSED[\s\S]*Opened[\s\S]*Closed/);
    expect((await run(ROLES.challenger, "stake withdraw")).stdout).toContain("The credit was withdrawn");
  });

  test("behavior: what does not bind is a finding, and nothing is sent for it", async () => {
    const stranger = systemAccount(9);
    const presented = await made.sign(stranger, 3, await now(), { isWrong: true });
    const verified = await json(ROLES.challenger, `promise verify ${file(presented)}`);
    expect(verified).toMatchObject({ code: 4, binding: { accepted: false, code: "PROMISE_REFUSED" } });
    const { code, stderr } = await run(ROLES.challenger, `promise open ${file(presented)}`);
    expect([code, stderr]).toEqual([1, expect.stringContaining("SignerNotBound")]);
  });

  test("behavior: the queue is shown, and its first is opened once there is stake", async () => {
    const issued = await now();
    const { freeWei } = await json(ROLES.prover, "stake show");
    const minBond = BigInt(freeWei as unknown as string);
    const waiting = await made.sign(PROVER, 11, issued, { isWrong: true, minBond });
    for (const presented of [await made.sign(PROVER, 10, issued, { isWrong: true, minBond }), waiting])
      expect((await run(ROLES.challenger, `promise open ${file(presented)}`)).code).toBe(0);
    const digest = digestOf(at, waiting.claim);
    const queue = await json(ROLES.requester, `promise queue ${PROVER.address}`);
    expect(queue).toMatchObject({ code: 0, queue: [{ digest, opener: CHALLENGER.address }] });
    const early = await run(ROLES.requester, `promise queue ${PROVER.address} --next`);
    expect([early.code, early.stderr]).toEqual([1, expect.stringContaining("StakeTooLow")]);
    await run(ROLES.prover, `stake deposit ${minBond}`);
    expect((await run(ROLES.requester, `promise queue ${PROVER.address} --next`)).stdout).toContain(
      "is opened",
    );
    expect(await json(ROLES.requester, `promise show ${digest}`)).toMatchObject({ status: "OPEN" });
    expect((await run(ROLES.requester, `promise queue ${PROVER.address}`)).stdout).toContain("Nothing of");
    const empty = await run(ROLES.requester, `promise queue ${PROVER.address} --next`);
    expect([empty.code, empty.stderr]).toEqual([1, expect.stringContaining("waits for stake")]);
  });

  test("error: no file, no JSON, another deployment's", async () => {
    const { code, stderr } = await run(ROLES.challenger, "promise open /nowhere/signed.json");
    expect([code, stderr]).toEqual([1, expect.stringContaining("/nowhere/signed.json cannot be read")]);
    const path = join(system.folder, "broken.json");
    writeFileSync(path, "{");
    expect((await run(ROLES.challenger, `promise verify ${path}`)).stderr).toContain("JSON");
    const elsewhere = renderPresented({ ...at, chainId: 1 }, await made.sign(PROVER, 4, await now()));
    writeFileSync(path, JSON.stringify(elsewhere));
    expect((await run(ROLES.challenger, `promise verify ${path}`)).stderr).toContain("on chain 1, not for");
  });

  test("behavior: a whole answer of a prover is verified as the signed claim in it", async () => {
    const presented = await made.sign(PROVER, 5, await now());
    const path = join(system.folder, "answer.json");
    const digest = digestOf(at, presented.claim);
    writeFileSync(path, JSON.stringify({ digest, signedClaim: renderPresented(at, presented) }));
    expect(await json(ROLES.challenger, `promise verify ${path}`)).toMatchObject({
      ...{ digest, verdict: { kind: "right" } },
    });
  });
});

describe("assay batch", () => {
  test("default: shown, and proven for a contract once it is final", async () => {
    await run(ROLES.prover, "stake deposit 4ether");
    const { chain, sender } = await system.open("poster", ROLES.prover);
    const { batch, posting } = made.batch(PROVER, 500, 5, [], 4 * ANSWER_SECONDS);
    expect(await sender.send(new PromiseActions(at, chain.game).post(batch, posting))).toMatchObject({
      status: "sent",
    });
    const id = batchIdOf(at, batch);
    expect(await json(ROLES.requester, `batch show ${id}`)).toMatchObject({
      state: "running",
      count: 5,
      leaves: [],
    });
    const early = await json(ROLES.requester, `batch prove ${id} 3`);
    expect(early).toMatchObject({ code: 4, isFinal: false });
    await system.passTime(4 * ANSWER_SECONDS);
    const proven = await json(ROLES.requester, `batch prove ${id} 3`);
    const { input, output } = made.answer(503);
    expect(proven).toMatchObject({ code: 0, isFinal: true, input: toHex(input), output: toHex(output) });
    const [to, data] = [proven.reader, proven.calldata] as unknown as [Hex, Hex];
    const { data: answer } = await chain.client.call({ to, data });
    expect(answer).toContain(toHex(output).slice(2));
    expect((await run(ROLES.requester, `batch show ${id}`)).stdout).toContain(": final");
    const outside = await run(ROLES.requester, `batch prove ${id} 5`);
    expect([outside.code, outside.stderr]).toEqual([
      1,
      expect.stringContaining("Leaf 5 is outside of a batch of 5"),
    ]);
    const unknown = await run(ROLES.requester, `batch show 0x${"ab".repeat(32)}`);
    expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining("has no batch")]);
  });
});

/** Its prover does not answer. */
async function fall(id: ClaimId): Promise<void> {
  const { chain, sender } = await system.open("ender", 12);
  const actions = new Actions(chain.game);
  const { claim } = await readClaim(chain, id);
  await sender.send(actions.challenge(claim.claim));
  await system.passTime(ANSWER_SECONDS + 1);
  await sender.send(actions.timeoutTrace(claim.claim));
}
