/** Exact decimals for people: a number of the output divided by its scale, rounded half away from zero. */

const MINUS = "−";
const NUMERAL = /^(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/;

/** A positive number as digits · 10^exponent, by its shortest decimal form: 0.1 is a tenth. */
function exact(scale: number): { readonly digits: bigint; readonly exponent: number } {
  const [, whole = "", fraction = "", power = "0"] = NUMERAL.exec(String(scale)) ?? [];
  return { digits: BigInt(whole + fraction), exponent: Number(power) - fraction.length };
}

/** number / scale in units of 10^-decimals, rounded half away from zero. @param scale finite, above 0 */
export function rounded(number: bigint, scale: number, decimals: number): bigint {
  const { digits, exponent } = exact(scale);
  const power = decimals - exponent;
  const [over, under] = power >= 0 ? [10n ** BigInt(power), digits] : [1n, digits * 10n ** BigInt(-power)];
  const size = (number < 0n ? -number : number) * over;
  const quotient = (2n * size + under) / (2n * under);
  return number < 0n ? -quotient : quotient;
}

/** Digits with a point, as JSON writes a number. @param units of 10^-decimals */
export function plainDecimal(units: bigint, decimals: number): string {
  const digits = (units < 0n ? -units : units).toString().padStart(decimals + 1, "0");
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals);
  return `${units < 0n ? "-" : ""}${whole}${fraction === "" ? "" : `.${fraction}`}`;
}

/** The same for people: with a minus sign, and a plus where it is asked for. */
export function shownDecimal(units: bigint, decimals: number, sign = false): string {
  const plain = plainDecimal(units < 0n ? -units : units, decimals);
  if (units < 0n) return `${MINUS}${plain}`;
  return sign && units > 0n ? `+${plain}` : plain;
}
