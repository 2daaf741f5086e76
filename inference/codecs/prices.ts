import { BaseError } from "../../base/errors.ts";
import { readWord, writeWord } from "./abi.ts";

/** Closes, highs and lows in order of time, in any one unit. Source: docs/EXACT.md, section 5. */
export interface Prices {
  readonly closes: readonly bigint[];
  readonly highs: readonly bigint[];
  readonly lows: readonly bigint[];
}

const CAP = 2n ** 128n - 1n;
/** Returns are in units of 10^-4. */
const UNIT = 10_000n;
const LIMIT = 32_767n;
/** Below this size 10^4 times a number is exact in a double. */
const EXACT = 2 ** 39;

/** Prices of one uint256[].
 *  @throws BaseError PRICES_INVALID unless there are exactly n */
export function readPrices(words: Uint8Array, n: number, name: string): bigint[] {
  if (words.length !== 32 * n) {
    throw new BaseError({
      code: "PRICES_INVALID",
      shortMessage: `${name} holds ${words.length / 32} prices, must be ${n}.`,
      nextStep: "Give exactly as many closes, highs and lows as the model takes.",
      details: { name, count: words.length / 32, limit: n },
    });
  }
  return Array.from({ length: n }, (_, i) => readWord(words, 32 * i));
}

/** @throws BaseError PRICES_INVALID when a price is negative or above 2^256 − 1 */
export function writePrices(prices: readonly bigint[], name: string): Uint8Array {
  const words = new Uint8Array(32 * prices.length);
  prices.forEach((price, i) => {
    if (price < 0n || price >= 1n << 256n) {
      throw new BaseError({
        code: "PRICES_INVALID",
        shortMessage: `${name}[${i}] is ${price}, must be 0..2^256 - 1.`,
        nextStep: "Scale prices to unsigned integers, for example by 10^4.",
        details: { name, index: i, value: price },
      });
    }
    writeWord(words, 32 * i, price);
  });
  return words;
}

/** `10^4 · a / b` toward zero, 0 where b is 0, clamped to ±32,767. */
function ratio(a: bigint, b: bigint): number {
  if (b === 0n) return 0;
  const [small, divisor] = [Number(a), Number(b)];
  if (Math.abs(small) < EXACT && divisor < EXACT) {
    // Product, remainder and difference are exact in doubles, and so is the division of a multiple.
    const product = small * Number(UNIT);
    const exact = (product - (product % divisor)) / divisor;
    return Math.max(-Number(LIMIT), Math.min(exact, Number(LIMIT))) + 0; // -0 becomes 0
  }
  const quotient = (UNIT * a) / b;
  return Number(quotient > LIMIT ? LIMIT : quotient < -LIMIT ? -LIMIT : quotient);
}

/** Content of the CODEC step, s32 [3, n − 1]: returns, ranges, distance of the last close. */
export function pricesTensor(prices: Prices, out: Int32Array): void {
  const cap = (price: bigint): bigint => (price > CAP ? CAP : price);
  const closes = prices.closes.map(cap);
  const steps = closes.length - 1;
  const last = closes[steps] as bigint;
  for (let t = 1; t <= steps; t++) {
    const close = closes[t] as bigint;
    const before = closes[t - 1] as bigint;
    out[t - 1] = ratio(close - before, before);
    out[steps + t - 1] = ratio(cap(prices.highs[t] as bigint) - cap(prices.lows[t] as bigint), close);
    out[2 * steps + t - 1] = ratio(last - close, close);
  }
}
