/** What an emulated processor runs, as a bundle: opens each ONNX file, runs it on each of its inputs and writes what
 *  comes out. Usage: node session-runner.cjs JOBS RESULTS */
import { readFileSync, writeFileSync } from "node:fs";
import { Tensor as OrtTensor } from "onnxruntime-node";
import { openSession } from "./session.ts";
import type { SessionJob, SessionResult } from "./session-jobs.ts";

const decode = (text: string): Uint8Array<ArrayBuffer> => Uint8Array.from(Buffer.from(text, "base64"));

async function run({ onnx, runs, outputs }: SessionJob): Promise<SessionResult> {
  const session = await openSession(decode(onnx));
  const results: string[][] = [];
  for (const inputs of runs) {
    const feeds = Object.fromEntries(
      inputs.map(({ name, type, dims, bytes }) => {
        const memory = { uint8: Uint8Array, int32: Int32Array, float32: Float32Array }[type];
        return [name, new OrtTensor(type, new memory(decode(bytes).buffer) as Uint8Array, dims)];
      }),
    );
    const found = await session.run(feeds);
    results.push(
      outputs.map((name) => {
        const { buffer, byteOffset, byteLength } = (found[name] as OrtTensor).data as Uint8Array;
        return Buffer.from(buffer, byteOffset, byteLength).toString("base64");
      }),
    );
  }
  await session.release();
  return results;
}

async function main(): Promise<void> {
  const [jobs, results] = process.argv.slice(2) as [string, string];
  const found: SessionResult[] = [];
  for (const job of JSON.parse(readFileSync(jobs, "utf8")) as SessionJob[]) found.push(await run(job));
  writeFileSync(results, JSON.stringify(found));
}

main();
