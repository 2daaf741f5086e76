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
