import { InferenceSession } from "onnxruntime-node";

/** A session with the options of the child processes: one thread, no graph optimization. */
export const openSession = (onnx: Uint8Array): Promise<InferenceSession> =>
  InferenceSession.create(onnx, {
    graphOptimizationLevel: "disabled",
    executionProviders: ["cpu"],
    intraOpNumThreads: 1,
    interOpNumThreads: 1,
    logSeverityLevel: 3,
  });
