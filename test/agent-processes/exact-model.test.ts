/** An agent of a real chain whose model is exact, by the program: a run, its transcript, and replays that others make. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Address, Hex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { choiceHashOf, toResult } from "../../agent/executor/agent-executor.ts";
import { reActEngine } from "../../agent/executor/engine/engine.ts";
import { parseSignedTranscript, signTranscript } from "../../agent/executor/transcript.ts";
import { ANVIL_KEYS } from "../../cli/anvil.ts";
import { loadArtifact } from "../../cli/artifacts.ts";
import { loadTextModel } from "../../inference/text/text-model.ts";
import { writeDeployment } from "../../protocol/chain/deployment-file.ts";
import { writeAnswering } from "../support/answering-model.ts";
import { accountAt, type LocalChain, startLocalChain } from "../support/anvil.ts";
import { runAssay } from "../support/assay.ts";
import { createContract } from "../support/create-contract.ts";
import { deployLocal, temporaryFolder } from "../support/deploy.ts";

const KEY = ANVIL_KEYS[1] as Hex;
const WRITES = "I now know\nFinal Answer: It is done.";

const folder = temporaryFolder();
let local: LocalChain;
let model: string;
let modelId: Hex;
let agent: Address;
let env: Record<string, string>;
/** of a run */
let file: string;

beforeAll(async () => {
  local = await startLocalChain();
  const deployment = join(folder.path, "deployment.json");
  writeDeployment(deployment, await deployLocal(local));
  model = writeAnswering(folder.path, WRITES, { prompt: 320, answer: 3 });
  modelId = loadTextModel(model).modelId as Hex;
  const data = join(folder.path, "data");
  env = { ASSAY_RPC_URL: local.rpcUrl, ASSAY_DEPLOYMENT: deployment, ASSAY_KEY: KEY, ASSAY_DATA: data };
  const { address } = accountAt(0);
  const texts = ["Doer", "Does it", "what to do", "You help."];
  // The agent names the model by its id: what runs under this name is this model or nothing.
  const args = [address, address, modelId, ...texts, [], 2];
  agent = await createContract(local, loadArtifact("OwnedAgent"), args);
  file = join(folder.path, "transcript.json");
});
afterAll(async () => {
  await local?.stop();
  folder.remove();
});

const assay = (...args: readonly string[]) => runAssay(["agent", ...args], env);
const spec = () => ["--model", `${modelId}=exact:${model}`];

describe("an agent with an exact model", () => {
  it("default: answers, and the transcript is what anybody with the model repeats", async () => {
    const { stdout, stderr } = await assay("run", agent, "Done?", ...spec(), "--json");
    expect(stderr).toBe("");
    expect(JSON.parse(stdout)).toEqual({ answer: "It is done.", steps: [] });
    const { transcripts } = JSON.parse((await assay("transcript", "show", "--json")).stdout);
    writeFileSync(file, (await assay("transcript", "show", transcripts[0].hash, "--json")).stdout);
    expect((await assay("transcript", "verify", file)).code).toBe(0);
    const replay = await assay("replay", file, ...spec(), "--json");
    expect(replay.code).toBe(0);
    expect(JSON.parse(replay.stdout)).toMatchObject({ verdict: "REPEATED", problems: [] });
  });

  it("behavior: a transcript that its executor changed and signed is found", async () => {
    const { transcript } = parseSignedTranscript(readFileSync(file, "utf8"));
    const completion = "Final Answer: It is not done.";
    const result = toResult(reActEngine.parse(completion, []));
    const { isFinalAnswer, agentReasoning } = result;
    const signed = await signTranscript(privateKeyToAccount(KEY), {
      ...transcript,
      attempts: [{ seed: "1", completion }],
      result: { isFinalAnswer, agentReasoning, choiceHash: choiceHashOf(result) },
    });
    const changed = join(folder.path, "changed.json");
    writeFileSync(changed, JSON.stringify(signed));
    expect((await assay("transcript", "verify", changed)).code).toBe(0);
    const { code, stdout } = await assay("replay", changed, ...spec());
    expect(code).toBe(1);
    expect(stdout).toContain(`the transcript is FALSE: for this prompt the exact model ${modelId} writes`);
  });

  it("error: an agent's model id with another model's folder, and a model that is not here", async () => {
    const other = await assay("replay", file, "--model", `${modelId}=exact:models/choice`);
    expect(other.stderr).toContain("a folder of model");
    const absent = await assay("replay", file, "--model", `m=exact:${model}`);
    expect(absent.stderr).toContain("There is no model");
    for (const { code, stdout } of [other, absent]) {
      expect(code).not.toBe(0);
      expect(stdout).not.toContain("FALSE");
    }
  });
});
