/** A thread that hashes tensors of a trace. */
import { parentPort, workerData } from "node:worker_threads";
import { type HashingWork, hashSome } from "./hashing.ts";

const made = hashSome(workerData as HashingWork);
parentPort?.postMessage(
  made,
  made.flatMap(([, levels]) => levels.map(({ nodes }) => nodes.buffer as ArrayBuffer)),
);
