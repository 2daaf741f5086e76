import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CallbackDemo, SENTIMENT_TOOL } from "../../cli/demo/callback-agent.ts";
import { type Daemon, startDaemon } from "../../cli/demo/processes.ts";
import type { ModelId } from "../../protocol/terms.ts";
import { projectRoot } from "../../tools/foundry.ts";
import { runAssay } from "../support/assay.ts";
import { takeBack } from "../support/reorg.ts";
import { type Script, type ScriptedLlm, startScriptedLlm } from "../support/scripted-llm.ts";
import { keyOf, ROLES, type System, startSystem, systemAccount } from "../support/system.ts";

/** Long: windows and deadlines end when the test lets them. */
const ANSWER_SECONDS = 60;
const ITERATION_SECONDS = 3_600;
const HEADLINE = "Profit beats forecasts";
const MODEL = "scripted";

let system: System;
const llms: ScriptedLlm[] = [];
const daemons: Daemon[] = [];

beforeAll(async () => {
  system = await startSystem({ models: ["sentiment"], answerSeconds: ANSWER_SECONDS });
  await system.daemon("prover", ROLES.prover, ["prover", "--port", "0"]).said("prover is up");
});

afterAll(async () => {
  await Promise.all(daemons.map((daemon) => daemon.stop()));
  await Promise.all(llms.map((llm) => llm.stop()));
  await system.stop();
});

/** Uses the tool on the headline, then answers with what it said. */
const judge: Script = ({ prompt }) => {
  const observation = /\nObservation: (.*)\nThought:$/.exec(prompt)?.[1];
  if (observation !== undefined) return `I now know the final answer\nFinal Answer: ${observation}`;
  return `I need its sentiment\nAction: ${SENTIMENT_TOOL}\nAction Input: ${JSON.stringify([{ name: "text", value: HEADLINE }])}`;
};

async function llmOf(script: Script): Promise<ScriptedLlm> {
  const llm = await startScriptedLlm(script);
  llms.push(llm);
  return llm;
}

const executorAccount = (index: number) => systemAccount(ROLES.cheat + index).address;

function executor(name: string, index: number, { agent }: CallbackDemo, llm: ScriptedLlm): Daemon {
  const args = [
    "agent",
    "executor",
    "--agents",
    agent,
    "--model",
    `${MODEL}=openai:m`,
    "--endpoint",
    llm.url,
  ];
  const { folder, rpcUrl } = system;
  const deployment = join(folder, "deployment.json");
  const daemon = startDaemon({ name, args, key: keyOf(ROLES.cheat + index), folder, rpcUrl, deployment });
  daemons.push(daemon);
  return daemon;
}

const deployAgent = (executors: readonly number[], threshold: number): Promise<CallbackDemo> =>
  CallbackDemo.deploy(system.chain, system.rpcUrl, {
    modelId: system.model("sentiment").modelId as ModelId,
    llm: MODEL,
    executors: executors.map(executorAccount),
    threshold,
    iterationSeconds: ITERATION_SECONDS,
  });

