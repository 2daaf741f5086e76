import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Hex, keccak256 } from "viem";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { ANVIL_KEYS } from "../../cli/anvil.ts";
import { encodeProgram } from "../../inference/program/encode.ts";
import { Actions } from "../../protocol/chain/actions.ts";
import { connect } from "../../protocol/chain/connect.ts";
import { readDeployment } from "../../protocol/chain/deployment-file.ts";
import { historyOf } from "../../protocol/chain/history.ts";
import { registerModel } from "../../protocol/chain/register.ts";
import { requireAccount } from "../../protocol/chain/sender.ts";
import { bondsOf, gasPriceRange } from "../../protocol/rules/money.ts";
import { type ClaimId, type RequestId, ZERO_ADDRESS } from "../../protocol/rules/types.ts";
import { openDataFolder } from "../../protocol/service/data-folder.ts";
import { lockFolder } from "../../protocol/service/journal/database.ts";
import { projectRoot } from "../../tools/foundry.ts";
import { accountAt, type LocalChain, startLocalChain } from "../support/anvil.ts";
import { runAssay, runInProcess } from "../support/assay.ts";
import { QUICK, TINY_IDENTITY, TINY_MODEL, temporaryFolder } from "../support/deploy.ts";

let local: LocalChain;
let folder: ReturnType<typeof temporaryFolder>;
let deployment: string;

beforeAll(async () => {
  local = await startLocalChain();
  folder = temporaryFolder();
  deployment = join(folder.path, "deployment.json");
});
afterAll(async () => {
  await local?.stop();
  folder?.remove();
});

const environment = (index: number): Record<string, string> => ({
  ASSAY_RPC_URL: local.rpcUrl,
  ASSAY_KEY: ANVIL_KEYS[index] as string,
  ASSAY_DATA: join(folder.path, `data-${index}`),
  ASSAY_DEPLOYMENT: deployment,
  ASSAY_POLL_INTERVAL_MS: "20",
});

const measured = JSON.parse(readFileSync("protocol/rules/generated/gas.json", "utf8")) as { gasBase: number };

describe("assay deploy, request, claim show, withdraw", () => {
  test("default: from an empty chain to a final output that is paid for", async () => {
    const deployed = await runAssay(["deploy", "--json", "--answer-seconds", "2"], environment(0));
    expect(deployed).toMatchObject({ code: 0 });
    expect(JSON.parse(deployed.stdout).deployment).toMatchObject({
      chainId: 31337,
      constants: { answerSeconds: 2, gasBase: measured.gasBase.toString() },
    });
    const again = await runInProcess(["deploy", "--json"], environment(0));
    expect(again).toMatchObject({ code: 2, stdout: "" });
    expect(JSON.parse(again.stderr).error).toMatchObject({ code: "DEPLOYMENT_EXISTS" });

    // A prover with a model.
    const account = accountAt(1);
    const chain = requireAccount(
      await connect({ rpcUrl: local.rpcUrl, deployment: readDeployment(deployment), account }),
    );
    const { sender, close } = openDataFolder(join(folder.path, "prover"), chain, [], QUICK);
    const program = encodeProgram(TINY_MODEL.program);
    const { modelId } = await registerModel(chain, sender, program, TINY_IDENTITY);
    expect(await registerModel(chain, sender, program, TINY_IDENTITY)).toEqual({ modelId, isNew: false });

    const inputs = join(folder.path, "inputs.json");
    writeFileSync(inputs, JSON.stringify({ data: "0x01020304" }));
    const asking = runAssay(["request", modelId, "--inputs", inputs, "--wait", "--json"], environment(2));
    const asked = await pollForRequest(chain);
    // Nobody has answered, so it waits: others of the same key work meanwhile.
    await vi.waitFor(() => lockFolder(environment(2).ASSAY_DATA as string).release(), { timeout: 240_000 });
    const { request, input } = asked;
    const { baseFeePerGas } = await local.client.getBlock();
    const gasPrice = gasPriceRange(chain.constants, baseFeePerGas ?? 0n).least;
    const { bond } = bondsOf(chain.constants, { ...request, gasPrice, depth: 1, attempt: 0 });
    const output: Hex = `0x${input.slice(10)}`;
    const actions = new Actions(chain.game);
    const claimed = await sender.send(actions.claim(request, 0, ZERO_ADDRESS, gasPrice, output, bond));
    expect(claimed).toMatchObject({ status: "sent" });
    await local.passTime(30);
    const { code, stdout, stderr } = await asking;
    expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringContaining("claimed by") });
    const answer = JSON.parse(stdout);
    expect(answer.result).toMatchObject({ values: { output: "0x01020304" }, lane: "BOND" });

    const claimId = answer.result.claimId as ClaimId;
    const shown = await runInProcess(["claim", "show", claimId], environment(2));
    expect(shown.code).toBe(0);
    expect(shown.stdout).toMatch(/state {6}ACTIVE, final/);
    const [event] = await historyOf(chain, claimId);
    if (event?.name !== "Claimed") throw new Error("no claim");
    await sender.send(actions.finalize(request, event.args.claim));
    await close();

    const withdraw = await runInProcess(["withdraw", "--json"], environment(1));
    expect(JSON.parse(withdraw.stdout)).toMatchObject({ amountWei: (bond + request.fee).toString() });
    const empty = await runInProcess(["withdraw"], environment(1));
    expect(empty).toMatchObject({ code: 0, stdout: "There is no credit to withdraw.\n" });
    const final = JSON.parse(
      (await runInProcess(["claim", "show", claimId, "--json"], environment(2))).stdout,
    );
    expect(final).toMatchObject({
      word: { state: "FINAL" },
      isFinal: true,
      claim: { outputHash: keccak256(output) },
    });
    expect(final.timeline.map(({ event: name }: { event: string }) => name)).toEqual([
      "Claimed",
      "Finalized",
    ]);
  });

  async function pollForRequest(chain: Awaited<ReturnType<typeof connect>>) {
    for (;;) {
      const logs = await chain.client.getLogs({ address: chain.game.assay, fromBlock: 0n });
      const id = logs.at(-1)?.topics[1];
      const [event] = id === undefined ? [] : await historyOf(chain, id as RequestId);
      if (event?.name === "Requested") return event.args;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  test("error: each with its exit code and what to do next", async () => {
    const id = `0x${"ab".repeat(32)}`;
    const failing = async (args: string[], env: Record<string, string> = {}) => {
      const { code, stdout, stderr } = await runInProcess([...args, "--json"], { ...environment(3), ...env });
      expect(stdout).toBe("");
      const { error } = JSON.parse(stderr) as { error: { code: string; nextStep: string } };
      expect(error.nextStep).toMatch(/^[A-Z].*\.$/);
      return [code, error.code];
    };
    expect(await failing(["claim", "show", id])).toEqual([1, "CLAIM_UNKNOWN"]);
    expect(await failing(["claim", "show", "0x12"])).toEqual([2, "ARGUMENT_INVALID"]);
    expect(await failing(["request", id, "--text", "x"])).toEqual([1, "MODEL_UNKNOWN"]);
    expect(await failing(["request", "no-such-model", "--text", "x"])).toEqual([1, "MODEL_NOT_FOUND"]);
    expect(await failing(["claim", "show", id], { ASSAY_RPC_URL: "http://127.0.0.1:1" })).toEqual([
      3,
      "RPC_UNREACHABLE",
    ]);
    expect(await failing(["claim", "show", id], { ASSAY_DEPLOYMENT: "absent.json" })).toEqual([
      2,
      "DEPLOYMENT_MISSING",
    ]);
    expect(await failing(["withdraw"], { ASSAY_KEY: "" })).toEqual([2, "KEY_MISSING"]);
    expect(await failing(["withdraw"], { ASSAY_KEY: "0x12" })).toEqual([2, "KEY_INVALID"]);
    expect(await failing(["withdraw"], { ASSAY_RPC_URL: "localhost" })).toEqual([2, "CONFIG_INVALID"]);
  });

  test("error: an unknown command is a wrong argument", async () => {
    expect(await runAssay(["frobnicate"])).toMatchObject({ code: 2, stdout: "" });
  });
});

