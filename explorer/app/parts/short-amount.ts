import { formatAmount } from "../../../base/amounts.ts";

/** Digits that are shown; all of them are in the hint. */
const SHOWN_DIGITS = 4;

/** An amount to four significant digits, rounded half up, with its unit. @param wei of any sign */
export function shortAmount(wei: bigint): string {
  const size = wei < 0n ? -wei : wei;
  const digits = size.toString().length;
  const step = 10n ** BigInt(Math.max(0, digits - SHOWN_DIGITS));
  const rounded = ((size + step / 2n) / step) * step;
  return formatAmount(wei < 0n ? -rounded : rounded).replace(/ ether$/, " ETH");
}
