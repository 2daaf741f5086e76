/** GET /metrics, and the metrics of HTTP itself. */
import express, { type Express, type RequestHandler, type Response } from "express";
import { jsonOf } from "../../../base/json.ts";
import { type Logger, SILENT } from "../../../base/log.ts";
import { VERSION } from "../../../base/version.ts";
import { errorHandler } from "../http/errors.ts";
import type { Metrics } from "./metrics.ts";

/** Answers with everything that the metrics know. */
export const metricsHandler =
  (metrics: Metrics): RequestHandler =>
  async (_request, response) => {
    const body = await metrics.render();
    response.setHeader("Content-Type", metrics.contentType);
    response.setHeader("Cache-Control", "no-store");
    response.send(body);
  };

/** Counts requests by route and status: the route's pattern, never the caller's path. */
export function httpMetrics(metrics: Metrics, nowMs: () => number): RequestHandler {
  const seconds = metrics.histogram(
    "assay_http_request_seconds",
    "Time from a request's head to its answer.",
    ["route"],
  );
  const requests = metrics.counter("assay_http_requests_total", "Answers by route and status.", [
    "route",
    "status",
  ]);
  return (request, response, next) => {
    const startedAt = nowMs();
    response.once("close", () => {
      // Express sets it when a route matched; its path may be a pattern or a list.
      const route = String((request.route as { path: unknown } | undefined)?.path ?? "none");
      requests.inc({ route, status: statusOf(response) });
      seconds.observe({ route }, (nowMs() - startedAt) / 1_000);
    });
    next();
  };
}

/** `aborted`: the caller left first. */
const statusOf = (response: Response): string =>
  response.writableFinished ? String(response.statusCode) : "aborted";

/** A process that serves its metrics, and whether it lives and is well.
 *  @param health what GET /healthz answers, 503 unless its status is "ok"; absent: that and GET /livez are served elsewhere */
export function metricsApp(
  metrics: Metrics,
  log: Logger = SILENT,
  health?: () => { readonly status: string },
): Express {
  const app = express();
  app.disable("x-powered-by");
  app.get("/metrics", metricsHandler(metrics));
  if (health !== undefined) {
    app.get("/livez", (_request, response) => {
      response.type("application/json").send(jsonOf({ status: "alive", version: VERSION }));
    });
    app.get("/healthz", (_request, response) => {
      const { status, ...rest } = health();
      response.status(status === "ok" ? 200 : 503);
      response.type("application/json").send(jsonOf({ status, version: VERSION, ...rest }));
    });
  }
  const routes = `GET /metrics${health === undefined ? "" : ", /livez, /healthz"}\n`;
  app.use((_request, response) => void response.status(404).type("text/plain").send(routes));
  app.use(errorHandler(log));
  return app;
}
