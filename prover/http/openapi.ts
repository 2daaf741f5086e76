/** GET /openapi.json: every route with its parameters, limits and answers. */
import { VERSION } from "../../base/version.ts";
import { ROLES } from "../../inference/text/chat.ts";
import { LIMITS } from "../../protocol/rules/types.ts";
import { componentSchemas } from "../../protocol/service/http/component-schemas.ts";
import { ANSWERS, type AnswerName } from "./answers.ts";
import type { HttpLimits } from "./parts.ts";
import { MAX_INPUTS } from "./signed-claims.ts";

type Json = Readonly<Record<string, unknown>>;

interface Operation {
  readonly summary: string;
  readonly query?: Json;
  readonly body?: Json;
  /** by media type */
  readonly ok: Json;
  readonly okHeaders?: Json;
  /** other statuses than those that every route has */
  readonly errors?: readonly number[];
}

const ref = (name: AnswerName): Json => ({ $ref: `#/components/schemas/${name}` });
const json = (name: AnswerName): Json => ({ "application/json": { schema: ref(name) } });
const BYTES = { "application/octet-stream": {} };
const header = (description: string, schema: Json = { type: "string" }): Json => ({ description, schema });

const ASSAY_HEADERS = {
  "Assay-Status": header("how final the output is, or that it is signed", {
    enum: ["unverified", "pending", "final", "signed", "batched"],
  }),
  "Assay-Model": header("id of the model"),
  "Assay-Request": header("id of the request that makes or made it final"),
  "Assay-Claim": header("id of its claim"),
  "Assay-Digest": header("EIP-712 digest of the signed claim"),
  "Assay-Signed-Claim": header("JSON of chain, contract, signed claim and signature, in base64url"),
};

const ARGUMENTS: Json = {
  type: "object",
  description:
    "arguments by name; of a language model with text instead `messages`, or `text` for one turn of a user",
  properties: {
    messages: {
      type: "array",
      minItems: 1,
      items: {
        type: "object",
        required: ["role", "content"],
        properties: { role: { enum: [...ROLES] }, content: { type: "string" } },
      },
    },
  },
};

const MEANINGS: Readonly<Record<number, string>> = {
  204: "The client has seen the last event: it need not come back.",
  400: "The path, the query or the body is not what this route takes.",
  402: "Final outputs cost, or signed answers do: the terms of x402 in PAYMENT-REQUIRED; the body says what was wrong with the payment.",
  403: "A page of that origin may not do this.",
  404: "There is none.",
  409: "The name is that of several models: ask by id.",
  413: "The body is above its limit.",
  415: "The body is of another type.",
  429: "Too much from one caller; Retry-After says when it may ask again.",
  500: "A fault of this node.",
  503: "Too busy, behind the chain, or cannot run; Retry-After says when to ask again, `details.queue` how many wait.",
  504: "Not final within the time; the claim goes on.",
};

