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

/** Runs and their outputs travel as bytes of their own beside node's channel, which takes longer over a message than
 *  the run of a small layer; many in one frame, since each frame costs too. */
export interface Frame {
  /** Of the runs in it; of a session that is open now, in an answer without data. */
  readonly ids: readonly number[];
  /** To the child: the session's number. From it: milliseconds of `session.run`, with its tensors made and read, of all
   *  runs together. */
  readonly value: number;
  /** All inputs of each run, or the output of each. */
  readonly data: Uint8Array;
}

/** What opens a session, by node's channel. */
export interface ToChild {
  readonly id: number;
  /** by which runs name the session */
  readonly session: number;
  readonly source: SessionSource;
  readonly threads: number;
}

/** What could not be opened or run, and why, by node's channel. */
export interface FromChild {
  readonly failed: readonly { readonly id: number; readonly reason: string }[];
}

/** File descriptors of the streams of frames, in the child. */
export const ANSWERS_FD = 4;
export const RUNS_FD = 5;

/** Bytes before the ids: length of what follows u32, number of ids u32, value f64; little-endian. */
const HEAD = 16;

/** One frame of a stream: head, ids as u32, data. */
export function toFrame(ids: readonly number[], value: number, parts: readonly Uint8Array[]): Buffer {
  const size = parts.reduce((sum, part) => sum + part.length, HEAD + 4 * ids.length);
  const frame = Buffer.allocUnsafe(size);
  frame.writeUInt32LE(size - 4, 0);
  frame.writeUInt32LE(ids.length, 4);
  frame.writeDoubleLE(value, 8);
  let at = HEAD;
  for (const id of ids) at = frame.writeUInt32LE(id, at);
  for (const part of parts) {
    frame.set(part, at);
    at += part.length;
  }
  return frame;
}

/** Puts frames together again from the chunks in which a stream brings them.
 *  @returns takes a chunk, gives the frames that it completes */
export function frameReader(): (chunk: Buffer) => Frame[] {
  let chunks: Buffer[] = [];
  let size = 0;
  return (chunk) => {
    chunks.push(chunk);
    size += chunk.length;
    const frames: Frame[] = [];
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

function readFrame(frame: Buffer): Frame {
  const count = frame.readUInt32LE(4);
  const ids = Array.from({ length: count }, (_, i) => frame.readUInt32LE(HEAD + 4 * i));
  return { ids, value: frame.readDoubleLE(8), data: frame.subarray(HEAD + 4 * count) };
}

export const portBytes = ({ type, dims }: Port): number => elementBytes(type) * elementCount(dims);

export const bytesOf = (data: Content): Uint8Array =>
  data instanceof Uint8Array ? data : new Uint8Array(data.buffer, data.byteOffset, data.byteLength);

/** A port's content from its place in a block, as a copy. */
export function contentAt(port: Port, block: Uint8Array, at: number): Content {
  // Not Buffer's slice, which would share the block.
  return viewAt(port, Uint8Array.prototype.slice.call(block, at, at + portBytes(port)), 0);
}

/** A port's content from its place in a block, sharing the block's memory where its alignment allows. */
export function viewAt({ type, dims }: Port, block: Uint8Array, at: number): Content {
  const count = elementCount(dims);
  if (type !== "s32" && type !== "f32") return block.subarray(at, at + count);
  const start = block.byteOffset + at;
  const View = type === "s32" ? Int32Array : Float32Array;
  if (start % 4 === 0) return new View(block.buffer as ArrayBuffer, start, count);
  return new View(Uint8Array.prototype.slice.call(block, at, at + 4 * count).buffer);
}
