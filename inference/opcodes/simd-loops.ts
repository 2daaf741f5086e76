/** The loops of products by WebAssembly's vectors. */
import {
  added,
  advance,
  compileShared,
  compileWasm,
  get,
  I32,
  moved,
  number32,
  OP,
  set,
  times,
  V128,
  type WasmFunction,
} from "../wasm.ts";
import type { WeightRows } from "./products.ts";
import {
  addInt32s,
  dotInt16s,
  load8x8u,
  loadSplat,
  loadVector,
  multiplyInt32s,
  shuffle,
  storeVector,
  subtractInt32s,
  zeros,
} from "./simd.ts";
import { numbersOf } from "./simd-numbers.ts";

/** Weight rows that are multiplied beside each other. */
export const BLOCK = 4;
/** Elements that one round of the inner loop takes of each row: one vector. With two vectors a round, engines load both at
 *  its start, and have no registers left for the sums. */
export const STRIDE = 8;

/** Parameters: the activation rows, their end, and bytes of one; Σ a of the first row; the weights, bytes from one row of a
 *  block to the next, and from one block to the next; starts and offsets of the first block; the sums of the first row,
 *  their end, and bytes of one row's sums; where a block's weights are widened to, and their end. Locals: an activation
 *  row, its Σ a, its sums, and its end; the position in it and in the one behind it, in each weight row of the block, and
 *  in the widened ones; eight activations of both, eight weights, and the sums of each weight row with either activation
 *  row. */
const [A, A_END, A_BYTES, TOTALS, W, W_ROW, W_BLOCK, CORRECTION, OUT, OUT_END, OUT_BYTES, WIDE, WIDE_END] = [
  0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12,
];
const [ROW, ROW_TOTAL, ROW_OUT, ROW_END, AT, W_AT, WIDE_AT] = [13, 14, 15, 16, 17, 19, 19 + BLOCK];
const [X, EIGHT, SUM] = [20 + BLOCK, 22 + BLOCK, 23 + BLOCK];
const sumOf = (activation: number, row: number): number => SUM + activation * BLOCK + row;
/** Starts and offsets of the rows of a block, which its sums are corrected by. */
const CORRECTION_BYTES = 2 * 4 * BLOCK;

/** Sums the SIMD lanes of four vectors into one: pairs first, then pairs of pairs. */
function sumInt32s(first: number): number[] {
  const pairs = (a: number, b: number): number[] => [
    ...[...get(a), ...get(b), ...shuffle(0, 4, 1, 5)],
    ...[...get(a), ...get(b), ...shuffle(2, 6, 3, 7)],
    ...addInt32s,
  ];
  const low = [...pairs(first, first + 1), ...set(first)];
  const halves = [...low, ...pairs(first + 2, first + 3), ...set(first + 1)];
  const both = [...get(first), ...get(first + 1)];
  return [...halves, ...both, ...shuffle(0, 1, 4, 5), ...both, ...shuffle(2, 3, 6, 7), ...addInt32s];
}

/** What the loops are made for: bytes of an activation, 1, or 2 of a signed number; weights as words or rows, see
 *  SimdProducts; and activation rows that share each load of weights. */
interface Loops {
  readonly size: 1 | 2;
  readonly layout: WeightRows["layout"];
  readonly rows: 1 | 2;
}

/** For each block of weight rows: widen them, where activation rows share them; then for each activation row or two:
 *  multiply, sum, correct, store. */
