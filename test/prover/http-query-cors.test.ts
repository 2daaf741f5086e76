import { describe, expect, it } from "vitest";
import { fromHex } from "../../base/bytes.ts";
import { queriesOf } from "../../prover/http/openapi.ts";
import {
  bodyOf,
  calldata,
  HTTP_LIMITS,
  OCTETS,
  post,
  prover,
  serveForTests,
  startApp,
} from "../support/http-prover.ts";

serveForTests();

const PATH = "/tools/forecast-vix";
const PAGE = "https://app.example";

describe("parameters of a query", () => {
  it("error: no other spelling of finality is ignored", async () => {
    for (const query of [
      "--finality=final",
      "Finality=final",
      "finalty=final",
      "finality%20=final",
      "wait=1",
    ]) {
      const answer = await post(`${PATH}?${query}`, fromHex(calldata), OCTETS);
      const { error } = (await answer.json()) as { error: { code: string; nextStep: string } };
      expect([query, answer.status, error.code]).toEqual([query, 400, "QUERY_INVALID"]);
      expect(error.nextStep).toBe("There are finality, timeout, batch, requester, written like that.");
    }
  });

  it.each(queriesOf(HTTP_LIMITS))("error: %s refuses what it does not have", async (route) => {
    const [method, path = ""] = route.split(" ");
    const url = `${prover.server.url}${path.replace(/:\w+/g, "x")}?Unheard=1`;
    const answer = await fetch(url, {
      method: method as string,
      ...(method === "POST" ? { body: "x" } : {}),
    });
    expect([answer.status, (await bodyOf(answer)).error]).toEqual([
      400,
      expect.objectContaining({ code: "QUERY_INVALID", message: 'There is no parameter "Unheard" here.' }),
    ]);
  });
});

describe("pages in browsers", () => {
  const from = (origin: string) => ({ origin });
  const allowed = (answer: Response) => answer.headers.get("access-control-allow-origin");
  const ask = (url: string, method: string, path = PATH) =>
    fetch(`${url}${path}`, {
      method,
      headers: from(PAGE),
      ...(method === "POST" ? { body: Buffer.from(fromHex(calldata)) } : {}),
    });

  it("default: every page reads what is public, and none has work done", async () => {
    const { url } = prover.server;
    const models = await ask(url, "GET", "/v1/models");
    expect([models.status, allowed(models)]).toEqual([200, "*"]);
    expect(models.headers.get("access-control-expose-headers")).toContain("Assay-Status");
    expect(allowed(await ask(url, "GET", "/metrics"))).toBeNull();
    const refused = await ask(url, "POST");
    expect([refused.status, (await bodyOf(refused)).error?.code]).toEqual([403, "ORIGIN_REFUSED"]);
    const asked = await ask(url, "OPTIONS");
    expect([asked.status, asked.headers.get("access-control-allow-methods")]).toEqual([204, "GET, HEAD"]);
    // What is no page, and a page of this node itself, is none of this.
    expect((await post(PATH, fromHex(calldata), OCTETS)).status).toBe(200);
    expect((await post(PATH, fromHex(calldata), OCTETS, from(url))).status).toBe(200);
  });

  it("behavior: a page that is named may pay and post; another may not", async () => {
    const server = await startApp({ corsOrigin: [PAGE] });
    const asked = await ask(server.url, "OPTIONS");
    expect([allowed(asked), asked.headers.get("access-control-allow-methods")]).toEqual([
      PAGE,
      "GET, HEAD, POST",
    ]);
    expect(asked.headers.get("access-control-allow-headers")).toContain("PAYMENT-SIGNATURE");
    const answer = await ask(server.url, "POST");
    expect([answer.status, allowed(answer), answer.headers.get("vary")]).toEqual([200, PAGE, "Origin"]);
    const other = await fetch(`${server.url}${PATH}`, {
      method: "POST",
      headers: from("https://other.example"),
      body: "x",
    });
    expect(other.status).toBe(403);
    await server.close();
  });

  it("behavior: a star names all", async () => {
    const server = await startApp({ corsOrigin: ["*"] });
    const answer = await ask(server.url, "POST");
    expect([answer.status, allowed(answer)]).toEqual([200, "*"]);
    await server.close();
  });
});
