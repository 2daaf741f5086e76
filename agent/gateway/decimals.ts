/** Numbers as they are written, exactly: results hold amounts of wei, which no double holds. */

export interface Decimal {
  readonly digits: bigint;
  /** value = digits · 10^exponent, as it was written: 1.50 is 150 · 10^-2 */
  readonly exponent: number;
}

const NUMERAL = /^(-?)(\d{1,3}(?:,\d{3})+|\d+)(?:\.(\d+))?(?:e([+-]?\d{1,3}))?$/i;

/** @returns undefined for what is no number, or a larger one than anybody writes */
export function parseDecimal(text: string): Decimal | undefined {
  const [, sign, whole, fraction = "", power = "0"] = NUMERAL.exec(text) ?? [];
  if (whole === undefined || text.length > 200) return undefined;
  const digits = BigInt(whole.replaceAll(",", "") + fraction);
  return { digits: sign === "-" ? -digits : digits, exponent: Number(power) - fraction.length };
}

export function areEqual(a: Decimal, b: Decimal): boolean {
  const [x, y] = aligned(a, b);
  return x === y;
}

/** True if the returned number rounds to the written one, which keeps at least three digits of it. */
export function roundsTo(returned: Decimal, written: Decimal): boolean {
  if (abs(written.digits) < 100n) return false;
  const [x, y] = aligned(returned, written);
  const unit = 10n ** BigInt(written.exponent - Math.min(returned.exponent, written.exponent));
  return 2n * abs(x - y) <= unit;
}

/** Both in units of the smaller power of ten. */
function aligned(a: Decimal, b: Decimal): [bigint, bigint] {
  const exponent = Math.min(a.exponent, b.exponent);
  const scaled = (one: Decimal) => one.digits * 10n ** BigInt(one.exponent - exponent);
  return [scaled(a), scaled(b)];
}

const abs = (value: bigint): bigint => (value < 0n ? -value : value);
