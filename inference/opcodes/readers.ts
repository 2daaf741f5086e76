/** What element-wise kernels read, a part of the output at a time. */
import type { Slot, TensorData } from "../program/form.ts";
import { copyElements } from "./copy.ts";
import type { Kernel, PreparedOperand } from "./opcode.ts";

/** Elements that element-wise kernels compute at once: what they read and write stays in the processor's nearest cache. */
const CHUNK = 2048;

/** An element-wise kernel of `count` elements.
 *  @param compute a part of the output, whose first element is the output's `at` */
export const inChunks =
  (count: number, compute: (part: TensorData, at: number, a: Data, b: Data, c: Data) => void): Kernel =>
  (out, a, b, c, from = 0, to = count) => {
    for (let at = from; at < to; at += CHUNK)
      compute(out.subarray(at, Math.min(to, at + CHUNK)), at, a, b, c);
  };
type Data = TensorData | undefined;

/** Reads an operand at `count` elements of the output from `at` on, as many as `inChunks` computes at once. What it
 *  returns is valid until another operand of the same slot is read. */
export type Reader<T extends TensorData> = (data: Data, at: number, count: number) => T;

/** Memory for what is read, by slot; a kernel's operands are in different ones. Kernels never overlap. */
const INTEGERS = [0, 1, 2].map(() => new Int32Array(CHUNK));
const RESULTS = new Int32Array(CHUNK);
const FLOATS = [0, 1, 2].map(() => new Float32Array(CHUNK));

/** Memory for `count` results that are not stored yet. */
export const unstored = (count: number): Int32Array => RESULTS.subarray(0, count);

/** Numbers of an integer operand under broadcast. */
export function integerReader(
  outDims: readonly number[],
  operand: Pick<PreparedOperand, "type" | "dims">,
  slot: Slot,
): Reader<Int32Array> {
  const memory = INTEGERS[slot] as Int32Array;
  if (operand.type === "s32") return reader(outDims, operand.dims, memory, copyElements);
  return reader(outDims, operand.dims, memory, copyNumbers(operand.type === "s8" ? 128 : 0));
}

/** Numbers of a binary32 operand under broadcast. */
export const floatReader = (
  outDims: readonly number[],
  { dims }: PreparedOperand,
  slot: Slot,
): Reader<Float32Array> => reader(outDims, dims, FLOATS[slot] as Float32Array, copyElements);

type Copy = typeof copyElements;

const copyNumbers = (offset: number): Copy =>
  offset === 0
    ? (target, to, source, from, count) => target.set(source.subarray(from, from + count), to)
    : (target, to, source, from, count) => {
        for (let i = 0; i < count; i++) target[to + i] = (source[from + i] as number) - offset;
      };

/** @param copy numbers of the operand that follow one another */
function reader<T extends Int32Array | Float32Array>(
  outDims: readonly number[],
  dims: readonly number[],
  memory: T,
  copy: Copy,
): Reader<T> {
  const axes = readAxes(outDims, dims);
  const { size, stride } = axes.pop() as Axis;
  if (axes.length === 0 && stride === 1 && copy === copyElements)
    return (data, at, count) => (data as T).subarray(at, at + count) as T;
  return (data, at, count) => {
    let line = Math.floor(at / size);
    let inLine = at - line * size;
    for (let to = 0; to < count; line++, inLine = 0) {
      const end = Math.min(count, to + size - inLine);
      const from = lineStart(axes, line);
      if (stride === 1) copy(memory, to, data as TensorData, from + inLine, end - to);
      else {
        copy(memory, to, data as TensorData, from, 1);
        memory.fill(memory[to] as number, to + 1, end);
      }
      to = end;
    }
    return memory.subarray(0, count) as T;
  };
}

interface Axis {
  size: number;
  /** Elements of the operand from one index to the next; 0 where it is repeated. */
  readonly stride: number;
}

/** The output's axes as an operand is read along them; adjacent ones that are read alike are one. The last one has stride
 *  0 or 1. */
function readAxes(outDims: readonly number[], dims: readonly number[]): Axis[] {
  const axes: Axis[] = [];
  let stride = 1;
  for (let axis = outDims.length - 1, own = dims.length - 1; axis >= 0; axis--, own--) {
    const size = outDims[axis] as number;
    if (size === 1) continue;
    const isRepeated = own < 0 || dims[own] === 1;
    const inner = axes[0];
    if (inner !== undefined && (inner.stride === 0) === isRepeated) inner.size *= size;
    else axes.unshift({ size, stride: isRepeated ? 0 : stride });
    if (!isRepeated) stride *= size;
  }
  return axes.length === 0 ? [{ size: 1, stride: 1 }] : axes;
}

/** @param axes without the one that a line runs along */
function lineStart(axes: readonly Axis[], line: number): number {
  let start = 0;
  for (let axis = axes.length - 1, rest = line; axis >= 0; axis--) {
    const { size, stride } = axes[axis] as Axis;
    const outer = Math.floor(rest / size);
    start += (rest - outer * size) * stride;
    rest = outer;
  }
  return start;
}
