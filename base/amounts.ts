/** Amounts of the chain's own money, with or without a unit. */

/** Decimal places of a unit above wei. */
const UNITS: Readonly<Record<string, number>> = { wei: 0, gwei: 9, ether: 18, eth: 18 };
const AMOUNT = /^(\d{1,30})(?:\.(\d{1,18}))?\s*(wei|gwei|ether|eth)?$/i;

/** What a person may write as an amount. */
export const AMOUNT_FORM = 'must be wei, or a number with its unit, such as "0.05 ether", 20gwei or 1000wei';

/** Wei of an amount such as `1000`, `20gwei` or `0.05 ether`; a number without a unit is wei.
 *  @returns undefined for what has no such form, and for a fraction of a wei */
export function parseAmount(text: string): bigint | undefined {
  const [, whole, fraction = "", unit = "wei"] = AMOUNT.exec(text.trim()) ?? [];
  if (whole === undefined) return undefined;
  const places = UNITS[unit.toLowerCase()] as number;
  const digits = fraction.replace(/0+$/, "");
  if (digits.length > places) return undefined;
  return BigInt(whole + digits.padEnd(places, "0"));
}

/** From which an amount is written in ether, and in gwei; below in wei. */
const LEAST_ETHER = 10n ** 12n;
const LEAST_GWEI = 10n ** 6n;

/** An amount for people: exact, with its unit, in the form that `parseAmount` reads.
 *  @param wei below 0 with a minus sign, which `parseAmount` does not take */
export function formatAmount(wei: bigint): string {
  const size = wei < 0n ? -wei : wei;
  const unit = size === 0n || size >= LEAST_ETHER ? "ether" : size >= LEAST_GWEI ? "gwei" : "wei";
  const places = UNITS[unit] as number;
  const digits = size.toString().padStart(places + 1, "0");
  const whole = digits.slice(0, digits.length - places);
  const fraction = digits.slice(digits.length - places).replace(/0+$/, "");
  return `${wei < 0n ? "-" : ""}${whole}${fraction === "" ? "" : `.${fraction}`} ${unit}`;
}

/** An estimate to `digits` significant digits, rounded up: what is shown is enough. @param wei 0 or more */
export function roundUp(wei: bigint, digits: number): bigint {
  const step = 10n ** BigInt(Math.max(0, wei.toString().length - digits));
  return ((wei + step - 1n) / step) * step;
}
