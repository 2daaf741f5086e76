import { ipKeyGenerator } from "express-rate-limit";

/** What counts as one caller: an address, or the subnet /56 where that is one of IPv6, all of which one machine can
 *  have. */
export const addressKey = (ip: string | undefined): string =>
  ip === undefined ? "unknown" : ipKeyGenerator(ip);
