import { spawn, spawnSync } from "node:child_process";
import { join } from "node:path";
import type { Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ANVIL_KEYS } from "../../cli/anvil.ts";
import { writeDeployment } from "../../protocol/chain/deployment-file.ts";
import { EventFollower } from "../../protocol/chain/follower.ts";
import { OUTSIDE } from "../../tools/outside-project.ts";
import { type LocalChain, startLocalChain } from "../support/anvil.ts";
import { bytesOutput, claimOutput } from "../support/claims.ts";
import { openLocalSystem } from "../support/deploy.ts";
import { ScriptedChat } from "../support/scripted-chat.ts";

let local: LocalChain;
let system: Awaited<ReturnType<typeof openLocalSystem>>;
let llm: ScriptedChat;
const stopping = new AbortController();
let answering: Promise<void>;

beforeAll(async () => {
  llm = await ScriptedChat.start();
  llm.answers({ calls: [{ name: "four_bytes", arguments: '{"data":"0x03030303"}' }] });
  local = await startLocalChain();
  system = await openLocalSystem(local);
  // A prover of the tiny model, and time that passes once it has claimed.
  answering = new EventFollower(system.chain, { pollIntervalMs: 20 }).run(async (batch) => {
    if (batch.kind !== "blocks") return;
    for (const event of batch.events) {
      if (event.name !== "Requested") continue;
      const { request, input } = event.args;
      const data: Hex = `0x${input.slice(2 + 2 * (4 + 64), 2 + 2 * (4 + 64 + 4))}`;
      await claimOutput(system.chain, system.sender, request, bytesOutput(data));
      await local.passTime(request.window + 1);
    }
  }, stopping.signal);
});
afterAll(async () => {
  stopping.abort();
  await answering;
  await llm?.stop();
  await system?.close();
  await local?.stop();
});

describe("an outside project, strict, with the libraries' current majors", () => {
  it("default: compiles, without skipLibCheck", () => {
    const { stdout, status } = spawnSync(process.execPath, ["node_modules/typescript/bin/tsc", "-p", "."], {
      cwd: OUTSIDE,
      encoding: "utf8",
    });
    expect({ stdout, status }).toEqual({ stdout: "", status: 0 });
  });

  it("default: runs: the AI SDK, LangChain and the OpenAI client get final outputs", async () => {
    const deployment = join(system.folder, "deployment.json");
    writeDeployment(deployment, system.deployment);
    const args = [
      "--import",
      "tsx",
      "--preserve-symlinks",
      "main.ts",
      local.rpcUrl,
      deployment,
      system.modelId,
      llm.baseUrl,
    ];
    const child = spawn(process.execPath, args, {
      cwd: OUTSIDE,
      env: { ...process.env, ASSAY_KEY: ANVIL_KEYS[2] },
    });
    let printed = "";
    let failed = "";
    child.stdout.on("data", (part: Buffer) => {
      printed += part.toString();
    });
    child.stderr.on("data", (part: Buffer) => {
      failed += part.toString();
    });
    const code = await new Promise((resolve) => child.once("close", resolve));
    expect({ code, failed }).toEqual({ code: 0, failed: "" });
    const answers = ["0x01010101", "0x02020202", "0x03030303"].map((output) => ({
      status: "final",
      values: { output },
    }));
    expect(JSON.parse(printed)).toMatchObject(answers);
  });
});
