import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { planPublication, publishWeights } from "../../protocol/chain/execution/publication.ts";
import type { ModelId } from "../../protocol/rules/types.ts";
import { projectRoot } from "../../tools/foundry.ts";
import { askUntilSigned, promisesBy } from "../support/promises/signed-answers.ts";
import { keyOf, ROLES, type System, startSystem, systemAccount } from "../support/system.ts";

const TEXT = "Profit beats forecasts";
/** Whoever asks is none of the daemons: they share no nonces. */
const ASKER = ROLES.cheat + 1;
const STAKER = ROLES.cheat + 2;

let system: System;

beforeAll(async () => {
  system = await startSystem({ models: ["sentiment"], answerSeconds: 1 });
  await system.daemon("prover", ROLES.prover, ["prover", "--port", "0"]).logged("prover is up");
});
afterAll(() => system.stop());

/** Runs an example as a user does. */
async function example(name: string, ...args: string[]): Promise<{ code: number | null; printed: string }> {
  const path = join("agent/examples/sdk", `${name}.ts`);
  const child = spawn(process.execPath, ["--import", "tsx", path, ...args], {
    cwd: projectRoot,
    env: { ...process.env, ASSAY_KEY: keyOf(ASKER) },
  });
  let printed = "";
  child.stdout.on("data", (part: Buffer) => {
    printed += part.toString();
  });
  child.stderr.on("data", (part: Buffer) => {
    printed += part.toString();
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  return { code, printed };
}

describe("the SDK's examples", () => {
  it("default: ask, watch, and verify the receipt without a node", async () => {
    const deployment = join(system.folder, "deployment.json");
    const receipt = join(system.folder, "receipt.json");
    const asked = await example("ask", system.rpcUrl, deployment, TEXT, receipt);
    expect(asked.printed).toMatch(
      /final in the BOND lane: (bearish|neutral|bullish) \(.+ %\) \{ label: \d+n/,
    );
    const requestId = /request (0x[0-9a-f]{64})/.exec(asked.printed)?.[1] ?? "";
    const blockHash = /block (0x[0-9a-f]{64})/.exec(asked.printed)?.[1] ?? "";

    const watched = await example("watch", system.rpcUrl, deployment, requestId);
    expect(watched).toEqual({ code: 0, printed: "Requested\nClaimed\nFinalized\n" });

    const right = await example("verify", deployment, receipt, blockHash, TEXT);
    expect(right.printed).toMatch(/^valid at block \d+: 0x[0-9a-f]+\n$/);
    const other = await example("verify", deployment, receipt, blockHash, "Profit misses forecasts");
    expect(other).toMatchObject({ code: 1, printed: expect.stringMatching(/^refused, WRONG_INPUT/) });
    expect(readFileSync(receipt, "utf8").length).toBeLessThan(40_000);
  });

  it("default: a signed answer is taken, and run again by the chain", async () => {
    const sentiment = system.model("sentiment");
    const { chain, sender } = await system.open("staker", STAKER);
    await publishWeights(chain, sender, sentiment.modelId as ModelId, planPublication(sentiment.model));
    const { actions, must } = promisesBy({ chain, sender });
    const signer = systemAccount(STAKER + 1).address;
    await must(actions.deposit(signer, 10n ** 18n, "stake"));
    const signing = system.daemon("signer", STAKER + 1, ["prover", "--port", "0", "--sign", "on"]);
    const { url } = await signing.logged("prover is up");
    await askUntilSigned(String(url), sentiment, TEXT);

    const deployment = join(system.folder, "deployment.json");
    const { printed } = await example(
      "signed",
      system.rpcUrl,
      deployment,
      TEXT,
      String(url),
      "http://127.0.0.1:9",
    );
    expect(printed).toMatch(
      /^until \d+ the prover stands for (bearish|neutral|bullish) \(.+ %\) .*\nrun again: right\n2 answers: .+ %\); .+ %\)\n$/,
    );
  });
});
