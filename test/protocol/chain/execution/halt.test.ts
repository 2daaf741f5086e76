import { concatHex, type Hex, toFunctionSelector } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { toHex } from "../../../../base/bytes.ts";
import { encodeInput } from "../../../../inference/codecs/input.ts";
import { prepare } from "../../../../inference/executor/prepare.ts";
import type { PreparedModel } from "../../../../inference/executor/prepared-model.ts";
import { importOnnx } from "../../../../inference/onnx/import.ts";
import { findDifference, haltAction } from "../../../../protocol/chain/execution/halt.ts";
import { contractOf, inferFastOnChain, inferOnChain } from "../../../../protocol/chain/execution/infer.ts";
import { iPlannerAbi } from "../../../../protocol/rules/generated/abis.ts";
import type { ModelId } from "../../../../protocol/rules/types.ts";
import { accountAt, type LocalChain, startLocalChain } from "../../../support/anvil.ts";
import { openLocalSystem } from "../../../support/deploy.ts";
import { publishModel, publishPrepared } from "../../../support/executed-models.ts";
import { realInput } from "../../../support/model-inputs.ts";
import { onnxFile } from "../../../support/onnx-file.ts";
import { EXACT } from "../../../support/operator-graphs.ts";
import { createRng } from "../../../support/rng.ts";

const SELECTOR = Uint8Array.of(1, 2, 3, 4);
/** FloatJudge's: whole tensors, which the interpreter asks for and the judge does not. */
const COMPUTE_ALL = toFunctionSelector("computeAll(uint256,uint256,uint256,uint256,bytes)");

let local: LocalChain;
let system: Awaited<ReturnType<typeof openLocalSystem>>;

beforeAll(async () => {
  local = await startLocalChain();
  system = await openLocalSystem(local);
});
afterAll(async () => {
  await system?.close();
  await local?.stop();
});

/** Code that passes every call on, and changes the first byte of whole float tensors. */
const faultyFloats = (right: Hex): Hex =>
  concatHex([
    "0x365f5f37", // the calldata
    concatHex(["0x5f5f365f73", right, "0x5afa50"]), // to the right contract
    "0x3d5f5f3e", // its answer
    concatHex(["0x5f3560e01c63", COMPUTE_ALL, "0x1415603f57"]), // another function: as it is
    "0x60405160f81c600118604053", // byte 64 with its lowest bit flipped
    "0x5b3d5ff3",
  ]);

const halt = async (modelId: ModelId, prepared: PreparedModel, calldata: Uint8Array) => {
  const difference = await findDifference(system.chain, modelId, prepared, calldata);
  const action = haltAction(system.chain, modelId, toHex(calldata), difference);
  return { difference, sent: action && (await system.sender.send(action)) };
};

describe("findDifference", () => {
  it("behavior: a wrong element on the chain is found, and halts the model for good", async () => {
    const rng = createRng(7);
    const generator = EXACT["Ceil float32"];
    if (generator === undefined) throw new Error("there is no such graph");
    const prepared = prepare(importOnnx(onnxFile(generator(rng).graph)).model, SELECTOR);
    const { modelId, calldata } = {
      modelId: await publishPrepared(system.chain, system.sender, prepared),
      calldata: encodeInput(prepared.program, SELECTOR, {
        codec: "raw",
        bytes: new Uint8Array(prepared.program.inputSize),
      }),
    };
    expect(await halt(modelId, prepared, calldata)).toEqual({
      difference: { kind: "none" },
      sent: undefined,
    });

    const floats = system.chain.deployment.contracts.floatJudge as Hex;
    const right = accountAt(9).address;
    const code = (await local.client.getCode({ address: floats })) as Hex;
    const setCode = (address: Hex, bytecode: Hex) =>
      local.client.request({ method: "anvil_setCode" as never, params: [address, bytecode] as never });
    await setCode(right, code);
    await setCode(floats, faultyFloats(right));
    const step = prepared.program.steps.findIndex(({ opcode }) => opcode === "float");
    expect(await halt(modelId, prepared, calldata)).toMatchObject({
      difference: { kind: "element", step, element: 0 },
      sent: { status: "sent" },
    });
    await setCode(floats, code);
    // For good, though the fault is gone.
    await expect(inferOnChain(system.chain, modelId, toHex(calldata))).rejects.toMatchObject({
      code: "EXECUTION_REFUSED",
      details: { revert: "ModelHalted" },
    });
    await expect(inferFastOnChain(system.chain, modelId, toHex(calldata))).rejects.toMatchObject({
      details: { revert: "FastModelHalted" },
    });
  });

  it("behavior: a wrong plan halts the fast forms alone", async () => {
    const { modelId, prepared } = await publishModel(system.chain, system.sender, "forecast-vix");
    const calldata = realInput(createRng(8), prepared.program, prepared.selector);
    expect((await halt(modelId, prepared, calldata)).difference).toEqual({ kind: "none" });
    const planner = system.chain.deployment.contracts.planner as Hex;
    const plan = await local.client.readContract({
      address: planner,
      abi: iPlannerAbi,
      functionName: "planOf",
      args: [modelId],
    });
    const code = (await local.client.getCode({ address: plan })) as Hex;
    // The last instruction names where the output is: a word further on.
    const end = code.length - 64;
    const shifted = (BigInt(`0x${code.slice(end)}`) + (32n << 192n)).toString(16).padStart(64, "0");
    await local.client.request({
      method: "anvil_setCode" as never,
      params: [plan, code.slice(0, end) + shifted] as never,
    });
    expect(await halt(modelId, prepared, calldata)).toMatchObject({
      difference: { kind: "fast" },
      sent: { status: "sent" },
    });
    await expect(inferFastOnChain(system.chain, modelId, toHex(calldata))).rejects.toMatchObject({
      details: { revert: "FastModelHalted" },
    });
    expect(contractOf(system.chain, "interpreter")).not.toBe(contractOf(system.chain, "fastInterpreter"));
    await inferOnChain(system.chain, modelId, toHex(calldata));
  });
});
