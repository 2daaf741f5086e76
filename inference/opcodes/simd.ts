/** Instructions of WebAssembly's vectors. */
import { leb, times, vector } from "../wasm.ts";

/** Eight bytes as unsigned 16-bit SIMD lanes. */
export const load8x8u = (offset: number): number[] => vector(0x02, 0, ...leb(offset));
/** 16 bytes as they are: eight signed 16-bit SIMD lanes, or four of 32 bits. */
export const loadVector = (offset: number): number[] => vector(0x00, 1, ...leb(offset));
/** A word in each of four SIMD lanes. */
export const loadSplat = (offset: number): number[] => vector(0x09, 2, ...leb(offset));
export const storeVector = (offset: number): number[] => vector(0x0b, 4, ...leb(offset));
/** A vector in which the bytes are repeated. */
export const pattern = (...bytes: number[]): number[] =>
  vector(0x0c, ...times(16 / bytes.length, () => bytes));
export const zeros = pattern(0);
/** Picks 16 bytes out of 32. */
export const shuffleBytes = (...bytes: number[]): number[] => vector(0x0d, ...bytes);
/** Picks four 32-bit SIMD lanes out of eight. */
export const shuffle = (...parts: number[]): number[] =>
  shuffleBytes(...parts.flatMap((part) => times(4, (byte) => [4 * part + byte])));
/** One of four SIMD lanes. */
export const lane = (index: number): number[] => vector(0x1b, index);
export const exclusiveOr = vector(0x51);
export const addInt32s = vector(0xae);
export const subtractInt32s = vector(0xb1);
export const multiplyInt32s = vector(0xb5);
/** Products of signed 16-bit SIMD lanes, pairs of them summed to 32 bits: unsigned bytes never saturate here. */
export const dotInt16s = vector(0xba);
