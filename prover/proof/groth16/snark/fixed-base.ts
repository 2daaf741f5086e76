/** Many multiples of one generator, by a table of the multiples of its powers of 2^8. */
import type { Curve } from "ffjavascript";
import { writeFields } from "./binfile.ts";

/** Bits of a window, windows of a scalar. */
const WINDOW = 8;
const WINDOWS = 256 / WINDOW;
const DIGITS = 2 ** WINDOW;
/** Points that are made affine at a time. */
const BATCH = 1024;

/** @param curve of one thread, whose memory nothing else uses meanwhile
 *  @param scalars 0 .. r − 1
 *  @returns affine points as zkey files hold them: coordinates little-endian, in Montgomery form, infinity all zero */
export function multiplyGenerator(curve: Curve, group: "G1" | "G2", scalars: readonly bigint[]): Uint8Array {
  const { tm } = curve;
  const prefix = group === "G1" ? "g1m" : "g2m";
  const call = (name: string, ...pointers: number[]): void => {
    (tm.instance.exports[`${prefix}_${name}`] as (...pointers: number[]) => void)(...pointers);
  };
  const { n8 } = curve[group].F;
  const [affine, jacobian] = [2 * n8, 3 * n8];
  const free = tm.u32[0] as number;
  reserve(curve, (WINDOWS * DIGITS + BATCH) * (affine + jacobian) + (1 << 20));
  const table = tm.alloc(WINDOWS * DIGITS * affine);
  const points = tm.alloc(Math.max(BATCH, DIGITS) * jacobian);
  const done = tm.alloc(BATCH * affine);
  fillTable();
  const out = new Uint8Array(scalars.length * affine);
  for (let first = 0; first < scalars.length; first += BATCH) {
    const count = Math.min(BATCH, scalars.length - first);
    const digits = writeFields(scalars.slice(first, first + count));
    for (let i = 0; i < count; i++) multiply(digits, 32 * i, points + i * jacobian);
    call("batchToAffine", points, count, done);
    out.set(tm.u8.subarray(done, done + count * affine), first * affine);
  }
  tm.u32[0] = free;
  return out;

  /** Entry (window, digit): digit · 2^(8·window) · generator. */
  function fillTable(): void {
    const base = tm.alloc(jacobian);
    tm.u8.set(curve[group].g, base);
    for (let window = 0; window < WINDOWS; window++) {
      call("zero", points);
      for (let digit = 1; digit < DIGITS; digit++) {
        call("add", points + (digit - 1) * jacobian, base, points + digit * jacobian);
      }
      call("batchToAffine", points, DIGITS, table + window * DIGITS * affine);
      call("add", points + (DIGITS - 1) * jacobian, base, base);
    }
  }

  function multiply(digits: Uint8Array, first: number, point: number): void {
    call("zero", point);
    for (let window = 0; window < WINDOWS; window++) {
      const digit = digits[first + window] as number;
      if (digit !== 0) call("addMixed", point, table + (window * DIGITS + digit) * affine, point);
    }
  }
}

/** Makes free memory, and renews the views that a growth detaches. */
function reserve({ tm }: Curve, bytes: number): void {
  const missing = (tm.u32[0] as number) + bytes - tm.memory.buffer.byteLength;
  if (missing > 0) tm.memory.grow(Math.ceil(missing / 65_536));
  tm.u8 = new Uint8Array(tm.memory.buffer);
  tm.u32 = new Uint32Array(tm.memory.buffer);
}
