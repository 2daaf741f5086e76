/** The HTTP interface of a prover. */
import type { Express } from "express";
import { createService } from "../../protocol/service/http/service.ts";
import { metricsHandler } from "../../protocol/service/metrics/http.ts";
import { chainRoutes } from "./chain.ts";
import { claimEventRoutes } from "./claim-events.ts";
import { Line } from "./line.ts";
import { modelRoutes } from "./models.ts";
import { openApi, routesOf } from "./openapi.ts";
import type { HttpParts } from "./parts.ts";
import { toolRoutes } from "./tools.ts";

export function createApp(parts: HttpParts): Express {
  const { log, nowMs, metrics, limits } = parts;
  const document = openApi(limits);
  const routes = routesOf(limits);
  const line = new Line(parts);
  const mount = (app: Express) => {
    app.get("/metrics", metricsHandler(metrics));
    app.get("/openapi.json", (_request, response) => {
      response.json(document);
    });
    app.use(toolRoutes(parts, line), modelRoutes(parts), claimEventRoutes(parts, line), chainRoutes(parts));
  };
  return createService({ log, nowMs, metrics, limits, routes, mount });
}
