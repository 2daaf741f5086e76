/** `assay gateway serve|tools|agent create|agent list|audit` */

import { join } from "node:path";
import type { Command } from "commander";
import { type GatewayConfig, readGatewayConfig, secretOf } from "../agent/gateway/config.ts";
import { type Agent, AgentService, GROUNDINGS } from "../agent/gateway/store/agent-service.ts";
import { AuditLog } from "../agent/gateway/store/audit-log.ts";
import { GATEWAY_SCHEMA } from "../agent/gateway/store/schema.ts";
import type { ToolServer } from "../agent/gateway/tool.ts";
import type { ModelSource } from "../agent/gateway/tools/model-tool.ts";
import { toHex } from "../base/bytes.ts";
import { BaseError } from "../base/errors.ts";
import { selectorOf } from "../inference/manifest/abi.ts";
import { readAnyManifest } from "../inference/model-folder.ts";
import type { Chain } from "../protocol/chain/connect.ts";
import { requireAccount, type Sender } from "../protocol/chain/sender.ts";
import { isModelId } from "../protocol/rules/types.ts";
import { type Config, integer, loadConfig, type Settings, text } from "../protocol/service/config.ts";
import { openDataFolder } from "../protocol/service/data-folder.ts";
import { openDatabase, type SqliteDatabase } from "../protocol/service/journal/database.ts";
import { CALLER_SETTINGS, callerLimits } from "./caller-limits.ts";
import {
  type ChainConfig,
  chainConfig,
  confirmationsOn,
  openChain,
  withChain,
  withSettings,
} from "./chain.ts";
import { stopSignal } from "./daemon.ts";
import { createLogger } from "./log.ts";
import { findModel, modelFolder } from "./model-source.ts";
import { printResult, refuseArgument, withJson } from "./output.ts";

const SETTINGS = {
  servers: {
    schema: text,
    default: "gateway.json",
    isPath: true,
    description: "file of servers, tools, model and limits",
  },
  host: { schema: text, default: "127.0.0.1", description: "address that HTTP listens on" },
  port: { schema: integer(0, 65_535), default: 8_788, description: "port of HTTP, 0 for any" },
  ...CALLER_SETTINGS,
} as const satisfies Settings;

export function addGatewayCommands(program: Command): void {
  const gateway = program.command("gateway").description("chat agents that answer only from their tools");
  const prepare = (command: Command) => withSettings(withChain(command), SETTINGS);
  prepare(gateway.command("serve").description("serve agents and the chat page over HTTP")).action(serve);
  const tools = gateway
    .command("tools")
    .description("list the tools of a server, from which an agent is composed")
    .argument("[server]", "slug of one server");
  withJson(prepare(tools)).action(listTools);
  const agent = gateway.command("agent").description("create and list agents");
  const create = agent
    .command("create")
    .description("create an agent from tools of one server")
    .requiredOption("--name <name>", "what people call it")
    .option("--tools <ids>", "server/api, separated by commas", "")
    .option("--server <slug>", "needed for an agent without tools")
    .option("--grounding <rule>", `what a reply must show: ${GROUNDINGS.join(" or ")}`)
    .option("--budget <price>", "most that all its calls may cost");
  withJson(prepare(create)).action(createAgent);
  withJson(prepare(agent.command("list").description("list the agents"))).action(listAgents);
  const audit = gateway
    .command("audit")
    .description("print the audit log, one JSON object a line")
    .option("--agent <id>", "of one agent")
    .option("--turn <id>", "of one turn")
    .option("--kind <kind>", "of one kind: tool_call, tool_result, tool_error, error, …")
    .option("--after <id>", "rows with a larger id");
  withJson(prepare(audit)).action(printAudit);
}

interface Opened {
  readonly config: ChainConfig;
  readonly settings: Config<typeof SETTINGS>;
  readonly gateway: GatewayConfig;
}

