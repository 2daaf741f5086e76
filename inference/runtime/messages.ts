import { elementBytes, elementCount, type Tensor, type TensorType } from "../program/form.ts";

/** A tensor that crosses the process boundary: its shape is known on both sides. */
export type Content = Tensor["data"];

/** An input or output of a session. */
export interface Port {
  readonly name: string;
  readonly type: TensorType;
  readonly dims: readonly number[];
}

/** What a child needs to open a session. */
export interface SessionSource {
  readonly model: string;
  readonly onnx: Uint8Array;
  readonly inputs: readonly Port[];
  readonly output: Port;
}

/** Many runs travel in one message, as one block of bytes: a message costs more than a small model. */
export interface RunsOfModel {
  readonly model: string;
  readonly ids: readonly number[];
  /** All inputs of each run. */
  readonly data: Uint8Array;
}

export type ToChild =
  | { readonly kind: "open"; readonly id: number; readonly source: SessionSource; readonly threads: number }
  | { readonly kind: "run"; readonly runs: readonly RunsOfModel[] };

/** What ended well: runs, and sessions that are open. It travels as bytes of its own beside node's channel, which
 *  takes longer over a message than the run of a small layer. */
export interface Answered {
  readonly done: readonly number[];
  /** Time of `session.run`, with its tensors made and read, of all runs in `done`. */
  readonly sessionMs: number;
  /** The output of each run in `done`. */
  readonly data: Uint8Array;
}

/** What could not be run, and why. */
export interface FromChild {
  readonly failed: readonly { readonly id: number; readonly reason: string }[];
}

/** File descriptor of the stream of answers, in the child. */
export const ANSWERS_FD = 4;

/** Bytes before the ids: length of what follows u32, number of ids u32, milliseconds f64; little-endian. */
const HEAD = 16;

/** One frame of the stream of answers: head, ids as u32, outputs. */
export function answerFrame(
  done: readonly number[],
  sessionMs: number,
  outputs: readonly Uint8Array[],
): Buffer {
  const size = outputs.reduce((sum, output) => sum + output.length, HEAD + 4 * done.length);
  const frame = Buffer.allocUnsafe(size);
  frame.writeUInt32LE(size - 4, 0);
  frame.writeUInt32LE(done.length, 4);
  frame.writeDoubleLE(sessionMs, 8);
  let at = HEAD;
  for (const id of done) at = frame.writeUInt32LE(id, at);
  for (const output of outputs) {
    frame.set(output, at);
    at += output.length;
  }
  return frame;
}

/** Puts frames together again from the chunks in which a stream brings them.
 *  @returns takes a chunk, gives the frames that it completes */
export function answerReader(): (chunk: Buffer) => Answered[] {
  let chunks: Buffer[] = [];
  let size = 0;
  return (chunk) => {
    chunks.push(chunk);
    size += chunk.length;
    const frames: Answered[] = [];
    while (size >= 4) {
      if ((chunks[0] as Buffer).length < 4) chunks = [Buffer.concat(chunks)];
      const length = 4 + (chunks[0] as Buffer).readUInt32LE(0);
      if (size < length) break;
      const joined = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
      frames.push(readFrame(joined.subarray(0, length)));
      chunks = size === length ? [] : [joined.subarray(length)];
      size -= length;
    }
    return frames;
  };
}

function readFrame(frame: Buffer): Answered {
  const count = frame.readUInt32LE(4);
  const done = Array.from({ length: count }, (_, i) => frame.readUInt32LE(HEAD + 4 * i));
  return { done, sessionMs: frame.readDoubleLE(8), data: frame.subarray(HEAD + 4 * count) };
}

export const portBytes = ({ type, dims }: Port): number => elementBytes(type) * elementCount(dims);

export const bytesOf = (data: Content): Uint8Array =>
  data instanceof Uint8Array ? data : new Uint8Array(data.buffer, data.byteOffset, data.byteLength);

/** A port's content from its place in a block. */
export function contentAt(port: Port, block: Uint8Array, at: number): Content {
  // Not Buffer's slice, which would share the block.
  const bytes = Uint8Array.prototype.slice.call(block, at, at + portBytes(port));
  if (port.type === "s32") return new Int32Array(bytes.buffer);
  return port.type === "f32" ? new Float32Array(bytes.buffer) : bytes;
}
