/** How many connections a server holds: callers never take the descriptors that the process itself needs for its
 *  node, database and children. */
import type { Server } from "node:http";
import type { Socket } from "node:net";
import { addressKey } from "./address.ts";

export interface ConnectionLimits {
  /** at once */
  readonly most: number;
  /** at once from one address; undefined: as many as there are */
  readonly perAddress: number | undefined;
}

/** Part of the process's descriptors that connections may take: each call may open as many sockets again to the node,
 *  and as much is left for the rest. */
const SHARE = 4;
/** More is no help: work is refused long before. */
const MOST = 8_192;
/** For platforms that do not say their limit. */
const USUAL_DESCRIPTORS = 1_024;

/** Of one address, where nothing else is said. */
export const DEFAULT_PER_ADDRESS = 256;

/** @param perAddress 0: no limit for one address; never more than a quarter of all otherwise */
export function connectionLimits(
  perAddress = DEFAULT_PER_ADDRESS,
  descriptors = descriptorLimit(),
): ConnectionLimits {
  const most = Math.max(8, Math.min(MOST, Math.floor(descriptors / SHARE)));
  return { most, perAddress: perAddress === 0 ? undefined : Math.min(perAddress, Math.floor(most / 4)) };
}

/** Descriptors that this process may open. */
export function descriptorLimit(): number {
  const { userLimits } = process.report.getReport() as {
    userLimits?: { open_files?: { soft?: number | string } };
  };
  const soft = userLimits?.open_files?.soft;
  if (soft === "unlimited") return Number.MAX_SAFE_INTEGER;
  return typeof soft === "number" ? soft : USUAL_DESCRIPTORS;
}

/** Closes at once what is above the limits. */
export function limitConnections(server: Server, { most, perAddress }: ConnectionLimits): void {
  server.maxConnections = most;
  if (perAddress === undefined) return;
  const held = new Map<string, number>();
  server.on("connection", (socket: Socket) => {
    const key = addressKey(socket.remoteAddress);
    const count = (held.get(key) ?? 0) + 1;
    if (count > perAddress) {
      socket.destroy();
      return;
    }
    held.set(key, count);
    socket.once("close", () => {
      const left = (held.get(key) as number) - 1;
      if (left === 0) held.delete(key);
      else held.set(key, left);
    });
  });
}
