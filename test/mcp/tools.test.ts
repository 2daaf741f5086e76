/** Registered models as MCP tools, by the official client, over standard input and output and over HTTP. */
import { cpSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { keccak256 } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import input from "../../cli/demo/input.json" with { type: "json" };
import { type Daemon, startDaemon } from "../../cli/demo/processes.ts";
import packageFile from "../../package.json" with { type: "json" };
import { planPublication, publishWeights } from "../../protocol/chain/execution/publication.ts";
import type { ModelId } from "../../protocol/rules/types.ts";
import { projectRoot } from "../../tools/foundry.ts";
import { runNode } from "../support/assay.ts";
import { keyOf, ROLES, type System, startSystem } from "../support/system.ts";

const FEE = "10000000000000000";
const { closes, highs, lows } = input.prices;

let system: System;
let url: string;
let daemon: Daemon | undefined;

beforeAll(async () => {
  system = await startSystem({
    models: ["forecast-vix", "forecast-btc"],
    answerSeconds: 5,
    blocks: "on-demand",
  });
  const { model, modelId } = system.model("forecast-vix");
  const { chain, sender } = await system.open("publisher", ROLES.cheat);
  await publishWeights(chain, sender, modelId as ModelId, planPublication(model));
  const asks = ["--lanes", "BOND", "--ask-fee", FEE, "--wait-seconds", "1"];
  daemon = startDaemon({
    name: "mcp",
    folder: system.folder,
    rpcUrl: system.rpcUrl,
    deployment: join(system.folder, "deployment.json"),
    args: ["mcp", "forecast-vix", ...asks, "--port", "0"],
    key: keyOf(ROLES.challenger),
  });
  url = String((await daemon.logged("mcp is up")).url);
});
afterAll(async () => {
  await daemon?.stop();
  await system?.stop();
});

async function connected(transport: Transport): Promise<Client> {
  const client = new Client({ name: "test", version: "1.0.0" });
  await client.connect(transport);
  return client;
}

const overStdio = () =>
  connected(
    new StdioClientTransport({
      command: process.execPath,
      args: [join(projectRoot, "bin", "assay.js"), "mcp", "forecast-vix"],
      env: { ...environment(), PATH: process.env.PATH ?? "" },
    }),
  );
const overHttp = () => connected(new StreamableHTTPClientTransport(new URL(url)) as Transport);

const environment = () => ({
  ASSAY_RPC_URL: system.rpcUrl,
  ASSAY_DEPLOYMENT: join(system.folder, "deployment.json"),
  ASSAY_KEY: keyOf(ROLES.challenger),
});

type Structured = Record<string, unknown>;
const structured = (result: object) => (result as { structuredContent: Structured }).structuredContent;

describe("assay mcp", () => {
  it.each([
    ["standard input and output", overStdio],
    ["HTTP", overHttp],
  ])("default: says its version over %s", async (_, connect) => {
    const client = await connect();
    expect(client.getServerVersion()).toEqual({ name: "assay", version: packageFile.version });
    await client.close();
  });

  it("default: over standard input and output, the chain runs the model in the call", async () => {
    const client = await overStdio();
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(["call_assay_forecast-vix", "verify_claim"]);
    expect(tools[0]?.outputSchema).toMatchObject({ required: ["status"] });
    const result = await client.callTool({
      name: "call_assay_forecast-vix",
      arguments: { closes, highs, lows },
    });
    expect(result.isError).toBe(false);
    const { modelId } = system.model("forecast-vix");
    const { data, ...evidence } = structured(result) as { data: Structured };
    expect(evidence).toMatchObject({ status: "final", lane: "EXECUTION", modelId });
    expect(Object.keys(data)).toHaveLength(3);
    await client.close();
  });

  it("behavior: a result is pending with its claim until the claim is final; verify_claim follows it", async () => {
    const client = await overHttp();
    const call = () =>
      client.callTool({ name: "call_assay_forecast-vix", arguments: { closes, highs, lows } });
    const asked = structured(await call());
    expect(asked).toMatchObject({ status: "pending", code: "NOT_FINAL", feeWei: FEE });
    expect(asked.data).toBeUndefined();

    await system.daemon("prover", ROLES.prover, ["prover", "--port", "0"]).logged("prover is up");
    let pending = await call();
    while (structured(pending).claimId === undefined) pending = await call();
    expect(pending.isError).toBe(true);
    const { claimId } = structured(pending) as { claimId: string };
    expect(structured(pending)).toMatchObject({ status: "pending", requestId: asked.requestId });
    expect(structured(pending).data).toBeUndefined();
    const verify = async (id: string) =>
      structured(await client.callTool({ name: "verify_claim", arguments: { claimId: id } }));
    expect(await verify(claimId)).toMatchObject({ status: "pending", claimId, requestId: asked.requestId });

    await system.control.increaseTime({ seconds: 3_600 });
    await system.control.mine({ blocks: 1 });
    const final = structured(await call());
    expect(final).toMatchObject({ status: "final", claimId, lane: "BOND" });
    const verified = await verify(claimId);
    expect(verified).toMatchObject({ status: "final", outputHash: final.outputHash });
    expect(verified.meaning).toMatchObject({ kind: "quantiles", text: expect.stringContaining("%") });
    expect(verified.meaning).toEqual(final.meaning);
    expect(keccak256(verified.output as `0x${string}`)).toBe(final.outputHash);
    expect(await verify(`0x${"7".repeat(64)}`)).toEqual({
      status: "unknown",
      claimId: `0x${"7".repeat(64)}`,
    });
    await client.close();
  });

  it("error: wrong arguments and tools", async () => {
    const client = await overHttp();
    // From now on the client checks results by the tools' schemas.
    await client.listTools();
    const code = async (name: string, args: object) =>
      structured(await client.callTool({ name, arguments: { ...args } })).code;
    await expect(client.callTool({ name: "call_assay_other" })).rejects.toMatchObject({ code: -32_602 });
    expect(await code("verify_claim", { claimId: "0x12" })).toBe("ARGUMENT_INVALID");
    expect(await code("call_assay_forecast-vix", { closes: 3 })).toBe("INPUTS_INVALID");
    await client.close();
  });

  it("behavior: the official inspector lists and calls the tools", async () => {
    // The package expects to lie inside of another one, whose package.json it reads.
    const folder = join(system.folder, "inspector");
    const modules = join(projectRoot, "node_modules");
    const source = join(modules, "@modelcontextprotocol/inspector-cli");
    cpSync(join(source, "build"), join(folder, "cli", "build"), { recursive: true });
    cpSync(join(source, "package.json"), join(folder, "package.json"));
    symlinkSync(modules, join(folder, "node_modules"));
    const inspector = join(folder, "cli", "build", "index.js");
    const run = async (...args: string[]) => {
      const { code, stdout, stderr } = await runNode([inspector, url, "--transport", "http", ...args]);
      expect(code, stderr).toBe(0);
      return JSON.parse(stdout);
    };
    expect((await run("--method", "tools/list")).tools).toHaveLength(2);
    const claimId = `0x${"7".repeat(64)}`;
    const called = await run(
      "--method",
      "tools/call",
      "--tool-name",
      "verify_claim",
      "--tool-arg",
      `claimId=${claimId}`,
    );
    expect(called.structuredContent).toEqual({ status: "unknown", claimId });
  });
});
