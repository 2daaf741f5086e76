/** docs/IMPORT.md for its largest network: from the quantized file to a claim that is answered, checked and final. */
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { toHex } from "../../base/bytes.ts";
import { execute } from "../../inference/executor/execute.ts";
import { prepare } from "../../inference/executor/prepare.ts";
import { loadModelFolder } from "../../inference/model-folder.ts";
import { selfTestCalldata } from "../../inference/self-test.ts";
import { projectRoot } from "../../tools/foundry.ts";
import { runInProcess } from "../support/assay.ts";
import { fetchMetrics } from "../support/exposition.ts";
import { keyOf, ROLES, type System, startSystem } from "../support/system.ts";

/** No deadline is at stake. */
const ANSWER_SECONDS = 120;
const SOON = { timeout: 240_000, interval: 100 };
let system: System;

beforeAll(async () => {
  system = await startSystem({ models: [], answerSeconds: ANSWER_SECONDS });
});
afterAll(() => system?.stop());

const assay = (...args: readonly string[]) =>
  runInProcess([...args], {
    ASSAY_RPC_URL: system.rpcUrl,
    ASSAY_DEPLOYMENT: join(system.folder, "deployment.json"),
    ASSAY_DATA: join(system.folder, "manual"),
    ASSAY_KEY: keyOf(ROLES.requester),
    ASSAY_POLL_INTERVAL_MS: "50",
  });

describe("a MobileNet-like network of others", () => {
  test("default: import, register, request, and a claim that is right and final", async () => {
    const [source, folder] = [join(system.folder, "source"), join(system.folder, "models", "mine")];
    mkdirSync(source);
    copyFileSync(join(projectRoot, "test/vectors/quantized/mobilenet.qdq.onnx"), join(source, "model.onnx"));
    const parameter = (name: string) => [{ name, type: "bytes" }];
    const abi = [
      { type: "function", name: "infer", inputs: parameter("input"), outputs: parameter("output") },
    ];
    const tool = {
      name: "Mine",
      description: "Five scores of an image.",
      version: "1.0.0",
      abi,
      lanes: ["EXECUTION", "BOND"],
    };
    writeFileSync(join(source, "tool.json"), JSON.stringify(tool));
    const done = async (...args: readonly string[]) => {
      const { code, stdout, stderr } = await assay(...args);
      expect({ args, code, stderr: code === 0 ? "" : stderr }).toEqual({ args, code: 0, stderr: "" });
      return stdout;
    };
    await done("model", "import", join(source, "model.onnx"), "--out", folder);
    await done("model", "verify", folder);
    const { code: registered, stderr: notes } = await assay("model", "register", folder);
    expect({ registered, notes }).toMatchObject({
      registered: 0,
      notes: expect.stringMatching(/lane EXECUTION will not work. An inference would take about [\d,]+ gas/),
    });

    const prover = system.daemon("prover", ROLES.prover, ["prover", "--port", "0"]);
    const challenger = system.daemon("challenger", ROLES.challenger, ["challenger", "defend", "--port", "0"]);
    await prover.logged("prover is up");
    const { url } = await challenger.logged("challenger is up");
    const { model, selector, modelId } = loadModelFolder(folder);
    const calldata = selfTestCalldata(model.program, selector, 7);
    const call = join(system.folder, "call.json");
    // A selector, where the bytes begin and how many there are stand before them.
    writeFileSync(call, JSON.stringify({ input: toHex(calldata.subarray(4 + 64)) }));
    const asking = assay("request", folder, "--inputs", call, "--wait", "--json");
    const { claimId, output } = await system.events.until(
      "Claimed",
      (event) => event.claim.modelId === modelId,
    );
    expect(output).toBe(toHex(execute(prepare(model, selector), calldata)));
    const right = 'assay_challenger_claims_checked_total{verdict="right"}';
    await vi.waitUntil(async () => (await fetchMetrics(String(url))).get(right) === 1, SOON);
    await system.passTime(4 * ANSWER_SECONDS);
    const { code, stdout } = await asking;
    expect([code, JSON.parse(stdout).result]).toMatchObject([0, { lane: "BOND", claimId, output }]);
    expect(system.events.all("Challenged", () => true)).toEqual([]);
  });
});
