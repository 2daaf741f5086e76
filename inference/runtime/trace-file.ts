/** A large trace's tensors in a file, so that a node's memory does not grow with its disputes. */
import { randomUUID } from "node:crypto";
import { closeSync, openSync, readSync, unlinkSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BaseError } from "../../base/errors.ts";
import type { StoredTensor } from "../commit/tree.ts";
import type { Program } from "../program/form.ts";
import { stepShape } from "../program/shape.ts";

/** Where a step's tensor stands in the file, and the rows of its tree. */
export interface TensorPlace {
  /** bytes from the file's beginning */
  readonly at: number;
  readonly rows: number;
  readonly rowBytes: number;
}

/** One a step. */
export function tensorPlaces({ steps }: Program): TensorPlace[] {
  let at = 0;
  return steps.map((step) => {
    const { rows, rowBytes } = stepShape(step);
    const place = { at, rows, rowBytes };
    at += rows * rowBytes;
    return place;
  });
}

/** Bytes of all tensors. */
export function traceBytes(program: Program): number {
  const last = tensorPlaces(program).at(-1);
  return last === undefined ? 0 : last.at + last.rows * last.rowBytes;
}

/** Closes files that nobody holds any more, so that the disk gets its space back. */
const closing = new FinalizationRegistry((fd: number) => closeSync(fd));

/** It has no name from the start on, so that nothing is left of it when the process is killed. All threads of the process
 *  read and write it by its descriptor. */
export class TraceFile {
  readonly fd: number;

  /** @throws BaseError TRACE_FILE_FAILED */
  constructor() {
    // Nobody else who writes to that folder knows the name before.
    const path = join(tmpdir(), `assay-trace-${randomUUID()}`);
    this.fd = tried("open", () => {
      const fd = openSync(path, "wx+", 0o600);
      unlinkSync(path);
      return fd;
    });
    closing.register(this, this.fd, this);
  }

  /** INVARIANT: no thread uses the descriptor any more, which another file may have from now on. */
  close(): void {
    if (closing.unregister(this)) closeSync(this.fd);
  }

  /** It stays open for as long as one of its tensors is held. */
  tensor(place: TensorPlace): StoredTensor {
    return { read: (from, count) => readTensor(this.fd, place, from, count) };
  }
}

/** @throws BaseError TRACE_FILE_FAILED */
export function writeTensor(fd: number, { at }: TensorPlace, stored: Uint8Array): void {
  tried("write", () => {
    for (let done = 0; done < stored.length; )
      done += writeSync(fd, stored, done, stored.length - done, at + done);
  });
}

/** @throws BaseError TRACE_FILE_FAILED */
export function readTensor(fd: number, { at }: TensorPlace, from: number, count: number): Uint8Array {
  const bytes = new Uint8Array(count);
  tried("read", () => {
    for (let done = 0; done < count; ) {
      const some = readSync(fd, bytes, done, count - done, at + from + done);
      if (some === 0) throw new Error("it is shorter than the trace");
      done += some;
    }
  });
  return bytes;
}

function tried<T>(what: "open" | "write" | "read", work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new BaseError({
      code: "TRACE_FILE_FAILED",
      shortMessage: `The file in ${tmpdir()} that holds a trace failed at a ${what}: ${error instanceof Error ? error.message : error}.`,
      nextStep: "Make space there, or name another folder in TMPDIR and start again.",
      details: { folder: tmpdir(), what },
      retryable: true,
    });
  }
}
