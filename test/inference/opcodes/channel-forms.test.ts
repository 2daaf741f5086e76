/** The forms of requantization, in WebAssembly and in plain JavaScript, against their definition in exact integers. */
import { describe, expect, test } from "vitest";
import { EDGE_FLOAT_BITS, hostileParameters } from "../../../conformance/generate/random-values.ts";
import {
  CHANNEL_FORMS,
  CHUNK,
  type ChannelForm,
  type ChannelForms,
  plainForms,
} from "../../../inference/opcodes/channel-forms.ts";
import { Requantizer } from "../../../inference/opcodes/requantizer.ts";
import { wasmForms } from "../../../inference/opcodes/wasm-channel-forms.ts";
import { floatOfBits } from "../../../inference/program/tensor.ts";
import { type ChannelParameters, packChannel } from "../../../inference/program/weights.ts";
import { createRng, type Rng } from "../../support/rng.ts";

const [MIN, MAX] = [-(2 ** 31), 2 ** 31 - 1];
const NUMBERS = [0, 1, -1, 2, -2, 255, 256, 65_535, 65_536, 2 ** 24 + 1, MAX, MAX - 1, MIN, MIN + 1];
const ADDENDS = [0n, 1n, -1n, 2n ** 62n, 2n ** 63n - 1n, -(2n ** 63n), 2n ** 52n, -(2n ** 53n) - 1n];
const MULTIPLIERS = [0, 1, 2, 3, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1];

const number = (rng: Rng): number =>
  rng.chance(0.4) ? rng.pick(NUMBERS) : (rng.u32() | 0) >> rng.int(0, 31);

/** Any parameter word; every other one with a shift of 0 to 63 by which halves come to be rounded, and a result often
 *  inside of the clamps. */
function parameters(rng: Rng): ChannelParameters {
  const hostile = hostileParameters(rng);
  if (rng.chance(0.5)) return hostile;
  const shift = rng.int(0, 63);
  return {
    ...hostile,
    ...{ bias: rng.pick([0, 1, -1, MIN, MAX]), shift, zeroPoint: rng.pick([0, 128, 255]) },
    multiplier: rng.chance(0.5) ? rng.pick(MULTIPLIERS) : Math.floor(2 ** Math.max(0, shift - 20)) % 2 ** 32,
    addend: rng.chance(0.5) ? rng.pick(ADDENDS) : (1n << BigInt(shift)) >> 1n,
    scaleBits: rng.pick(EDGE_FLOAT_BITS),
  };
}

const clampedTo = (low: bigint, high: bigint, x: bigint): bigint => (x < low ? low : x > high ? high : x);

/** What EXACT.md states: the word, the byte, or both bytes. */
function defined(form: ChannelForm, x: number, p: ChannelParameters): number[] {
  const acc = BigInt.asIntN(32, BigInt(x) + BigInt(p.bias));
  const shifted = BigInt.asIntN(64, acc * BigInt(p.multiplier) + p.addend) >> BigInt(p.shift % 64);
  const word = BigInt.asIntN(32, shifted);
  const byte = (q: bigint): number => {
    const moved = q + BigInt(p.zeroPoint);
    const raised = moved > BigInt(p.lower) ? moved : BigInt(p.lower);
    return Number(raised < BigInt(p.upper) ? raised : BigInt(p.upper));
  };
  switch (form) {
    case "word":
      return [Number(word)];
    case "limited": {
      const limit = 2n ** BigInt(p.upper % 32);
      return [Number(clampedTo(-limit, limit - 1n, shifted))];
    }
    case "integer":
      return [byte(shifted)];
    case "binary32":
      return [byte(nearest(Math.fround(Math.fround(Number(acc)) * floatOfBits(p.scaleBits))))];
    case "planes": {
      const u = Number(clampedTo(0n, 65_535n, word));
      return [u >> 8, u & 255];
    }
  }
}

/** Half to even, saturated to s32, of NaN 0. */
function nearest(x: number): bigint {
  if (Number.isNaN(x)) return 0n;
  if (Math.abs(x) >= 2 ** 31) return BigInt(x > 0 ? MAX : MIN);
  const [floor, rest] = [BigInt(Math.floor(x)), x - Math.floor(x)];
  return rest > 0.5 || (rest === 0.5 && floor % 2n !== 0n) ? floor + 1n : floor;
}

const SENTINEL = 77;

