import { createWalletClient, type Hex, http, keccak256 } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  connect,
  infer,
  type ModelManifest,
  openModel,
  prepareRequest,
  readingOf,
  request,
  sendRequest,
  wait,
} from "../../../agent/sdk/index.ts";
import { toHex } from "../../../base/bytes.ts";
import { loadModelFolder } from "../../../inference/model-folder.ts";
import { encodeProgram } from "../../../inference/program/encode.ts";
import { Actions } from "../../../protocol/chain/actions.ts";
import { registerModel } from "../../../protocol/chain/register.ts";
import { LANE } from "../../../protocol/rules/types.ts";
import { accountAt } from "../../support/anvil.ts";
import { wordsOf } from "../../support/meanings.ts";
import { type RpcProxy, startRpcProxy } from "../../support/rpc-proxy.ts";
import {
  ask,
  bonded,
  claim,
  DATA,
  FEE,
  local,
  model,
  openLocalSdk,
  QUICK,
  settle,
  system,
  waitFor,
  wallet,
} from "../../support/sdk.ts";

openLocalSdk();

describe("request", () => {
  it("default: the chain holds it, and sending it again changes nothing", async () => {
    const asked = await ask("0x11223344");
    const balance = await local.client.getBalance({ address: accountAt(2).address });
    await sendRequest(system.chain, wallet, asked);
    expect(await local.client.getBalance({ address: accountAt(2).address })).toBe(balance);
  });

  it("error: inputs, window and a refusal are named", async () => {
    const code = (what: string) => expect.objectContaining({ code: what });
    await expect(ask("0x11" as Hex)).rejects.toThrow(code("REQUEST_REFUSED"));
    await expect(request(system.chain, wallet, model, { text: "no" }, { fee: FEE })).rejects.toThrow(
      code("INPUTS_INVALID"),
    );
    await expect(ask(DATA, { window: 19 })).rejects.toThrow(code("WINDOW_TOO_SHORT"));
    await expect(ask(DATA, { lanes: LANE.PROOF })).rejects.toThrow(code("REQUEST_REFUSED"));
  });

  it("error: a wallet without an account", async () => {
    const empty = createWalletClient({ transport: http(local.rpcUrl) });
    await expect(prepareRequest(system.chain, empty, model, { data: DATA }, { fee: FEE })).rejects.toThrow(
      expect.objectContaining({ code: "WALLET_EMPTY" }),
    );
  });
});

describe("openModel", () => {
  it("args: a manifest names the values", async () => {
    const { outputs } = model.function;
    const selector = model.function.selector;
    const manifest = { description: "bytes", abi: [], assay: { modelId: model.modelId, selector } };
    await expect(openModel(system.chain, manifest)).rejects.toThrow(
      expect.objectContaining({ code: "MANIFEST_INVALID" }),
    );
    expect(outputs.map(({ name }) => name)).toEqual(["output"]);
  });

  it("args: a manifest says what an output means, if it fits what is registered", async () => {
    const { model: content, commitment, selector, laneBits, manifest } = loadModelFolder("models/sentiment");
    const identity = { ...commitment, selector, lanes: laneBits, vkHash: new Uint8Array(32) };
    await registerModel(system.chain, system.sender, encodeProgram(content.program), identity);
    const opened = await openModel(system.chain, manifest as ModelManifest);
    const output = toHex(wordsOf([2n, -12_000n, 3_000n, 29_000n]));
    expect(readingOf(opened, output)?.text).toBe("bullish (99.8 %)");
    expect(readingOf(model, output)).toBeUndefined();
    const refusal = (meaning: object, outputs: unknown = manifest.assay.outputs) =>
      openModel(system.chain, {
        ...manifest,
        assay: { ...manifest.assay, meaning, outputs },
      } as ModelManifest);
    const { meaning } = manifest.assay;
    for (const [wrong, why] of [
      [{ ...meaning, labels: ["bearish", "neutral"] }, "there are 2 for 3 scores"],
      [{ ...meaning, labels: ["bearish", "neutral", "\u202ehsillub"] }, "invisible character"],
      [{ ...meaning, index: 4 }, "must be a place below 4"],
    ] as const)
      await expect(refusal(wrong)).rejects.toThrow(why);
    await expect(refusal({ ...meaning }, [null])).rejects.toThrow("does not say what the output is made of");
  });

  it("error: an id that is not registered", async () => {
    await expect(openModel(system.chain, keccak256("0x"))).rejects.toThrow(
      expect.objectContaining({ code: "MODEL_UNKNOWN" }),
    );
  });
});

