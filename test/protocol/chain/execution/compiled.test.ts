import { type Address, parseEventLogs } from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { toHex } from "../../../../base/bytes.ts";
import { mlpModel } from "../../../../bench/tasks/mlp.ts";
import { rawInput, rawProgram, step, weight } from "../../../../conformance/generate/small-programs.ts";
import { encodeInput } from "../../../../inference/codecs/input.ts";
import { commitModel, commitWeights } from "../../../../inference/commit/commitments.ts";
import { trace } from "../../../../inference/executor/execute.ts";
import { prepare } from "../../../../inference/executor/prepare.ts";
import { variantCode } from "../../../../inference/program/codes.ts";
import { encodeProgram } from "../../../../inference/program/encode.ts";
import type { Model, Program } from "../../../../inference/program/form.ts";
import { weightBytes } from "../../../../inference/program/shape.ts";
import { storedBytes } from "../../../../inference/program/tensor.ts";
import {
  buildAction,
  compileModel,
  compileProgress,
  planCompilation,
} from "../../../../protocol/chain/execution/compiled.ts";
import { layerOf } from "../../../../protocol/chain/execution/layer.ts";
import { registerModel } from "../../../../protocol/chain/register.ts";
import { iLayerBuilderAbi } from "../../../../protocol/rules/generated/abis.ts";
import { LANE, type ModelId } from "../../../../protocol/rules/types.ts";
import { startLocalChain } from "../../../support/anvil.ts";
import { openLocalSystem, TINY_MODEL } from "../../../support/deploy.ts";
import { createRng } from "../../../support/rng.ts";

const SELECTOR = Uint8Array.of(1, 2, 3, 4);
const mlp = mlpModel().model;

let local: Awaited<ReturnType<typeof startLocalChain>>;
let system: Awaited<ReturnType<typeof openLocalSystem>>;

beforeAll(async () => {
  local = await startLocalChain();
  system = await openLocalSystem(local);
});
afterAll(async () => {
  await system?.close();
  await local?.stop();
});

/** @param salt tells models of the same content apart */
async function register(model: Model, salt = 0): Promise<ModelId> {
  const selector = Uint8Array.from([...SELECTOR.subarray(0, 3), salt]);
  const identity = { ...commitModel(model), selector, lanes: LANE.BOND, vkHash: new Uint8Array(32) };
  const program = encodeProgram(model.program);
  return (await registerModel(system.chain, system.sender, program, identity)).modelId;
}

const builder = (): Address => system.deployment.contracts.layerBuilder as Address;

/** DOT steps [N, K, G] on slices of a raw input, one weight tensor each. */
function dots(shapes: readonly (readonly [n: number, k: number, g: number])[], outputs: number): Program {
  const sizes = shapes.map(([, k, g]) => outputs * g * k);
  const offsets = sizes.map((_, i) => sizes.slice(0, i).reduce((sum, size) => sum + size, 0));
  const total = sizes.reduce((sum, size) => sum + size, 0);
  const inputs = shapes.map(([, k, g], i) => rawInput("s8", [outputs * g, k], offsets[i]));
  const layers = shapes.map(([n, , g], i) =>
    step({
      opcode: "dot",
      variant: i % 2,
      type: i % 2 === 0 ? "s32" : "u8",
      dims: [outputs, n],
      a: i,
      b: weight(i),
      k: g,
    }),
  );
  const weights = shapes.map(([n, k]) => ({ layout: "dot", type: "u8", dims: [n, k] }) as const);
  return rawProgram(total, [...inputs, ...layers], weights);
}

const hostile = (program: Program, seed: number): Model => {
  const rng = createRng(seed);
  return { program, weights: program.weights.map((tensor) => rng.bytes(weightBytes(tensor))) };
};

describe("planCompilation", () => {
  test("default: the MLP in five parts, all of its products", () => {
    const { parts, interpreted } = planCompilation(mlp.program);
    expect(parts.map(({ step, firstRow, rows }) => [step, firstRow, rows])).toEqual([
      [1, 0, 23],
      [1, 23, 23],
      [1, 46, 18],
      [2, 0, 32],
      [3, 0, 2],
    ]);
    expect(interpreted).toEqual([]);
  });

  test("behavior: a step in the binary32 form stays interpreted", () => {
    const program = dots([[4, 8, 1]], 1);
    const steps = program.steps.map((s) => (s.opcode === "dot" ? { ...s, variant: 2, type: "u8" } : s));
    const plan = planCompilation({ ...program, steps: steps as Program["steps"] });
    expect(plan).toEqual({ parts: [], interpreted: [1], gas: 0n });
  });

  test("behavior: products that no code is compiled for have no part", () => {
    const program = dots([[4, 8, 1]], 1);
    for (const variant of ["activations", "planes"] as const) {
      const steps = program.steps.map((s) =>
        s.opcode === "dot" ? { ...s, variant: variantCode("dot", variant) } : s,
      );
      expect(planCompilation({ ...program, steps }), variant).toEqual({
        parts: [],
        interpreted: [],
        gas: 0n,
      });
    }
  });

  test("behavior: parts begin where the contract says", async () => {
    const shapes = [
      [1, 1, 1],
      [1000, 1, 1],
      [700, 2, 700],
      [300, 29, 3],
      [300, 30, 2],
      [64, 256, 1],
      [96, 31, 1],
      [40, 149, 4],
      [40, 151, 1],
      [66, 350, 3],
      [30, 992, 1],
      [12, 512, 1],
    ] as const;
    const model = hostile(dots(shapes, 1), 3);
    const modelId = await register(model);
    for (const [i, [n]] of shapes.entries()) {
      const index = shapes.length + i;
      const args = [modelId, BigInt(index)] as const;
      const abi = iLayerBuilderAbi;
      const call = { address: builder(), abi, functionName: "stepParts", args } as const;
      const [rows, partRows] = await local.client.readContract(call);
      const layer = layerOf(model.program, model.program.steps[index] as Program["steps"][number]);
      expect([rows, partRows], `layer ${shapes[i]}`).toEqual([BigInt(n), BigInt(layer.partRows)]);
    }
  });
});

