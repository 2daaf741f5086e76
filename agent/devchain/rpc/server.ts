/** A development chain over HTTP: JSON-RPC 2.0 at POST /, single requests and batches. */
import express, { type Express } from "express";
import { isBaseError } from "../../../base/errors.ts";
import { parseJson } from "../../../base/json.ts";
import type { Logger } from "../../../base/log.ts";
import { readBody } from "../../../protocol/service/http/body.ts";
import { errorHandler } from "../../../protocol/service/http/errors.ts";
import { RpcFault } from "./fault.ts";
import type { RpcMethods } from "./methods.ts";

const MAX_BODY_BYTES = 1_048_576;
const MAX_BATCH = 100;

export function createRpcApp(methods: RpcMethods, log: Logger): Express {
  const app = express();
  app.disable("x-powered-by");
  app.post("/", async (request, response) => {
    const body = parseJson(await readBody(request, MAX_BODY_BYTES), "the request");
    if (!Array.isArray(body)) {
      response.json(await answer(methods, body, log));
      return;
    }
    if (body.length > MAX_BATCH) {
      response.json(reply(null, RpcFault.request(`a batch has at most ${MAX_BATCH} requests`)));
      return;
    }
    const answers = [];
    for (const each of body) answers.push(await answer(methods, each, log));
    response.json(answers);
  });
  app.use(errorHandler(log));
  return app;
}

async function answer(methods: RpcMethods, body: unknown, log: Logger) {
  const { id = null, method, params = [] } = (body ?? {}) as Record<string, unknown>;
  try {
    if (typeof method !== "string" || !Array.isArray(params)) {
      throw RpcFault.request("a request has a method and an array of params");
    }
    if (!Object.hasOwn(methods, method)) throw RpcFault.method(method);
    return { jsonrpc: "2.0", id, result: (await methods[method]?.(params)) ?? null };
  } catch (error) {
    if (error instanceof RpcFault) return reply(id, error);
    if (isBaseError(error)) return reply(id, RpcFault.refused(error.message));
    log.error({ method, error }, "a request failed");
    return reply(id, RpcFault.refused("a fault of this chain; its log has the cause"));
  }
}

function reply(id: unknown, { code, message, data }: RpcFault) {
  const error = data === undefined ? { code, message } : { code, message, data };
  return { jsonrpc: "2.0", id, error };
}
