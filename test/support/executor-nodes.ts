/** Executor nodes as processes, the callback agents that they serve, and scripted language models behind them. */
import { join } from "node:path";
import type { Hex } from "viem";
import { CallbackDemo, SENTIMENT_TOOL } from "../../cli/demo/callback-agent.ts";
import { type Daemon, startDaemon } from "../../cli/demo/processes.ts";
import type { ModelId } from "../../protocol/rules/types.ts";
import { type Script, type ScriptedLlm, startScriptedLlm } from "./scripted-llm.ts";
import { keyOf, ROLES, type System, startSystem, systemAccount } from "./system.ts";

/** Seconds. Long: windows and deadlines end when the test lets them. */
const ANSWER_SECONDS = 60;
export const ITERATION_SECONDS = 3_600;
/** The language model's name on the chain. */
export const MODEL = "scripted";
export const HEADLINE = "Profit beats forecasts";

/** What the model writes to use the sentiment tool on a text. */
export const useTool = (text: string): string =>
  `I need its sentiment\nAction: ${SENTIMENT_TOOL}\nAction Input: ${JSON.stringify([{ name: "text", value: text }])}`;

/** Uses the tool on the headline, then answers with what it said. */
export const judge: Script = ({ prompt }) => {
  const observation = /\nObservation: (.*)\nThought:$/.exec(prompt)?.[1];
  if (observation !== undefined) return `I now know the final answer\nFinal Answer: ${observation}`;
  return useTool(HEADLINE);
};

/** Waits until a look gives something. */
export async function until<T>(poll: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const found = await poll();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

export const event = (demo: CallbackDemo, runId: bigint, name: string) =>
  until(async () => (await demo.events(runId)).find(({ eventName }) => eventName === name));

/** What was posted in a run, in order. */
export async function postsOf(demo: CallbackDemo, runId: bigint) {
  type Post = {
    readonly executor: Hex;
    readonly iteration: number;
    readonly choiceHash: Hex;
    readonly transcriptHash: Hex;
  };
  const events = await demo.events(runId);
  return events.flatMap(({ eventName, args }) => (eventName === "IterationPosted" ? [args as Post] : []));
}

export const answer = (demo: CallbackDemo, runId: bigint) => until(() => demo.answer(runId));

/** The address of the executor with this number. */
export const executorAccount = (index: number): Hex => systemAccount(ROLES.cheat + index).address;

/** A chain with the sentiment model and a prover, for executor nodes. */
export class ExecutorNodes {
  readonly system: System;
  readonly #llms: ScriptedLlm[] = [];
  readonly #daemons: Daemon[] = [];

  private constructor(system: System) {
    this.system = system;
  }

  static async start(): Promise<ExecutorNodes> {
    const system = await startSystem({ models: ["sentiment"], answerSeconds: ANSWER_SECONDS });
    await system.daemon("prover", ROLES.prover, ["prover", "--port", "0"]).logged("prover is up");
    return new ExecutorNodes(system);
  }

  async stop(): Promise<void> {
    await Promise.all(this.#daemons.map((daemon) => daemon.stop()));
    await Promise.all(this.#llms.map((llm) => llm.stop()));
    await this.system.stop();
  }

  async llm(script: Script): Promise<ScriptedLlm> {
    const llm = await startScriptedLlm(script);
    this.#llms.push(llm);
    return llm;
  }

  /** Starts a node with the key of an executor. @param name of its data folder */
  node(name: string, index: number, { agent }: CallbackDemo, llm: ScriptedLlm): Daemon {
    const model = ["--model", `${MODEL}=openai:m`, "--endpoint", llm.url];
    const args = ["agent", "executor", "--agents", agent, ...model];
    const { folder, rpcUrl } = this.system;
    const deployment = join(folder, "deployment.json");
    const daemon = startDaemon({ name, args, key: keyOf(ROLES.cheat + index), folder, rpcUrl, deployment });
    this.#daemons.push(daemon);
    return daemon;
  }

  /** @param executors by number, in order @param threshold how many must agree */
  agent(executors: readonly number[], threshold: number): Promise<CallbackDemo> {
    return CallbackDemo.deploy(this.system.chain, this.system.rpcUrl, {
      modelId: this.system.model("sentiment").modelId as ModelId,
      llm: MODEL,
      executors: executors.map(executorAccount),
      threshold,
      iterationSeconds: ITERATION_SECONDS,
    });
  }

  /** The tool's requests of these runs are claimed; their windows end. */
  async letToolAnswer(demo: CallbackDemo, ...runIds: readonly bigint[]): Promise<void> {
    for (const runId of runIds) {
      const pending = (await event(demo, runId, "ToolPending")).args as { toolRunId: bigint };
      const asked = (await demo.events(runId))
        .filter(({ eventName }) => eventName === "RunRequested")
        .map(({ args }) => args as { runId: bigint; requestId: Hex });
      const own = asked.find((one) => one.runId === pending.toolRunId);
      if (own === undefined) throw new Error(`the tool has no request for run ${runId}`);
      await this.system.events.until("Claimed", ({ requestId }) => requestId === own.requestId);
    }
    await this.system.passTime(4 * ANSWER_SECONDS + 1);
  }
}
