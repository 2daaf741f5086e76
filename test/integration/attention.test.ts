/** An attention in integers alone, with real processes: who lies in one element of a product of computed tensors, of a
 *  norm or of a quotient is convicted, and a right claim is final. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { toHex } from "../../base/bytes.ts";
import { execute } from "../../inference/executor/execute.ts";
import { prepare } from "../../inference/executor/prepare.ts";
import type { LoadedModel } from "../../inference/model-folder.ts";
import { isActivationDot, isNorm, isRatio } from "../../inference/program/form.ts";
import { selfTestCalldata } from "../../inference/self-test.ts";
import { FALL_REASONS } from "../../protocol/rules/types.ts";
import { CHAINS } from "../support/attention-graphs.ts";
import { of } from "../support/cases.ts";
import { onnxFile } from "../support/onnx-file.ts";
import { importModel } from "../support/own-models.ts";
import type { Generator } from "../support/quantized-graphs.ts";
import { createRng } from "../support/rng.ts";
import { ROLES, type System, startSystem, systemAccount } from "../support/system.ts";

/** No deadline is at stake. */
const ANSWER_SECONDS = 120;

const KINDS = [isActivationDot, isRatio, isNorm];

let system: System;
let model: LoadedModel;
/** A step of each kind that version 2 of the judge has: a product, a quotient, a norm. */
let lied: readonly number[];

beforeAll(async () => {
  system = await startSystem({ models: [], answerSeconds: ANSWER_SECONDS });
  const { graph } = (CHAINS["Attention and LayerNormalization"] as Generator)(createRng(1));
  const flags = ["--products", "dot", "--arithmetic", "integers"];
  model = await importModel(system, "attention", onnxFile(graph), flags);
  const { steps } = model.model.program;
  lied = KINDS.map((isKind) => steps.findIndex(isKind));
  const started = [
    system.daemon("prover", ROLES.prover, ["prover", "--port", "0"]).logged("prover is up"),
    system.daemon("challenger", ROLES.challenger, ["challenger", "defend"]).logged("challenger is up"),
    ...lied.map((step, i) =>
      system.cheat(`cheat-${i}`, ROLES.cheat + i, `element:${step}`).logged("prover is up"),
    ),
  ];
  await Promise.all(started);
});

afterAll(() => system?.stop());

/** Its claim on a request that it alone may claim. @param prover index of the account */
async function claimOf(prover: number) {
  const calldata = selfTestCalldata(model.model.program, model.selector, prover);
  const right = toHex(execute(prepare(model.model, model.selector), calldata));
  const { requestId } = await system.ask({ model, calldata, prover: systemAccount(prover).address });
  const claimed = await system.events.until("Claimed", (event) => event.requestId === requestId);
  return { ...claimed, isRight: claimed.output === right };
}

describe("an attention in integers", () => {
  it("behavior: a lie in one element of such a step is convicted, a right claim is final", async () => {
    expect(Math.min(...lied)).toBeGreaterThanOrEqual(0);
    const lies = await Promise.all(lied.map((_, i) => claimOf(ROLES.cheat + i)));
    const honest = await claimOf(ROLES.prover);
    expect([...lies, honest].map(({ isRight }) => isRight)).toEqual([...lied.map(() => false), true]);
    for (const lie of lies) {
      const { reason } = await system.events.until("Fell", of(lie));
      expect(FALL_REASONS[reason]).toBe("ELEMENT");
    }
    await system.passTime(4 * ANSWER_SECONDS + 1);
    await system.events.until("Finalized", of(honest));
    expect(system.events.all("Challenged", of(honest))).toEqual([]);
  });
});
