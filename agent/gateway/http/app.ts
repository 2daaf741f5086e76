/** The gateway's HTTP interface: agents, turns, their events, claims, and the chat page. */
import type { Express, Request } from "express";
import { jsonOf } from "../../../base/json.ts";
import { createService } from "../../../protocol/service/http/service.ts";
import type { Agent } from "../store/agent-service.ts";
import { nameOf, requireHost } from "./callers.ts";
import { claimView, requestView } from "./chain-views.ts";
import { pageRoutes } from "./pages.ts";
import type { AppParts } from "./parts.ts";
import { turnRoutes } from "./turns.ts";

const ROUTES = [
  "GET /",
  "GET /v1/agents",
  "GET /v1/agents/:id",
  "POST /v1/agents/:id/turns",
  "GET /v1/turns/:id/events",
  "DELETE /v1/turns/:id",
  "GET /v1/claims/:id",
  "GET /v1/requests/:id",
  "GET /healthz",
];

export function createApp(parts: AppParts): Express {
  const { log, nowMs, callerLimits: limits, callers } = parts;
  const callerOf = (request: Request) => nameOf(request, callers);
  return createService({ log, nowMs, limits, callerOf, routes: ROUTES, mount: (app) => mount(app, parts) });
}

function mount(app: Express, parts: AppParts): void {
  const { agents, chain } = parts;
  app.use(requireHost(parts.hosts));
  app.use((_request, response, next) => {
    response.setHeader("X-Content-Type-Options", "nosniff");
    response.setHeader("Cache-Control", "no-store");
    next();
  });
  app.get("/healthz", (_request, response) => {
    response.type("application/json").send(jsonOf({ status: "ok" }));
  });
  app.get("/v1/agents", (_request, response) => {
    response.type("application/json").send(jsonOf({ agents: agents.listAgents().map(publicAgent) }));
  });
  app.get("/v1/agents/:id", (request, response) => {
    response.type("application/json").send(jsonOf(publicAgent(agents.getAgent(request.params.id))));
  });
  app.get("/v1/claims/:id", async (request, response) => {
    response.type("application/json").send(jsonOf(await claimView(chain, request.params.id)));
  });
  app.get("/v1/requests/:id", async (request, response) => {
    response.type("application/json").send(jsonOf(await requestView(chain, request.params.id)));
  });
  app.use(turnRoutes(parts), pageRoutes(parts.pageFolder));
}

/** Budgets are the operator's business. */
const publicAgent = ({ id, name, server, availableTools }: Agent) => ({
  id,
  name,
  server,
  availableTools,
});
