import { type Hex, keccak256 } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ModelToolConfig, modelTool } from "../../../agent/gateway/tools/model-tool.ts";
import { toHex } from "../../../base/bytes.ts";
import { Actions } from "../../../protocol/chain/actions.ts";
import { connect } from "../../../protocol/chain/connect.ts";
import { StateReader } from "../../../protocol/chain/reads.ts";
import { requireAccount } from "../../../protocol/chain/sender.ts";
import { encodeCall, functionOfWord } from "../../../protocol/rules/abi.ts";
import { requestIdOf } from "../../../protocol/rules/ids.ts";
import { LANE, type Request } from "../../../protocol/rules/types.ts";
import { openDataFolder } from "../../../protocol/service/data-folder.ts";
import { accountAt, type LocalChain, startLocalChain } from "../../support/anvil.ts";
import { bytesOutput, claimOutput } from "../../support/claims.ts";
import { openLocalSystem, QUICK, temporaryFolder, tinyRequest } from "../../support/deploy.ts";
import { publishModel } from "../../support/executed-models.ts";

const WINDOW = 20;
const FEE = 1_000n;

let local: LocalChain;
let system: Awaited<ReturnType<typeof openLocalSystem>>;
let stranger: Awaited<ReturnType<typeof openAccount>>;
const folder = temporaryFolder();
const context = { signal: new AbortController().signal };

beforeAll(async () => {
  local = await startLocalChain();
  system = await openLocalSystem(local);
  stranger = await openAccount(2);
});
afterAll(async () => {
  await stranger?.close();
  await system?.close();
  await local?.stop();
  folder.remove();
});

async function openAccount(index: number) {
  const { rpcUrl } = local;
  const chain = requireAccount(
    await connect({ rpcUrl, deployment: system.deployment, account: accountAt(index) }),
  );
  return { chain, ...openDataFolder(`${folder.path}/${index}`, chain, [], QUICK) };
}

/** The tiny model, four bytes to the same four bytes, as a tool of the gateway's account. */
async function tool(changes: Partial<ModelToolConfig> = {}) {
  const word = await new StateReader(system.chain).model(system.modelId);
  if (word === undefined) throw new Error("not registered");
  const source = {
    modelId: system.modelId,
    function: functionOfWord(word),
    word,
    description: "Four bytes",
  };
  const config: ModelToolConfig = {
    price: 0,
    lanes: ["BOND"],
    minBond: 0n,
    minWindow: WINDOW,
    waitMs: 0,
    ...changes,
  };
  const parts = { chain: system.chain, sender: system.sender, pollIntervalMs: 20, confirmations: 0 };
  return {
    ...modelTool("models/tiny", source, config, parts),
    encode: (data: Hex) => encodeCall(source.function, { data }),
  };
}
const ask = { fee: FEE, expirySeconds: 3_600 };

/** Somebody files a request about these bytes. */
async function file(data: Hex, changes: Partial<Request> = {}): Promise<Request> {
  const input = (await tool()).encode(data);
  const request = tinyRequest(stranger.chain.account, system.modelId, input, await local.now(), changes);
  const sent = await stranger.sender.send(new Actions(system.chain.game).request(request, input));
  expect(sent.status).toBe("sent");
  return request;
}

/** Somebody claims that the request's output is this. */
const claim = (request: Request, output: Hex) => claimOutput(system.chain, stranger.sender, request, output);

