import { expect, test } from "vitest";
import { SILENT } from "../../../base/log.ts";
import { provenByWorkers } from "../../../prover/lanes/proofs-by-workers.ts";

test("behavior: an answer that is no proof by its length bars its worker, whether or not the node takes the question", async () => {
  const barred: string[] = [];
  const contents = [new Uint8Array(2 ** 20), new Uint8Array(0), new Uint8Array(256)];
  const runs = {
    alive: 3,
    ask: async () => {
      const content = contents.shift();
      return content === undefined ? [] : [{ worker: `worker ${contents.length}`, content }];
    },
    bar: (worker: string) => void barred.push(worker),
  };
  const asked = {
    task: "groth16",
    model: "0x01",
    calldata: new Uint8Array(4),
    binding: 1n,
    leftMs: 600_000,
  } as const;
  const isValid = async (proof: Uint8Array) => {
    if (proof.length > 256) throw new Error("HTTP 413: the request is too large");
    return proof.length === 256;
  };
  const { signal } = new AbortController();
  const proof = await provenByWorkers({ runs, limitMs: 60_000, log: SILENT }, asked, isValid, signal);
  expect(proof?.length).toBe(256);
  expect(barred).toEqual(["worker 2", "worker 1"]);
});

test("behavior: all tries have one limit, and none is longer than what is left", async () => {
  const limits: (number | undefined)[][] = [];
  const runs = {
    alive: 3,
    ask: async ({ limitMs, leftMs }: { limitMs?: number | undefined; leftMs?: number | undefined }) => {
      limits.push([limitMs, leftMs]);
      await new Promise((resolve) => setTimeout(resolve, 60));
      return [{ worker: `worker ${limits.length}`, content: new Uint8Array(256) }];
    },
    bar: () => undefined,
  };
  const asked = {
    task: "groth16",
    model: "0x01",
    calldata: new Uint8Array(4),
    binding: 1n,
    leftMs: 5_000,
  } as const;
  const workers = { runs, limitMs: 60_000, log: SILENT };
  const { signal } = new AbortController();
  expect(await provenByWorkers(workers, asked, async () => false, signal)).toBeUndefined();
  expect(limits).toHaveLength(3);
  for (const [index, [limitMs = 0, leftMs = 0]] of limits.entries()) {
    expect(limitMs).toBeLessThanOrEqual(60_000 - 50 * index);
    expect(leftMs).toBeLessThanOrEqual(5_000 - 50 * index);
  }
});
