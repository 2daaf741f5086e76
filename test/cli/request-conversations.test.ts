/** `assay request` of a language model: a conversation in the place of numbers, and the answer's text; `assay claim show` of
 *  what was asked and claimed. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { keccak256 } from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { textValues } from "../../agent/sdk/text.ts";
import { fromHex, toHex } from "../../base/bytes.ts";
import { ANVIL_KEYS } from "../../cli/anvil.ts";
import { showOutput } from "../../cli/shown-output.ts";
import { execute } from "../../inference/executor/execute.ts";
import { prepare } from "../../inference/executor/prepare.ts";
import { loadModelFolder } from "../../inference/model-folder.ts";
import type { Message } from "../../inference/text/chat.ts";
import type { ModelText } from "../../inference/text/model-text.ts";
import { writeDeployment } from "../../protocol/chain/deployment-file.ts";
import { decodeEvents } from "../../protocol/chain/events.ts";
import { historyOf } from "../../protocol/chain/history.ts";
import { encodeCall } from "../../protocol/rules/abi.ts";
import { requestIdOf } from "../../protocol/rules/ids.ts";
import type { ModelId, Request, RequestId } from "../../protocol/rules/types.ts";
import { type ServedProgram, serveModels } from "../../prover/models.ts";
import { type LocalChain, startLocalChain } from "../support/anvil.ts";
import { runInProcess } from "../support/assay.ts";
import { claimOutput } from "../support/claims.ts";
import { writeClassifying } from "../support/classifying-model.ts";
import { openLocalSystem, temporaryFolder } from "../support/deploy.ts";
import { registerPrepared } from "../support/executed-models.ts";
import { writeTalking } from "../support/talking-model.ts";

const folder = temporaryFolder();
let local: LocalChain;
let system: Awaited<ReturnType<typeof openLocalSystem>>;
let model: string;
let modelId: ModelId;
let talking: ServedProgram;

beforeAll(async () => {
  local = await startLocalChain();
  system = await openLocalSystem(local);
  writeDeployment(join(folder.path, "deployment.json"), system.chain.deployment);
  model = writeTalking(folder.path, { prompt: 60, answer: 6 });
  const loaded = loadModelFolder(model);
  [talking] = serveModels([loaded]).values() as unknown as [ServedProgram];
  modelId = await registerPrepared(system.chain, system.sender, talking.prepared, loaded.laneBits);
});
afterAll(async () => {
  await system?.close();
  await local?.stop();
  folder.remove();
});

const ask = (...args: readonly string[]) => run("request", ...args, "--json");
const run = (...args: readonly string[]) =>
  runInProcess([...args], {
    ASSAY_RPC_URL: local.rpcUrl,
    ASSAY_KEY: ANVIL_KEYS[3] as string,
    ASSAY_DATA: join(folder.path, "data"),
    ASSAY_DEPLOYMENT: join(folder.path, "deployment.json"),
    ASSAY_POLL_INTERVAL_MS: "20",
  });

function inputsFile(value: unknown): string {
  const path = join(folder.path, "inputs.json");
  writeFileSync(path, JSON.stringify(value));
  return path;
}

const user = (content: string): Message => ({ role: "user", content });
function calldataOf(messages: readonly Message[]) {
  const called = { ...talking.function, selector: toHex(talking.selector) };
  return encodeCall(called, textValues({ function: called }, talking.text as ModelText, messages));
}

/** The request that arguments make. */
const requested = async (...args: readonly string[]) => (await requestedOf(model, ...args)).request;
async function requestedOf(model: string, ...args: readonly string[]) {
  const { code, stdout, stderr } = await ask(model, ...args);
  expect([code, stderr]).toEqual([0, ""]);
  const { requestId } = JSON.parse(stdout) as { requestId: RequestId };
  const event = (await historyOf(system.chain, requestId)).find(({ name }) => name === "Requested");
  if (event?.name !== "Requested") throw new Error("no such request");
  return event.args;
}