function operations({ maxWaitSeconds }: HttpLimits): Readonly<Record<string, Operation>> {
  const wait = {
    finality: {
      enum: ["any", "signed", "batched", "final"],
      default: "any",
      description:
        "signed: backed by stake, at once; batched: so, and in a batch on the chain. What each costs, its 402 says; `any` is free",
    },
    timeout: {
      type: "integer",
      minimum: 1,
      maximum: maxWaitSeconds,
      description: "seconds to wait for finality, or for the batch",
    },
    batch: {
      enum: ["true", "false"],
      default: "false",
      description:
        "with finality=signed, true: it also goes into a batch, which the answer does not wait for",
    },
    requester: { type: "string", description: "address that a signed claim names; no rule reads it" },
  };
  const tool = { query: wait, okHeaders: ASSAY_HEADERS, errors: [402, 403, 404, 409, 413, 415, 504] };
  return {
    "POST /tools/{name}": {
      ...tool,
      summary: "Run a model: calldata to return data. The body is at most the model's maxCalldata.",
      body: BYTES,
      ok: BYTES,
    },
    "POST /v1/tools/{name}": {
      ...tool,
      summary:
        "Run a model: arguments by name to results by name. Integers above 53 bits are decimal strings. A language model with text takes a conversation instead, and answers with `text` and `ids` too.",
      body: { "application/json": { schema: ARGUMENTS } },
      ok: json("Result"),
    },
    "POST /v1/tools/{name}/signed-claims": {
      summary: `Run a model on up to ${MAX_INPUTS} inputs, each answered with a signed claim, in their order; counted as that many requests and runs. All are answered or none: what is wrong with one, the error says by its place. Calldata are answered without results by name. Where signed answers cost, each is asked for alone.`,
      query: {
        batch: { ...wait.batch, description: "true: they also go into a batch" },
        requester: wait.requester,
      },
      body: {
        "application/json": {
          schema: {
            type: "object",
            description: "one of both",
            properties: {
              inputs: { type: "array", minItems: 1, maxItems: MAX_INPUTS, items: { type: "object" } },
              calldata: { type: "array", minItems: 1, maxItems: MAX_INPUTS, items: { type: "string" } },
            },
          },
        },
      },
      ok: json("SignedResults"),
      errors: [403, 404, 409, 413, 415],
    },
    "GET /v1/models": { summary: "The models of this node.", ok: json("Models") },
    "GET /v1/models/{id}": { summary: "One model, by name or id.", ok: json("Model"), errors: [404, 409] },
    "GET /v1/models/{id}/files": {
      summary: "The files of a model with their SHA-256.",
      ok: json("Files"),
      errors: [404, 409],
    },
    "GET /v1/models/{id}/files/{name}": {
      summary: "One file.",
      ok: { ...BYTES, "application/json": {} },
      errors: [404, 409],
    },
    "GET /v1/claims/{id}": { summary: "A claim and its timeline.", ok: json("Claim"), errors: [404] },
    "GET /v1/claims/{id}/events": {
      summary:
        "A claim's life as server-sent events named as those of the chain, each with its transaction, data as ClaimEvent. Last-Event-ID goes on after that event; `reorg` says that the chain took events back and the life is told again; `final` that the claim is final by the chain's time though nobody has booked it, with the block in which that was seen. Ends after Finalized, Fell or `final`.",
      ok: { "text/event-stream": { schema: { type: "string" } } },
      errors: [204, 404],
    },
    "GET /v1/requests/{id}": { summary: "A request and its timeline.", ok: json("Request"), errors: [404] },
    "GET /v1/requests/{id}/record": {
      summary:
        "The correctness record of a claim on the request, or of what truth settled: whoever trusts the hash of its block verifies it without a node. It is made when it is asked for.",
      query: {
        claim: { type: "string", description: "id of the claim; default: of what is final, or the newest" },
      },
      ok: json("Record"),
      errors: [404],
    },
    "GET /v1/signed-claims/{digest}": {
      summary: "What became of an answer that this node signed, and its place in a batch.",
      ok: json("SignedClaim"),
      errors: [404, 409],
    },
    "GET /v1/quote": {
      summary: "What a request would have to offer now.",
      query: {
        model: { type: "string", description: "name or id; must be given" },
        callbackGas: { type: "string", pattern: "^\\d{1,9}$", default: "0" },
        minBond: { type: "string", pattern: "^\\d{1,28}$", default: "0", description: "wei" },
      },
      ok: json("Quote"),
      errors: [404, 409],
    },
    "GET /livez": { summary: "Whether the process answers. Says nothing of its chain.", ok: json("Alive") },
    "GET /healthz": {
      summary:
        "Whether the node follows its chain and owes no late answer, from what it knows: at once, whatever the chain's node does; 503 if not.",
      ok: json("Health"),
    },
    "GET /metrics": {
      summary: "Metrics in Prometheus's text form, unless the node serves them at an address of their own.",
      ok: { "text/plain": { schema: { type: "string" } } },
    },
    "GET /openapi.json": { summary: "This document.", ok: { "application/json": {} } },
  };
}

/** The document as JSON; statuses and forms of answers are those that the tests of the routes check. */
export function openApi(limits: HttpLimits): Json {
  const paths: Record<string, Record<string, Json>> = {};
  for (const [route, operation] of Object.entries(operations(limits))) {
    const [method = "", path = ""] = route.split(" ");
    paths[path] = { ...paths[path], [method.toLowerCase()]: operationOf(path, operation) };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Assay prover",
      version: VERSION,
      description: `Outputs of models, and how final they are. A caller may send ${limits.requestsPerMinute} requests a minute (0: any number), this node runs or queues ${limits.maxRuns} at once, a run ends after ${limits.runTimeoutSeconds} s. An exclusive request lasts at most ${LIMITS.maxExclusive} s.`,
      license: { name: "GPL-3.0-only", identifier: "GPL-3.0-only" },
    },
    paths,
    components: { schemas: componentSchemas(ANSWERS) },
  };
}

/** METHOD /path of each, with Express's form of parameters. */
export const routesOf = (limits: HttpLimits): string[] =>
  Object.keys(operations(limits)).map((route) => route.replace(/\{(\w+)\}/g, ":$1"));

/** Names of the parameters after the question mark, by METHOD /path as `routesOf` gives it. */
export const queriesOf = (
  limits: HttpLimits,
): readonly (readonly [route: string, names: readonly string[]])[] =>
  Object.values(operations(limits)).map(({ query = {} }, i) => [
    routesOf(limits)[i] as string,
    Object.keys(query),
  ]);

function operationOf(
  path: string,
  { summary, query = {}, body, ok, okHeaders, errors = [] }: Operation,
): Json {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" },
  }));
  const inQuery = Object.entries(query).map(([name, schema]) => ({ name, in: "query", schema }));
  const others = [...new Set([400, 429, 500, 503, ...errors])].sort((a, b) => a - b);
  const answer = (status: number): Json => ({
    description: MEANINGS[status] as string,
    ...(status < 300 ? {} : { content: contentOf(path, status) }),
  });
  return {
    summary,
    parameters: [...inPath, ...inQuery],
    ...(body === undefined ? {} : { requestBody: { required: true, content: body } }),
    responses: {
      200: { description: "OK", ...(okHeaders === undefined ? {} : { headers: okHeaders }), content: ok },
      ...Object.fromEntries(others.map((status) => [status, answer(status)])),
    },
  };
}

/** A node that is not well says so in the form of one that is. */
function contentOf(path: string, status: number): Json {
  if (path === "/healthz" && status === 503) {
    return { "application/json": { schema: { anyOf: [ref("Health"), ref("Error")] } } };
  }
  return json("Error");
}
