import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Hex, keccak256, stringToHex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { describe, expect, it } from "vitest";
import {
  type AgentExecutor,
  type AgentIterationResult,
  agreeingExecutors,
  choiceHashOf,
  toResult,
} from "../../../agent/executor/agent-executor.ts";
import { createEngineRegistry, reActEngine } from "../../../agent/executor/engine/engine.ts";
import { iterate } from "../../../agent/executor/iterate.ts";
import type { LanguageModel } from "../../../agent/executor/models/language-model.ts";
import { decideRun } from "../../../agent/executor/node/decide.ts";
import { EXECUTOR_SCHEMA, ExecutorStore } from "../../../agent/executor/node/store.ts";
import { replayTranscript } from "../../../agent/executor/replay.ts";
import { type Agent, runAgent } from "../../../agent/executor/run-agent.ts";
import {
  parseSignedTranscript,
  recordIteration,
  type SignedTranscript,
  signTranscript,
  transcriptProblems,
} from "../../../agent/executor/transcript.ts";
import { openDatabase } from "../../../protocol/service/journal/database.ts";
import { BASE_PROMPT, TRANSFER, VIEW, WALLET_TOOLS } from "../../support/agent-tools.ts";

const VIEW_ACTION = "look\nAction: ViewTokensTool\nAction Input: []";
const DONE = "I know\nFinal Answer: 10 WETH";
const PARTS = {
  basePrompt: BASE_PROMPT,
  tools: WALLET_TOOLS,
  agentReasoning: [],
  toolResults: [],
  prompt: "What?",
};

/** Completes by a list. */
function listModel(completions: readonly string[]): LanguageModel & { readonly seeds: number[] } {
  const seeds: number[] = [];
  return {
    seeds,
    description: { provider: "list" },
    complete: async ({ seed }) => completions[seeds.push(seed) - 1] ?? "",
    close: async () => {},
  };
}

const resultOf = (completion: string): AgentIterationResult =>
  toResult(reActEngine.parse(completion, WALLET_TOOLS));

interface Call {
  readonly agentReasoning: readonly string[];
  readonly toolResults: readonly string[];
}

function listExecutor(completions: readonly string[]): AgentExecutor & { readonly calls: Call[] } {
  const calls: Call[] = [];
  return {
    calls,
    runNextIteration: async ({ agentReasoning, toolResults }) =>
      resultOf(completions[calls.push({ agentReasoning, toolResults }) - 1] ?? ""),
  };
}

function agentOf(changes: Partial<Agent> = {}): Agent & { readonly used: string[] } {
  const used: string[] = [];
  return {
    used,
    modelId: "m",
    basePrompt: BASE_PROMPT,
    tools: WALLET_TOOLS.map(({ address }) => address),
    maxIterations: 3,
    useTool: async (tool) => `result ${used.push(tool)}`,
    ...changes,
  };
}

describe("runAgent", () => {
  // shows: E1-062, D-31
  it("default: both lists start empty and grow together until the answer", async () => {
    const executor = listExecutor([VIEW_ACTION, VIEW_ACTION, DONE]);
    const agent = agentOf();
    const reasoning = "Thought: look\nAction: ViewTokensTool\nAction Input: []";
    await expect(runAgent(agent, executor, "What?")).resolves.toEqual({
      answer: "10 WETH",
      agentReasoning: [reasoning, reasoning],
      toolResults: ["result 1", "result 2"],
    });
    expect(executor.calls).toEqual([
      { agentReasoning: [], toolResults: [] },
      { agentReasoning: [reasoning], toolResults: ["result 1"] },
      { agentReasoning: [reasoning, reasoning], toolResults: ["result 1", "result 2"] },
    ]);
    expect(agent.used).toEqual([VIEW.address, VIEW.address]);
  });

  // shows: E1-062, D-31
  it("error: no answer within the iterations", async () => {
    const executor = listExecutor([VIEW_ACTION, VIEW_ACTION, VIEW_ACTION, DONE]);
    await expect(runAgent(agentOf(), executor, "What?")).rejects.toMatchObject({ code: "AGENT_ITERATIONS" });
    expect(executor.calls).toHaveLength(3);
  });

  it("error: an executor that chooses a tool which is not the agent's calls nothing", async () => {
    const agent = agentOf({ tools: [TRANSFER.address] });
    await expect(runAgent(agent, listExecutor([VIEW_ACTION]), "What?")).rejects.toMatchObject({
      code: "TOOL_NOT_LISTED",
    });
    expect(agent.used).toEqual([]);
  });
});