/** Waits until a look gives something. */
async function until<T>(look: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

const event = (demo: CallbackDemo, runId: bigint, name: string) =>
  until(async () => (await demo.events(runId)).find(({ eventName }) => eventName === name));

/** The tool's request is claimed; its window ends. */
async function letToolAnswer(demo: CallbackDemo, runId: bigint): Promise<void> {
  await event(demo, runId, "ToolPending");
  const { args: requested } = await event(demo, runId, "RunRequested");
  const { requestId } = requested as { requestId: Hex };
  await system.events.until("Claimed", (args) => args.requestId === requestId);
  await system.passTime(4 * ANSWER_SECONDS + 1);
}

const answer = (demo: CallbackDemo, runId: bigint) => until(() => demo.answer(runId));

describe("executor nodes", () => {
  // shows: E1-063, E1-065, E1-066, E1-071, D-28
  it("default: a run with a verified tool, whose result it waits for; transcripts that verify and replay", async () => {
    const llm = await llmOf(judge);
    const demo = await deployAgent([0], 1);
    const node = executor("executor-0", 0, demo, llm);
    await node.said("executor is up");
    const runId = await demo.ask(`How does the market take this: ${HEADLINE}?`);
    await letToolAnswer(demo, runId);
    expect(await answer(demo, runId)).toMatch(
      /^The sentiment is bullish \(scores: bearish -?\d+, neutral -?\d+, bullish \d+\)$/,
    );
    expect(llm.requests).toHaveLength(2);
    // What was posted on the chain is what the executor kept and signed.
    const posted = (await demo.events(runId)).filter(({ eventName }) => eventName === "IterationPosted");
    const hashes = posted.map(({ args }) => (args as { transcriptHash: Hex }).transcriptHash);
    const data = join(system.folder, "executor-0");
    const { transcripts } = JSON.parse(
      (await runAssay(["agent", "transcript", "show", "--data", data, "--json"])).stdout,
    );
    expect(transcripts.map(({ hash }: { hash: Hex }) => hash)).toEqual(hashes);
    const file = join(system.folder, "transcript.json");
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
    const llm = await llmOf((request, index) => (index === 0 ? "#silence" : judge(request, index)));
    const demo = await deployAgent([1], 1);
    const node = executor("executor-1", 1, demo, llm);
    await node.said("executor is up");
    const runId = await demo.ask(HEADLINE);
    await until(async () => (llm.requests.length > 0 ? true : undefined));
    process.kill(node.pid as number, "SIGKILL");
    await node.ended;
    const again = executor("executor-1", 1, demo, llm);
    await letToolAnswer(demo, runId);
    expect(await answer(demo, runId)).toMatch(/bullish/);
    const posted = (await demo.events(runId)).filter(({ eventName }) => eventName === "IterationPosted");
    expect(posted).toHaveLength(2);
    await again.stop();
  });

  it("behavior: a lost executor is replaced by the next of the set", async () => {
    const llm = await llmOf(judge);
    // Runs begin with the executor whose place is the run's id; the first one is never started.
    const demo = await deployAgent([2, 3], 1);
    const node = executor("executor-3", 3, demo, llm);
    await node.said("executor is up");
    const runId = await demo.ask(HEADLINE);
    expect(runId).toBe(0n);
    const mined = await system.client.getBlockNumber();
    await until(async () => ((await system.client.getBlockNumber()) > mined + 2n ? true : undefined));
    expect(llm.requests).toHaveLength(0);
    await system.passTime(ITERATION_SECONDS + 1);
    await letToolAnswer(demo, runId);
    // The second iteration begins with the other one of the two, which is up.
    expect(await answer(demo, runId)).toMatch(/bullish/);
    const by = (await demo.events(runId)).flatMap(({ eventName, args }) =>
      eventName === "IterationPosted" ? [(args as { executor: Hex }).executor] : [],
    );
    expect(by).toEqual([executorAccount(3), executorAccount(3)]);
    await node.stop();
  });

  it("behavior: a re-org takes back what it posted; it posts the same again, and asks the model no second time", async () => {
    const llm = await llmOf(() => "I know it\nFinal Answer: it rains");
    const demo = await deployAgent([6], 1);
    const node = executor("executor-6", 6, demo, llm);
    await node.said("executor is up");
    const runId = await demo.ask(HEADLINE);
    const first = await event(demo, runId, "IterationPosted");
    const { blockNumber: number, blockHash: hash } = first;
    await takeBack(system, { block: { number, hash } });
    const second = await until(async () => {
      const found = await event(demo, runId, "IterationPosted");
      return found.blockHash === hash ? undefined : found;
    });
    expect(second.args).toEqual(first.args);
    expect(await answer(demo, runId)).toBe("it rains");
    expect(llm.requests).toHaveLength(1);
    const posted = (await demo.events(runId)).filter(({ eventName }) => eventName === "IterationPosted");
    expect(posted).toHaveLength(1);
    await node.stop();
  });

  it("behavior: two of two must agree on tool and input, not on words", async () => {
    let thoughts = 0;
    const wordy: Script = (request, index) => `thought ${++thoughts}: ${judge(request, index) as string}`;
    const llm = await llmOf(wordy);
    const demo = await deployAgent([4, 5], 2);
    const nodes = [4, 5].map((index) => executor(`executor-${index}`, index, demo, llm));
    await Promise.all(nodes.map((node) => node.said("executor is up")));
    const runId = await demo.ask(HEADLINE);
    await letToolAnswer(demo, runId);
    expect(await answer(demo, runId)).toMatch(/bullish/);
    const events = await demo.events(runId);
    const posted = events.filter(({ eventName }) => eventName === "IterationPosted");
    expect(posted).toHaveLength(4);
    expect(new Set(posted.map(({ args }) => (args as { choiceHash: Hex }).choiceHash)).size).toBe(2);
    expect(new Set(posted.map(({ args }) => (args as { transcriptHash: Hex }).transcriptHash)).size).toBe(4);
    await Promise.all(nodes.map((node) => node.stop()));
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
