/** A node that lies about what the chain computes, and one that does not answer: neither halts a model that is right, and
 *  neither is taken for a fault that the chain has. */
import { encodeFunctionResult, type Hex, size, toFunctionSelector } from "viem";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { toHex } from "../../../../base/bytes.ts";
import type { PreparedModel } from "../../../../inference/executor/prepared-model.ts";
import { type Chain, connect } from "../../../../protocol/chain/connect.ts";
import { findDifference, haltAction } from "../../../../protocol/chain/execution/halt.ts";
import { inferFastOnChain, inferOnChain, tensorOnChain } from "../../../../protocol/chain/execution/infer.ts";
import { iFastInterpreterAbi, iInterpreterAbi } from "../../../../protocol/rules/generated/abis.ts";
import type { ModelId } from "../../../../protocol/rules/types.ts";
import { type LocalChain, startLocalChain } from "../../../support/anvil.ts";
import { openLocalSystem } from "../../../support/deploy.ts";
import { publishModel } from "../../../support/executed-models.ts";
import { realInput } from "../../../support/model-inputs.ts";
import { createRng } from "../../../support/rng.ts";
import { type RpcProxy, startRpcProxy, type Verdict } from "../../../support/rpc-proxy.ts";

const FUNCTIONS = {
  infer: toFunctionSelector("infer(bytes32,bytes)"),
  tensorAt: toFunctionSelector("tensorAt(bytes32,bytes,uint256)"),
  inferFast: toFunctionSelector("inferFast(bytes32,bytes)"),
} as const;
type Lies = Partial<Record<keyof typeof FUNCTIONS, Verdict>>;

let local: LocalChain;
let system: Awaited<ReturnType<typeof openLocalSystem>>;
let proxy: RpcProxy;
/** through the node that lies */
let lied: Chain;
let modelId: ModelId;
let prepared: PreparedModel;
let calldata: Uint8Array;

beforeAll(async () => {
  local = await startLocalChain();
  system = await openLocalSystem(local);
  proxy = await startRpcProxy(local.rpcUrl);
  lied = await connect({ rpcUrl: proxy.url, deployment: system.deployment });
  ({ modelId, prepared } = await publishModel(system.chain, system.sender, "forecast-vix"));
  calldata = realInput(createRng(5), prepared.program, prepared.selector);
});
afterAll(async () => {
  await proxy?.stop();
  await system?.close();
  await local?.stop();
});
beforeEach(() => {
  proxy.decide = () => "pass";
});

function lie(lies: Lies): void {
  proxy.decide = ({ method, params }) => {
    const data = method === "eth_call" ? ((params[0] as { data?: Hex }).data ?? "0x") : "0x";
    const name = (Object.keys(lies) as (keyof Lies)[]).find((one) => data.startsWith(FUNCTIONS[one]));
    return (name && lies[name]) ?? "pass";
  };
}

const flipped = (bytes: Hex): Hex => `${bytes.slice(0, -1)}${bytes.endsWith("0") ? "1" : "0"}` as Hex;
const answer = (functionName: "infer" | "tensorAt", result: Hex): Verdict => ({
  result: encodeFunctionResult({ abi: iInterpreterAbi, functionName, result }),
});
const right = () => inferOnChain(system.chain, modelId, toHex(calldata));
const tensor = (step: number) => tensorOnChain(system.chain, modelId, toHex(calldata), step);
const find = () => findDifference(lied, modelId, prepared, calldata);

/** Sends, through a node that does not lie, what a difference asks for. */
async function expectRefused(found: Awaited<ReturnType<typeof find>>, name: string): Promise<void> {
  const action = haltAction(system.chain, modelId, toHex(calldata), found);
  if (action === undefined) throw new Error(`${found.kind} asks for no transaction`);
  expect(await system.sender.send(action)).toMatchObject({ status: "refused", revert: { name } });
  // The model goes on, both ways.
  expect(await inferFastOnChain(system.chain, modelId, toHex(calldata))).toBe(await right());
}

describe("findDifference", () => {
  it("behavior: the chain refuses a halt by an output about which a node lied", async () => {
    const whole = await right();
    for (const output of [flipped(whole), `${whole}00`, "0x"] as Hex[]) {
      lie({ infer: answer("infer", output) });
      const found = await find();
      expect(found.kind).toBe("output");
      await expectRefused(found, "NoDifference");
    }
  });

  it("behavior: the chain refuses a halt by an element about which a node lied", async () => {
    const first = await tensor(0);
    lie({
      infer: answer("infer", flipped(await right())),
      tensorAt: answer("tensorAt", flipped(first)),
    });
    await expectRefused(await find(), "NoDifference");
  });

  it("behavior: tensors that are longer or shorter than theirs end the search", async () => {
    const infer = answer("infer", flipped(await right()));
    const step = prepared.program.steps.findIndex(({ opcode }) => opcode !== "codec");
    // Up to that step the node tells the truth.
    const tensors = await Promise.all(Array.from({ length: step + 1 }, (_, i) => tensor(i)));
    const whole = tensors[step] as Hex;
    for (const last of [`${whole}00`, whole.slice(0, -2), "0x"] as Hex[]) {
      let next = 0;
      lie({ infer });
      const { decide } = proxy;
      proxy.decide = (call) => {
        const { data = "0x" } = (call.params[0] ?? {}) as { data?: Hex };
        if (call.method !== "eth_call" || !data.startsWith(FUNCTIONS.tensorAt)) return decide(call);
        const at = next++;
        return at === step ? answer("tensorAt", last) : "pass";
      };
      const found = await find();
      expect(found).toMatchObject({ kind: "element", step });
      const isBeyond = size(last) > size(whole);
      await expectRefused(found, isBeyond ? "ElementOutOfRange" : "NoDifference");
    }
  });

  it("behavior: the chain refuses a halt of fast forms about which a node lied", async () => {
    const result = flipped(await right());
    const functionName = "inferFast";
    lie({ inferFast: { result: encodeFunctionResult({ abi: iFastInterpreterAbi, functionName, result }) } });
    const found = await find();
    expect(found).toEqual({ kind: "fast" });
    await expectRefused(found, "NoFastDifference");
  });

  it("error: what could not be asked is no difference", async () => {
    const faults: Verdict[] = [
      { error: { code: -32_000, message: "out of gas" } },
      { error: { code: 3, message: "execution reverted" } },
      { error: { code: -32_603, message: "internal error" } },
      { result: "0x" },
      { result: "0x00" },
      { result: null },
    ];
    for (const fault of faults) {
      for (const lies of [
        { infer: fault },
        { inferFast: fault },
        { infer: answer("infer", flipped(await right())), tensorAt: fault },
      ] as Lies[]) {
        lie(lies);
        await expect(find(), JSON.stringify([fault, Object.keys(lies)])).rejects.toHaveProperty("code");
      }
    }
    proxy.decide = () => "pass";
    expect(await find()).toEqual({ kind: "none" });
  });
});