describe("toResult", () => {
  // shows: E1-068
  it("default: an answer, the other fields empty", () => {
    expect(resultOf(DONE)).toEqual({
      isFinalAnswer: true,
      finalAnswer: "10 WETH",
      tool: "0x0000000000000000000000000000000000000000",
      toolInput: { params: [], abiEncodedParams: "0x" },
      agentReasoning: "",
    });
  });

  // shows: E1-072
  it("default: a tool use gives tool, input and reasoning", () => {
    expect(resultOf(VIEW_ACTION)).toEqual({
      isFinalAnswer: false,
      finalAnswer: "",
      tool: VIEW.address,
      toolInput: { params: [], abiEncodedParams: "0x" },
      agentReasoning: "Thought: look\nAction: ViewTokensTool\nAction Input: []",
    });
  });
});

describe("agreeingExecutors", () => {
  const call = { modelId: "m", basePrompt: "", tools: [], agentReasoning: [], toolResults: [], prompt: "" };
  const failing: AgentExecutor = { runNextIteration: () => Promise.reject(new Error("down")) };

  it("default: two of three agree on the choice, in other words", async () => {
    const executors = [DONE, `hm ${VIEW_ACTION}`, VIEW_ACTION].map((text) => listExecutor([text]));
    const result = await agreeingExecutors(executors, 2).runNextIteration(call);
    expect(result.tool).toBe(VIEW.address);
  });

  it("error: too few agree, or answer at all", async () => {
    const executors = [listExecutor([DONE]), listExecutor([VIEW_ACTION]), failing];
    await expect(agreeingExecutors(executors, 2).runNextIteration(call)).rejects.toMatchObject({
      code: "EXECUTORS_DISAGREE",
      retryable: true,
    });
  });
});

describe("iterate", () => {
  it("behavior: a completion that cannot be used is tried again with another seed", async () => {
    const model = listModel(["hm", "Action: DrainWalletTool\nAction Input: []", VIEW_ACTION]);
    const { step, attempts } = await iterate(PARTS, { engine: reActEngine, model });
    expect(step).toMatchObject({ kind: "action", tool: VIEW });
    expect(model.seeds).toEqual([1, 2, 3]);
    expect(attempts.map(({ error }) => error)).toEqual(["COMPLETION_MALFORMED", "TOOL_UNKNOWN", undefined]);
  });

  it("error: every try is unusable", async () => {
    const model = listModel([]);
    await expect(iterate(PARTS, { engine: reActEngine, model, tries: 2 })).rejects.toMatchObject({
      code: "COMPLETION_MALFORMED",
    });
    expect(model.seeds).toEqual([1, 2]);
  });
});

describe("decideRun", () => {
  const own = TRANSFER.address;
  const run = { state: 1, iteration: 0, deadline: 100, admitted: [own], posted: new Set<Hex>() };

  it.each([
    ["iterate", run, 50],
    ["iterate", run, 101],
    ["wait", { ...run, posted: new Set([own]) }, 100],
    ["advance", { ...run, posted: new Set([own]) }, 101],
    ["wait", { ...run, admitted: [VIEW.address] }, 100],
    ["advance", { ...run, admitted: [VIEW.address] }, 101],
    ["wait", { ...run, state: 3 }, 100],
    ["advance", { ...run, state: 3 }, 101],
    ["advance", { ...run, state: 2 }, 101],
    ["wait", { ...run, state: 4 }, 101],
    ["wait", { ...run, state: 5 }, 101],
    ["wait", { ...run, state: 0 }, 101],
  ] as const)("default: %s %#", (move, state, now) => {
    expect(decideRun(state, [own], now).kind).toBe(move);
  });

  it("behavior: of several executors that it serves, the one that is asked and has not posted", () => {
    const other = VIEW.address;
    const asked = { ...run, admitted: [own, other] };
    expect(decideRun(asked, [other, own], 50)).toEqual({ kind: "iterate", executor: other });
    const half = { ...asked, posted: new Set([other]) };
    expect(decideRun(half, [other, own], 50)).toEqual({ kind: "iterate", executor: own });
  });
});

const account = privateKeyToAccount(`0x${"11".repeat(32)}`);
const engines = createEngineRegistry();

async function signedOne(completion = VIEW_ACTION): Promise<SignedTranscript> {
  const iteration = await iterate(PARTS, { engine: reActEngine, model: listModel([completion]) });
  const { prompt: question, ...parts } = PARTS;
  const subject = {
    chainId: "31337",
    agent: TRANSFER.address,
    runId: "7",
    iteration: "0",
    historyHash: keccak256(stringToHex("history")),
    executor: account.address,
    modelId: "m",
    engine: reActEngine.id,
    question,
    ...parts,
  };
  return signTranscript(account, recordIteration(subject, iteration));
}

