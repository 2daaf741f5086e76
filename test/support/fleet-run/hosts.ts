/** The machine of each daemon: a network namespace of its own where root allows that, which can be cut off from all
 *  others; and its ways to the node and the database, each of which can be cut alone. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { startTcpProxy, type TcpProxy } from "../tcp-proxy.ts";

/** Addresses of 198.18.0.0/15, which are there for tests of networks (RFC 2544). */
const addressOf = (host: number, end: number): string => `198.18.${process.pid % 256}.${host * 4 + end}`;

const ip = (...args: readonly string[]): boolean => spawnSync("ip", args, { stdio: "ignore" }).status === 0;

/** Removes the networks of a run that was killed. */
function removeAbandoned(): void {
  const { stdout } = spawnSync("ip", ["netns", "list"], { encoding: "utf8" });
  for (const [name, pid, number] of (stdout ?? "").matchAll(/^assay-(\d+)-(\d+)/gm)) {
    if (existsSync(`/proc/${pid}`)) continue;
    ip("netns", "del", name);
    ip("link", "del", `v${pid}h${number}`);
  }
}

/** Whether a host can have a network of its own here. */
export const canIsolate: boolean = (() => {
  removeAbandoned();
  const name = `assay-${process.pid}-try`;
  if (!ip("netns", "add", name)) return false;
  // Sysctls and links need more rights than the name does.
  const link = ["link", "add", `t${process.pid}`, "type", "veth", "peer", "name", "eth0", "netns", name];
  const isAllowed = ip("-n", name, "link", "set", "lo", "up") && ip(...link);
  ip("netns", "del", name);
  return isAllowed;
})();

export interface Host {
  /** that its servers listen on */
  readonly address: string;
  /** a command that runs the one behind it there */
  readonly through: readonly string[];
  readonly node: TcpProxy;
  readonly database: TcpProxy;
  /** of the machine that has node and database */
  readonly gateway: string;
  /** Nothing comes in, nothing goes out. */
  cut(): void;
  mend(): void;
  remove(): void;
}

let hosts = 0;

/** @param nodePort, databasePort on this machine */
export async function startHost(nodePort: number, databasePort: number): Promise<Host> {
  hosts += 1;
  const network = canIsolate ? startNetwork(hosts) : undefined;
  const gateway = network?.gateway ?? "127.0.0.1";
  const [node, database] = await Promise.all([
    startTcpProxy(nodePort, gateway),
    startTcpProxy(databasePort, gateway),
  ]);
  const proxies = [node, database];
  return {
    ...{ node, database, gateway },
    address: network?.address ?? "127.0.0.1",
    through: network?.through ?? [],
    cut: () => {
      if (network !== undefined) return network.cut();
      for (const proxy of proxies) proxy.cut();
    },
    mend: () => {
      if (network !== undefined) return network.mend();
      for (const proxy of proxies) proxy.mend();
    },
    remove: () => {
      for (const proxy of proxies) proxy.stop();
      network?.remove();
    },
  };
}

/** A namespace that is tied to this machine by one link. */
function startNetwork(number: number) {
  const name = `assay-${process.pid}-${number}`;
  const link = `v${process.pid}h${number}`;
  const [gateway, address] = [addressOf(number, 1), addressOf(number, 2)];
  const must = (...args: readonly string[]): void => {
    if (!ip(...args)) throw new Error(`ip ${args.join(" ")} failed.`);
  };
  const remove = (): void => {
    ip("netns", "del", name);
    ip("link", "del", link);
  };
  must("netns", "add", name);
  must("link", "add", link, "type", "veth", "peer", "name", "eth0", "netns", name);
  must("address", "add", `${gateway}/30`, "dev", link);
  must("link", "set", link, "up");
  must("-n", name, "address", "add", `${address}/30`, "dev", "eth0");
  must("-n", name, "link", "set", "eth0", "up");
  must("-n", name, "link", "set", "lo", "up");
  return {
    ...{ gateway, address, remove },
    through: ["ip", "netns", "exec", name],
    cut: () => must("link", "set", link, "down"),
    mend: () => must("link", "set", link, "up"),
  };
}
