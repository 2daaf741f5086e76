/** The engine that runs models for the daemons. */

import type { Logger } from "../base/log.ts";
import { oneAtATime } from "../base/one-at-a-time.ts";
import { prepare } from "../inference/executor/prepare.ts";
import type { LoadedModel } from "../inference/model-folder.ts";
import { type Canonical, CanonicalPool } from "../inference/runtime/canonical-pool.ts";
import { OnnxruntimeEngine } from "../inference/runtime/engine.ts";
import { RuntimePool } from "../inference/runtime/pool.ts";
import type { ProofModel } from "../prover/proof/ezkl/folder.ts";
import type { EzklOptions } from "../prover/proof/ezkl/keys.ts";
import { runEzkl } from "../prover/proof/ezkl/prove.ts";

export interface OpenedEngine {
  /** The fast path. @returns return data, or why there is none: "could not run" is no verdict */
  run(
    model: string,
    calldata: Uint8Array,
    signal?: AbortSignal,
  ): Promise<{ readonly output: Uint8Array } | { readonly failure: string }>;
  /** the judge of the fast path, in threads */
  readonly canonical: Canonical;
  close(): void;
}

/** onnxruntime in child processes, and the canonical executor in threads: one more, for callers never take the last.
 *  @param processes how many */
export async function openEngine(
  models: readonly LoadedModel[],
  processes: number,
  log: Logger,
): Promise<OpenedEngine> {
  const pool = new RuntimePool({ size: processes });
  const canonical = new CanonicalPool(new Map(models.map((model) => [model.modelId, model])), {
    threads: processes + 1,
  });
  const prepared = new Map(models.map(({ modelId, model, selector }) => [modelId, prepare(model, selector)]));
  const engine = await OnnxruntimeEngine.open(pool, prepared, {
    onFallBack: (model, reason) =>
      log.warn({ model, reason }, "onnxruntime does not run this model here: the canonical executor does"),
  });
  return {
    run: async (model, calldata, signal) => {
      try {
        return await engine.run(model, calldata, signal);
      } catch (error) {
        return { failure: error instanceof Error ? error.message : String(error) };
      }
    },
    canonical,
    close: () => {
      canonical.close();
      pool.close();
    },
  };
}

/** The engine, and ezkl for the models without a program: their circuits, one run at a time. */
export function withEzkl(
  engine: OpenedEngine,
  proofModels: readonly ProofModel[],
  options: EzklOptions,
): OpenedEngine {
  const models = new Map<string, ProofModel>(proofModels.map((model) => [model.modelId, model]));
  const inTurn = oneAtATime();
  return {
    run: async (id, calldata, signal) => {
      const model = models.get(id);
      if (model === undefined) return engine.run(id, calldata, signal);
      const running = inTurn(() => {
        signal?.throwIfAborted();
        return runEzkl(untilBoth(options, signal), model, [calldata]);
      });
      return running.then(
        ([output]) => (output === undefined ? { failure: "ezkl gave no output" } : { output }),
        (error: unknown) => ({ failure: error instanceof Error ? error.message : String(error) }),
      );
    },
    canonical: engine.canonical,
    close: () => engine.close(),
  };
}

/** The options, with a second reason to stop. */
function untilBoth(options: EzklOptions, signal: AbortSignal | undefined): EzklOptions {
  if (signal === undefined) return options;
  const { signal: own } = options;
  return { ...options, signal: own === undefined ? signal : AbortSignal.any([own, signal]) };
}
