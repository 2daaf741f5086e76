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

export interface FromChild {
  /** Runs that ended and sessions that are open. */
  readonly done: readonly number[];
  /** The output of each run in `done`. */
  readonly data: Uint8Array;
  /** Time of `session.run`, with its tensors made and read, of all runs in `done`. */
  readonly sessionMs: number;
  readonly failed: readonly { readonly id: number; readonly reason: string }[];
}

export const portBytes = ({ type, dims }: Port): number => elementBytes(type) * elementCount(dims);

export const bytesOf = (data: Content): Uint8Array =>
  data instanceof Uint8Array ? data : new Uint8Array(data.buffer, data.byteOffset, data.byteLength);

/** A port's content from its place in a block. */
export function contentAt(port: Port, block: Uint8Array, at: number): Content {
  const bytes = block.slice(at, at + portBytes(port));
  if (port.type === "s32") return new Int32Array(bytes.buffer);
  return port.type === "f32" ? new Float32Array(bytes.buffer) : bytes;
}
