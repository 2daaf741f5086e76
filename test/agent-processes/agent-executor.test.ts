import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { projectRoot } from "../../tools/foundry.ts";
import { runAssay } from "../support/assay.ts";
import {
  answer,
  ExecutorNodes,
  event,
  executorAccount,
  HEADLINE,
  ITERATION_SECONDS,
  judge,
  MODEL,
  postsOf,
  until,
} from "../support/executor-nodes.ts";
import { longTest } from "../support/long-test.ts";
import { takeBack } from "../support/reorg.ts";
import type { Script, ScriptedLlm } from "../support/scripted-llm.ts";

let nodes: ExecutorNodes;

beforeAll(async () => {
  nodes = await ExecutorNodes.start();
});

afterAll(async () => {
  await nodes?.stop();
});

describe("executor nodes", () => {
  // shows: E1-063, E1-065, E1-066, E1-071, D-28
  it("default: a run with a verified tool, whose result it waits for; transcripts that verify and replay", async () => {
    const llm = await nodes.llm(judge);
    const demo = await nodes.agent([0], 1);
    const node = nodes.node("executor-0", 0, demo, llm);
    await node.logged("executor is up");
    const runId = await demo.ask(`How does the market take this: ${HEADLINE}?`);
    await nodes.letToolAnswer(demo, runId);
    expect(await answer(demo, runId)).toMatch(
      /^The sentiment is bullish \(scores: bearish -?\d+, neutral -?\d+, bullish \d+\)$/,
    );
    expect(llm.requests).toHaveLength(2);
    // What was posted on the chain is what the executor kept and signed.
    const posted = await postsOf(demo, runId);
    const hashes = posted.map(({ transcriptHash }) => transcriptHash);
    const data = join(nodes.system.folder, "executor-0");
    const { transcripts } = JSON.parse(
      (await runAssay(["agent", "transcript", "show", "--data", data, "--json"])).stdout,
    );
    expect(transcripts.map(({ hash }: { hash: Hex }) => hash)).toEqual(hashes);
    const file = join(nodes.system.folder, "transcript.json");
    writeFileSync(
      file,
      (await runAssay(["agent", "transcript", "show", hashes[0] as Hex, "--data", data, "--json"])).stdout,
    );
    expect((await runAssay(["agent", "transcript", "verify", file])).code).toBe(0);
    const replayed = spawnReplay(file, llm);
    expect(await replayed).toMatchObject({ sameModel: true, sameCompletion: true, sameChoice: true });
    await node.stop();
  });

  it("behavior: killed while the model thinks, started again, it goes on, and posts each iteration once", async () => {
    const llm = await nodes.llm((request, index) => (index === 0 ? "#silence" : judge(request, index)));
    const demo = await nodes.agent([1], 1);
    const node = nodes.node("executor-1", 1, demo, llm);
    await node.logged("executor is up");
    const runId = await demo.ask(HEADLINE);
    await until(async () => (llm.requests.length > 0 ? true : undefined));
    process.kill(node.pid as number, "SIGKILL");
    await node.ended;
    const again = nodes.node("executor-1", 1, demo, llm);
    await nodes.letToolAnswer(demo, runId);
    expect(await answer(demo, runId)).toMatch(/bullish/);
    const posted = await postsOf(demo, runId);
    expect(posted).toHaveLength(2);
    await again.stop();
  });

  it("behavior: a lost executor is replaced by the next of the set", async () => {
    const llm = await nodes.llm(judge);
    // Runs begin with the executor whose place is the run's id; the first one is never started.
    const demo = await nodes.agent([2, 3], 1);
    const node = nodes.node("executor-3", 3, demo, llm);
    await node.logged("executor is up");
    const runId = await demo.ask(HEADLINE);
    expect(runId).toBe(0n);
    const mined = await nodes.system.client.getBlockNumber();
    await until(async () => ((await nodes.system.client.getBlockNumber()) > mined + 2n ? true : undefined));
    expect(llm.requests).toHaveLength(0);
    await nodes.system.passTime(ITERATION_SECONDS + 1);
    await nodes.letToolAnswer(demo, runId);
    // The second iteration begins with the other one of the two, which is up.
    expect(await answer(demo, runId)).toMatch(/bullish/);
    const by = (await postsOf(demo, runId)).map(({ executor }) => executor);
    expect(by).toEqual([executorAccount(3), executorAccount(3)]);
    await node.stop();
  });

  it("behavior: a re-org takes back what it posted; it posts the same again, and asks the model no second time", async () => {
    const llm = await nodes.llm(() => "I know it\nFinal Answer: it rains");
    const demo = await nodes.agent([6], 1);
    const node = nodes.node("executor-6", 6, demo, llm);
    await node.logged("executor is up");
    const runId = await demo.ask(HEADLINE);
    const first = await event(demo, runId, "IterationPosted");
    const { blockNumber: number, blockHash: hash } = first;
    await takeBack(nodes.system, { block: { number, hash } });
    const second = await until(async () => {
      const found = await event(demo, runId, "IterationPosted");
      return found.blockHash === hash ? undefined : found;
    });
    expect(second.args).toEqual(first.args);
    expect(await answer(demo, runId)).toBe("it rains");
    expect(llm.requests).toHaveLength(1);
    const posted = await postsOf(demo, runId);
    expect(posted).toHaveLength(1);
    await node.stop();
  });

  // Three of which two agree are played on every change, in attacks.test.ts.
  longTest("behavior: two of two must agree on tool and input, not on words", async () => {
    let thoughts = 0;
    const wordy: Script = (request, index) => `thought ${++thoughts}: ${judge(request, index) as string}`;
    const llm = await nodes.llm(wordy);
    const demo = await nodes.agent([4, 5], 2);
    const both = [4, 5].map((index) => nodes.node(`executor-${index}`, index, demo, llm));
    await Promise.all(both.map((node) => node.logged("executor is up")));
    const runId = await demo.ask(HEADLINE);
    await nodes.letToolAnswer(demo, runId);
    expect(await answer(demo, runId)).toMatch(/bullish/);
    const posted = await postsOf(demo, runId);
    expect(posted).toHaveLength(4);
    expect(new Set(posted.map(({ choiceHash }) => choiceHash)).size).toBe(2);
    expect(new Set(posted.map(({ transcriptHash }) => transcriptHash)).size).toBe(4);
    await Promise.all(both.map((node) => node.stop()));
  });
});

/** In a process of its own while the scripted server of this one answers. */
async function spawnReplay(file: string, llm: ScriptedLlm): Promise<object> {
  const args = ["agent", "replay", file, "--model", `${MODEL}=openai:m`, "--endpoint", llm.url, "--json"];
  const child = spawn(process.execPath, [join(projectRoot, "bin/assay.js"), ...args]);
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (part: string) => {
    text += part;
  });
  await new Promise((resolve) => child.on("close", resolve));
  return JSON.parse(text) as object;
}