function body({ size, layout, rows }: Loops): number[] {
  const both = (part: (activation: number) => number[]): number[] => times(rows, part);
  const isWords = layout === "words";
  const isWide = rows === 2;
  const loadActivations = size === 1 ? load8x8u(0) : loadVector(0);
  const loadStored = (row: number): number[] =>
    isWords ? [...get(W_AT), ...load8x8u(STRIDE * row)] : [...get(W_AT + row), ...load8x8u(0)];
  const firstStored = times(isWords ? 1 : BLOCK, (row) => [
    ...(row === 0 ? get(W) : added(W_AT + row - 1, get(W_ROW))),
    ...set(W_AT + row),
  ]);
  const nextStored = isWords
    ? moved(W_AT, number32(STRIDE * BLOCK))
    : times(BLOCK, (row) => moved(W_AT + row, number32(STRIDE)));
  const widened = [
    ...[...firstStored, ...get(WIDE), ...set(WIDE_AT)],
    ...OP.loop,
    ...times(BLOCK, (row) => [...get(WIDE_AT), ...loadStored(row), ...storeVector(2 * STRIDE * row)]),
    ...nextStored,
    ...advance(WIDE_AT, number32(2 * STRIDE * BLOCK), get(WIDE_END)),
  ];
  const loadWeights = (row: number): number[] =>
    isWide ? [...get(WIDE_AT), ...loadVector(2 * STRIDE * row)] : loadStored(row);
  const products = [
    ...both((activation) => [...get(AT + activation), ...loadActivations, ...set(X + activation)]),
    ...times(BLOCK, (row) => [
      ...[...loadWeights(row), ...set(EIGHT)],
      ...both((activation) => [
        ...[...get(sumOf(activation, row)), ...get(X + activation), ...get(EIGHT)],
        ...[...dotInt16s, ...addInt32s, ...set(sumOf(activation, row))],
      ]),
    ]),
  ];
  const corrected = (activation: number): number[] => [
    ...[...sumInt32s(sumOf(activation, 0)), ...get(CORRECTION), ...loadVector(0), ...addInt32s],
    ...[...get(CORRECTION), ...loadVector(4 * BLOCK), ...get(ROW_TOTAL), ...loadSplat(4 * activation)],
    ...[...multiplyInt32s, ...subtractInt32s],
  ];
  return [
    ...OP.loop,
    ...(isWide ? widened : []),
    ...[...get(A), ...set(ROW), ...get(OUT), ...set(ROW_OUT), ...get(TOTALS), ...set(ROW_TOTAL)],
    ...OP.loop,
    ...both((activation) => times(BLOCK, (row) => [...zeros, ...set(sumOf(activation, row))])),
    ...[...get(ROW), ...set(AT), ...added(ROW, get(A_BYTES)), OP.tee, ROW_END, ...set(AT + 1)],
    ...(isWide ? [...get(WIDE), ...set(WIDE_AT)] : firstStored),
    ...OP.loop,
    ...products,
    ...(isWide ? moved(WIDE_AT, number32(2 * STRIDE * BLOCK)) : nextStored),
    ...(rows === 2 ? moved(AT + 1, number32(size * STRIDE)) : []),
    ...advance(AT, number32(size * STRIDE), get(ROW_END)),
    ...both((activation) => [
      ...[...get(ROW_OUT), ...corrected(activation), ...storeVector(0)],
      ...[...moved(ROW_OUT, get(OUT_BYTES)), ...moved(ROW, get(A_BYTES))],
    ]),
    ...moved(ROW_TOTAL, number32(4 * rows)),
    ...advance(ROW, number32(0), get(A_END)),
    ...[...moved(W, get(W_BLOCK)), ...moved(CORRECTION, number32(CORRECTION_BYTES))],
    ...advance(OUT, number32(4 * BLOCK), get(OUT_END)),
  ];
}

/** One, or two activation rows, which share each load of weights; and a row of numbers. */
export type Call = "one" | "two" | "numbers";

function loopsOf(size: 1 | 2, layout: WeightRows["layout"]): readonly WasmFunction<Call>[] {
  const functionOf = (name: "one" | "two"): WasmFunction<Call> => ({
    name,
    parameters: 13,
    locals: [
      [7 + BLOCK, I32],
      [3 + 2 * BLOCK, V128],
    ],
    body: body({ size, layout, rows: name === "one" ? 1 : 2 }),
  });
  return [functionOf("one"), functionOf("two"), numbersOf(layout)];
}

/** Makes instances of the loops for either kind of activations and either layout of weights; undefined where the engine
 *  lacks vectors. */
export const INSTANTIATE = {
  bytes: { words: compileWasm(...loopsOf(1, "words")), rows: compileWasm(...loopsOf(1, "rows")) },
  numbers: { words: compileWasm(...loopsOf(2, "words")), rows: compileWasm(...loopsOf(2, "rows")) },
} as const;

/** The same for weights in words, in memory that other threads use too. */
export const INSTANTIATE_SHARED = {
  bytes: compileShared(...loopsOf(1, "words")),
  numbers: compileShared(...loopsOf(2, "words")),
} as const;
