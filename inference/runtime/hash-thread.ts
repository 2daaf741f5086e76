/** A thread that hashes tensors of a trace. */
import { parentPort, workerData } from "node:worker_threads";
import { errorOptions, isBaseError } from "../../base/errors.ts";
import { type FromHashThread, type HashingWork, hashSome } from "./hashing.ts";

function answer(): FromHashThread {
  try {
    return { hashed: hashSome(workerData as HashingWork) };
  } catch (error) {
    if (!isBaseError(error)) throw error;
    return { failed: errorOptions(error) };
  }
}

const made = answer();
parentPort?.postMessage(
  made,
  "failed" in made
    ? []
    : made.hashed.flatMap(([, levels]) => levels.map(({ nodes }) => nodes.buffer as ArrayBuffer)),
);
