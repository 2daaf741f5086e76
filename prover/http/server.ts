/** The HTTP interface of a prover. */
import type { Express } from "express";
import { createService } from "../../protocol/service/http/service.ts";
import { metricsHandler } from "../../protocol/service/metrics/http.ts";
import { chainRoutes } from "./chain.ts";
import { claimEventRoutes } from "./claim-events.ts";
import { Line } from "./line.ts";
import { modelRoutes } from "./models.ts";
import { openApi, queriesOf, routesOf } from "./openapi.ts";
import type { HttpParts } from "./parts.ts";
import { refuseUnknown } from "./query.ts";
import { recordRoutes } from "./records.ts";
import { signedRoutes } from "./signed.ts";
import { signedClaimRoutes } from "./signed-claims.ts";
import { toolRoutes } from "./tools.ts";

/** What says more about this process than about models and the chain. */
const RESTRICTED = ["/metrics"];
/** What a page may send, and what it may read of an answer. */
const SENT_HEADERS = ["Content-Type", "Last-Event-ID", "PAYMENT-SIGNATURE", "X-Request-Id"];
const READ_HEADERS = [
  ...["Assay-Status", "Assay-Model", "Assay-Request", "Assay-Claim", "Assay-Digest", "Assay-Signed-Claim"],
  ...["PAYMENT-REQUIRED", "PAYMENT-RESPONSE", "RateLimit", "RateLimit-Policy", "Retry-After", "X-Request-Id"],
];

export function createApp(parts: HttpParts): Express {
  const { log, nowMs, metrics, limits } = parts;
  const document = openApi(limits);
  const routes = routesOf(limits).filter((route) => parts.hasMetrics || route !== "GET /metrics");
  const line = new Line(parts);
  const mount = (app: Express) => {
    refuseUnknown(app, queriesOf(limits));
    if (parts.hasMetrics) app.get("/metrics", metricsHandler(metrics));
    app.get("/openapi.json", (_request, response) => {
      response.json(document);
    });
    app.use(
      toolRoutes(parts, line),
      modelRoutes(parts),
      claimEventRoutes(parts, line),
      chainRoutes(parts),
      recordRoutes(parts),
      signedRoutes(parts),
      signedClaimRoutes(parts, line),
    );
  };
  return createService({
    ...{ log, nowMs, metrics, limits, routes, mount },
    cors: { origins: limits.corsOrigin, restricted: RESTRICTED, sent: SENT_HEADERS, read: READ_HEADERS },
  });
}