describe("infer", () => {
  it("default: the chain runs the model", async () => {
    expect(await infer(system.chain, model, { data: DATA })).toEqual({ output: DATA });
  });
});

describe("wait", () => {
  it("default: the output once the window is over, booked or not", async () => {
    const { asked, final } = await bonded();
    expect(final).toMatchObject({ requestId: asked.requestId, lane: "BOND", values: { output: DATA } });
    const { claim: terms } = final;
    if (terms === undefined) throw new Error("no claim");
    await system.sender.send(new Actions(system.chain.game).finalize(asked.request, terms));
    expect(await waitFor(asked)).toMatchObject({ claimId: final.claimId, values: { output: DATA } });
  });

  it("behavior: truth is final at once, with a claim or without", async () => {
    const alone = await ask("0x01020304");
    await settle(alone);
    expect(await waitFor(alone)).toMatchObject({ lane: "EXECUTION", values: { output: DATA } });
    expect((await waitFor(alone)).claimId).toBeUndefined();
  });

  it("error: not final in time, naming the claim", async () => {
    const asked = await ask();
    const stop = new AbortController();
    const waiting = wait(system.chain, asked, {
      ...QUICK,
      signal: stop.signal,
      onEvent: ({ name }) => name === "Claimed" && stop.abort(),
    });
    // Looked at from the start: it may end before the claim's receipt is there.
    const refused = expect(waiting).rejects.toThrow(
      /^Claim 0x[0-9a-f]{64} on request 0x[0-9a-f]{64} is not final yet\./,
    );
    await claim(asked);
    await refused;
  });

  it("error: nobody answered, and a result by less than the policy", async () => {
    const asked = await ask(DATA, { expirySeconds: 5 });
    await local.passTime(10);
    await expect(waitFor(asked)).rejects.toThrow(expect.objectContaining({ code: "REQUEST_UNANSWERED" }));
    const truth = await ask();
    await settle(truth);
    await expect(wait(system.chain, truth, { ...QUICK, policy: { lanes: LANE.PROOF } })).rejects.toThrow(
      expect.objectContaining({ code: "POLICY_UNMET" }),
    );
  });

  it("args: confirmations hold it back", async () => {
    const { asked } = await bonded();
    const stop = new AbortController();
    const waiting = wait(system.chain, asked, { ...QUICK, confirmations: 2, signal: stop.signal });
    let isOver = false;
    void waiting.finally(() => {
      isOver = true;
    });
    await waitFor(asked);
    expect(isOver).toBe(false);
    await local.control.mine({ blocks: 2 });
    const { block } = await waiting;
    expect((await local.client.getBlockNumber()) - block.number).toBe(2n);
  });

  describe("through a node that fails", () => {
    const GONE = { error: { code: -32_001, message: "resource not found" } };
    let proxy: RpcProxy;
    beforeAll(async () => {
      proxy = await startRpcProxy(local.rpcUrl);
    });
    afterAll(() => proxy?.stop());

    it("behavior: goes on where a block is gone between two reads, and tells it once", async () => {
      const { asked } = await bonded();
      const chain = await connect({ rpcUrl: proxy.url, deployment: system.deployment });
      let refused = 0;
      proxy.decide = ({ method }) => {
        if (method !== "eth_call" || refused === 3) return "pass";
        refused += 1;
        return GONE;
      };
      const faults: string[] = [];
      const onDisconnected = ({ code }: { readonly code: string }) => faults.push(code);
      const { values } = await wait(chain, asked, { ...QUICK, onDisconnected });
      expect([values, refused, faults]).toEqual([{ output: DATA }, 3, ["RPC_FAULT"]]);
    });

    it("error: a node that cannot be read when the time is over", async () => {
      const { asked } = await bonded();
      const chain = await connect({ rpcUrl: proxy.url, deployment: system.deployment });
      proxy.decide = () => GONE;
      const stop = new AbortController();
      const options = { ...QUICK, signal: stop.signal, onDisconnected: () => stop.abort() };
      await expect(wait(chain, asked, options)).rejects.toMatchObject({ code: "RPC_FAULT", retryable: true });
    });
  });
});