describe("modelTool", () => {
  // shows: D-79
  it("default: pending with the claim until it is final, then its data", async () => {
    const { run, encode } = await tool();
    const data = "0x01020304";
    expect(await run({ data }, context)).toMatchObject({
      success: false,
      status: "failed",
      code: "NOT_ASKED",
    });
    const request = await file(data);
    const requestId = requestIdOf(system.chain.game, request);
    const open = await run({ data }, context);
    expect(open).toMatchObject({ success: false, status: "pending", evidence: { requestId } });
    await claim(request, bytesOutput(data));
    const claimed = await run({ data }, context);
    expect(claimed).toMatchObject({
      success: false,
      status: "pending",
      evidence: { requestId, claimId: expect.any(String) },
    });
    await local.passTime(WINDOW);
    expect(await run({ data }, context)).toEqual({
      success: true,
      status: "final",
      data: { output: data },
      evidence: {
        modelId: system.modelId,
        inputHash: keccak256(encode(data)),
        outputHash: keccak256(bytesOutput(data)),
        requestId,
        claimId: claimed.evidence?.claimId,
        lane: "BOND",
        finalAt: expect.any(Number),
      },
    });
  });

  it("behavior: a claim with a smaller bond than the policy's is never handed on", async () => {
    const data = "0x0a0b0c0d";
    await claim(await file(data), bytesOutput(data));
    await local.passTime(WINDOW);
    expect(await (await tool()).run({ data }, context)).toMatchObject({ success: true });
    const strict = await tool({ minBond: 10n ** 19n });
    expect(await strict.run({ data }, context)).toMatchObject({ success: false, code: "BELOW_TERMS" });
    const patient = await tool({ minWindow: WINDOW + 1 });
    expect(await patient.run({ data }, context)).toMatchObject({ success: false, code: "BELOW_TERMS" });
  });

  it("behavior: it asks once, whoever else filed a request that nobody will answer", async () => {
    const data = "0x11223344";
    await file(data, { fee: 0n });
    const { run } = await tool({ ask });
    const own = await Promise.all([run({ data }, context), run({ data }, context)]);
    const ids = own.map(({ evidence }) => evidence?.requestId);
    expect(ids[0]).toBe(ids[1]);
    expect(own.map(({ evidence }) => evidence?.feeWei).filter((fee) => fee !== undefined)).toEqual([
      `${FEE}`,
    ]);
    expect(await run({ data }, context)).toMatchObject({
      status: "pending",
      evidence: { requestId: ids[0] },
    });
    // Its own, too, is dead once nobody may claim any more.
    await local.passTime(ask.expirySeconds + 1);
    const again = await run({ data }, context);
    expect(again.evidence?.requestId).not.toBe(ids[0]);
  });

  it("behavior: it waits for finality as long as it may", async () => {
    const data = "0x55667788";
    await claim(await file(data), bytesOutput(data));
    const waiting = (await tool({ waitMs: 240_000 })).run({ data }, context);
    await local.passTime(WINDOW);
    expect(await waiting).toMatchObject({ success: true, status: "final", data: { output: data } });
  });

  it("behavior: where the chain runs the model, the output is final at once", async () => {
    const published = await publishModel(system.chain, system.sender, "forecast-vix");
    const word = await new StateReader(system.chain).model(published.modelId);
    if (word === undefined) throw new Error("not registered");
    const { modelId } = published;
    const source = { modelId, function: functionOfWord(word), word, description: "" };
    const config: ModelToolConfig = { price: 0, lanes: ["EXECUTION"], minBond: 0n, waitMs: 0 };
    const parts = { chain: system.chain, pollIntervalMs: 20, confirmations: 0 };
    const series = (start: number) => Array.from({ length: 65 }, (_, day) => String(start + day));
    const args = { closes: series(2_000), highs: series(2_100), lows: series(1_900) };
    const outcome = await modelTool("models/vix", source, config, parts).run(args, context);
    expect(outcome).toMatchObject({
      success: true,
      status: "final",
      evidence: { modelId, lane: "EXECUTION" },
    });
    const calldata = Buffer.from(encodeCall(source.function, args).slice(2), "hex");
    if (outcome.success) expect(outcome.evidence?.outputHash).toBe(keccak256(toHex(published.run(calldata))));
  });

  it("error: a tool that asks without a key, a lane that the model has not", async () => {
    const parts = { chain: system.chain, pollIntervalMs: 20, confirmations: 0 };
    const source = {
      modelId: system.modelId,
      function: { selector: "0x" as const, inputs: [], outputs: [] },
      word: {
        ...{ lanes: LANE.BOND, inputCodec: "raw" as const, inputSize: 4 },
        ...{ outputCodec: "raw" as const, outputLength: 96 },
      },
      description: "",
    };
    const config: ModelToolConfig = { price: 0, lanes: ["BOND"], minBond: 0n, waitMs: 0 };
    expect(() => modelTool("a/b", source, { ...config, ask }, parts)).toThrow(
      expect.objectContaining({ code: "KEY_MISSING" }),
    );
    expect(() => modelTool("a/b", source, { ...config, lanes: ["PROOF"] }, parts)).toThrow(
      expect.objectContaining({ code: "LANE_UNAVAILABLE" }),
    );
  });
});