function open(self: Command): Opened {
  const config = chainConfig(self);
  const settings = loadConfig(SETTINGS, { flags: self.optsWithGlobals(), env: process.env }, "gateway");
  return { config, settings, gateway: readGatewayConfig(settings.servers) };
}

const openStore = (config: ChainConfig): SqliteDatabase =>
  openDatabase(join(config.data, "gateway.sqlite"), [GATEWAY_SCHEMA]);

const modelApis = ({ servers }: GatewayConfig) =>
  Object.values(servers)
    .flatMap((server) => ("apis" in server ? Object.values(server.apis) : []))
    .filter((api) => api.kind === "model");

/** The chain, if a tool needs one. */
async function chainFor({ config, gateway }: Opened): Promise<Chain | undefined> {
  return modelApis(gateway).length === 0 ? undefined : openChain(config);
}

async function serversFor(
  { config, gateway }: Opened,
  chain: Chain | undefined,
  sender: Sender | "listing" | undefined,
): Promise<Map<string, ToolServer>> {
  const isListing = sender === "listing";
  // Loaded by those who serve or list: the protocols' libraries take seconds.
  const { openServers } = await import("../agent/gateway/tool-servers.ts");
  if (chain === undefined) return openServers(gateway, { env: process.env, isListing });
  const { pollIntervalMs } = config;
  const models = {
    chain,
    pollIntervalMs,
    confirmations: confirmationsOn(chain, config),
    find: (name: string) => describeModel(chain, name),
    ...(sender === undefined || isListing ? {} : { sender }),
  };
  return openServers(gateway, { env: process.env, isListing, models });
}

/** A registered model with what its manifest says about it. */
export async function describeModel(chain: Chain, name: string): Promise<ModelSource> {
  const model = await findModel(chain, name);
  const { function: called } = model;
  if (isModelId(name)) return { ...model, description: `Output of the model ${name}` };
  const { description, abi, assay } = readAnyManifest(join(modelFolder(name), "manifest.json"));
  const declared = abi.find((entry) => toHex(selectorOf(entry)) === called.selector);
  // What an answer is as numbers says nothing to who gets its text.
  const shown = model.text === undefined ? (declared?.outputs ?? []) : [];
  const outputs = shown.map(({ name: output = "", description: what = "" }) => `${output}: ${what}`);
  const { inputs: into, outputs: out } = assay;
  return {
    ...model,
    tensors: { inputs: into, outputs: out },
    description: [description, declared?.description, ...outputs].filter(Boolean).join(" "),
  };
}

async function serve(_options: object, self: Command): Promise<void> {
  const opened = open(self);
  const { config, settings, gateway } = opened;
  const { llm } = gateway;
  if (llm === undefined) throw llmMissing(settings.servers);
  const log = createLogger("gateway", self);
  const signal = stopSignal(log);
  const chain = await chainFor(opened);
  const asks = modelApis(gateway).some((api) => "ask" in api && api.ask !== undefined);
  const folder =
    chain !== undefined && asks
      ? openDataFolder(config.data, requireAccount(chain), [], {
          pollIntervalMs: config.pollIntervalMs,
          maxFeePerGas: config.maxFee,
          log,
        })
      : undefined;
  const db = openStore(config);
  try {
    const servers = await serversFor(opened, chain, folder?.sender);
    const { startGateway } = await import("../agent/gateway/main.ts");
    const running = await startGateway({
      config: gateway,
      endpoint: { baseUrl: llm.baseUrl, model: llm.model, apiKey: secretOf(llm.apiKey, process.env) },
      servers,
      db,
      host: settings.host,
      port: settings.port,
      callerLimits: callerLimits(settings),
      log,
      nowMs: Date.now,
      ...(chain === undefined ? {} : { chain }),
    });
    log.info({ url: running.url, servers: [...servers.keys()] }, "gateway is up");
    if (!signal.aborted)
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    await running.close();
    for (const server of servers.values()) await server.close();
  } finally {
    db.close();
    await folder?.close();
  }
}

