/** ONNX files and inputs that another process runs, as JSON. */

/** A file, and the inputs of each run. */
export interface SessionJob {
  readonly onnx: string;
  readonly runs: readonly (readonly SessionInput[])[];
  readonly outputs: readonly string[];
}

/** Bytes are base64, in this machine's order, which is little-endian on every processor here. */
export interface SessionInput {
  readonly name: string;
  readonly type: "uint8" | "int32" | "float32";
  readonly dims: readonly number[];
  readonly bytes: string;
}

/** Bytes of each output of each run, base64. */
export type SessionResult = readonly (readonly string[])[];
