/** GET /openapi.json: every route with its parameters, limits and answers. */
import { z } from "zod";
import { VERSION } from "../../base/version.ts";
import { componentSchemas } from "../../protocol/service/http/component-schemas.ts";
import type { CallerLimits } from "../../protocol/service/http/service.ts";
import { filePath, idPath, noQuery, recordQuery } from "../api/schemas/queries.ts";
import { ANSWERS, type AnswerName, ROUTES } from "./routes.ts";

type Json = Readonly<Record<string, unknown>>;

const MEANINGS: Readonly<Record<number, string>> = {
  206: "The part that Range asks for.",
  400: "The path, the query or the body is not what this route takes.",
  403: "A page of another origin may not do this.",
  404: "There is none, as far as the chain is indexed.",
  409: "The chain does not run this model, or the prover refuses.",
  413: "The body is above its limit.",
  415: "The body is of another type.",
  416: "Range lies outside of the file.",
  429: "Too much from one caller; Retry-After says when it may ask again.",
  500: "A fault of this explorer.",
  503: "The chain's node does not answer, or there is too much to do; Retry-After says when to ask again.",
};
const ref = (name: AnswerName): Json => ({ $ref: `#/components/schemas/${name}` });
const json = (name: AnswerName): Json => ({ "application/json": { schema: ref(name) } });

/** Routes that answer something else than one JSON document. */
const OTHERS: Readonly<Record<string, Json>> = {
  "GET /v1/stream": operation({
    summary:
      "Events as they are indexed, as server-sent events: `event` with data as Event, `head` after each block with data as Head. Last-Event-ID goes on after that event; `rollback` with {ancestor} says that the chain took everything above that block back, `reset` that more was missed than is told again, or that the chain took your event back: read again what you show.",
    ok: { "text/event-stream": { schema: { type: "string" } } },
  }),
  "GET /v1/models/{id}/files/{name}": operation({
    summary: "A file of a model, as its manifest names it; takes Range. ETag is its SHA-256.",
    parameters: filePath,
    ok: { "application/octet-stream": {}, "application/json": {} },
    errors: [404, 416],
    also: { 206: { description: MEANINGS[206], content: { "application/octet-stream": {} } } },
  }),
  "GET /v1/requests/{id}/receipt": operation({
    summary:
      "A receipt: shows without a node, to whoever trusts the hash of its block, that the output is final. `assay receipt check` and verifyReceipt of the SDK take it.",
    parameters: idPath,
    ok: json("Receipt"),
    errors: [404],
  }),
  "GET /v1/requests/{id}/record": operation({
    summary:
      "A correctness record: shows likewise how a claim stands or ended, right or wrong. `assay claim check` and verifyRecord of the SDK take it.",
    parameters: idPath,
    query: recordQuery,
    ok: json("Record"),
    errors: [404],
  }),
  "POST /v1/models/{id}/infer": operation({
    summary:
      "Let the chain's node run a model on an input, without a transaction. The input is at most the model's maxCalldata.",
    parameters: idPath,
    body: json("InferBody"),
    ok: json("Inference"),
    errors: [403, 404, 409, 413, 415],
  }),
  "POST /v1/models/{id}/ask": operation({
    summary:
      "Have a prover that this explorer's operator named answer an input: unverified at once, or final; where that costs, the answer is its price.",
    parameters: idPath,
    body: json("AskBody"),
    ok: json("Asked"),
    errors: [403, 404, 409, 413, 415],
  }),
  "GET /livez": operation({
    summary: "Whether the process answers. Says nothing of its chain.",
    ok: json("Alive"),
  }),
  "GET /healthz": operation({
    summary: "Whether the index follows its chain; 503 if not.",
    ok: json("Health"),
    also: {
      503: {
        description: MEANINGS[503],
        content: { "application/json": { schema: { anyOf: [ref("Health"), ref("Error")] } } },
      },
    },
  }),
  "GET /openapi.json": operation({ summary: "This document.", ok: { "application/json": {} } }),
};

export function openApi({ requestsPerMinute }: CallerLimits): Json {
  const paths: Record<string, Record<string, Json>> = {};
  for (const [name, made] of Object.entries(OTHERS)) {
    const [method = "", path = ""] = name.split(" ");
    paths[path] = { ...paths[path], [method.toLowerCase()]: made };
  }
  for (const { path, summary, parameters, query, answer, errors } of ROUTES)
    paths[path] = {
      ...paths[path],
      get: operation({ summary, parameters, query, ok: json(answer), errors }),
    };
  return {
    openapi: "3.1.0",
    info: {
      title: "Assay explorer",
      version: VERSION,
      description: `What happened on one deployment. Reads only. Amounts are wei as decimal strings, times are seconds since 1970 by the chain. A caller may send ${requestsPerMinute} requests a minute (0: any number).`,
      license: { name: "GPL-3.0-only", identifier: "GPL-3.0-only" },
    },
    paths,
    components: { schemas: componentSchemas(ANSWERS) },
  };
}

/** METHOD /path of each, with Express's form of parameters. */
export const routeNames = (): string[] =>
  [...Object.keys(OTHERS), ...ROUTES.map(({ path }) => `GET ${path}`)].map(expressPath);

export const expressPath = (path: string): string => path.replace(/\{(\w+)\}/g, ":$1");

interface Operation {
  readonly summary: string;
  readonly parameters?: z.ZodObject;
  readonly query?: z.ZodObject;
  readonly body?: Json;
  readonly ok: Json;
  readonly errors?: readonly number[];
  /** answers by status */
  readonly also?: Readonly<Record<number, Json>>;
}

function operation({
  summary,
  parameters = noQuery,
  query = noQuery,
  body,
  ok,
  errors = [],
  also = {},
}: Operation): Json {
  const failed = [...new Set([400, 429, 500, 503, ...errors])].sort((a, b) => a - b);
  return {
    summary,
    parameters: [...parametersIn("path", parameters), ...parametersIn("query", query)],
    ...(body === undefined ? {} : { requestBody: { required: true, content: body } }),
    responses: {
      200: { description: "OK", content: ok },
      ...Object.fromEntries(
        failed.map((status) => [status, { description: MEANINGS[status], content: json("Error") }]),
      ),
      ...also,
    },
  };
}

function parametersIn(place: "path" | "query", form: z.ZodObject): Json[] {
  const { properties = {}, required = [] } = z.toJSONSchema(form, { io: "input" });
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: place,
    required: place === "path" || required.includes(name),
    schema,
  }));
}