async function listTools(slug: string | undefined, _options: object, self: Command): Promise<void> {
  const opened = open(self);
  const servers = await serversFor(opened, await chainFor(opened), "listing");
  if (slug !== undefined && !servers.has(slug))
    refuseArgument("server", slug, `one of ${[...servers.keys()].join(", ")}`);
  try {
    const listed = [];
    for (const server of servers.values()) {
      if (slug !== undefined && server.slug !== slug) continue;
      const tools = (await server.tools()).map(({ id, name, description, price }) => ({
        id,
        name,
        description,
        price,
      }));
      listed.push({ server: server.slug, description: server.description, tools });
    }
    const lines = listed.flatMap(({ server, description, tools }) => [
      `${server}: ${description}`,
      ...tools.map((tool) => `  ${tool.id}  ${tool.name}  price ${tool.price}  ${tool.description}`),
    ]);
    printResult(self, { servers: listed }, lines);
  } finally {
    for (const server of servers.values()) await server.close();
  }
}

interface CreateOptions {
  readonly name: string;
  readonly tools: string;
  readonly server?: string;
  readonly grounding?: string;
  readonly budget?: string;
}

async function createAgent(options: CreateOptions, self: Command): Promise<void> {
  const { name, tools, server, grounding, budget } = options;
  const rule = GROUNDINGS.find((one) => one === grounding);
  if (grounding !== undefined && rule === undefined)
    refuseArgument("--grounding", grounding, GROUNDINGS.join(" or "));
  if (budget !== undefined && !/^\d{1,15}$/.test(budget))
    refuseArgument("--budget", budget, "a whole number");
  const opened = open(self);
  const servers = await serversFor(opened, await chainFor(opened), "listing");
  const db = openStore(opened.config);
  try {
    const agent = await new AgentService(db, servers, Date.now).createAgent({
      name,
      availableTools: tools.split(",").filter((id) => id !== ""),
      ...(server === undefined ? {} : { server }),
      ...(rule === undefined ? {} : { grounding: rule }),
      ...(budget === undefined ? {} : { budget: Number(budget) }),
    });
    printResult(self, agent, [describe(agent)]);
  } finally {
    db.close();
    for (const one of servers.values()) await one.close();
  }
}

function listAgents(_options: object, self: Command): void {
  const db = openStore(chainConfig(self));
  try {
    const agents = new AgentService(db, new Map(), Date.now).listAgents();
    printResult(self, { agents }, agents.length === 0 ? ["There is no agent yet."] : agents.map(describe));
  } finally {
    db.close();
  }
}

const describe = ({ id, name, availableTools }: Agent): string =>
  `${id}  ${name}  ${availableTools.join(", ") || "no tools: it cannot chat"}`;

interface AuditOptions {
  readonly agent?: string;
  readonly turn?: string;
  readonly kind?: string;
  readonly after?: string;
}

function printAudit({ agent, turn, kind, after }: AuditOptions, self: Command): void {
  if (after !== undefined && !/^\d{1,15}$/.test(after)) refuseArgument("--after", after, "the id of a row");
  const db = openStore(chainConfig(self));
  try {
    const rows = new AuditLog(db, Date.now).rows({
      ...(agent === undefined ? {} : { agentId: agent }),
      ...(turn === undefined ? {} : { turnId: turn }),
      ...(kind === undefined ? {} : { kind }),
      ...(after === undefined ? {} : { after: Number(after) }),
    });
    for (const row of rows) console.log(JSON.stringify(row));
  } finally {
    db.close();
  }
}

const llmMissing = (path: string) =>
  new BaseError({
    code: "CONFIG_INVALID",
    shortMessage: `${path} names no model to chat with.`,
    nextStep: 'Add "llm": {"baseUrl": "http://…/v1", "model": "…", "apiKey": {"env": "NAME"}}.',
  });
