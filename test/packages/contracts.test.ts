import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Abi, createWalletClient, getAddress, type Hex, http, parseEther } from "viem";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { openModel, wait } from "../../agent/sdk/index.ts";
import { LANE, NO_CLAIM } from "../../protocol/rules/types.ts";
import { foundryBinary, projectRoot } from "../../tools/foundry.ts";
import { importClosure } from "../../tools/packages/contracts.ts";
import { packedFile } from "../../tools/packages/pack.ts";
import { FreshProject } from "../support/fresh-project.ts";
import { longTest } from "../support/long-test.ts";
import { keyOf, ROLES, type System, startSystem, systemAccount } from "../support/system.ts";

const CONTRACTS = packedFile("@assay/contracts");
/** Foundry takes the compiler of this repository instead of downloading one. */
const OFFLINE = { FOUNDRY_SOLC: join(projectRoot, "tools", "solc"), FOUNDRY_OFFLINE: "true" };

let system: System;
let project: FreshProject;

beforeAll(async () => {
  project = new FreshProject("templates/foundry");
  project.install([CONTRACTS]);
  system = await startSystem({ models: ["sentiment"], answerSeconds: 1 });
  await system.daemon("prover", ROLES.prover, ["prover", "--port", "0"]).logged("prover is up");
});
afterAll(async () => {
  await system?.stop();
  project?.remove();
});

describe("templates/foundry, with @assay/contracts packed", () => {
  let mood: Hex;
  let abi: Abi;
  const account = systemAccount(ROLES.cheat);
  const wallet = () => createWalletClient({ account, transport: http(system.rpcUrl) });
  const label = () => system.client.readContract({ address: mood, abi, functionName: "label" });
  async function send(functionName: string, args: readonly unknown[], value = 0n) {
    const hash = await wallet().writeContract({ address: mood, abi, functionName, args, value, chain: null });
    const receipt = await system.client.waitForTransactionReceipt({ hash });
    expect(receipt.status).toBe("success");
  }
  async function ask(text: string, callbackGas: number) {
    const [fee, deliveryFee] = [parseEther("0.01"), callbackGas === 0 ? 0n : parseEther("0.01")];
    const expiry = (await system.now()) + 3_600;
    const terms = { lanes: LANE.BOND, fee, deliveryFee, minBond: 0n, window: 4, expiry, callbackGas };
    await send("ask", [text, terms], fee + deliveryFee);
    return system.events.until("Requested", ({ input }) => Buffer.from(input.slice(2), "hex").includes(text));
  }

  it("default: forge builds it, and it is deployed", async () => {
    const built = await project.run(foundryBinary("forge"), ["build"], { ...process.env, ...OFFLINE });
    expect({ status: built.status, stderr: built.stderr }).toEqual({ status: 0, stderr: "" });
    const artifact = JSON.parse(readFileSync(project.path("out/Mood.sol/Mood.json"), "utf8"));
    abi = artifact.abi as Abi;
    const args = [system.chain.game.assay, system.model("sentiment").modelId];
    const hash = await wallet().deployContract({
      abi,
      bytecode: artifact.bytecode.object,
      args,
      chain: null,
    });
    mood = getAddress((await system.client.waitForTransactionReceipt({ hash })).contractAddress as Hex);
    expect(await label()).toBe(-1n);
  });

  it("default: a callback brings a final output", async () => {
    await ask("Profit beats forecasts", 200_000);
    await vi.waitFor(async () => expect(await label()).toBe(2n), { timeout: 300_000, interval: 500 });
  });

  it("default: an output that nobody delivers is accepted by requireFinal, and another one is not", async () => {
    const { request, requestId, input } = await ask("Costs explode and sales collapse", 0);
    const model = await openModel(system.chain, request.modelId);
    const { claim = NO_CLAIM, output } = await wait(system.chain, { requestId, request, input, model });
    const forged = `0x${"00".repeat(31)}01${output.slice(66)}` as Hex;
    await expect(send("accept", [request, claim, forged])).rejects.toThrow();
    await send("accept", [request, claim, output]);
    expect(await label()).toBe(0n);
  });

  it("default: the chain runs a published model within the contract's transaction", async () => {
    await promisify(execFile)(process.execPath, ["bin/assay.js", "model", "publish", "sentiment"], {
      cwd: projectRoot,
      env: {
        ...process.env,
        ASSAY_RPC_URL: system.rpcUrl,
        ASSAY_DEPLOYMENT: join(system.folder, "deployment.json"),
        ASSAY_DATA: join(system.folder, "publisher"),
        ASSAY_KEY: keyOf(ROLES.challenger),
      },
    });
    await send("askNow", ["Profit beats forecasts"]);
    expect(await label()).toBe(2n);
  });
});

describe("@assay/contracts, packed", () => {
  longTest("default: Hardhat builds a consumer with npm's compiler, by the imports as they are", async () => {
    const hardhat = new FreshProject("test/packages/projects/hardhat");
    try {
      hardhat.install([CONTRACTS, "--ignore-scripts"]);
      hardhat.write("contracts/Mood.sol", readFileSync(project.path("src/Mood.sol"), "utf8"));
      const built = await hardhat.node(["node_modules/hardhat/dist/src/cli.js", "build"]);
      expect(built).toMatchObject({ status: 0, stdout: expect.stringContaining("solc 0.8.37") });
      const artifact = hardhat.path("artifacts/contracts/Mood.sol/Mood.json");
      expect(JSON.parse(readFileSync(artifact, "utf8")).bytecode.length).toBeGreaterThan(1_000);
    } finally {
      hardhat.remove();
    }
  });

  it("default: ABIs as JSON and as constants with their types, and deployments by chain id", async () => {
    const script = `
      import { iAssayAbi } from "@assay/contracts/abi";
      import { deployments } from "@assay/contracts/deployments";
      import json from "@assay/contracts/abi/IAssay.json" with { type: "json" };
      console.log(JSON.stringify([iAssayAbi.length === json.length, Object.keys(deployments)]));
    `;
    project.write("abi.mjs", script);
    const { stdout, stderr } = await project.node(["abi.mjs"]);
    expect({ stdout, stderr: stderr.replace(/.*ExperimentalWarning.*\n.*\n/, "") }).toEqual({
      stdout: "[true,[]]\n",
      stderr: "",
    });
  });

  it("error: a file that is not permissively licensed is refused", () => {
    const root = join(projectRoot, "verifier-contracts");
    expect(importClosure(root, ["consumer/AssayConsumer.sol"]).size).toBeGreaterThan(10);
    expect(() => importClosure(root, ["agents/ToolAgent.sol"])).toThrow(
      /ToolAgent.sol is in @assay\/contracts/,
    );
  });
});
