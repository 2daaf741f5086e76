import { existsSync, openSync, readdirSync, readlinkSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Worker } from "node:worker_threads";
import { afterEach, describe, expect, test, vi } from "vitest";
import { isBaseError } from "../../../base/errors.ts";
import { seededProgram } from "../../../conformance/generate/random-program.ts";
import { commitTrace } from "../../../inference/commit/commitments.ts";
import { trace } from "../../../inference/executor/execute.ts";
import { prepare } from "../../../inference/executor/prepare.ts";
import { storedBytes } from "../../../inference/program/tensor.ts";
import { CanonicalPool } from "../../../inference/runtime/canonical-pool.ts";
import { hashedBy } from "../../../inference/runtime/hashing.ts";
import {
  readTensor,
  TraceFile,
  tensorPlaces,
  traceBytes,
  writeTensor,
} from "../../../inference/runtime/trace-file.ts";
import { heavyModel } from "../../support/heavy-model.ts";
import { createRng } from "../../support/rng.ts";

const DESCRIPTORS = "/proc/self/fd";
/** How many files of traces this process holds. */
function openFiles(): number {
  const target = (fd: string) => {
    try {
      return readlinkSync(`${DESCRIPTORS}/${fd}`);
    } catch {
      return "";
    }
  };
  return readdirSync(DESCRIPTORS).filter((fd) => target(fd).includes("assay-trace-")).length;
}

const heavy = heavyModel();
let pool: CanonicalPool | undefined;
const onDisk = (): CanonicalPool => {
  pool = new CanonicalPool(new Map([["heavy", heavy]]), { threads: 1, stopAfterMs: 0, traceInMemory: 0 });
  return pool;
};
afterEach(() => {
  pool?.close();
  vi.unstubAllEnvs();
});

describe("TraceFile", () => {
  test("default: what is written is read, the whole of a tensor and any part of it", () => {
    const { program } = seededProgram(3).model;
    const prepared = prepare(seededProgram(3).model, seededProgram(3).selector);
    const tensors = trace(prepared, seededProgram(3).calldata);
    const file = new TraceFile();
    const places = tensorPlaces(program);
    const rng = createRng(1);
    expect(traceBytes(program)).toBe(tensors.reduce((sum, { data }) => sum + data.byteLength, 0));
    for (const [i, { data }] of [...tensors.entries()].reverse())
      writeTensor(file.fd, places[i] as (typeof places)[number], storedBytes(data));
    for (const [i, { data }] of tensors.entries()) {
      const stored = storedBytes(data);
      const tensor = file.tensor(places[i] as (typeof places)[number]);
      expect(tensor.read(0, stored.length)).toEqual(stored);
      const from = rng.int(0, stored.length - 1);
      const count = rng.int(0, stored.length - from);
      expect(tensor.read(from, count)).toEqual(stored.slice(from, from + count));
    }
    file.close();
    file.close();
  });

  test("error: a folder that is not there, a full disk, a file that is too short", async () => {
    const failed = (what: string, message: string) =>
      expect.objectContaining({
        code: "TRACE_FILE_FAILED",
        shortMessage: expect.stringContaining(message),
        nextStep: "Make space there, or name another folder in TMPDIR and start again.",
        details: expect.objectContaining({ what }),
        retryable: true,
      });
    const place = { at: 0, rows: 2, rowBytes: 8 };
    const file = new TraceFile();
    expect(() => readTensor(file.fd, place, 0, 16)).toThrow(failed("read", "it is shorter than the trace"));
    file.close();
    if (existsSync("/dev/full"))
      expect(() => writeTensor(openSync("/dev/full", "w"), place, new Uint8Array(16))).toThrow(
        failed("write", "no space left"),
      );
    vi.stubEnv("TMPDIR", "/nowhere/at/all");
    await expect(onDisk().trace("heavy", heavy.calldata)).rejects.toEqual(failed("open", "/nowhere/at/all"));
    vi.unstubAllEnvs();
    const { root } = await (pool as CanonicalPool).trace("heavy", heavy.calldata);
    const prepared = prepare(heavy.model, heavy.selector);
    expect(root).toEqual(commitTrace(heavy.model.program, trace(prepared, heavy.calldata)).root);
  });

  test.skipIf(!existsSync(DESCRIPTORS))("error: a trace that is refused at once opens none", async () => {
    const before = openFiles();
    const canonical = onDisk();
    for (let i = 0; i < 3; i++)
      await expect(
        canonical.trace("heavy", heavy.calldata, { signal: AbortSignal.abort("left") }),
      ).rejects.toBe("left");
    canonical.close();
    await expect(canonical.trace("heavy", heavy.calldata)).rejects.toMatchObject({
      code: "CANONICAL_FAILED",
    });
    expect(openFiles()).toBe(before);
  });

  test("error: a thread that hashes names what failed, as the run's own thread does", async () => {
    const file = new TraceFile();
    const counts = new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT));
    counts[0] = 1;
    const workerData = { fd: file.fd, places: [{ at: 0, rows: 2, rowBytes: 8 }], counts };
    const thread = new Worker(new URL("../../../inference/runtime/hash-thread.mjs", import.meta.url), {
      ...{ execArgv: [], workerData },
    });
    try {
      const error: unknown = await hashedBy(thread).catch((fault: unknown) => fault);
      // Its class is what tells a fault of the disk from one of the program.
      expect(isBaseError(error, "TRACE_FILE_FAILED")).toBe(true);
      expect(error).toMatchObject({ retryable: true, details: { what: "read" } });
    } finally {
      await thread.terminate();
      file.close();
    }
  });

  test.skipIf(!existsSync(DESCRIPTORS))("behavior: it is closed where nobody needs it any more", async () => {
    const before = openFiles();
    const closed = () => vi.waitUntil(() => openFiles() === before, { timeout: 60_000, interval: 50 });
    const canonical = onDisk();
    await expect(canonical.trace("heavy", new Uint8Array(3))).rejects.toMatchObject({
      code: "SELECTOR_MISMATCH",
    });
    await closed();
    const leaving = new AbortController();
    const runs = [0, 1].map(() => canonical.trace("heavy", heavy.calldata, { signal: leaving.signal }));
    const left = runs.map((run) => expect(run).rejects.toBe("left"));
    await nextTurn();
    // The one that waits for the thread has none yet.
    await vi.waitUntil(() => openFiles() > before);
    expect(openFiles()).toBe(before + 1);
    leaving.abort("left");
    await Promise.all(left);
    await closed();
    let made = [await canonical.trace("heavy", heavy.calldata)];
    expect(openFiles()).toBe(before + 1);
    expect(made[0]?.tensors[0]?.leafWord(0)).toHaveLength(32);
    made = [];
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    await vi.waitUntil(
      () => {
        collect();
        return openFiles() === before;
      },
      { timeout: 60_000, interval: 50 },
    );
    const lost = [0, 1].map(() =>
      expect(canonical.trace("heavy", heavy.calldata)).rejects.toMatchObject({ code: "CANONICAL_FAILED" }),
    );
    await nextTurn();
    canonical.close();
    await Promise.all(lost);
    await closed();
  });
});
