/** The HTTP interface of a prover. */
import express, { type Express } from "express";
import { BaseError } from "../../inference/errors.ts";
import { errorHandler } from "../../protocol/http/errors.ts";
import { requestLog } from "../../protocol/http/request-id.ts";
import { httpMetrics, metricsHandler } from "../../protocol/metrics/http.ts";
import { chainRoutes } from "./chain.ts";
import { modelRoutes } from "./models.ts";
import type { HttpParts } from "./parts.ts";
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
  "GET /metrics",
];

export function createApp(parts: HttpParts): Express {
  const app = express();
  app.disable("x-powered-by");
  app.set("query parser", "simple");
  app.use(requestLog(parts.log, parts.nowMs));
  app.use(httpMetrics(parts.metrics, parts.nowMs));
  app.get("/metrics", metricsHandler(parts.metrics));
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