/** Runs one part by an eth_call and compares it with the executor's trace. @returns outputs compared */
async function checkPart(
  address: Address,
  model: Model,
  input: Uint8Array,
  part: { step: number; firstRow: number; rows: number },
): Promise<number> {
  const calldata = encodeInput(model.program, SELECTOR, { codec: "raw", bytes: input });
  const tensors = trace(prepare(model, SELECTOR), calldata);
  const layer = model.program.steps[part.step] as Program["steps"][number];
  const activations = storedBytes(tensors[layer.a]?.data as Uint8Array);
  const { data = "0x" } = await local.client.call({ to: address, data: toHex(activations) });
  const out = tensors[part.step] as (typeof tensors)[number];
  const width = out.type === "s32" ? 4 : 1;
  const rowBytes = width * (out.dims[out.dims.length - 1] as number);
  const stored = storedBytes(out.data);
  const expected: Uint8Array[] = [];
  for (let row = 0; row < stored.length; row += rowBytes) {
    const from = row + width * part.firstRow;
    expected.push(stored.subarray(from, from + width * part.rows));
  }
  expect(data).toBe(toHex(Buffer.concat(expected)));
  return (data.length - 2) / 2 / width;
}

describe("compileModel", () => {
  test("default: builds all parts and binds them, within a tenth of the estimated gas", async () => {
    const modelId = await register(mlp);
    const plan = planCompilation(mlp.program);
    const progress: string[] = [];
    const result = await compileModel(system.chain, system.sender, modelId, mlp, (line) =>
      progress.push(line),
    );
    expect(result).toMatchObject({ built: 5, found: 0 });
    expect(progress.at(-1)).toBe("bind 5 parts");
    expect(Number(plan.gas) / Number(result.gasUsed)).toBeCloseTo(1, 1);
    expect(await compileProgress(system.chain, modelId, mlp.program)).toEqual({
      parts: 5,
      built: 5,
      directory: result.directory,
    });
  });

  test("behavior: again it finds everything and spends nothing", async () => {
    const modelId = await register(mlp, 1);
    const first = await compileModel(system.chain, system.sender, modelId, mlp);
    const again = await compileModel(system.chain, system.sender, modelId, mlp);
    expect(again).toEqual({ directory: first.directory, built: 0, found: 5, gasUsed: 0n });
  });

  test("behavior: goes on from the parts that somebody else built", async () => {
    const modelId = await register(mlp, 2);
    const weights = commitWeights(mlp);
    const { parts } = planCompilation(mlp.program);
    for (const part of [parts[1], parts[4]] as (typeof parts)[number][]) {
      await system.sender.send({
        ...buildAction(system.chain, modelId, mlp.program, weights, part),
        key: `stranger:${modelId}:${part.step}`,
      });
    }
    expect(await compileProgress(system.chain, modelId, mlp.program)).toMatchObject({ built: 2 });
    const result = await compileModel(system.chain, system.sender, modelId, mlp);
    expect(result).toMatchObject({ built: 3, found: 2 });
  });

  test("behavior: parts equal the executor on hostile weights and any bytes", async () => {
    const shapes = [
      [20, 33, 1],
      [12, 9, 12],
      [9, 151, 3],
      [24, 300, 1],
      [6, 992, 1],
      [40, 1, 1],
    ] as const;
    const model = hostile(dots(shapes, 2), 9);
    const modelId = await register(model);
    await compileModel(system.chain, system.sender, modelId, model);
    const built = parseEventLogs({
      abi: iLayerBuilderAbi,
      eventName: "PartBuilt",
      logs: await local.client.getLogs({ address: builder(), fromBlock: 0n }),
    });
    const rng = createRng(10);
    let compared = 0;
    for (const part of planCompilation(model.program).parts) {
      const own = built.find(
        ({ args }) =>
          args.modelId === modelId &&
          args.step === BigInt(part.step) &&
          args.firstRow === BigInt(part.firstRow),
      );
      for (const input of [rng.bytes(model.program.inputSize), extremes(rng, model.program.inputSize)]) {
        compared += await checkPart(own?.args.part as Address, model, input, part);
      }
    }
    expect(compared).toBe(2 * 2 * (20 + 12 + 9 + 24 + 6 + 40));
  });

  test("error: not registered, nothing to compile, no builder deployed", async () => {
    const unknown = toHex(new Uint8Array(32).fill(7)) as ModelId;
    await expect(compileModel(system.chain, system.sender, unknown, mlp)).rejects.toMatchObject({
      code: "COMPILE_REFUSED",
      shortMessage: expect.stringContaining(`UnknownModel(modelId: ${unknown})`),
    });
    await expect(compileModel(system.chain, system.sender, system.modelId, TINY_MODEL)).rejects.toMatchObject(
      { code: "NOTHING_TO_COMPILE" },
    );
    const { layerBuilder: _, ...contracts } = system.deployment.contracts;
    const without = {
      ...system.chain,
      deployment: { ...system.deployment, contracts },
    } as typeof system.chain;
    await expect(compileModel(without, system.sender, unknown, mlp)).rejects.toMatchObject({
      code: "LANE_NOT_DEPLOYED",
    });
  });
});

/** 0 and 255 only. */
const extremes = (rng: ReturnType<typeof createRng>, size: number): Uint8Array =>
  Uint8Array.from({ length: size }, () => (rng.chance(0.5) ? 255 : 0));
