/** Which IP addresses lie in the public internet. Source: the IANA registries of special-purpose addresses. */
import { BlockList, isIP } from "node:net";

const SPECIAL_IPV4 = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
] as const;
/** Inside 2000::/3, the only part of IPv6 that is routed. 2002::/16 carries IPv4 addresses of any kind. */
const SPECIAL_IPV6 = [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
] as const;

const special = new BlockList();
for (const [network, prefix] of SPECIAL_IPV4) special.addSubnet(network, prefix, "ipv4");
for (const [network, prefix] of SPECIAL_IPV6) special.addSubnet(network, prefix, "ipv6");
const global = new BlockList();
global.addSubnet("2000::", 3, "ipv6");

/** False for loopback, private, link-local, reserved and documentation ranges, for IPv6 addresses that carry an IPv4
 *  address, and for text that is no address. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !special.check(address, "ipv4");
  return family === 6 && global.check(address, "ipv6") && !special.check(address, "ipv6");
}