describe("transcriptProblems", () => {
  it("default: none, after export and import", async () => {
    const signed = parseSignedTranscript(JSON.stringify(await signedOne()));
    expect(await transcriptProblems(signed, engines)).toEqual([]);
  });

  it("behavior: any change is found", async () => {
    const { transcript, hash, signature } = await signedOne();
    const other = await signTranscript(privateKeyToAccount(`0x${"22".repeat(32)}`), transcript);
    const forged: SignedTranscript[] = [
      { transcript, hash, signature: other.signature },
      { transcript: { ...transcript, runId: "8" }, hash, signature },
      { transcript: { ...transcript, question: "Other?" }, hash, signature },
      { transcript: { ...transcript, attempts: [{ seed: "1", completion: DONE }] }, hash, signature },
    ];
    for (const one of forged) expect(await transcriptProblems(one, engines)).not.toEqual([]);
  });

  it("behavior: a result that its completion does not give is found, signed or not", async () => {
    const { transcript } = await signedOne();
    const result = { ...transcript.result, choiceHash: choiceHashOf(resultOf(DONE)) };
    const signed = await signTranscript(account, { ...transcript, result });
    expect(await transcriptProblems(signed, engines)).toEqual([
      "its result is not what the engine reads in its completion",
    ]);
  });

  it("error: not a transcript", () => {
    expect(() => parseSignedTranscript("{}")).toThrowError(
      expect.objectContaining({ code: "TRANSCRIPT_MALFORMED" }),
    );
    expect(() => parseSignedTranscript("no")).toThrowError(
      expect.objectContaining({ code: "TRANSCRIPT_MALFORMED" }),
    );
  });
});

describe("replayTranscript", () => {
  it("default: the same words", async () => {
    const { transcript } = await signedOne();
    expect(await replayTranscript(transcript, listModel([VIEW_ACTION]), engines)).toEqual({
      verdict: "NOT_EXACT",
      completion: VIEW_ACTION,
      sameModel: true,
      sameCompletion: true,
      sameChoice: true,
    });
  });

  it("behavior: other words for the same choice, another choice, nothing readable", async () => {
    const { transcript } = await signedOne();
    const replay = (text: string) => replayTranscript(transcript, listModel([text]), engines);
    const words = VIEW_ACTION.replace("look", "loot");
    expect(await replay(words)).toMatchObject({ sameCompletion: false, sameChoice: true, differsAt: 3 });
    expect(await replay(DONE)).toMatchObject({ sameCompletion: false, sameChoice: false, differsAt: 0 });
    expect(await replay("")).toMatchObject({ sameCompletion: false, sameChoice: false });
  });
});

describe("ExecutorStore", () => {
  it("behavior: one transcript an iteration and history; metadata stay the first; a rollback forgets events", async () => {
    const folder = mkdtempSync(join(tmpdir(), "assay-executor-"));
    const db = openDatabase(join(folder, "x.sqlite"), [EXECUTOR_SCHEMA]);
    try {
      const store = new ExecutorStore(db, [TRANSFER.address]);
      const signed = await signedOne();
      const historyHash = signed.transcript.historyHash;
      const key = { agent: TRANSFER.address, runId: 7n, iteration: 0, historyHash };
      store.keep(key, { signed, call: "0x1234" });
      expect(store.transcript(key)).toEqual({ signed, call: "0x1234" });
      expect(store.transcript({ ...key, iteration: 1 })).toBeUndefined();
      expect(store.transcripts(signed.hash)).toEqual([signed]);
      const second = await signedOne(DONE);
      expect(() => store.keep(key, { signed: second, call: "0x" })).toThrow(/UNIQUE/);
      expect(store.firstMetadata(TRANSFER.address, VIEW.address, "a")).toBe("a");
      expect(store.firstMetadata(TRANSFER.address, VIEW.address, "b")).toBe("a");
      const block = { number: 5n, hash: historyHash };
      const event = {
        name: "RunFailed",
        args: { runId: 7n, failure: 1 },
        agent: TRANSFER.address,
        block,
        logIndex: 0,
        transactionHash: historyHash,
      } as const;
      const head = { ...block, timestamp: 1 };
      store.take({ kind: "blocks", from: 1n, to: head, head, events: [event], cursor: [block] });
      expect(store.runs()).toEqual([[event]]);
      expect(store.cursor()).toEqual([block]);
      expect(new ExecutorStore(db, [VIEW.address]).cursor()).toBeUndefined();
      store.take({ kind: "rollback", ancestor: 4n, gone: [block], cursor: [] });
      expect(store.runs()).toEqual([]);
    } finally {
      db.close();
      rmSync(folder, { recursive: true });
    }
  });
});
