import { elementCount, lastDim } from "../program/form.ts";
import { unpackDot } from "../program/weights.ts";
import type { OpcodeForm, PreparedOperand } from "./opcode.ts";
import { Requantizer } from "./requantizer.ts";

/** DOT: activation row times weight row, plus bias, in groups; s32, or requantized. Source: docs/EXACT.md, section 3. */
export const dot: OpcodeForm = {
  prepare(step, [, table]) {
    const { dims, words } = table as PreparedOperand;
    const [n, k] = dims as [number, number];
    const weights = unpackDot(words as Uint8Array, n, k);
    const rowBytes = 32 * (Math.ceil(k / 32) + 1);
    const channels = new Requantizer(words as Uint8Array, n, rowBytes - 32, rowBytes);
    const rows = elementCount(step.dims) / n;
    const groups = step.k;
    const perGroup = n / groups;
    const sums = new Int32Array(perGroup);
    const { variant } = step;
    return (out, a) => {
      const input = a as Uint8Array;
      for (let group = 0; group < groups * rows; group++) {
        const firstChannel = (group % groups) * perGroup;
        const total = accumulate(sums, input, group * k, weights, firstChannel * k, k);
        const to = group * perGroup;
        for (let i = 0; i < perGroup; i++) {
          const channel = firstChannel + i;
          const offset = Math.imul(channels.weightOffset[channel] as number, total);
          const acc = ((sums[i] as number) - offset + (channels.bias[channel] as number)) | 0;
          out[to + i] =
            variant === 0
              ? acc
              : variant === 1
                ? channels.integer(acc, channel)
                : channels.binary32(acc, channel);
        }
      }
    };
  },
  reads(step, element, source) {
    const n = lastDim(step.dims);
    const weights = source.weights(step.b).dims[0] as number;
    const channel = element % n;
    const group = Math.floor((channel * step.k) / weights);
    return [
      { operand: step.a, row: Math.floor(element / n) * step.k + group },
      { operand: step.b, row: channel },
    ];
  },
};

/** `Σ a·w` of one activation row with consecutive weight rows, into `sums`. At most 992 · 255 · 255 < 2^31.
 *  @returns Σ a */
function accumulate(
  sums: Int32Array,
  a: Uint8Array,
  aAt: number,
  w: Uint8Array,
  wAt: number,
  k: number,
): number {
  const rows = sums.length;
  let total = 0;
  for (let i = 0; i < k; i++) total += a[aAt + i] as number;
  let row = 0;
  // Four rows at once share each load of the activation.
  for (; row + 4 <= rows; row += 4) {
    const w0 = wAt + row * k;
    const w1 = w0 + k;
    const w2 = w1 + k;
    const w3 = w2 + k;
    let s0 = 0;
    let s1 = 0;
    let s2 = 0;
    let s3 = 0;
    for (let i = 0; i < k; i++) {
      const x = a[aAt + i] as number;
      s0 = (s0 + x * (w[w0 + i] as number)) | 0;
      s1 = (s1 + x * (w[w1 + i] as number)) | 0;
      s2 = (s2 + x * (w[w2 + i] as number)) | 0;
      s3 = (s3 + x * (w[w3 + i] as number)) | 0;
    }
    sums[row] = s0;
    sums[row + 1] = s1;
    sums[row + 2] = s2;
    sums[row + 3] = s3;
  }
  for (; row < rows; row++) {
    const w0 = wAt + row * k;
    let s = 0;
    for (let i = 0; i < k; i++) s = (s + (a[aAt + i] as number) * (w[w0 + i] as number)) | 0;
    sums[row] = s;
  }
  return total;
}