/** The first request of the chain, once it is there. */
async function firstRequest(): Promise<Request> {
  const address = system.chain.game.assay;
  for (;;) {
    const logs = await system.chain.client.getLogs({ address, fromBlock: 0n });
    const event = decodeEvents(logs).find(({ name }) => name === "Requested");
    if (event?.name === "Requested") return event.args.request;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function refused(...args: readonly string[]): Promise<string> {
  const { code, stderr } = await ask(...args);
  expect(code).toBeGreaterThan(0);
  return (JSON.parse(stderr) as { error: { code: string } }).error.code;
}

describe("assay request of a language model", () => {
  test("default: --text is what a user says; the answer's text is printed once it is final", async () => {
    const calldata = calldataOf([user("hi")]);
    const output = execute(talking.prepared, fromHex(calldata));
    const { text } = (talking.text as ModelText).answerOf(output);
    const asking = ask(model, "--text", "hi", "--wait");
    const asked = await firstRequest();
    expect(asked.inputHash).toBe(keccak256(calldata));
    await claimOutput(system.chain, system.sender, asked, toHex(output));
    await local.passTime(asked.window + 1);
    const { code, stdout } = await asking;
    expect(code).toBe(0);
    const { result } = JSON.parse(stdout) as { result: { claimId: string } };
    expect(JSON.parse(stdout)).toMatchObject({ modelId, result: { text, output: toHex(output) } });
    await expectShown(result.claimId, output);
  });

  /** What `assay claim show` says of the claim, with the model's folder and without. */
  async function expectShown(claimId: string, output: Uint8Array): Promise<void> {
    const of = talking.text as ModelText;
    const { ids } = of.prompt([user("hi")]);
    const prompt = { text: "<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n", ids };
    const answer = of.answerOf(output);
    const show = (...args: readonly string[]) => run("claim", "show", claimId, ...args);
    const named = await show("--model", model, "--json");
    expect(JSON.parse(named.stdout)).toMatchObject({ prompt, answer, output: toHex(output) });
    const { stdout } = await show("--model", model);
    expect(stdout).toContain(
      "  prompt     <|im_start|>user\\u{a}hi<|im_end|>\\u{a}<|im_start|>assistant\\u{a}\n",
    );
    for (const each of [prompt, answer]) expect(stdout).toContain(`  ids        ${each.ids.join(" ")}\n`);
    const unknown = JSON.parse((await show("--json")).stdout) as object;
    expect(unknown).toHaveProperty("output");
    expect(Object.keys(unknown).filter((key) => ["prompt", "answer", "pieces"].includes(key))).toEqual([]);
    const other = await show("--model", "sentiment", "--json");
    expect(other.code).toBe(2);
    expect(other.stderr).toContain(`a folder of model ${modelId}`);
  }

  test("error: an answer with an id that no token has is shown by its values", () => {
    const output = execute(talking.prepared, fromHex(calldataOf([user("hi")]))).slice();
    // The first id: 40,000.
    output.set([0x1c, 0x40], 64);
    const called = { ...talking.function, selector: toHex(talking.selector) };
    const shown = showOutput({ function: called, text: talking.text as ModelText }, toHex(output));
    expect(Object.keys(shown)).toEqual(["values"]);
  });

  test("args: --inputs with messages, or with the model's numbers", async () => {
    const messages: readonly Message[] = [{ role: "system", content: "be" }, user("hi")];
    const { inputHash } = await requested("--inputs", inputsFile({ messages }));
    expect(inputHash).toBe(keccak256(calldataOf(messages)));
    const called = { ...talking.function, selector: toHex(talking.selector) };
    const { prompt } = textValues({ function: called }, talking.text as ModelText, messages);
    const numbers = (prompt as readonly bigint[]).map(String);
    expect((await requested("--inputs", inputsFile({ prompt: numbers }))).inputHash).toBe(inputHash);
  });

  test("behavior: of a classifier `assay claim show` prints the word pieces", async () => {
    const classifier = writeClassifying(join(folder.path, "classifier"));
    const loaded = loadModelFolder(classifier);
    const prepared = prepare(loaded.model, loaded.selector);
    await registerPrepared(system.chain, system.sender, prepared, loaded.laneBits);
    const { request, input } = await requestedOf(classifier, "--text", "a Bab");
    const output = toHex(execute(prepared, fromHex(input)));
    await claimOutput(system.chain, system.sender, request, output);
    const claimed = (await historyOf(system.chain, requestIdOf(system.chain.game, request))).find(
      ({ name }) => name === "Claimed",
    );
    if (claimed?.name !== "Claimed") throw new Error("no claim");
    const { stdout } = await run("claim", "show", claimed.args.claimId, "--model", classifier);
    expect(stdout).toContain("  pieces     [CLS] a bab [SEP]\n  ids        2 ");
    expect(stdout).not.toContain("  answer ");
  });

  test("error: a conversation that does not fit, no message, and a model whose folder is not here", async () => {
    expect(await refused(model, "--text", "many words ".repeat(60))).toBe("PROMPT_TOO_LONG");
    expect(await refused(model, "--inputs", inputsFile({ messages: [] }))).toBe("MESSAGES_INVALID");
    expect(await refused(model, "--inputs", inputsFile({ messages: [{ role: "king", content: "" }] }))).toBe(
      "MESSAGES_INVALID",
    );
    expect(await refused(modelId, "--text", "hi")).toBe("ARGUMENT_INVALID");
  });
});
