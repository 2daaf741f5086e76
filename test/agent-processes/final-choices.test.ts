/** A callback agent whose every choice is a final output of a language model, with real processes. */
import { join } from "node:path";
import { type Hex, keccak256 } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fromHex, toHex } from "../../base/bytes.ts";
import type { CallbackDemo } from "../../cli/demo/callback-agent.ts";
import { deployFinalChoices } from "../../cli/demo/final-choices.ts";
import { type Daemon, startDaemon } from "../../cli/demo/processes.ts";
import { execute } from "../../inference/executor/execute.ts";
import { prepare } from "../../inference/executor/prepare.ts";
import { finalChoiceExecutorAbi } from "../../protocol/rules/generated/abis.ts";
import { FALL_REASONS, type ModelId } from "../../protocol/rules/types.ts";
import { answer, event, HEADLINE, ITERATION_SECONDS, postsOf, until } from "../support/executor-nodes.ts";
import { keyOf, ROLES, type System, startSystem, systemAccount } from "../support/system.ts";

/** Seconds. Long: windows end when the test lets them. */
const ANSWER_SECONDS = 60;
const EXECUTOR = ROLES.cheat + 1;

let system: System;
let demo: CallbackDemo;
let executor: Hex;
let prover: Daemon;
const nodes: Daemon[] = [];

beforeAll(async () => {
  system = await startSystem({ models: ["sentiment", "choice"], answerSeconds: ANSWER_SECONDS });
  const models = {
    sentiment: system.model("sentiment").modelId as ModelId,
    choice: system.model("choice").modelId as ModelId,
  };
  ({ demo, executor } = await deployFinalChoices(system.chain, system.rpcUrl, models, ITERATION_SECONDS));
});
afterAll(async () => {
  await Promise.all(nodes.map((node) => node.stop()));
  await system?.stop();
});

function startNode(...flags: readonly string[]): Daemon {
  const { folder, rpcUrl } = system;
  const args = ["agent", "executor", "--agents", demo.agent, "--final", executor, ...flags];
  const common = { folder, rpcUrl, deployment: join(folder, "deployment.json") };
  const node = startDaemon({ ...common, name: "choices", key: keyOf(EXECUTOR), args });
  nodes.push(node);
  return node;
}

/** Claims on outputs of the language model, in order. */
const claimed = (attempt: number, inputHash: Hex) =>
  system.events.until("Claimed", ({ claim }) => {
    const request = requests.get(claim.requestId);
    return claim.attempt === attempt && request === inputHash;
  });
const requests = new Map<Hex, Hex>();

/** What the contract asks the model in a run with these results of its tool. */
async function promptOf(results: readonly string[]): Promise<{ input: Hex; inputHash: Hex; right: Hex }> {
  const uses = results.map((result) => ({ choice: 0n, success: true, result }));
  const history = { requester: demo.client, question: HEADLINE, uses };
  const input = await system.client.readContract({
    address: executor,
    abi: finalChoiceExecutorAbi,
    functionName: "inputOf",
    args: [history],
  });
  const { model, selector } = system.model("choice");
  const right = toHex(execute(prepare(model, selector), fromHex(input)));
  return { input, inputHash: keccak256(input), right };
}

describe("final choices", () => {
  it("default: a lie about a choice is convicted; the run goes on by what became final, over a crash of the executor node", async () => {
    const cheat = system.cheat("cheat", ROLES.cheat, "output");
    await system
      .daemon("challenger", ROLES.challenger, ["challenger", "defend", "--port", "0"])
      .logged("challenger is up");
    await cheat.logged("prover is up");
    const node = startNode();
    await node.logged("executor is up");
    const runId = await demo.ask(HEADLINE);
    const first = await promptOf([]);
    const asked = await system.events.until(
      "Requested",
      ({ request }) => request.inputHash === first.inputHash,
    );
    requests.set(asked.requestId, first.inputHash);
    // The node that asked is gone while its request is disputed.
    process.kill(node.pid as number, "SIGKILL");
    await node.ended;
    const lie = await claimed(0, first.inputHash);
    expect(lie.output).not.toBe(first.right);
    const fell = await system.events.until("Fell", ({ claimId }) => claimId === lie.claimId);
    expect(FALL_REASONS[fell.reason]).toBe("OUTPUT");
    await cheat.stop();
    prover = system.daemon("prover", ROLES.prover, ["prover", "--port", "0"]);
    await prover.logged("prover is up");
    const again = startNode();
    const honest = await claimed(1, first.inputHash);
    expect(honest.output).toBe(first.right);
    await system.passTime(4 * ANSWER_SECONDS + 1);
    const { args } = await event(demo, runId, "ToolChosen");
    expect(args).toMatchObject({ iteration: 0, agentReasoning: "I need the mood." });
    const tool = await system.events.until(
      "Claimed",
      ({ claim }) => claim.modelId === system.model("sentiment").modelId,
    );
    expect(tool.claim.prover).toBe(systemAccount(ROLES.prover).address);
    await system.passTime(4 * ANSWER_SECONDS + 1);
    const observed = (await event(demo, runId, "ToolAnswered")).args as { result: string };
    const second = await promptOf([observed.result]);
    const next = await system.events.until(
      "Requested",
      ({ request }) => request.inputHash === second.inputHash,
    );
    requests.set(next.requestId, second.inputHash);
    expect((await claimed(0, second.inputHash)).output).toBe(second.right);
    await system.passTime(4 * ANSWER_SECONDS + 1);
    expect(await answer(demo, runId)).toBe("Buy.");
    // What stands for a transcript is the request.
    expect((await postsOf(demo, runId)).map(({ transcriptHash }) => transcriptHash)).toEqual([
      asked.requestId,
      next.requestId,
    ]);
    await again.stop();
  });

  it("behavior: a prompt that was asked before is answered by the output that is final, and costs nothing", async () => {
    const node = startNode();
    const of = (name: "choice" | "sentiment") =>
      system.events.all("Requested", ({ request }) => request.modelId === system.model(name).modelId).length;
    const before = { choice: of("choice"), sentiment: of("sentiment") };
    const runId = await demo.ask(HEADLINE);
    expect((await event(demo, runId, "ToolChosen")).args).toMatchObject({ iteration: 0 });
    // The tool's own request is there, and none for the choice.
    await until(async () => (of("sentiment") > before.sentiment ? true : undefined));
    expect(of("choice")).toBe(before.choice);
    await node.stop();
  });

  it("attack: runs of a stranger cost no more than the budget; fees that nobody earned come back, late runs end", async () => {
    await prover.stop();
    const node = startNode("--most-open", "1", "--expiry-seconds", "60");
    await node.logged("executor is up");
    const before = system.events.all("Requested").length;
    const runIds = [await demo.ask("one question"), await demo.ask("another question")];
    const [first] = await until(async () => {
      const found = system.events.all("Requested").slice(before);
      return found.length > 0 ? found : undefined;
    });
    const asked = await system.client.getBlockNumber();
    await until(async () => ((await system.client.getBlockNumber()) > asked + 4n ? true : undefined));
    expect(system.events.all("Requested")).toHaveLength(before + 1);
    await system.passTime(61);
    await system.events.until("Refunded", ({ requestId }) => requestId === first?.requestId);
    await system.passTime(ITERATION_SECONDS);
    for (const runId of runIds) {
      const { args } = await event(demo, runId, "RunFailed");
      expect(args).toMatchObject({ failure: 1 });
    }
    await node.stop();
  });
});
