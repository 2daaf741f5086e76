/** An attention in integers alone, with real processes: who lies in one element of a product of computed tensors, of a
 *  norm or of a quotient is convicted, and a right claim is final. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { toHex } from "../../base/bytes.ts";
import { execute } from "../../inference/executor/execute.ts";
import { prepare } from "../../inference/executor/prepare.ts";
import { type LoadedModel, loadModelFolder } from "../../inference/model-folder.ts";
import { isActivationDot, isNorm, isRatio } from "../../inference/program/form.ts";
import { selfTestCalldata } from "../../inference/self-test.ts";
import { FALL_REASONS } from "../../protocol/rules/types.ts";
import { runInProcess } from "../support/assay.ts";
import { CHAINS } from "../support/attention-graphs.ts";
import { of } from "../support/cases.ts";
import { onnxFile } from "../support/onnx-file.ts";
import type { Generator } from "../support/quantized-graphs.ts";
import { createRng } from "../support/rng.ts";
import { keyOf, ROLES, type System, startSystem, systemAccount } from "../support/system.ts";

/** No deadline is at stake. */
const ANSWER_SECONDS = 120;

const KINDS = [isActivationDot, isRatio, isNorm];

let system: System;
let model: LoadedModel;
/** A step of each kind that version 2 of the judge has: a product, a quotient, a norm. */
let lied: readonly number[];

beforeAll(async () => {
  system = await startSystem({ models: [], answerSeconds: ANSWER_SECONDS });
  const [source, folder] = [join(system.folder, "source"), join(system.folder, "models", "attention")];
  mkdirSync(source);
  const file = join(source, "model.onnx");
  writeFileSync(
    file,
    onnxFile((CHAINS["Attention and LayerNormalization"] as Generator)(createRng(1)).graph),
  );
  const bytes = (name: string) => [{ name, type: "bytes" }];
  const abi = [{ type: "function", name: "infer", inputs: bytes("input"), outputs: bytes("output") }];
  const tool = { name: "attention", description: "One attention.", version: "1.0.0", abi };
  writeFileSync(join(source, "tool.json"), JSON.stringify(tool));
  const env = {
    ASSAY_RPC_URL: system.rpcUrl,
    ASSAY_DEPLOYMENT: join(system.folder, "deployment.json"),
    ASSAY_DATA: join(system.folder, "manual"),
    ASSAY_KEY: keyOf(ROLES.requester),
    ASSAY_POLL_INTERVAL_MS: "50",
  };
  for (const args of [
    ["import", file, "--products", "dot", "--arithmetic", "integers", "--out", folder],
    ["verify", folder],
    ["register", folder],
  ]) {
    const { code, stderr } = await runInProcess(["model", ...args], env);
    expect({ args, code, stderr: code === 0 ? "" : stderr }).toEqual({ args, code: 0, stderr: "" });
  }
  model = loadModelFolder(folder);
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
