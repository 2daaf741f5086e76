import { elementCount, NONE, type Step, type TensorData } from "../program/form.ts";
import { bitsOf } from "../program/tensor.ts";
import { readWord } from "./broadcast.ts";
import type { OpcodeForm } from "./opcode.ts";

const PAD = -1;

/** MOVE: the source viewed under at most four dims, each coordinate affine in two output axes.
 *  Source: docs/EXACT.md, section 3. */
export const move: OpcodeForm = {
  prepare(step) {
    const map = sourceMap(step);
    const identity = map.every((source, i) => source === i);
    const pad = step.k;
    const wide = step.type === "s32" || step.type === "f32";
    return (out, a, b) => {
      const target = wide ? bitsOf(out) : out;
      const source = wide ? bitsOf(a as TensorData) : (a as TensorData);
      if (identity) {
        target.set(source.subarray(0, map.length));
        return;
      }
      const other = b === undefined ? undefined : wide ? bitsOf(b) : b;
      for (let i = 0; i < map.length; i++) {
        const from = map[i] as number;
        target[i] =
          from !== PAD ? (source[from] as number) : other === undefined ? pad : (other[i] as number);
      }
    };
  },
  reads(step, element, source) {
    const { type, dims } = source.shape(step.a);
    const from = sourceElement(step, indexOf(step.dims, element));
    if (from !== PAD) return [readWord(step.a, type, dims, from)];
    return step.b === NONE ? [] : [readWord(step.b, step.type, step.dims, element)];
  },
};

function indexOf(dims: readonly number[], element: number): number[] {
  const index = new Array<number>(dims.length);
  let rest = element;
  for (let axis = dims.length - 1; axis >= 0; axis--) {
    index[axis] = rest % (dims[axis] as number);
    rest = Math.floor(rest / (dims[axis] as number));
  }
  return index;
}

/** Element of the source for one output index, or PAD. Every sum stays below 2^49: exact in a double. */
function sourceElement(step: Step, index: readonly number[]): number {
  let element = 0;
  for (const { view, a, p, b, q, c } of step.coordinates) {
    const s = a * (index[p] as number) + b * (index[q] as number) + c;
    if (s < 0 || s >= view) return PAD;
    element = element * view + s;
  }
  return element + 0; // -0 becomes 0
}

/** Source element of each output element, or -1 where the pad or the second operand stands. */
export function sourceMap(step: Step): Int32Array {
  const { dims } = step;
  const map = new Int32Array(elementCount(dims));
  const index = new Array<number>(dims.length).fill(0);
  for (let i = 0; i < map.length; i++) {
    map[i] = sourceElement(step, index);
    for (let axis = dims.length - 1; axis >= 0; axis--) {
      index[axis] = (index[axis] as number) + 1;
      if (index[axis] !== dims[axis]) break;
      index[axis] = 0;
    }
  }
  return map;
}