describe("assay key", () => {
  test("default: new, address, import; never overwrites, never prints the key", async () => {
    const passwordFile = join(folder.path, "password");
    const keystore = join(folder.path, "keys", "key.json");
    writeFileSync(passwordFile, "correct horse battery staple\n");
    const env = { ASSAY_KEYSTORE: keystore, ASSAY_KEYSTORE_PASSWORD_FILE: passwordFile };
    const made = await runInProcess(["key", "new", "--json"], env);
    expect(made.code).toBe(0);
    const { address } = JSON.parse(made.stdout);
    expect(statSync(keystore).mode & 0o777).toBe(0o600);
    expect(await runInProcess(["key", "address"], env)).toMatchObject({ code: 0, stdout: `${address}\n` });
    const before = readFileSync(keystore, "utf8");
    const again = await runInProcess(["key", "new"], env);
    expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining("exists already") });
    expect(readFileSync(keystore, "utf8")).toBe(before);
    const other = join(folder.path, "keys", "other.json");
    const key = ANVIL_KEYS[9];
    const imported = await runInProcess(["key", "import", "--keystore", other], { ...env, ASSAY_KEY: key });
    expect(imported.code).toBe(0);
    expect(imported.stdout + imported.stderr + readFileSync(other, "utf8")).not.toContain(key.slice(2));
    expect(imported.stdout).toContain(accountAt(9).address);
  });
});

describe("assay node anvil", () => {
  test("error: a port that is taken", async () => {
    const port = new URL(local.rpcUrl).port;
    const result = await runInProcess(["node", "anvil", "--port", port]);
    expect(result).toMatchObject({ code: 1, stderr: expect.stringContaining(`on port ${port}`) });
  });
});

describe("assay in another folder", () => {
  test("behavior: finds its own parts, children that run onnxruntime among them", async () => {
    const onnx = join(projectRoot, "test/vectors/quantized/mlp.qdq.onnx");
    const data = Array.from({ length: 16 }, (_, i) => (i - 8) / 4);
    const inputs = join(folder.path, "inputs.json");
    writeFileSync(inputs, JSON.stringify({ input: { type: "float32", dims: [1, 16], data } }));
    const outputs = await Promise.all(
      ["canonical", "onnxruntime"].map((engine) =>
        runAssay(["model", "run", onnx, "--inputs", inputs, "--engine", engine], {}, folder.path),
      ),
    );
    expect(outputs[0]).toMatchObject({ code: 0, stderr: "" });
    expect(outputs[1]).toEqual(outputs[0]);
  });
});
