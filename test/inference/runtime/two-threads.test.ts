/** Runs in which a second thread takes part against the executor's own. */
import { syncBuiltinESMExports } from "node:module";
import { availableParallelism } from "node:os";
import threads from "node:worker_threads";
import { afterEach, describe, expect, it, vi } from "vitest";
import { seededProgram } from "../../../conformance/generate/random-program.ts";
import { type CodecInput, encodeInput } from "../../../inference/codecs/input.ts";
import { execute } from "../../../inference/executor/execute.ts";
import { findByRows, onePass } from "../../../inference/executor/find-output.ts";
import type { Span } from "../../../inference/executor/parts.ts";
import { prepare } from "../../../inference/executor/prepare.ts";
import type { PreparedModel } from "../../../inference/executor/prepared-model.ts";
import type { RowPlan } from "../../../inference/executor/rows/plan.ts";
import { elementCount, type Model, type Step, type Tensor } from "../../../inference/program/form.ts";
import { outputLength } from "../../../inference/program/shape.ts";
import { SharedParts } from "../../../inference/runtime/shared-parts.ts";
import { paysForTwo, TwoThreads } from "../../../inference/runtime/two-threads.ts";
import { createRng, type Rng } from "../../support/rng.ts";
import { scaled } from "../../support/scale.ts";
import { sequenceProgram } from "../../support/sequence-programs.ts";

const selector = Uint8Array.of(1, 2, 3, 4);

/** Once the second thread takes parts; each of them is as small as can be. */
async function startTwo(model: Model): Promise<TwoThreads> {
  const two = new TwoThreads(model, selector, {}, 1);
  await vi.waitUntil(() => two.isReady, { timeout: 60_000 });
  return two;
}

interface Engine {
  readonly Instance: new (module: object, imports?: object) => object;
}

type Prepared = Pick<TwoThreads, "prepared">;

const stored = ({ data }: Tensor): Buffer =>
  Buffer.from(Buffer.from(data.buffer, data.byteOffset, data.byteLength));
const tensorsOf = (tensors: readonly Tensor[]) => tensors.map(stored);

/** A random input, and its output found row by row. */
function asked(rng: Rng, alone: PreparedModel, plan: RowPlan) {
  const { program } = alone;
  const bytes = rng.bytes(program.inputSize);
  const input = alone.decode(encodeInput(program, selector, { codec: "raw", bytes }));
  return { input, right: findByRows(alone, plan, input) };
}

afterEach(() => {
  vi.restoreAllMocks();
});

