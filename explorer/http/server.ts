/** The HTTP interface of an explorer: JSON, server-sent events, files, and the pages. */
import { extname } from "node:path";
import { type Express, type Response, Router } from "express";
import { jsonOf } from "../../base/json.ts";
import type { Logger } from "../../base/log.ts";
import { VERSION } from "../../base/version.ts";
import { compressed } from "../../protocol/service/http/compressed.ts";
import { hasPages, pages } from "../../protocol/service/http/pages.ts";
import { type CallerLimits, createService } from "../../protocol/service/http/service.ts";
import { Slots } from "../../protocol/service/http/slots.ts";
import { filePath, idPath } from "../api/schemas/queries.ts";
import type { Library } from "../library.ts";
import { healthOf } from "../read/health.ts";
import type { AnswerParts } from "../read/parts.ts";
import { ask } from "./ask.ts";
import { infer } from "./infer.ts";
import { expressPath, openApi, routeNames } from "./openapi.ts";
import { POLICY } from "./pages.ts";
import { parsed } from "./parsed.ts";
import { proofRoutes } from "./proofs.ts";
import { OPERATOR_PATH, ROUTES } from "./routes.ts";
import type { Stream } from "./stream.ts";

export interface HttpParts extends AnswerParts {
  readonly library: Library;
  readonly stream: Stream;
  readonly log: Logger;
  readonly limits: CallerLimits;
  /** the bundle of the pages; one that is not there is left out */
  readonly pagesFolder: string;
}

/** Runs of the chain's node for callers, at once. */
const MAX_RUNS = 4;
/** Answers of provers for callers, at once. */
const MAX_ASKS = 8;
const YEAR_SECONDS = 31_536_000;
/** Paths of the interface and of hashed files, where no page is. */
const NO_PAGE = /^\/((v1|assets)(\/|$)|openapi\.json$|livez$|healthz$)/;

export function createApp(parts: HttpParts): Express {
  const { log, nowMs, limits, pagesFolder } = parts;
  const document = openApi(limits);
  const mount = (app: Express) => {
    app.get("/openapi.json", (_request, response) => {
      response.json(document);
    });
    app.use(healthRoutes(parts), readRoutes(parts), proofRoutes(parts), otherRoutes(parts));
    if (hasPages(pagesFolder))
      app.use(pages({ folder: pagesFolder, policy: POLICY, isPage: (path) => !NO_PAGE.test(path) }));
  };
  return createService({
    ...{ log, nowMs, limits, routes: routeNames(), mount },
    cors: {
      origins: [],
      restricted: [OPERATOR_PATH],
      sent: ["Content-Type", "Last-Event-ID", "X-Request-Id"],
      read: ["RateLimit", "RateLimit-Policy", "Retry-After", "X-Request-Id"],
    },
  });
}

function readRoutes(parts: HttpParts): Router {
  const router = Router();
  const zipped = compressed();
  for (const { path, parameters, query, read } of ROUTES) {
    router.get(expressPath(path), zipped, async (request, response) => {
      const given = parsed(parameters, request.params, "path");
      send(response, await read(parts, given, parsed(query, request.query, "query")));
    });
  }
  return router;
}

function otherRoutes(parts: HttpParts): Router {
  const router = Router();
  const slots = new Slots({ what: "runs", limit: MAX_RUNS, nowMs: parts.nowMs });
  router.get("/v1/stream", (request, response) => parts.stream.answer(request, response));
  router.post("/v1/models/:id/infer", async (request, response) => {
    const { id } = parsed(idPath, request.params, "path");
    send(response, await infer(parts, slots, id as `0x${string}`, request, response));
  });
  const asks = new Slots({ what: "answers of provers", limit: MAX_ASKS, nowMs: parts.nowMs });
  router.post("/v1/models/:id/ask", async (request, response) => {
    const { id } = parsed(idPath, request.params, "path");
    send(response, await ask(parts, asks, id as `0x${string}`, request, response));
  });
  router.get("/v1/models/:id/files/:name", (request, response) => {
    const { id, name } = parsed(filePath, request.params, "path");
    const file = parts.library.file(id, name);
    response.type(extname(name) === ".json" ? "application/json" : "application/octet-stream");
    response.sendFile(file.name, {
      root: file.directory,
      headers: {
        ETag: `"${file.sha256}"`,
        // What a manifest names never changes; the manifest itself may.
        "Cache-Control": name === "manifest.json" ? "no-cache" : `public, max-age=${YEAR_SECONDS}, immutable`,
        "X-Content-Type-Options": "nosniff",
        // Text of strangers: a browser that opens it runs none of it.
        "Content-Security-Policy": "default-src 'none'; sandbox",
      },
    });
  });
  return router;
}

function healthRoutes(parts: HttpParts): Router {
  const router = Router();
  router.get("/livez", (_request, response) => send(response, { status: "alive", version: VERSION }));
  router.get("/healthz", (_request, response) => {
    // Whoever asks next is told whether its database is back.
    void parts.index.read(async () => undefined).catch(() => undefined);
    const health = healthOf(parts);
    response.status(health.status === "ok" ? 200 : 503);
    send(response, health);
  });
  return router;
}

function send(response: Response, body: unknown): void {
  response.type("application/json").setHeader("Cache-Control", "no-cache").send(jsonOf(body));
}
