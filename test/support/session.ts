import { InferenceSession } from "onnxruntime-node";

/** A session with the options of the child processes: no graph optimization, and one thread where not told otherwise.
 *  Further threads have a processor each (the second, the third and so on), as they are else put on that of the first
 *  one in some processes and not in others, which makes figures differ by a half. */
export const openSession = (onnx: Uint8Array, threads = 1): Promise<InferenceSession> => {
  const further = Array.from({ length: threads - 1 }, (_, i) => i + 2).join(";");
  return InferenceSession.create(onnx, {
    graphOptimizationLevel: "disabled",
    executionProviders: ["cpu"],
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    logSeverityLevel: 3,
    ...(further ? { extra: { session: { intra_op_thread_affinities: further } } } : {}),
  });
};