describe("TwoThreads", () => {
  it("default: every tensor of random programs, and the output of a pass", async () => {
    let taken = 0;
    const opcodes = new Set<string>();
    for (let seed = 0; seed < scaled(12, 100, 500); seed++) {
      const { model, calldata, ...made } = seededProgram(seed, { hostile: seed % 3 === 0, steps: 12 });
      const two = new TwoThreads(model, made.selector, {}, 1);
      const alone = prepare(model, made.selector);
      const input = alone.decode(calldata);
      const right = tensorsOf(alone.run(input));
      // Before the second thread takes part, and then.
      expect(tensorsOf(two.prepared.run(input)), `seed ${seed}`).toEqual(right);
      await vi.waitUntil(() => two.isReady, { timeout: 60_000 });
      for (let run = 0; run < 5; run++) {
        expect(tensorsOf(two.prepared.run(input)), `seed ${seed}`).toEqual(right);
        expect(execute(two.prepared, calldata)).toEqual(execute(alone, calldata));
      }
      taken += two.taken;
      for (const { opcode } of model.program.steps) opcodes.add(opcode);
    }
    expect(taken).toBeGreaterThan(100);
    expect(opcodes.size).toBe(11);
  });

  it("behavior: memory that the first thread had, and then no more for its kernel, is used by no thread", async () => {
    const { WebAssembly: engine } = globalThis as unknown as { readonly WebAssembly: Engine };
    const { Instance } = engine;
    let refused = 0;
    vi.spyOn(engine, "Instance").mockImplementation(function refuseFirst(module, imports) {
      if (imports === undefined || refused > 0) return new Instance(module, imports);
      refused += 1;
      throw new RangeError("Out of memory");
    });
    const rng = createRng(1);
    const model = sequenceProgram(rng, { prompt: 9, tokens: 9, heads: 3, width: 9, layers: 2 });
    const two = await startTwo(model);
    const alone = prepare(model, selector);
    const plan = alone.rowPlan() as RowPlan;
    for (let run = 0; run < 20; run++) {
      const { input, right } = asked(rng, alone, plan);
      expect(onePass(two.prepared, input, right), `run ${run}`).toEqual(right);
    }
    expect(refused).toBe(1);
    expect(two.taken).toBeGreaterThan(0);
  });

  it("behavior: a causal program, found row by row", async () => {
    for (let seed = 0; seed < scaled(4, 30, 200); seed++) {
      const rng = createRng(seed);
      const shape = {
        ...{
          prompt: rng.int(1, 9),
          tokens: rng.int(2, 9),
          heads: rng.int(1, 3),
          width: rng.int(1, 9),
          layers: 2,
        },
      };
      const model = sequenceProgram(rng, shape);
      const two = await startTwo(model);
      const alone = prepare(model, selector);
      const plan = alone.rowPlan() as RowPlan;
      for (let text = 0; text < 5; text++) {
        const { input, right } = asked(rng, alone, plan);
        expect(findByRows(two.prepared, plan, input), JSON.stringify(shape)).toEqual(right);
        expect(onePass(two.prepared, input, right)).toEqual(right);
      }
      expect(two.taken).toBeGreaterThan(0);
    }
  });

  it("behavior: who looks at each tensor runs alone", async () => {
    const { model, calldata, ...made } = seededProgram(7);
    const two = new TwoThreads(model, made.selector, {}, 1);
    await vi.waitUntil(() => two.isReady, { timeout: 60_000 });
    const seen: Buffer[] = [];
    two.prepared.pass(two.prepared.decode(calldata), undefined, (_, tensor) => seen.push(stored(tensor)));
    const alone = prepare(model, made.selector);
    expect(seen).toEqual(tensorsOf(alone.run(alone.decode(calldata))));
    expect(two.taken).toBe(0);
  });

  it("args: isWanted, false where others need the cores", async () => {
    const { model, calldata, ...made } = seededProgram(7);
    const two = new TwoThreads(model, made.selector, {}, 1);
    await vi.waitUntil(() => two.isReady, { timeout: 60_000 });
    two.isWanted = false;
    const alone = prepare(model, made.selector);
    expect(execute(two.prepared, calldata)).toEqual(execute(alone, calldata));
    expect(two.taken).toBe(0);
  });

  it("error: a second thread that fails leaves the run to the first one", async () => {
    const rng = createRng(3);
    const model = sequenceProgram(rng, { prompt: 4, tokens: 4, heads: 2, width: 5, layers: 1 });
    const two = await startTwo(model);
    const step = model.program.steps.findLastIndex(
      ({ dims }) => dims.length === 2 && (dims[0] as number) > 3,
    );
    const span = { from: 0, to: elementCount((model.program.steps[step] as Step).dims) };
    let computed: Span[] = [];
    // It has no such tensors, and the first thread is slow.
    await vi.waitUntil(() => {
      computed = [];
      two.compute(step, [], span, (from, to) => {
        computed.push({ from, to });
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
      });
      return !two.isReady;
    });
    expect(computed.at(-1)).toEqual(span);
    const alone = prepare(model, selector);
    const bytes = rng.bytes(model.program.inputSize);
    const input = alone.decode(encodeInput(model.program, selector, { codec: "raw", bytes }));
    const claimed = new Uint8Array(outputLength(model.program));
    const taken = two.taken;
    expect(tensorsOf(two.prepared.run(input, claimed))).toEqual(tensorsOf(alone.run(input, claimed)));
    expect(two.taken).toBe(taken);
  });

  it("error: where the system has no thread left, the first one runs alone", () => {
    const worker = vi.spyOn(threads, "Worker").mockImplementation(function refuse() {
      throw Object.assign(new Error("EAGAIN"), { code: "ERR_WORKER_INIT_FAILED" });
    });
    syncBuiltinESMExports();
    try {
      const { model, calldata, ...made } = seededProgram(7);
      const two = new TwoThreads(model, made.selector, {}, 1);
      expect(worker).toHaveBeenCalledTimes(1);
      expect(execute(two.prepared, calldata)).toEqual(execute(prepare(model, made.selector), calldata));
      expect(two.isReady).toBe(false);
    } finally {
      worker.mockRestore();
      syncBuiltinESMExports();
    }
  });

  it.each([
    ["run", ({ prepared }: Prepared, input: CodecInput) => prepared.run(input).at(-1) as Tensor],
    ["pass", ({ prepared }: Prepared, input: CodecInput) => prepared.pass(input)],
  ])(
    "error: what the second thread still computes of a %s that failed changes no later one",
    async (_, last) => {
      const { model, calldata, ...made } = seededProgram(7);
      const two = new TwoThreads(model, made.selector, {}, 1);
      await vi.waitUntil(() => two.isReady, { timeout: 60_000 });
      const alone = prepare(model, made.selector);
      const input = alone.decode(calldata);
      const compute = vi.spyOn(two, "compute");
      vi.spyOn(SharedParts.prototype, "awaitDone").mockReturnValueOnce(false);
      const lost = { code: "CANONICAL_FAILED", retryable: true };
      expect(() => last(two, input)).toThrow(expect.objectContaining(lost));
      const [, failed] = compute.mock.calls[0] as Parameters<TwoThreads["compute"]>;
      compute.mockImplementation((step, _tensors, { from, to }, own) => {
        own(from, to);
        (failed[step] as Tensor).data.fill(77);
      });
      expect(stored(last(two, input))).toEqual(stored(last({ prepared: alone }, input)));
      expect(compute.mock.calls.length).toBeGreaterThan(1);
    },
  );
});

describe("paysForTwo", () => {
  it("default: of large programs, where there is a second core", () => {
    const { program } = seededProgram(1).model;
    const large = { ...(program.steps.at(-1) as Step), dims: [2 ** 12, 2 ** 13] };
    expect(paysForTwo(program)).toBe(false);
    expect(paysForTwo({ ...program, steps: [...program.steps, large] })).toBe(availableParallelism() > 1);
  });
});
