/** Runs models by onnxruntime where its result is exact, and says why where it is not. */
import { equalBytes } from "../../base/bytes.ts";
import { encodeOutput } from "../codecs/output.ts";
import { emit } from "../emit/emit.ts";
import { execute } from "../executor/execute.ts";
import type { PreparedModel } from "../executor/prepared-model.ts";
import type { Step, Tensor } from "../program/form.ts";
import { lastStep } from "../program/shape.ts";
import { selfTestCalldata } from "../self-test.ts";
import type { RunResult } from "./child.ts";
import type { SessionSource } from "./messages.ts";
import type { RuntimePool } from "./pool.ts";

/** Why a model is not, or not any more, run by onnxruntime. */
export type FallBackReason = (model: string, reason: string) => void;

/** Return data, or why there is none. */
export type FastResult = { readonly output: Uint8Array } | { readonly failure: string };

export interface EngineOptions {
  /** inputs of the self-test at start; default 8 */
  readonly selfTests?: number;
  /** told once for each model that falls back */
  readonly onFallBack: FallBackReason;
}

const NOT_RUN = { failure: "this model is not run by onnxruntime" };

interface Entry {
  readonly prepared: PreparedModel;
  source: SessionSource | undefined;
}

export class OnnxruntimeEngine {
  readonly #pool: RuntimePool;
  readonly #entries = new Map<string, Entry>();
  readonly #onFallBack: FallBackReason;

  private constructor(pool: RuntimePool, onFallBack: FallBackReason) {
    this.#pool = pool;
    this.#onFallBack = onFallBack;
  }

  /** Emits each model and compares it with the canonical executor on its self-test inputs.
   *  @param models by the id that `run` takes */
  static async open(
    pool: RuntimePool,
    models: ReadonlyMap<string, PreparedModel>,
    { selfTests = 8, onFallBack }: EngineOptions,
  ): Promise<OnnxruntimeEngine> {
    const engine = new OnnxruntimeEngine(pool, onFallBack);
    for (const [id, prepared] of models) {
      const entry: Entry = { prepared, source: undefined };
      engine.#entries.set(id, entry);
      const emission = emit(prepared.model);
      if ("refused" in emission) onFallBack(id, emission.refused);
      else {
        entry.source = sourceOf(id, prepared, emission.onnx, emission.inputs);
        await engine.#selfTest(id, entry, selfTests);
      }
    }
    return engine;
  }

  /** By onnxruntime alone: what the fast path says, or why it says nothing.
   *  @param signal aborts when nobody waits any more
   *  @throws BaseError as `decodeInput`, for calldata that no request can hold */
  async run(model: string, calldata: Uint8Array, signal?: AbortSignal): Promise<FastResult> {
    const { prepared, source } = this.#entry(model);
    const input = prepared.decode(calldata);
    if (source === undefined) return NOT_RUN;
    const result = await this.runTensors(model, prepared.inputTensors(input), signal);
    if ("failure" in result) return result;
    const { type, dims } = lastStep(prepared.program);
    return { output: encodeOutput(prepared.program, { type, dims, data: result.output }) };
  }

  /** The last step's tensor from the content of the CODEC steps, in step order. */
  async runTensors(model: string, inputs: readonly Tensor[], signal?: AbortSignal): Promise<RunResult> {
    const { source } = this.#entry(model);
    if (source === undefined) return NOT_RUN;
    return this.#pool.run(
      source,
      inputs.map(({ data }) => data),
      signal,
    );
  }

  #entry(model: string): Entry {
    const entry = this.#entries.get(model);
    if (entry === undefined) throw new RangeError(`model ${model} is not loaded`);
    return entry;
  }

  async #selfTest(id: string, entry: Entry, count: number): Promise<void> {
    const { prepared } = entry;
    for (let seed = 0; seed < count; seed++) {
      const calldata = selfTestCalldata(prepared.program, prepared.selector, seed);
      const fast = await this.run(id, calldata);
      const isEqual = "output" in fast && equalBytes(fast.output, execute(prepared, calldata));
      if (isEqual) continue;
      entry.source = undefined;
      const reason =
        "failure" in fast ? fast.failure : `self-test ${seed} differs from the canonical executor`;
      this.#onFallBack(id, reason);
      return;
    }
  }
}

/** What a child needs to open an emitted program. */
export function sourceOf(
  model: string,
  { program }: PreparedModel,
  onnx: Uint8Array,
  inputs: readonly number[],
): SessionSource {
  const port = (name: string, { type, dims }: Step) => ({ name, type, dims });
  return {
    model,
    onnx,
    inputs: inputs.map((i) => port(`s${i}`, program.steps[i] as Step)),
    output: port(`o${program.steps.length - 1}`, lastStep(program)),
  };
}
