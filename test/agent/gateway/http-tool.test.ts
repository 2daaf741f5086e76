import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, it, test } from "vitest";
import { type HttpToolConfig, httpTool } from "../../../agent/gateway/tools/http-tool.ts";

const seen: { method: string; url: string; body: string; secret: string | undefined }[] = [];
const server = createServer((request, response) => {
  const parts: Buffer[] = [];
  request
    .on("data", (part: Buffer) => parts.push(part))
    .on("end", () => {
      const { method = "", url = "", headers } = request;
      seen.push({
        method,
        url,
        body: Buffer.concat(parts).toString("utf8"),
        secret: headers["x-secret"] as string,
      });
      const type = url.includes("text") ? "text/plain" : "application/json";
      response.writeHead(url.includes("gone") ? 404 : 200, { "content-type": type });
      response.end(url.includes("broken") ? "{" : '{"price":5}');
    });
});
let origin = "";

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => void server.close());
beforeEach(() => void seen.splice(0));

const limits = { maxResponseBytes: 1_000, allowPrivate: true, timeoutMs: 60_000 };
const context = { signal: new AbortController().signal };
const tool = (url: string, changes: Partial<HttpToolConfig> = {}, allowPrivate = true) => {
  const config = {
    description: "",
    method: "GET" as const,
    parameters: {},
    headers: { "x-secret": "s" },
    price: 0,
  };
  return httpTool("magpie/price", { ...config, url, ...changes }, { ...limits, allowPrivate });
};

describe("httpTool", () => {
  it("default: parameters fill the path and the query", async () => {
    const outcome = await tool(`${origin}/prices/{symbol}`).run({ symbol: "A/B ?#", day: "1&2=3" }, context);
    expect(outcome).toEqual({ success: true, status: "unverified", data: { price: 5 } });
    expect(seen).toEqual([
      { method: "GET", url: "/prices/A%2FB%20%3F%23?day=1%262%3D3", body: "", secret: "s" },
    ]);
  });

  it("args: POST sends the rest as a JSON body", async () => {
    await tool(`${origin}/{kind}/text`, { method: "POST" }).run({ kind: "k", deep: { a: [1] } }, context);
    expect(seen).toMatchObject([{ method: "POST", url: "/k/text", body: '{"deep":{"a":[1]}}' }]);
  });

  test.each([".", "..", "...", "", undefined])("error: a part of the path that is %j", async (symbol) => {
    await expect(tool(`${origin}/prices/{symbol}/x`).run({ symbol }, context)).rejects.toMatchObject({
      code: "TOOL_INVALID",
    });
    expect(seen).toEqual([]);
  });

  it("behavior: whatever a model writes, the request stays below the path", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.string({ unit: "binary", minLength: 1 }),
          fc.constantFrom("../admin", "%2e%2e", "//evil", "@evil"),
        ),
        async (symbol) => {
          seen.splice(0);
          await tool(`${origin}/prices/{symbol}`)
            .run({ symbol }, context)
            .catch(() => undefined);
          for (const { url } of seen) expect(url).toMatch(/^\/prices\/[^/?#]+$/);
        },
      ),
      { numRuns: 60 },
    );
  });

  test.each([
    "https://{host}/x",
    "http://user@127.0.0.1/x",
    "ftp://127.0.0.1/",
    "http://127.0.0.1/x?y=1",
    "http://127.0.0.1/x#y",
    "nothing",
  ])("error: an address that a tool cannot have, %s", (url) => {
    expect(() => tool(url)).toThrow(
      expect.objectContaining({ code: expect.stringMatching(/TOOL_INVALID|EGRESS_ORIGIN/) }),
    );
  });

  it("error: private addresses unless they are allowed, a status, broken JSON", async () => {
    await expect(tool(`${origin}/x`, {}, false).run({}, context)).rejects.toMatchObject({
      code: "EGRESS_ADDRESS_REFUSED",
    });
    expect(await tool(`${origin}/gone`).run({}, context)).toMatchObject({
      success: false,
      code: "HTTP_STATUS",
    });
    await expect(tool(`${origin}/broken`).run({}, context)).rejects.toMatchObject({ code: "HTTP_NOT_JSON" });
  });
});
