/** An HTTP server with limits, on a host and port. */
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { BaseError } from "../../../base/errors.ts";
import { type ConnectionLimits, connectionLimits, limitConnections } from "./connections.ts";
import type { CallerLimits } from "./service.ts";

export interface HttpServer {
  readonly url: string;
  /** Takes no more requests and waits for the running ones. */
  close(): Promise<void>;
}

/** Head and body of a request must be here by then, ms. */
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;
/** How often connections that are late are looked for, ms: who sends nothing is closed by then. */
const LOOK_MS = 2_000;
/** For a server that few use, such as one of metrics. */
const FEW_CONNECTIONS = 32;

/** Limits for a server whose callers are these. */
export const limitsFor = ({ connectionsPerCaller, trustProxy }: CallerLimits): ConnectionLimits =>
  connectionLimits(trustProxy === undefined ? connectionsPerCaller : 0);

/** Limits for a server beside another one in the same process. */
export const fewConnections = (): ConnectionLimits => {
  const { most } = connectionLimits(0);
  return { most: Math.min(FEW_CONNECTIONS, Math.floor(most / 4)), perAddress: undefined };
};

/** @param port 0: any free one @param limits of connections; absent: by the process's descriptors
 *  @throws BaseError PORT_TAKEN, LISTEN_FAILED */
export async function listen(
  app: RequestListener,
  host: string,
  port: number,
  limits = connectionLimits(),
): Promise<HttpServer> {
  const timeouts = {
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: 5_000,
    connectionsCheckingInterval: LOOK_MS,
  };
  const server = createServer(timeouts, app);
  server.maxRequestsPerSocket = 1_000;
  limitConnections(server, limits);
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => reject(listenFailed(error, host, port)));
    server.listen(port, host, resolve);
  });
  const { port: bound } = server.address() as AddressInfo;
  const shown = host.includes(":") ? `[${host}]` : host;
  return { url: `http://${shown}:${bound}`, close: () => close(server) };
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
  });
}

function listenFailed(cause: NodeJS.ErrnoException, host: string, port: number): BaseError {
  const isTaken = cause.code === "EADDRINUSE";
  return new BaseError({
    code: isTaken ? "PORT_TAKEN" : "LISTEN_FAILED",
    shortMessage: `HTTP cannot listen on ${host}:${port}: ${isTaken ? "the port is taken" : cause.message}.`,
    nextStep: "Name another with --port or --host; port 0 takes any.",
    details: { host, port },
    cause,
  });
}
