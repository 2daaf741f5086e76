/** A gateway with HTTP tools on a local server, a scripted model and a database of its own. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createParser } from "eventsource-parser";
import { type GatewayConfig, parseGatewayConfig } from "../../agent/gateway/config.ts";
import type { EventName, TurnEvents } from "../../agent/gateway/events.ts";
import { type Gateway, startGateway } from "../../agent/gateway/main.ts";
import { AuditLog } from "../../agent/gateway/store/audit-log.ts";
import { GATEWAY_SCHEMA } from "../../agent/gateway/store/schema.ts";
import type { ToolServer } from "../../agent/gateway/tool.ts";
import { openServers } from "../../agent/gateway/tool-servers.ts";
import type { Chain } from "../../protocol/chain/connect.ts";
import { openDatabase, type SqliteDatabase } from "../../protocol/service/journal/database.ts";
import { temporaryFolder } from "./deploy.ts";
import { ScriptedChat } from "./scripted-chat.ts";

export interface SeenEvent<Name extends EventName = EventName> {
  readonly id: string | undefined;
  readonly event: Name;
  readonly data: TurnEvents[Name];
}

export interface LogLine {
  readonly level: "info" | "warn" | "error";
  readonly fields: Record<string, unknown>;
  readonly message: string;
}

/** What the tools' server does with a call; it says `{}` else. */
export type ApiHandler = (request: IncomingMessage, response: ServerResponse) => void;

export type TestGateway = Awaited<ReturnType<typeof startTestGateway>>;

export interface TestGatewayOptions {
  readonly limits?: Partial<GatewayConfig["limits"]>;
  readonly callers?: Record<string, string>;
  /** besides the servers below */
  readonly servers?: ReadonlyMap<string, ToolServer>;
  readonly prices?: Readonly<Record<string, number>>;
  readonly nowMs?: () => number;
  readonly chain?: Chain;
  /** absent: where `npm run build` puts the page */
  readonly pageFolder?: string;
}

/** Two servers: `magpie` with `tvl` and `liquidity`, `uniswap` with `swap`. */
export async function startTestGateway(options: TestGatewayOptions = {}) {
  const {
    limits = {},
    callers,
    servers: more = new Map(),
    prices = {},
    nowMs = Date.now,
    chain,
    pageFolder,
  } = options;
  const folder = temporaryFolder();
  const model = await ScriptedChat.start();
  const visits: string[] = [];
  const handlers = new Map<string, ApiHandler>();
  const apis = createServer((request, response) => {
    const path = request.url ?? "/";
    visits.push(path);
    const handle = handlers.get(path.split("?")[0] ?? path);
    if (handle !== undefined) return handle(request, response);
    response.writeHead(200, { "content-type": "application/json" }).end("{}");
  });
  await listenLocally(apis);
  const origin = `http://127.0.0.1:${(apis.address() as AddressInfo).port}`;
  const api = (path: string, description: string) => ({
    kind: "http",
    description,
    url: `${origin}/${path}`,
    allowPrivate: true,
    price: prices[path] ?? 0,
    parameters: { type: "object", properties: { pool: { type: "string" } }, additionalProperties: false },
  });
  const config = parseGatewayConfig(
    JSON.stringify({
      servers: {
        magpie: {
          description: "Figures of Magpie",
          apis: {
            tvl: api("tvl", "Total value locked in Magpie, in dollars"),
            liquidity: api("liquidity", "Liquidity of a pool"),
          },
        },
        uniswap: { description: "Swaps", apis: { swap: api("swap", "Swaps tokens") } },
      },
      ...(callers === undefined ? {} : { callers }),
      limits: { graceMs: 600_000, ...limits },
    }),
    "the test's configuration",
  );
  const lines: LogLine[] = [];
  const note = (level: LogLine["level"]) => (fields: object, message: string) => {
    lines.push({ level, fields: fields as Record<string, unknown>, message });
  };
  const log = { debug: () => undefined, info: note("info"), warn: note("warn"), error: note("error") };
  const db: SqliteDatabase = openDatabase(join(folder.path, "gateway.sqlite"), [GATEWAY_SCHEMA]);
  const servers = new Map([...(await openServers(config, { env: {} })), ...more]);
  const gateway: Gateway = await startGateway({
    config,
    endpoint: { baseUrl: model.baseUrl, model: "scripted", apiKey: "none" },
    servers,
    db,
    host: "127.0.0.1",
    port: 0,
    callerLimits: { requestsPerMinute: 0 },
    log,
    nowMs,
    ...(chain === undefined ? {} : { chain }),
    ...(pageFolder === undefined ? {} : { pageFolder }),
  });
  // A connection of its own: where a machine stands still for seconds, a kept one is closed while it is asked again.
  const post = (agentId: string, body: unknown, headers: Record<string, string> = {}) =>
    fetch(`${gateway.url}/v1/agents/${agentId}/turns`, {
      method: "POST",
      headers: { "content-type": "application/json", connection: "close", ...headers },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
  return {
    url: gateway.url,
    agents: gateway.agents,
    folder: folder.path,
    origin,
    servers,
    config,
    model,
    db,
    lines,
    /** paths that tools asked for */
    visits,
    /** what the API at this path answers */
    on: (path: string, handler: ApiHandler) => void handlers.set(path, handler),
    /** the API at this path answers this */
    returns: (path: string, value: unknown) =>
      void handlers.set(path, (_request, response) => {
        response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(value));
      }),
    audit: new AuditLog(db, nowMs),
    post,
    /** One whole turn. */
    chat: async (agentId: string, message: string, conversationId?: string): Promise<SeenEvent[]> => {
      const started = await post(agentId, {
        message,
        ...(conversationId === undefined ? {} : { conversationId }),
      });
      if (started.status !== 202) throw new Error(`${started.status} ${await started.text()}`);
      const { events } = (await started.json()) as { events: string };
      return readEvents(await fetch(`${gateway.url}${events}`));
    },
    stop: async () => {
      await model.stop();
      await gateway.close();
      db.close();
      apis.closeAllConnections();
      await new Promise((resolve) => apis.close(resolve));
      folder.remove();
    },
  };
}

/** Reads a stream of events to its end. */
export async function readEvents(response: Response): Promise<SeenEvent[]> {
  const events: SeenEvent[] = [];
  const parser = createParser({
    onEvent: ({ id, event, data }) => {
      events.push({ id, event: event as EventName, data: JSON.parse(data) as never });
    },
  });
  const decoder = new TextDecoder();
  for await (const part of response.body ?? [])
    parser.feed(decoder.decode(part as Uint8Array, { stream: true }));
  return events;
}

export const namesOf = (events: readonly SeenEvent[]): EventName[] => events.map(({ event }) => event);

/** The data of the only event of this name. */
export function only<Name extends EventName>(events: readonly SeenEvent[], name: Name): TurnEvents[Name] {
  const found = events.filter(({ event }) => event === name);
  if (found.length !== 1) throw new Error(`${found.length} events ${name} in ${namesOf(events).join(", ")}`);
  return found[0]?.data as TurnEvents[Name];
}

const listenLocally = (server: Server) =>
  new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
