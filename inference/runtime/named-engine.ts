import { BaseError } from "../../base/errors.ts";
import { emit } from "../emit/emit.ts";
import {
  boundInputs,
  type NamedEngine,
  type NamedTensors,
  namedOutputs,
  type RunnableModel,
} from "../model-values.ts";
import { lastStep } from "../program/shape.ts";
import { sourceOf } from "./engine.ts";
import { RuntimePool } from "./pool.ts";

/** Runs one model on named tensors by onnxruntime, in a child process of its own. */
export const onnxruntimeEngine: NamedEngine = {
  name: "onnxruntime",

  /** @throws BaseError INPUT_INVALID, NOT_EMITTABLE, RUNTIME_FAILED */
  async run(model: RunnableModel, inputs: NamedTensors): Promise<NamedTensors> {
    const { prepared, io } = model;
    const bound = boundInputs(model, inputs);
    const emission = emit(prepared.model);
    if ("refused" in emission) throw failed("NOT_EMITTABLE", emission.refused);
    const pool = new RuntimePool();
    try {
      const source = sourceOf("model", prepared, emission.onnx, emission.inputs);
      const result = await pool.run(
        source,
        bound.map(({ data }) => data),
      );
      if ("failure" in result) throw failed("RUNTIME_FAILED", result.failure);
      const { type, dims } = lastStep(prepared.program);
      return namedOutputs(io, { type, dims, data: result.output });
    } finally {
      pool.close();
    }
  },
};

const failed = (code: string, reason: string): BaseError =>
  new BaseError({
    code,
    shortMessage: `onnxruntime cannot run this model: ${reason}.`,
    nextStep: "Use --engine canonical.",
  });
