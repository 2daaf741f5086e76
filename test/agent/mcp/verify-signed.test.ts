/** What `verify_signed_claim` says of signed claims in every state, and of a prover that lies about where they are. */
import { parseEther } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { verifySigned } from "../../../agent/mcp/verify-signed.ts";
import { fromHex, toHex } from "../../../base/bytes.ts";
import { Actions } from "../../../protocol/chain/actions.ts";
import { readClaim } from "../../../protocol/chain/past.ts";
import { PromiseActions } from "../../../protocol/chain/promises/actions.ts";
import { promisesOf } from "../../../protocol/chain/promises/place.ts";
import { PromiseStateReader } from "../../../protocol/chain/promises/reads.ts";
import type { Presented } from "../../../protocol/rules/promises/presented.ts";
import { renderPresented } from "../../../protocol/rules/promises/presented.ts";
import { type ClaimId, LANE } from "../../../protocol/rules/types.ts";
import { accountAt } from "../../support/anvil.ts";
import { type AnsweringProver, startAnsweringProver } from "../../support/promises/answering-prover.ts";
import { signTiny, tinyBatch } from "../../support/promises/local-promises.ts";
import { local, model, openLocalSdk, system } from "../../support/sdk.ts";

openLocalSdk();

/** The account of the system's sender. */
const PROVER = accountAt(1);
const BOND = parseEther("0.1");
/** 4T */
const WINDOW = 20;

let prover: AnsweringProver;
let actions: PromiseActions;
let reader: PromiseStateReader;

beforeAll(async () => {
  actions = new PromiseActions(promisesOf(system.deployment), system.chain.game);
  reader = new PromiseStateReader(system.chain);
  await system.sender.send(actions.deposit(PROVER.address, parseEther("100"), "verify"));
  await system.sender.send(actions.setSigner(PROVER.address, (await local.now()) + 1_000_000));
  prover = await startAnsweringProver();
});
afterAll(() => prover?.stop());

let salt = 0n;
const sign = async (bytes: readonly number[] = [1, 2, 3, 4]) => {
  salt += 1n;
  const terms = { minBond: BOND, salt };
  return signTiny(system.chain, PROVER, model.modelId, bytes, await local.now(), terms);
};
const verify = (presented: Presented, minBond = BOND) =>
  verifySigned(system.chain, renderPresented(reader.at, presented), {
    policy: { lanes: LANE.BOND, minBond, minWindow: WINDOW },
    ...{ confirmations: 0, readModelOf: () => ({}) },
    signed: { url: prover.url, leastSeconds: 60, batch: false, reportTo: [] },
  });

/** Opens it. @returns the claim that it became */
async function open(presented: Presented): Promise<ClaimId> {
  const { deposit } = await reader.check(presented);
  await system.sender.send(actions.open(presented, deposit));
  const { claimId } = (await verify(presented)) as unknown as { claimId: ClaimId };
  return claimId;
}

describe("verifySigned", () => {
  it("default: signed while it binds by the terms, and failed by what it lacks", async () => {
    const presented = await sign();
    expect(await verify(presented)).toMatchObject({ status: "signed", output: presented.output });
    const below = await verify(presented, parseEther("1"));
    expect(below).toMatchObject({ status: "failed", code: "BELOW_TERMS" });
    expect((below as { error: string }).error).toContain(
      "a bond of 0.1 ether, and the least that counts is 1 ether",
    );
    await local.passTime(3_601);
    expect(await verify(presented)).toMatchObject({ status: "failed", code: "PROMISE_REFUSED" });
  });

  it("behavior: opened, then final or fallen as its claim ends", async () => {
    const [defended, given] = [await sign(), await sign()];
    const claimId = await open(defended);
    expect(await verify(defended)).toMatchObject({ status: "opened", claimId });
    const { claim } = await readClaim(system.chain, await open(given));
    await system.sender.send(new Actions(system.chain.game).challenge(claim.claim));
    await local.passTime(10);
    await system.sender.send(new Actions(system.chain.game).timeoutTrace(claim.claim));
    const fallen = await verify(given);
    expect(fallen).toMatchObject({ status: "fallen" });
    expect(fallen).not.toHaveProperty("output");
    await local.passTime(3_600 + WINDOW);
    expect(await verify(defended)).toMatchObject({ status: "final", claimId, output: defended.output });
  });

  it("behavior: batched, then final, if the chain says so of the place that the prover names", async () => {
    const [own, other] = [await sign(), await sign([9, 9, 9, 9])];
    const { batch, data, payload, path } = tinyBatch(
      ...([model.word, PROVER, model.modelId, [own, other], WINDOW] as const),
    );
    const place = (index: number, changes: object = {}) =>
      prover.replies((response) => {
        const leaf = { batch, index, payload: payload(index), path: path(index), ...changes };
        response.end(JSON.stringify({ leaf }));
      });
    place(0);
    // Nobody has posted it.
    expect(await verify(own)).toMatchObject({ status: "signed" });
    const posting = { prover: PROVER.address, modelId: model.modelId, window: WINDOW };
    await system.sender.send(actions.post(batch, { ...posting, leafBond: BOND, data }));
    expect(await verify(own)).toMatchObject({ status: "batched" });
    await local.passTime(WINDOW);
    expect(await verify(own)).toMatchObject({ status: "final", output: own.output });
    // Another's leaf, another place, another batch, and what is no answer at all, say nothing.
    const flipped = fromHex(payload(0)).slice();
    flipped[0] = (flipped[0] as number) ^ 1;
    for (const lie of [
      () => place(1),
      () => place(0, { index: 1 }),
      () => place(0, { index: 2 }),
      () => place(0, { payload: toHex(flipped) }),
      () => place(0, { path: [] }),
      () => place(0, { batch: { ...batch, window: WINDOW + 1 } }),
      () => prover.replies((response) => void response.end("[")),
      () => prover.replies((response) => void response.writeHead(404).end("{}")),
    ]) {
      lie();
      expect(await verify(own)).toMatchObject({ status: "signed" });
    }
    // Final by less than the terms ask for.
    place(0);
    expect(await verify(own, BOND + 1n)).toMatchObject({ status: "failed", code: "BELOW_TERMS" });
  });

  it("behavior: a leaf below the terms, or that somebody doubts, makes nothing of a claim that does not bind", async () => {
    const at = await local.now();
    const stranger = { key: accountAt(2), minBond: BOND, salt: 1_000n };
    const unbound = await signTiny(system.chain, PROVER, model.modelId, [7, 7, 7, 7], at, stranger);
    const other = await sign([6, 6, 6, 6]);
    const answers = [unbound, other];
    const post = async (leafBond: bigint, window: number) => {
      const made = tinyBatch(model.word, PROVER, model.modelId, answers, window);
      const { batch, data, payload, path } = made;
      const posting = { prover: PROVER.address, modelId: model.modelId, window };
      await system.sender.send(actions.post(batch, { ...posting, leafBond, data }));
      prover.replies((response) =>
        response.end(JSON.stringify({ leaf: { batch, index: 0, payload: payload(0), path: path(0) } })),
      );
      return made;
    };
    await post(0n, WINDOW + 1);
    expect(await verify(unbound)).toMatchObject({ status: "failed", code: "PROMISE_REFUSED" });
    const { batch, payload, path } = await post(BOND, WINDOW);
    expect(await verify(unbound)).toMatchObject({ status: "batched" });
    const { deposit } = await reader.leafBonds(batch);
    await system.sender.send(actions.openLeaf(batch, 0, payload(0), path(0), deposit));
    expect(await verify(unbound)).toMatchObject({ status: "opened" });
  });
});
