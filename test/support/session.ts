import { InferenceSession } from "onnxruntime-node";

/** A session with the options of the child processes: no graph optimization, and one thread where not told otherwise. */
export const openSession = (onnx: Uint8Array, threads = 1): Promise<InferenceSession> =>
  InferenceSession.create(onnx, {
    graphOptimizationLevel: "disabled",
    executionProviders: ["cpu"],
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    logSeverityLevel: 3,
  });
