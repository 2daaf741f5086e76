import { beforeAll, describe, expect, test } from "vitest";
import { fromHex } from "../../base/bytes.ts";
import { routesOf } from "../../prover/http/openapi.ts";
import {
  asked,
  calldata,
  encodeText,
  HTTP_LIMITS,
  JSON_TYPE,
  OCTETS,
  post,
  prover,
  served,
  serveForTests,
  texts,
} from "../support/http-prover.ts";
import { documentOf, expectDocumented, type OpenApi, validatorOf } from "../support/openapi.ts";

serveForTests();

let document: OpenApi;
beforeAll(async () => {
  document = await documentOf(prover.server.url);
});
const get = (path: string) => fetch(`${prover.server.url}${path}`);
const text = () => JSON.stringify({ [texts.function.inputs[0]?.name ?? "0"]: "Profit beats forecasts" });

describe("GET /openapi.json", () => {
  test("default: version 3.1, every route that is told to whoever misses one, and no other", async () => {
    expect(document.openapi).toBe("3.1.0");
    const documented = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ":$1")}`),
    );
    expect(documented.sort()).toEqual(routesOf(HTTP_LIMITS).sort());
  });

  test("behavior: each documented route is there", async () => {
    const missing: string[] = [];
    for (const route of routesOf(HTTP_LIMITS)) {
      const [method = "", path = ""] = route.split(" ");
      const response = await fetch(`${prover.server.url}${path.replace(/:\w+/g, "x")}`, { method });
      if ((await response.text()).includes("ROUTE_UNKNOWN")) missing.push(route);
    }
    expect(missing).toEqual([]);
  });

  test("behavior: references lead somewhere", () => {
    const refs = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)];
    expect(refs.length).toBeGreaterThan(10);
    for (const [, name] of refs) expect(Object.keys(document.components.schemas)).toContain(name);
  });
});

describe("answers and the document", () => {
  test.each<[string, () => Promise<Response>]>([
    ["GET /v1/models", () => get("/v1/models")],
    ["GET /v1/models/{id}", () => get("/v1/models/sentiment")],
    ["GET /v1/models/{id}", () => get("/v1/models/none")],
    ["GET /v1/models/{id}/files", () => get(`/v1/models/${served.id}/files`)],
    ["GET /v1/models/{id}/files/{name}", () => get(`/v1/models/${served.id}/files/manifest.json`)],
    ["GET /v1/models/{id}/files/{name}", () => get(`/v1/models/${served.id}/files/none`)],
    ["GET /v1/claims/{id}", () => get("/v1/claims/1")],
    ["GET /v1/claims/{id}/events", () => get("/v1/claims/1/events")],
    ["GET /v1/requests/{id}", () => get("/v1/requests/1")],
    ["GET /v1/quote", () => get("/v1/quote")],
    ["GET /v1/quote", () => get("/v1/quote?model=sentiment")],
    ["GET /metrics", () => get("/metrics")],
    ["GET /openapi.json", () => get("/openapi.json")],
    ["POST /tools/{name}", () => post("/tools/forecast-vix", fromHex(calldata), OCTETS)],
    ["POST /tools/{name}", () => post("/tools/forecast-vix", "", OCTETS)],
    ["POST /tools/{name}", () => post("/tools/none", "", OCTETS)],
    [
      "POST /tools/{name}",
      () => post("/tools/sentiment", fromHex(encodeText("a")), OCTETS, { "content-encoding": "br" }),
    ],
    ["POST /v1/tools/{name}", () => post("/v1/tools/sentiment", text(), JSON_TYPE)],
    ["POST /v1/tools/{name}", () => post("/v1/tools/sentiment?finality=final&timeout=1", text(), JSON_TYPE)],
    ["POST /v1/tools/{name}", () => post("/v1/tools/sentiment?finality=never", text(), JSON_TYPE)],
  ])("behavior: %s, case %#", async (route, ask) => {
    await expectDocumented(document, route, await ask());
  });

  test("behavior: a final output names its claim", async () => {
    const { claim } = asked("done");
    const response = await post("/tools/forecast-vix", fromHex(calldata), OCTETS);
    expect(response.headers.get("assay-claim")).toBe(claim);
    await expectDocumented(document, "POST /tools/{name}", response);
  });
});

describe("expectDocumented", () => {
  test("error: a member too few, too many, or of another type is seen", () => {
    const validator = validatorOf(document, { $ref: "#/components/schemas/Error" });
    const right = { error: { code: "A", message: "b", nextStep: "c" }, requestId: "d" };
    expect(validator.safeParse(right).success).toBe(true);
    for (const wrong of [
      { ...right, more: 1 },
      { error: right.error },
      { ...right, error: { ...right.error, code: 5 } },
      { ...right, error: { ...right.error, more: 1 } },
    ])
      expect(validator.safeParse(wrong).success).toBe(false);
  });
});
