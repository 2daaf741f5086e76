import { setMaxListeners } from "node:events";
import { setImmediate } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { randomProgram } from "../../../conformance/generate/random-program.ts";
import { execute } from "../../../inference/executor/execute.ts";
import { prepare } from "../../../inference/executor/prepare.ts";
import type { PreparedModel } from "../../../inference/executor/prepared-model.ts";
import { OnnxruntimeEngine } from "../../../inference/runtime/engine.ts";
import { RuntimePool } from "../../../inference/runtime/pool.ts";
import { endlessModel } from "../../support/endless-model.ts";
import { createRng } from "../../support/rng.ts";

const pools: RuntimePool[] = [];
afterEach(() => {
  for (const pool of pools.splice(0)) pool.close();
});

function newPool(options: ConstructorParameters<typeof RuntimePool>[0] = {}): RuntimePool {
  const pool = new RuntimePool({ timeoutMs: 240_000, ...options });
  pools.push(pool);
  return pool;
}

function someModels(count: number): {
  prepared: Map<string, PreparedModel>;
  calldata: Map<string, Uint8Array>;
} {
  const prepared = new Map<string, PreparedModel>();
  const calldata = new Map<string, Uint8Array>();
  for (let seed = 0; seed < count; seed++) {
    const { model, selector, calldata: input } = randomProgram(createRng(seed), { opcode: "dot" });
    prepared.set(`m${seed}`, prepare(model, selector));
    calldata.set(`m${seed}`, input);
  }
  return { prepared, calldata };
}

describe("OnnxruntimeEngine", () => {
  it("default: runs many models at once with the canonical executor's results", async () => {
    const { prepared, calldata } = someModels(6);
    const fallen: string[] = [];
    const engine = await OnnxruntimeEngine.open(newPool({ size: 2 }), prepared, {
      onFallBack: (model, reason) => fallen.push(`${model}: ${reason}`),
    });
    expect(fallen).toEqual([]);
    const results = await Promise.all(
      [...calldata].flatMap(([id, input]) => [0, 1, 2].map(() => engine.run(id, input))),
    );
    const expected = [...calldata].flatMap(([id, input]) => {
      const output = execute(prepared.get(id) as PreparedModel, input);
      return [output, output, output];
    });
    expect(results.map((result) => "output" in result && result.output)).toEqual(expected);
  });

  it("behavior: a model that a session cannot open is not run, and it says why", async () => {
    const { prepared, calldata } = someModels(1);
    const fallen: string[] = [];
    const engine = await OnnxruntimeEngine.open(newPool({ timeoutMs: 1 }), prepared, {
      onFallBack: (model, reason) => fallen.push(`${model}: ${reason}`),
    });
    expect(fallen).toEqual(["m0: a run took longer than 1 ms"]);
    const input = calldata.get("m0") as Uint8Array;
    expect(await engine.run("m0", input)).toEqual({ failure: "this model is not run by onnxruntime" });
  });

  it("error: calldata that no request can hold", async () => {
    const { prepared } = someModels(1);
    const engine = await OnnxruntimeEngine.open(newPool(), prepared, { onFallBack: () => undefined });
    await expect(engine.run("m0", new Uint8Array(3))).rejects.toMatchObject({ name: "BaseError" });
  });
});

describe("RuntimePool", () => {
  it("behavior: a file that onnxruntime refuses is a failure, and the child goes on", async () => {
    const pool = newPool();
    const broken = {
      model: "broken",
      onnx: Uint8Array.of(1, 2, 3),
      inputs: [],
      output: { name: "o", type: "u8", dims: [1] },
    } as const;
    expect(await pool.run(broken, [])).toHaveProperty("failure");
    const { prepared, calldata } = someModels(1);
    const engine = await OnnxruntimeEngine.open(pool, prepared, {
      onFallBack: (_model, reason) => {
        throw new Error(reason);
      },
    });
    expect(await engine.run("m0", calldata.get("m0") as Uint8Array)).toHaveProperty("output");
  });

  it("error: inputs of another size are refused, and disturb no run that is sent with them", async () => {
    const pool = newPool();
    const { prepared, calldata } = someModels(1);
    const model = prepared.get("m0") as PreparedModel;
    const engine = await OnnxruntimeEngine.open(pool, prepared, { onFallBack: () => undefined });
    const inputs = model.inputTensors(model.decode(calldata.get("m0") as Uint8Array));
    const short = inputs.map((tensor) => ({ ...tensor, data: tensor.data.slice(1) }));
    const [refused, right] = await Promise.all([
      engine.runTensors("m0", short),
      engine.run("m0", calldata.get("m0") as Uint8Array),
    ]);
    expect(refused).toMatchObject({
      failure: expect.stringMatching(/^the inputs have \[.*\] bytes, must have/),
    });
    expect(right).toEqual({ output: execute(model, calldata.get("m0") as Uint8Array) });
  });

  it("behavior: runs that nobody waits for leave the queue, the others are answered", async () => {
    const pool = newPool();
    const { prepared, calldata } = someModels(1);
    const model = prepared.get("m0") as PreparedModel;
    const input = calldata.get("m0") as Uint8Array;
    const engine = await OnnxruntimeEngine.open(pool, prepared, { onFallBack: () => undefined });
    const leaving = new AbortController();
    setMaxListeners(0, leaving.signal);
    const runs = Array.from({ length: 200 }, (_, i) =>
      engine.run("m0", input, i % 2 === 0 ? leaving.signal : undefined),
    );
    await setImmediate();
    leaving.abort();
    expect(pool.load).toBeLessThanOrEqual(100);
    const results = await Promise.all(runs);
    const right = { output: execute(model, input) };
    const gone = { failure: "nobody waits for this run any more" };
    expect(results).toEqual(runs.map((_, i) => (i % 2 === 0 ? gone : right)));
    expect(await engine.run("m0", input, leaving.signal)).toEqual(gone);
    expect(pool.load).toBe(0);
  });

  it("behavior: a run without end is stopped once nobody waits, and who waits behind it loses nothing", async () => {
    const pool = newPool({ stopAfterMs: 1 });
    const { prepared, calldata } = someModels(2);
    const engine = await OnnxruntimeEngine.open(pool, prepared, { onFallBack: () => undefined });
    const leaving = new AbortController();
    const gone = { failure: "nobody waits for this run any more" };
    const input = [new Int32Array(1)];
    // Opens the session: what is asked for next goes to the child at once.
    expect(await pool.run(endlessModel(), input, AbortSignal.abort())).toEqual(gone);
    const endless = pool.run(endlessModel(), input, leaving.signal);
    await setImmediate();
    const behind = [...calldata].map(([id, data]) => engine.run(id, data));
    const opening = pool.run({ ...endlessModel(), model: "another" }, input, leaving.signal);
    await setImmediate();
    expect(pool.load).toBe(4);
    leaving.abort();
    expect([await endless, await opening]).toEqual([gone, gone]);
    const right = [...calldata].map(([id, input]) => ({
      output: execute(prepared.get(id) as PreparedModel, input),
    }));
    expect(await Promise.all(behind)).toEqual(right);
  });

  it("behavior: closing answers every run that waits", async () => {
    const pool = newPool();
    const waiting = pool.run(
      { model: "none", onnx: new Uint8Array(0), inputs: [], output: { name: "o", type: "u8", dims: [1] } },
      [],
    );
    pool.close();
    expect(await waiting).toEqual({ failure: "the pool was closed" });
  });
});
