/** Executor nodes, and a gateway's turns, against those who lie, repeat themselves, kill processes or write attacks into
 *  what a model reads. */
import { type ContractFunctionArgs, decodeFunctionData, type Hex, isAddressEqual } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { iCallbackAgentAbi } from "../../protocol/rules/generated/abis.ts";
import {
  answer,
  ExecutorNodes,
  event,
  executorAccount,
  HEADLINE,
  ITERATION_SECONDS,
  judge,
  postsOf,
  until,
  useTool,
} from "../support/executor-nodes.ts";
import { longTest } from "../support/long-test.ts";
import { INJECTIONS } from "../support/prompt-injections.ts";
import { ROLES, systemAccount } from "../support/system.ts";

type PostArguments = ContractFunctionArgs<typeof iCallbackAgentAbi, "nonpayable", "postIteration">;

let nodes: ExecutorNodes;

beforeAll(async () => {
  nodes = await ExecutorNodes.start();
});

afterAll(async () => {
  await nodes?.stop();
});

describe("executor nodes under attack", () => {
  // Two copies of prover and challenger are played on every change, in chaos/surroundings.test.ts.
  longTest(
    "behavior: two copies with one key, started by mistake, post each iteration once and both go on",
    async () => {
      const llm = await nodes.llm(judge);
      const demo = await nodes.agent([0], 1);
      const copies = ["copy-a", "copy-b"].map((name) => nodes.node(name, 0, demo, llm));
      await Promise.all(copies.map((copy) => copy.logged("executor is up")));
      for (const _ of [1, 2]) {
        const runId = await demo.ask(HEADLINE);
        await nodes.letToolAnswer(demo, runId);
        expect(await answer(demo, runId)).toMatch(/bullish/);
        expect((await postsOf(demo, runId)).map(({ iteration }) => iteration)).toEqual([0, 1]);
      }
      await Promise.all(copies.map((copy) => copy.stop()));
    },
  );

  it("behavior: of three executors one lies; what two of them choose is done, and they alone are paid", async () => {
    const honest = await nodes.llm(judge);
    const lying = await nodes.llm(({ prompt }) =>
      prompt.includes("\nObservation: ")
        ? "I now know the final answer\nFinal Answer: bearish, sell everything"
        : useTool("Bankruptcy and fraud"),
    );
    const demo = await nodes.agent([1, 2, 3], 2);
    const set = [1, 2, 3].map((index) =>
      nodes.node(`of-three-${index}`, index, demo, index === 1 ? lying : honest),
    );
    await Promise.all(set.map((node) => node.logged("executor is up")));
    const runId = await demo.ask(HEADLINE);
    // Two are admitted at first. Those who may take their place come when the time is over.
    const isPosted = (iteration: number) =>
      until(async () => {
        const posts = (await postsOf(demo, runId)).filter((post) => post.iteration === iteration);
        return posts.length >= 2 ? posts : undefined;
      });
    const settled = async (iteration: number): Promise<void> => {
      const posts = await isPosted(iteration);
      if (new Set(posts.map(({ choiceHash }) => choiceHash)).size === posts.length)
        await nodes.system.passTime(ITERATION_SECONDS + 1);
    };
    await settled(0);
    await nodes.letToolAnswer(demo, runId);
    await settled(1);
    expect(await answer(demo, runId)).toMatch(/^The sentiment is bullish/);
    const liar = executorAccount(1);
    const posts = await postsOf(demo, runId);
    const lies = posts.filter(({ executor }) => isAddressEqual(executor, liar));
    expect(lies.length).toBeGreaterThan(0);
    const truths = new Set(posts.filter((post) => !lies.includes(post)).map(({ choiceHash }) => choiceHash));
    expect(truths.size).toBe(2);
    for (const { choiceHash } of lies) expect(truths).not.toContain(choiceHash);
    const balanceOf = (account: Hex) =>
      nodes.system.client.readContract({
        address: demo.agent,
        abi: iCallbackAgentAbi,
        functionName: "balanceOf",
        args: [account],
      });
    expect(await balanceOf(liar)).toBe(0n);
    expect(await balanceOf(executorAccount(2))).toBe(2n * 10n ** 14n);
    expect(await balanceOf(executorAccount(3))).toBe(2n * 10n ** 14n);
    await Promise.all(set.map((node) => node.stop()));
  });

  it("behavior: what an executor posted counts for nobody else, for no other run, and once", async () => {
    const llm = await nodes.llm(() => "I know it\nFinal Answer: it rains");
    const demo = await nodes.agent([4, 5], 2);
    const node = nodes.node("replayed", 4, demo, llm);
    await node.logged("executor is up");
    const runId = await demo.ask(HEADLINE);
    const { transactionHash } = await event(demo, runId, "IterationPosted");
    const { input } = await nodes.system.client.getTransaction({ hash: transactionHash as Hex });
    const { args } = decodeFunctionData({ abi: iCallbackAgentAbi, data: input });
    const [, ...posted] = args as PostArguments;
    const post = (account: Hex, run: bigint) =>
      nodes.system.client.simulateContract({
        account,
        address: demo.agent,
        abi: iCallbackAgentAbi,
        functionName: "postIteration",
        args: [run, ...posted],
      });
    const own = executorAccount(4);
    await expect(post(own, runId)).rejects.toThrow("AlreadyPosted");
    await expect(post(systemAccount(ROLES.challenger).address, runId)).rejects.toThrow("NotAdmitted");
    await node.stop();
    await expect(post(own, await demo.ask(HEADLINE))).rejects.toThrow("WrongHistory");
  });

  longTest(
    "behavior: twelve runs at once whose questions are attacks, and the node killed among them",
    async () => {
      const llm = await nodes.llm(judge);
      const demo = await nodes.agent([6], 1);
      const node = nodes.node("loaded", 6, demo, llm);
      await node.logged("executor is up");
      const attacks = INJECTIONS.cases.filter(({ place }) => place === "prompt" || place === "toolResult");
      const questions = Array.from({ length: 12 }, (_, i) => attacks[i % attacks.length]?.text as string);
      const runs: bigint[] = [];
      for (const question of questions) runs.push(await demo.ask(question));
      await until(async () => (llm.requests.length >= 4 ? true : undefined));
      process.kill(node.pid as number, "SIGKILL");
      await node.ended;
      const again = nodes.node("loaded", 6, demo, llm);
      await nodes.letToolAnswer(demo, ...runs);
      for (const runId of runs) {
        expect(await answer(demo, runId)).toMatch(/^The sentiment is bullish/);
        expect((await postsOf(demo, runId)).map(({ iteration }) => iteration)).toEqual([0, 1]);
      }
      await again.stop();
    },
  );
});
