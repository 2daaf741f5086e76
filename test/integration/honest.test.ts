import { decodeAbiParameters, type Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { toHex } from "../../base/bytes.ts";
import { loadArtifact } from "../../cli/artifacts.ts";
import { Agent } from "../../cli/demo/agent.ts";
import { execute } from "../../inference/executor/execute.ts";
import { prepare } from "../../inference/executor/prepare.ts";
import { checkFunction } from "../../inference/manifest/model-files.ts";
import { selfTestCalldata } from "../../inference/self-test.ts";
import { decodeReturn } from "../../protocol/rules/abi.ts";
import { LANE } from "../../protocol/rules/types.ts";
import {
  ROLES,
  SHIPPED,
  type ShippedModel,
  type System,
  startSystem,
  systemAccount,
} from "../support/system.ts";

/** Long: the windows end when the test lets them. */
const ANSWER_SECONDS = 60;

let system: System;

beforeAll(async () => {
  system = await startSystem({ models: SHIPPED, answerSeconds: ANSWER_SECONDS });
  const daemons = [
    system.daemon("prover", ROLES.prover, ["prover", "--port", "0"]).logged("prover is up"),
    system.daemon("challenger", ROLES.challenger, ["challenger", "defend"]).logged("challenger is up"),
  ];
  await Promise.all(daemons);
});

afterAll(() => system.stop());

/** The model's function, and the values that this calldata passes to it by name. */
function question(name: ShippedModel) {
  const { model, manifest, selector } = system.model(name);
  const calldata = selfTestCalldata(model.program, selector, 4);
  const called = { ...checkFunction(model.program, manifest.abi, selector), selector: toHex(selector) };
  const values = decodeAbiParameters(called.inputs, toHex(calldata.subarray(4)));
  const inputs = Object.fromEntries(called.inputs.map(({ name: key }, i) => [key, values[i]]));
  const right = toHex(execute(prepare(model, selector), calldata));
  return { inputs, expected: decodeReturn(called, right), right };
}

/** Asks through a contract of its own, and waits for the claim. @param index of the account that owns it
 *  @returns what waits for the end */
async function consume(name: ShippedModel, index: number): Promise<() => Promise<void>> {
  const { chain, rpcUrl, events } = system;
  const { inputs, expected, right } = question(name);
  const agent = await Agent.deploy(chain, rpcUrl, systemAccount(index), loadArtifact("ToolAgent"), name);
  const prover = systemAccount(ROLES.prover).address;
  const asked = await agent.ask({ label: name, inputs, prover, exclusiveSeconds: 300 });
  const ofRequest = ({ requestId }: { requestId: Hex }) => requestId === asked.requestId;
  const claimed = await events.until("Claimed", ofRequest);
  expect(claimed.output).toBe(right);
  expect(claimed.claim.prover).toBe(prover);
  const { claimId } = claimed;
  expect(await agent.answerTo(asked.requestId)).toBeUndefined();
  return async () => {
    expect(await events.until("Finalized", ofRequest)).toMatchObject({ claimId, lane: LANE.BOND });
    expect(await events.until("Delivered", ofRequest)).toMatchObject({ by: prover, success: true });
    const answer = await agent.answerTo(asked.requestId);
    expect(answer?.values).toEqual(expected);
    expect(answer?.meaning?.text).toBeTruthy();
  };
}

describe("an honest prover under the eyes of a challenger", () => {
  it("behavior: request, claim, finality and delivery to a contract, for every shipped model", async () => {
    const ends = await Promise.all(SHIPPED.map((name, i) => consume(name, ROLES.cheat + i)));
    await system.passTime(4 * ANSWER_SECONDS);
    await Promise.all(ends.map((end) => end()));
    // The challenger looked at each claim, which the tests of lies show it to do, and left all of them alone.
    expect(system.events.all("Challenged")).toEqual([]);
    expect(system.events.all("Claimed")).toHaveLength(SHIPPED.length);
  });
});
