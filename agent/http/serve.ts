/** Serves an agent that files describe. */
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { BaseError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import { type HttpServer, limitsFor, listen } from "../../protocol/service/http/listen.ts";
import type { CallerLimits } from "../../protocol/service/http/service.ts";
import { requireMetadata } from "../metadata/read.ts";
import { createAgentApp, type MethodHandlers } from "./app.ts";
import type { Environment } from "./environment.ts";

export const EXAMPLES = ["json-selector", "text-generation", "data-processor"] as const;

/** Where an agent comes from. */
export interface AgentFiles {
  /** metadata JSON */
  readonly metadata: string;
  /** module that exports `createHandlers(environment)`: a function for each method's name */
  readonly handlers: string;
}

export interface ServeOptions extends AgentFiles {
  readonly host: string;
  /** 0: any free one */
  readonly port: number;
  readonly environment: Environment;
  readonly limits: CallerLimits;
  readonly log: Logger;
  readonly timeoutMs?: number;
}

const EXAMPLES_FOLDER = fileURLToPath(new URL("../examples/http", import.meta.url));

/** @throws BaseError AGENT_UNKNOWN */
export function exampleFiles(name: string): AgentFiles {
  if ((EXAMPLES as readonly string[]).includes(name)) {
    // The packed program has them compiled.
    const compiled = join(EXAMPLES_FOLDER, `${name}.mjs`);
    return {
      metadata: join(EXAMPLES_FOLDER, `${name}.json`),
      handlers: existsSync(compiled) ? compiled : join(EXAMPLES_FOLDER, `${name}.ts`),
    };
  }
  throw new BaseError({
    code: "AGENT_UNKNOWN",
    shortMessage: `There is no example agent ${JSON.stringify(name.slice(0, 80))}.`,
    nextStep: `Take one of ${EXAMPLES.join(", ")}, or name files with --metadata and --handlers.`,
  });
}

/** @throws BaseError HANDLERS_INVALID, AGENT_INCOMPLETE, PORT_TAKEN, and what `requireMetadata` throws */
export async function serveAgent(options: ServeOptions): Promise<HttpServer> {
  const { host, port, environment, limits, log, timeoutMs } = options;
  const metadata = requireMetadata(readFileSync(options.metadata), options.metadata);
  const handlers = await loadHandlers(options.handlers, environment);
  const app = createAgentApp({
    metadata,
    handlers,
    limits,
    log,
    nowMs: Date.now,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  });
  const server = await listen(app, host, port, limitsFor(limits));
  log.info({ url: server.url, agent: metadata.name, version: metadata.version }, "agent is up");
  return server;
}

async function loadHandlers(file: string, environment: Environment): Promise<MethodHandlers> {
  const url = pathToFileURL(resolve(file)).href;
  const load = /\.[cm]?ts$/.test(file) ? importTypeScript(url) : import(url);
  const module = (await load) as { createHandlers?: (environment: Environment) => MethodHandlers };
  if (typeof module.createHandlers === "function") return module.createHandlers(environment);
  throw new BaseError({
    code: "HANDLERS_INVALID",
    shortMessage: `${file} exports no function createHandlers.`,
    nextStep: "Export createHandlers(environment), which returns a function for each method.",
  });
}

/** Node.js 20 runs no TypeScript by itself. @throws BaseError TSX_MISSING */
async function importTypeScript(url: string): Promise<unknown> {
  const tsx = await import("tsx/esm/api").catch((cause: unknown) => {
    throw new BaseError({
      code: "TSX_MISSING",
      shortMessage: `${url} is TypeScript, and the package tsx, which reads it, is not installed.`,
      nextStep: "Run `npm install tsx` beside Assay, or name a module in JavaScript.",
      cause,
    });
  });
  return tsx.tsImport(url, import.meta.url);
}
