/** Promises on a chain: moves as transactions, events by a follower into a store, and what is read, with real contracts. */

import { keccak256, pad } from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { EventFollower } from "../../../../protocol/chain/follower.ts";
import { readClaim } from "../../../../protocol/chain/past.ts";
import { accept } from "../../../../protocol/chain/promises/accept.ts";
import { PromiseActions } from "../../../../protocol/chain/promises/actions.ts";
import { promiseHistory, promiseSource } from "../../../../protocol/chain/promises/events.ts";
import { promisesOf } from "../../../../protocol/chain/promises/place.ts";
import { PromiseStateReader } from "../../../../protocol/chain/promises/reads.ts";
import { StateReader } from "../../../../protocol/chain/reads.ts";
import { batchIdOf } from "../../../../protocol/rules/promises/batch.ts";
import type { LeafModel } from "../../../../protocol/rules/promises/leaf.ts";
import { digestOf } from "../../../../protocol/rules/promises/signed-claim.ts";
import { LANE } from "../../../../protocol/rules/types.ts";
import { openDatabase } from "../../../../protocol/service/journal/database.ts";
import { PROMISE_EVENTS_SCHEMA } from "../../../../protocol/service/store/events-schema.ts";
import { PromiseStore } from "../../../../protocol/service/store/promise-store.ts";
import { accountAt, type LocalChain, startLocalChain } from "../../../support/anvil.ts";
import { openLocalSystem } from "../../../support/deploy.ts";
import { signTiny, tinyBatch } from "../../../support/promises/local-promises.ts";

const PROVER = accountAt(1);
const KEY = accountAt(5);
const ETHER = 10n ** 18n;
/** W0, seconds: four of T = 5. */
const W0 = 20;

let local: LocalChain;
let system: Awaited<ReturnType<typeof openLocalSystem>>;
let actions: PromiseActions;
let reader: PromiseStateReader;
let word: LeafModel;

beforeAll(async () => {
  local = await startLocalChain();
  system = await openLocalSystem(local, PROVER);
  const at = promisesOf(system.deployment);
  actions = new PromiseActions(at, system.chain.game);
  reader = new PromiseStateReader(system.chain);
  word = (await new StateReader(system.chain).model(system.modelId)) as LeafModel;
  expect(await system.sender.send(actions.deposit(PROVER.address, ETHER, "first"))).toMatchObject({
    status: "sent",
  });
  const until = (await local.now()) + 100_000;
  await system.sender.send(actions.setSigner(KEY.address, until));
  expect(await reader.boundUntil(PROVER.address, KEY.address)).toBe(until);
});
afterAll(async () => {
  await system?.close();
  await local?.stop();
});

const send = (action: Parameters<typeof system.sender.send>[0]) => system.sender.send(action);
const sign = async (byte: number, changes: Parameters<typeof signTiny>[5] = {}) =>
  signTiny(system.chain, PROVER, system.modelId, [byte, 0, 0, 1], await local.now(), {
    key: KEY,
    ...changes,
  });

