/** The gateway's HTTP interface: agents, turns, their events, claims, and the chat page. */
import type { Express, Request } from "express";
import { BaseError } from "../../../base/errors.ts";
import { jsonOf } from "../../../base/json.ts";
import type { Chain } from "../../../protocol/chain/connect.ts";
import { StateReader } from "../../../protocol/chain/reads.ts";
import { isFinal, RULES } from "../../../protocol/rules/machine.ts";
import type { ClaimId } from "../../../protocol/rules/types.ts";
import { createService } from "../../../protocol/service/http/service.ts";
import type { Agent } from "../store/agent-service.ts";
import { nameOf, requireHost } from "./callers.ts";
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
  app.use(turnRoutes(parts), pageRoutes());
}

/** Budgets are the operator's business. */
const publicAgent = ({ id, name, server, availableTools }: Agent) => ({
  id,
  name,
  server,
  availableTools,
});

async function claimView(chain: Chain | undefined, id: string): Promise<object> {
  if (!/^0x[0-9a-f]{64}$/.test(id)) {
    throw new BaseError({
      code: "ID_INVALID",
      shortMessage: `${JSON.stringify(id.slice(0, 80))} is no id.`,
      nextStep: "Give 0x and 64 hexadecimal digits in lower case.",
    });
  }
  if (chain === undefined) throw claimUnknown(id);
  const { timestamp, hash } = await chain.client.getBlock();
  const word = await new StateReader(chain, hash).claimWord(id as ClaimId);
  if (word.state === "NONE") throw claimUnknown(id);
  const { answerSeconds } = chain.constants;
  return {
    claimId: id,
    state: word.state,
    final: isFinal(word, answerSeconds, Number(timestamp)),
    /** earliest second in which it is final, if nobody moves any more */
    finalAt: RULES.finalAt(word, answerSeconds),
  };
}

const claimUnknown = (id: string) =>
  new BaseError({
    code: "CLAIM_UNKNOWN",
    shortMessage: `There is no claim ${id} on the gateway's chain.`,
    nextStep: "Check the id.",
  });