/** Of each number of the span its word, byte or bytes. Nothing is written beside them. */
function computed(requantizer: Requantizer, form: ChannelForm, to: number, span: Span): number[][] {
  const { count } = span;
  const size = to + 2 * count + 3;
  const out = form === "word" || form === "limited" ? new Int32Array(size) : new Uint8Array(size);
  out.fill(SENTINEL);
  if (form === "word") requantizer.shiftedSums(out as Int32Array, to, span);
  else if (form === "limited") requantizer.limited(out as Int32Array, to, span);
  else if (form === "planes") requantizer.planes(out, to, count, span);
  else requantizer.requantize(form, out, to, span);
  const written = form === "planes" ? 2 * count : count;
  expect([...out.subarray(0, to), ...out.subarray(to + written)].every((value) => value === SENTINEL)).toBe(
    true,
  );
  return Array.from({ length: count }, (_, i) =>
    form === "planes" ? [out[to + i] as number, out[to + count + i] as number] : [out[to + i] as number],
  );
}
type Span = Parameters<Requantizer["shiftedSums"]>[2];

function compare(
  rng: Rng,
  forms: ChannelForms,
  channels: number,
  count: number,
  form: ChannelForm,
): number[] {
  const words = Array.from({ length: channels }, () => parameters(rng));
  const [from, to, ahead] = [rng.int(0, 5), rng.int(0, 5), rng.int(0, 3)];
  const data = Int32Array.from({ length: from + count + 3 }, () => number(rng));
  const bytes = packChannel(words);
  const moved = new Uint8Array(bytes.length + ahead);
  moved.set(bytes, ahead);
  const requantizer = new Requantizer(moved.subarray(ahead), channels, 0, 32, forms);
  const channel = rng.int(0, channels - 1);
  const found = computed(requantizer, form, to, { data, from, count, channel });
  const expected = found.map((_, i) =>
    defined(form, data[from + i] as number, words[(channel + i) % channels] as ChannelParameters),
  );
  if (JSON.stringify(found) !== JSON.stringify(expected))
    expect(found, JSON.stringify({ channels, count, from, to, channel })).toEqual(expected);
  return expected.flat();
}

describe.each([
  ["WebAssembly", wasmForms() as ChannelForms],
  ["plain", plainForms()],
])("channel forms, %s", (_name, forms) => {
  test.each(CHANNEL_FORMS)("behavior: %s equals the definition for any number and parameter word", (form) => {
    const rng = createRng(31);
    let inside = 0;
    for (let count = 0; count <= 70; count++) {
      for (const channels of [1, 2, rng.int(3, 70), Math.max(1, count)])
        inside += compare(rng, forms, channels, count, form).filter((value) => value % 255 !== 0).length;
    }
    expect(inside).toBeGreaterThan(1000);
  });

  test.each(CHANNEL_FORMS)("behavior: %s of more numbers and channels than are computed at once", (form) => {
    const rng = createRng(32);
    for (const [channels, count] of [
      [1, 2 * CHUNK + 5],
      [7, CHUNK + 1],
      [CHUNK, CHUNK + 9],
      [CHUNK + 3, 2 * CHUNK + 11],
      [2 * CHUNK, CHUNK],
    ] as const)
      compare(rng, forms, channels, count, form);
  });

  test("behavior: every shift, at the ends of every number", () => {
    const words: ChannelParameters[] = [];
    for (let shift = 0; shift < 256; shift += shift < 64 ? 1 : 37) {
      for (const addend of [...ADDENDS, (1n << BigInt(shift % 64)) >> 1n].map((b) => BigInt.asIntN(64, b)))
        for (const multiplier of MULTIPLIERS)
          words.push({
            ...{ bias: 0, multiplier, addend, shift, scaleBits: 0 },
            ...{ zeroPoint: 128, lower: 3, upper: 219 + (shift % 37), weightOffset: 0 },
          });
    }
    const requantizer = new Requantizer(packChannel(words), words.length, 0, 32, forms);
    for (const x of NUMBERS) {
      const data = new Int32Array(words.length).fill(x);
      for (const form of CHANNEL_FORMS) {
        const found = computed(requantizer, form, 0, { data, from: 0, count: words.length, channel: 0 });
        const expected = words.map((p) => defined(form, x, p));
        if (JSON.stringify(found) !== JSON.stringify(expected))
          expect(found, `${form} of ${x}`).toEqual(expected);
      }
    }
  });
});