describe("signed claims", () => {
  test("default: one is accepted, opened, closed as right, and all of it is followed and kept", async () => {
    const presented = await sign(1);
    const digest = digestOf(reader.at, presented.claim);
    const accepted = await accept(system.chain, presented, 60);
    expect(accepted).toMatchObject({ accepted: true, digest, end: presented.claim.expiry });
    if (!accepted.accepted) return;
    expect(await send(actions.open(presented, accepted.deposit))).toMatchObject({ status: "sent" });
    expect(await send(actions.open(presented, accepted.deposit))).toMatchObject({ status: "already-done" });
    expect(await reader.signed(digest)).toMatchObject({
      status: "OPEN",
      shown: true,
      opener: PROVER.address,
    });
    const [opened] = await promiseHistory(system.chain, digest);
    if (opened?.name !== "Opened") throw new Error("it is not open");
    const { claimId } = opened.args;
    expect(opened.args).toMatchObject({ prover: PROVER.address, signed: presented.claim });
    expect(await reader.filing(claimId)).toEqual({ prover: PROVER.address, origin: digest });
    const { claim, request } = await readClaim(system.chain, claimId);
    expect(claim.claim).toMatchObject({ prover: reader.at.promises, operator: PROVER.address });
    expect((await reader.account(PROVER.address)).away).toBe(claim.claim.bond);
    // Not before its window is over.
    expect(await send(actions.close(request.request, claim.claim))).toMatchObject({
      ...{ status: "refused", revert: { name: "ClaimNotFinal" } },
    });
    await local.control.increaseTime({ seconds: 3_600 + W0 });
    await local.control.mine({ blocks: 1 });
    expect(await send(actions.close(request.request, claim.claim))).toMatchObject({ status: "sent" });
    expect(await reader.signed(digest)).toMatchObject({ status: "CLOSED", deposit: 0n });
    const half = accepted.deposit / 2n;
    expect(await reader.account(PROVER.address)).toMatchObject({ free: ETHER + half, away: 0n });
    expect(await reader.burned()).toBe(accepted.deposit - half);

    const db = openDatabase(`${system.folder}/events.sqlite`, [PROMISE_EVENTS_SCHEMA]);
    const follower = new EventFollower(system.chain, {}, promiseSource(system.deployment));
    const batch = await follower.next();
    if (batch === undefined) throw new Error("there is nothing to follow");
    const store = new PromiseStore(db);
    store.take(batch);
    store.take(batch);
    const again = new PromiseStore(db);
    expect(again.cursor()).toEqual(batch.cursor);
    expect(again.eventsOf(digest).map(({ name }) => name)).toEqual(["Opened", "Closed"]);
    expect(again.eventsOf(digest)).toEqual(await promiseHistory(system.chain, digest));
    expect(again.openingOf(claimId)).toEqual(opened);
    expect([...again.ofProver(PROVER.address, "Deposited")]).toHaveLength(1);
    expect([...again.ofProver(PROVER.address, "SignerSet")].map(({ args }) => args.key)).toEqual([
      KEY.address,
    ]);
    // A re-org takes the end back.
    const [, closed] = again.eventsOf(digest);
    const ancestor = (closed?.block.number as bigint) - 1n;
    again.take({ kind: "rollback", ancestor, gone: [], cursor: [] });
    expect(again.eventsOf(digest).map(({ name }) => name)).toEqual(["Opened"]);
    expect(await promiseHistory(system.chain, pad(PROVER.address))).toHaveLength(3);
    db.close();
  });

  test.each<[string, () => Promise<unknown>, string]>([
    ["a key that is not bound", () => sign(2, { key: accountAt(7) }), "SignerNotBound"],
    ["one that ended", async () => sign(3, { expiry: (await local.now()) - 1 }), "PromiseExpired"],
    ["a postdated one", async () => sign(4, { issuedAt: (await local.now()) + 500 }), "NotYetIssued"],
    ["an output of another length", () => sign(5, { output: "0x00" }), "OutputLengthWrong"],
    [
      "an output that is not the signed one",
      async () => ({ ...(await sign(6)), output: (await sign(7)).output }),
      "OutputMismatch",
    ],
    [
      "a malleable signature",
      async () => {
        const presented = await sign(8);
        const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
        const s = order - BigInt(`0x${presented.signature.slice(66, 130)}`);
        const v = presented.signature.endsWith("1b") ? "1c" : "1b";
        const signature = `${presented.signature.slice(0, 66)}${s.toString(16).padStart(64, "0")}${v}`;
        return { ...presented, signature };
      },
      "SignatureMalleable",
    ],
  ])("error: %s is refused by name", async (_what, make, name) => {
    const presented = (await make()) as Awaited<ReturnType<typeof sign>>;
    expect(await accept(system.chain, presented, 0)).toMatchObject({
      ...{ accepted: false, code: "PROMISE_REFUSED", reason: expect.stringContaining(name) },
    });
    expect(await send(actions.open(presented, ETHER))).toMatchObject({ status: "refused", revert: { name } });
  });

  test("args: too little time and too little stake are no reason to open, but not to accept", async () => {
    const short = await sign(9);
    expect(await accept(system.chain, short, 7_200)).toMatchObject({ code: "PROMISE_TOO_SHORT" });
    const dear = await sign(10, { minBond: 5n * ETHER });
    expect(await accept(system.chain, dear, 60)).toMatchObject({ code: "STAKE_TOO_LOW" });
    const large = { ...short, input: `0x${"00".repeat(90_001)}` as const };
    expect(await accept(system.chain, large, 60)).toMatchObject({ code: "PROMISE_TOO_LARGE" });
  });
});

describe("batches", () => {
  test("default: one is posted, a leaf of it opened and closed, and all are final", async () => {
    const answers = await Promise.all([1, 2, 3].map((byte) => sign(byte)));
    const made = tinyBatch(word, PROVER, system.modelId, answers, W0);
    const { batch, data } = made;
    const posting = { prover: PROVER.address, modelId: system.modelId, window: W0, leafBond: 7n, data };
    expect(await send(actions.post(batch, posting))).toMatchObject({ status: "sent" });
    const id = batchIdOf(reader.at, batch);
    const [posted] = await promiseHistory(system.chain, id);
    expect(posted).toMatchObject({ name: "Posted", args: { batch, data, modelId: system.modelId } });
    expect(await reader.batch(id)).toMatchObject({ open: 0, idle: 2, fallen: false, queued: 0 });
    const { deposit } = await reader.leafBonds(batch);
    const open = actions.openLeaf(batch, 1, made.payload(1), made.path(1), deposit);
    expect(await send(open)).toMatchObject({ status: "sent" });
    expect(await reader.leaf(id, 1)).toMatchObject({ status: "OPEN" });
    const wrong = actions.openLeaf(batch, 0, made.payload(1), made.path(1), 4n * deposit);
    expect(await send(wrong)).toMatchObject({ status: "refused", revert: { name: "RootMismatch" } });
    const opened = (await promiseHistory(system.chain, id)).find(({ name }) => name === "LeafOpened");
    if (opened?.name !== "LeafOpened") throw new Error("the leaf is not open");
    const policy = {
      ...{ modelId: system.modelId, inputHash: keccak256(answers[0]?.input ?? "0x"), lanes: LANE.BOND },
      ...{ minBond: 7n, minWindow: W0 },
    };
    const gate = () => reader.requireFinalLeaf(batch, 0, made.payload(0), made.path(0), policy);
    await expect(gate()).rejects.toMatchObject({
      code: "CALL_REVERTED",
      details: { revert: "BatchNotFinal" },
    });
    await local.control.increaseTime({ seconds: W0 });
    await local.control.mine({ blocks: 1 });
    expect(await send(actions.release(batch))).toMatchObject({ revert: { name: "BatchNotEnded" } });
    const { claim, request } = await readClaim(system.chain, opened.args.claimId);
    expect(await send(actions.close(request.request, claim.claim))).toMatchObject({ status: "sent" });
    expect(await gate()).toBe(answers[0]?.output);
    expect(await reader.isFinal(id)).toBe(true);
    expect(await send(actions.release(batch))).toMatchObject({ status: "sent" });
    expect(await reader.account(PROVER.address)).toMatchObject({ slots: 0n, away: 0n });
  });
});
