/** The Python client against a chain with real provers, as somebody has it who installed the wheel. */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { keccak256 } from "viem";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { parseReceipt, verifyReceipt } from "../../agent/sdk/index.ts";
import { planPublication, publishWeights } from "../../protocol/chain/execution/publication.ts";
import { ownPolicy } from "../../protocol/chain/finality.ts";
import type { ModelId } from "../../protocol/rules/types.ts";
import { projectRoot } from "../../tools/foundry.ts";
import { pytest, run } from "../support/python.ts";
import { keyOf, ROLES, type System, startSystem } from "../support/system.ts";

const python = inject("python");
/** Whoever asks is none of the daemons: they share no nonces. */
const ASKER = ROLES.cheat + 1;

let system: System;
let deployment: string;
let settings: Readonly<Record<string, string>>;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "assay-agent-"));
  system = await startSystem({ models: ["sentiment", "credit", "forecast-hourly"], answerSeconds: 1 });
  deployment = join(system.folder, "deployment.json");
  settings = { ASSAY_RPC_URL: system.rpcUrl, ASSAY_DEPLOYMENT: deployment, ASSAY_KEY: keyOf(ASKER) };
  const { chain, sender } = await system.open("publisher", ROLES.challenger);
  const { model, modelId } = system.model("credit");
  await publishWeights(chain, sender, modelId as ModelId, planPublication(model));
  await system.daemon("prover", ROLES.prover, ["prover", "--port", "0"]).logged("prover is up");
});
afterAll(async () => {
  await system?.stop();
  rmSync(folder, { recursive: true, force: true });
});

describe("the Python client", () => {
  test("behavior: requests, finality, execution, receipts and faults, by both clients", async () => {
    const kept = join(folder, "receipt.json");
    const { passed } = await pytest(python, "tests/client", {
      ASSAY_TEST_RPC: system.rpcUrl,
      ASSAY_TEST_DEPLOYMENT: deployment,
      ASSAY_TEST_KEY: keyOf(ASKER),
      ASSAY_TEST_RECEIPT: kept,
    });
    expect(passed).toBeGreaterThanOrEqual(13);
    const { receipt: text, blockHash, requestId } = JSON.parse(readFileSync(kept, "utf8"));
    const receipt = parseReceipt(text);
    const trust = { ...system.chain.game, ...system.chain.constants, blockHash };
    expect(verifyReceipt(receipt, trust, ownPolicy(receipt.request))).toMatchObject({
      valid: true,
      requestId,
    });
  });

  test("behavior: the example of docs/PYTHON.md, as it is printed", async () => {
    const document = readFileSync(join(projectRoot, "docs/PYTHON.md"), "utf8");
    const [, example = ""] = /```python\n([\s\S]*?)```/.exec(document) ?? [];
    expect(example.trim().split("\n").length).toBeLessThanOrEqual(14);
    const where = join(folder, "example");
    mkdirSync(join(where, "deployments"), { recursive: true });
    cpSync(deployment, join(where, "deployments", "31337.json"));
    symlinkSync(join(projectRoot, "models"), join(where, "models"));
    const { code, printed } = await run(python, ["-c", example], { cwd: where, env: settings });
    expect(printed).toMatch(/^BOND \{'label': \d, 'bearish': -?\d+, 'neutral': -?\d+, 'bullish': -?\d+\}\n$/);
    expect(code).toBe(0);
  });

  test("behavior: what README shows is a part of that example", () => {
    const textOf = (file: string): string => readFileSync(join(projectRoot, file), "utf8");
    const [, shown = ""] = /```python\n([\s\S]*?)```/.exec(textOf("README.md")) ?? [];
    expect(shown).toContain("chain.wait(");
    expect(textOf("docs/PYTHON.md")).toContain(shown);
  });

  test("behavior: the template, from an empty folder to a decision on a final output", async () => {
    // The environment is made as the template's README says, once for the suite.
    const where = join(folder, "agent");
    mkdirSync(where);
    cpSync(join(projectRoot, "templates/python-agent"), where, { recursive: true });
    const own = readFileSync(join(where, "agent.py"), "utf8").replace(/^"""[\s\S]*?"""/, "");
    expect(own.split("\n").filter((line) => line.trim() !== "").length).toBeLessThanOrEqual(30);
    const env = { ...settings, ASSAY_MODEL: join(projectRoot, "models/sentiment") };
    const agent = ["agent.py", "Profit beats forecasts, outlook raised"];
    const { code, printed } = await run(python, agent, { cwd: where, env });
    expect(printed).toMatch(/^request 0x[0-9a-f]{64}\nfinal in the lane BOND at \d+: (buy|hold|sell)\n$/);
    expect(code).toBe(0);
    const receipt = parseReceipt(readFileSync(join(where, "receipt.json"), "utf8"));
    const { header, request } = receipt;
    const trust = { ...system.chain.game, ...system.chain.constants, blockHash: keccak256(header) };
    expect(verifyReceipt(receipt, trust, ownPolicy(request))).toMatchObject({ valid: true });
  });
});
