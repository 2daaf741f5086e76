/** A program that reads the claimed output, with real processes: whoever claims a wrong token is convicted, whatever
 *  trace goes with it, and nothing convicts the right output. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { toHex } from "../../base/bytes.ts";
import { commitTrace, commitWeights } from "../../inference/commit/commitments.ts";
import { open, outputRead } from "../../inference/commit/openings.ts";
import { execute, trace } from "../../inference/executor/execute.ts";
import { prepare } from "../../inference/executor/prepare.ts";
import type { LoadedModel } from "../../inference/model-folder.ts";
import { selfTestCalldata } from "../../inference/self-test.ts";
import { Actions } from "../../protocol/chain/actions.ts";
import { FALL_REASONS } from "../../protocol/rules/types.ts";
import { of } from "../support/cases.ts";
import { writeClaimedFolder } from "../support/claimed-folder.ts";
import { running } from "../support/claimed-models.ts";
import { ownFolder, registerModel } from "../support/own-models.ts";
import { ROLES, type System, startSystem, systemAccount } from "../support/system.ts";

/** No deadline is at stake. */
const ANSWER_SECONDS = 120;
/** A last token that ends a word, so that the cheat's changed byte is one. */
const TOKENS = 32;

/** Lies, and how each has to fall. */
const LIES = [
  // A wrong last token, and the honest trace of it: the last step gives another one.
  ["output", "OUTPUT"],
  // A wrong element of each computed step, and the output that follows from it.
  ["element:2", "ELEMENT"],
  ["element:3", "ELEMENT"],
  ["element:4", "ELEMENT"],
  // Another input than the request's, another output than the claim's.
  ["codec:0", "CODEC"],
  ["codec:1", "CODEC"],
] as const;

let system: System;
let model: LoadedModel;

beforeAll(async () => {
  system = await startSystem({ models: [], answerSeconds: ANSWER_SECONDS });
  const folder = ownFolder(system, "running");
  writeClaimedFolder(folder, "running", running(TOKENS));
  model = await registerModel(system, folder);
  await Promise.all([
    system.daemon("prover", ROLES.prover, ["prover", "--port", "0"]).logged("prover is up"),
    system.daemon("challenger", ROLES.challenger, ["challenger", "defend"]).logged("challenger is up"),
    ...LIES.map(([fault], i) => system.cheat(`cheat-${i}`, ROLES.cheat + i, fault).logged("prover is up")),
  ]);
});

afterAll(() => system?.stop());

/** Its claim on a request that it alone may claim. @param prover index of the account */
async function claimOf(prover: number) {
  // Even seeds stay near usual values, odd ones use all bytes.
  const calldata = selfTestCalldata(model.model.program, model.selector, 2 * prover + 1);
  const right = execute(prepare(model.model, model.selector), calldata);
  const { request, requestId } = await system.ask({
    model,
    calldata,
    prover: systemAccount(prover).address,
  });
  const claimed = await system.events.until("Claimed", (event) => event.requestId === requestId);
  return { ...claimed, request, calldata, right, isRight: claimed.output === toHex(right) };
}

describe("a program that reads the claimed output", () => {
  it("behavior: a wrong token is convicted, whatever trace is committed", async () => {
    const lies = await Promise.all(LIES.map((_, i) => claimOf(ROLES.cheat + i)));
    expect(lies.map(({ isRight }) => isRight)).toEqual(LIES.map(() => false));
    const falls = await Promise.all(lies.map((lie) => system.events.until("Fell", of(lie))));
    expect(falls.map(({ reason }) => FALL_REASONS[reason])).toEqual(LIES.map(([, reason]) => reason));
  });

  it("behavior: a right output is final, and no bytes and no opening convict it", async () => {
    const honest = await claimOf(ROLES.prover);
    expect(honest.isRight).toBe(true);
    const { claim, request, calldata, right } = honest;
    const malicious = await system.open("malicious", ROLES.cheat + LIES.length);
    const actions = new Actions(malicious.chain.game);
    expect(await malicious.sender.send(actions.challenge(claim))).toMatchObject({ status: "sent" });
    const { traceRoot } = await system.events.until("TraceCommitted", of(honest));
    const { program } = model.model;
    const own = commitTrace(program, trace(prepare(model.model, model.selector), calldata, right));
    expect(toHex(own.root)).toBe(traceRoot);
    const other = right.map((byte, i) => (i === 64 ? byte ^ 1 : byte));
    const convictCodec = (step: number, bytes: Uint8Array) =>
      malicious.sender.send(
        actions.convictCodec(
          request,
          claim,
          step,
          toHex(bytes),
          toHex(own.roots.node(0, step)),
          own.roots.siblings(0, step).map(toHex),
        ),
      );
    const refused = (name: string) => ({ status: "refused", revert: { name } });
    expect(await convictCodec(1, right)).toMatchObject(refused("NoFault"));
    expect(await convictCodec(1, other)).toMatchObject(refused("InputHashMismatch"));
    expect(await convictCodec(1, calldata)).toMatchObject(refused("InputNotCanonical"));
    expect(await convictCodec(0, calldata)).toMatchObject(refused("NoFault"));
    expect(await convictCodec(0, right)).toMatchObject(refused("InputNotCanonical"));
    for (const element of [0, TOKENS - 1]) {
      const { words, path } = open(
        outputRead(program, program.steps.length - 1, element),
        own,
        commitWeights(model.model),
      );
      const opening = { words: words.map(toHex), path: path.map(toHex) };
      const convict = (output: Uint8Array) =>
        malicious.sender.send(actions.convictOutput(claim, toHex(output), element, [opening]));
      expect(await convict(right)).toMatchObject(refused("NoFault"));
      expect((await convict(other)).status).toBe("refused");
    }
    await system.passTime(4 * ANSWER_SECONDS + ANSWER_SECONDS + 1);
    await system.events.until("Finalized", of(honest));
    expect(system.events.all("Fell", of(honest))).toEqual([]);
  });
});
