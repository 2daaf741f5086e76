/** The HTTP interface of a prover. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import express, { type Express } from "express";
import { BaseError } from "../../inference/errors.ts";
import { chainRoutes } from "./chain.ts";
import { errorHandler } from "./errors.ts";
import { modelRoutes } from "./models.ts";
import type { HttpParts } from "./parts.ts";
import { requestLog } from "./request-id.ts";
import { toolRoutes } from "./tools.ts";

const ROUTES = [
  "POST /tools/:name",
  "POST /v1/tools/:name",
  "GET /v1/models",
  "GET /v1/models/:id",
  "GET /v1/models/:id/files",
  "GET /v1/models/:id/files/:name",
  "GET /v1/claims/:id",
  "GET /v1/requests/:id",
  "GET /v1/quote",
  "GET /healthz",
];

export function createApp(parts: HttpParts): Express {
  const app = express();
  app.disable("x-powered-by");
  app.set("query parser", "simple");
  app.use(requestLog(parts.log, parts.nowMs));
  app.use(toolRoutes(parts), modelRoutes(parts), chainRoutes(parts));
  app.use((request) => {
    const path = request.path.slice(0, 120);
    throw new BaseError({
      code: "ROUTE_UNKNOWN",
      shortMessage: `There is no ${request.method} ${path}.`,
      nextStep: `There are ${ROUTES.join(", ")}.`,
    });
  });
  app.use(errorHandler(parts.log));
  return app;
}

export interface HttpServer {
  readonly url: string;
  /** Takes no more requests and waits for the running ones. */
  close(): Promise<void>;
}

/** Head and body of a request must be here by then, ms. */
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;

/** @param port 0: any free one
 *  @throws BaseError PORT_TAKEN, LISTEN_FAILED */
export async function listen(parts: HttpParts, host: string, port: number): Promise<HttpServer> {
  const server = createServer(
    { headersTimeout: HEADERS_TIMEOUT_MS, requestTimeout: REQUEST_TIMEOUT_MS, keepAliveTimeout: 5_000 },
    createApp(parts),
  );
  server.maxRequestsPerSocket = 1_000;
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
    nextStep: "Name another with --port or --host (ASSAY_PROVER_PORT, ASSAY_PROVER_HOST); port 0 takes any.",
    details: { host, port },
    cause,
  });
}
