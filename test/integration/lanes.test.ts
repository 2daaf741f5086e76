/** One model, every lane: a prover as a process settles by execution and by proof, also in the middle of a dispute. */
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { toHex } from "../../base/bytes.ts";
import { execute } from "../../inference/executor/execute.ts";
import { prepare } from "../../inference/executor/prepare.ts";
import { selfTestCalldata } from "../../inference/self-test.ts";
import { Actions } from "../../protocol/chain/actions.ts";
import { planPublication, publishWeights } from "../../protocol/chain/execution/publication.ts";
import { storeKey } from "../../protocol/chain/proof/store-key.ts";
import { LANE, type ModelId } from "../../protocol/rules/types.ts";
import { projectRoot } from "../../tools/foundry.ts";
import { ROLES, type System, startSystem, systemAccount } from "../support/system.ts";

const NAME = "forecast-vix";
/** Trees, whose weights nobody has published here. */
const TREES = "credit-trees";
/** Long: nothing here waits for a window to end. */
const ANSWER_SECONDS = 600;
/** Proving keys stay here from run to run: a seed gives the same ones. */
const KEYS = join(projectRoot, "build", "keys");

/** A hang ends the wait; a slow machine does not. */
const PATIENCE_MS = 300_000;

let system: System;
const prover = systemAccount(ROLES.prover).address;

beforeAll(async () => {
  // Answers so dear that truth is the cheaper defence.
  const gasPerDemand = 1_000_000n;
  system = await startSystem({ models: [NAME, TREES], answerSeconds: ANSWER_SECONDS, gasPerDemand });
  const { chain, sender } = await system.open("publisher", ROLES.challenger);
  for (const name of [NAME, TREES] as const) {
    const { modelId, verificationKey } = system.model(name);
    if (verificationKey === undefined) throw new Error(`${name} has no verification key`);
    await storeKey(chain, sender, modelId as ModelId, verificationKey);
  }
  const { model, modelId } = system.model(NAME);
  await publishWeights(chain, sender, modelId as ModelId, planPublication(model));
  const args = ["prover", "--port", "0", "--keys", KEYS];
  await system.daemon("prover", ROLES.prover, args).logged("prover is up");
});

afterAll(() => system.stop());

/** Asks in these lanes; each number is another input. */
async function ask(lanes: number, seed: number, name: typeof NAME | typeof TREES = NAME) {
  const loaded = system.model(name);
  const calldata = selfTestCalldata(loaded.model.program, loaded.selector, seed);
  const asked = await system.ask({ model: loaded, calldata, lanes });
  const right = toHex(execute(prepare(loaded.model, loaded.selector), calldata));
  const ofRequest = ({ requestId }: { requestId: string }) => requestId === asked.requestId;
  return { ...asked, right, ofRequest };
}

describe("a prover with every lane", () => {
  it.each([
    ["execution", LANE.EXECUTION, NAME, 11],
    ["proof", LANE.PROOF, NAME, 12],
    ["proof of trees", LANE.PROOF, TREES, 12],
  ] as const)("behavior: settles by %s", async (_name, lane, model, seed) => {
    const { ofRequest, right } = await ask(lane, seed, model);
    const settled = await system.events.until("Settled", ofRequest);
    expect(settled).toMatchObject({ submitter: prover, lane, output: right });
    expect(await system.events.until("Finalized", ofRequest)).toMatchObject({ lane });
    expect(system.events.all("Claimed", ofRequest)).toEqual([]);
  });

  it("behavior: proofs for requests of one block go in one transaction", async () => {
    const { control, client } = system;
    const poolOf = async () => Number((await control.getTxpoolStatus()).pending);
    await control.setIntervalMining({ interval: 0 });
    const asking = Promise.all([13, 14, 15].map((seed) => ask(LANE.PROOF, seed)));
    await expect.poll(poolOf, { timeout: PATIENCE_MS }).toBe(3);
    await control.mine({ blocks: 1 });
    const asked = await asking;
    // No block comes before all three are proven, whatever that takes.
    await expect.poll(poolOf, { timeout: PATIENCE_MS }).toBe(1);
    await control.setIntervalMining({ interval: 1 });
    for (const { ofRequest, right } of asked) {
      const settled = await system.events.until("Settled", ofRequest);
      expect(settled).toMatchObject({ submitter: prover, lane: LANE.PROOF, output: right });
    }
    const blocks = system.events.events
      .filter((event) => event.name === "Settled" && asked.some(({ ofRequest }) => ofRequest(event.args)))
      .map(({ block }) => block.number);
    const { number, transactions } = await client.getBlock({ blockNumber: blocks[0] as bigint });
    expect(blocks).toEqual([number, number, number]);
    expect(transactions).toHaveLength(1);
  });

  it("behavior: ends a dispute about its claim by truth, and takes the ticket's half", async () => {
    const { ofRequest, right } = await ask(LANE.BOND | LANE.EXECUTION, 16);
    const { claim, claimId } = await system.events.until("Claimed", ofRequest);
    const rival = await system.open("rival", ROLES.cheat);
    const challenged = await rival.sender.send(new Actions(rival.chain.game).challenge(claim));
    expect(challenged.status).toBe("sent");
    const ended = await system.events.until("Finalized", ofRequest);
    expect(ended).toMatchObject({ claimId, lane: LANE.EXECUTION });
    expect(await system.events.until("Settled", ofRequest)).toMatchObject({
      submitter: prover,
      output: right,
    });
  });
});
