/** Wires a gateway: tools, agents, the model, stores and HTTP. */

import type { Logger } from "../../base/log.ts";
import type { Chain } from "../../protocol/chain/connect.ts";
import { type HttpServer, limitsFor, listen } from "../../protocol/service/http/listen.ts";
import { hasPages } from "../../protocol/service/http/pages.ts";
import type { CallerLimits } from "../../protocol/service/http/service.ts";
import type { SqliteDatabase } from "../../protocol/service/journal/database.ts";
import type { GatewayConfig } from "./config.ts";
import { createApp } from "./http/app.ts";
import { PAGE_FOLDER, pageNotBuilt } from "./http/pages.ts";
import { LlmService, type ModelEndpoint } from "./llm-service.ts";
import { AgentService } from "./store/agent-service.ts";
import { AuditLog } from "./store/audit-log.ts";
import { Metering } from "./store/metering.ts";
import { Turns } from "./store/turns.ts";
import type { ToolServer } from "./tool.ts";
import { ToolService } from "./tool-service.ts";
import { TurnRunner } from "./turn-runner.ts";

export interface GatewayOptions {
  readonly config: Pick<GatewayConfig, "limits" | "callers" | "hosts">;
  readonly endpoint: ModelEndpoint;
  readonly servers: ReadonlyMap<string, ToolServer>;
  /** opened with GATEWAY_SCHEMA */
  readonly db: SqliteDatabase;
  /** absent: no claims can be looked up */
  readonly chain?: Chain;
  readonly host: string;
  readonly port: number;
  readonly callerLimits: CallerLimits;
  /** of the chat page's bundle; absent: where `npm run build` puts it */
  readonly pageFolder?: string;
  readonly log: Logger;
  readonly nowMs: () => number;
}

export interface Gateway extends HttpServer {
  readonly agents: AgentService;
}

/** @throws BaseError PORT_TAKEN, LISTEN_FAILED */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const { config, endpoint, servers, db, chain, host, port, log, nowMs } = options;
  const { limits } = config;
  const { pageFolder = PAGE_FOLDER } = options;
  if (!hasPages(pageFolder)) log.warn({ code: "PAGE_NOT_BUILT" }, pageNotBuilt(pageFolder).message);
  const agents = new AgentService(db, servers, nowMs);
  const turns = new Turns(db, nowMs);
  const runner = new TurnRunner(
    {
      llm: new LlmService(endpoint, limits),
      tools: new ToolService(servers, limits, log),
      audit: new AuditLog(db, nowMs),
      metering: new Metering(db, limits, nowMs),
      turns,
      limits,
      log,
    },
    limits,
  );
  const app = createApp({
    agents,
    runner,
    turns,
    limits,
    callers: config.callers,
    callerLimits: options.callerLimits,
    hosts: config.hosts,
    pageFolder,
    chain,
    log,
    nowMs,
  });
  const server = await listen(app, host, port, limitsFor(options.callerLimits));
  return {
    url: server.url,
    agents,
    close: async () => {
      await runner.close();
      await server.close();
    },
  };
}
