import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import express from "express";
import { expect, test } from "vitest";
import { compressed } from "../../../../protocol/service/http/compressed.ts";
import { listen } from "../../../../protocol/service/http/listen.ts";

test("behavior: a few answers are compressed at once, and more when those are read or left", async () => {
  const app = express();
  // The limit is the process's, in however many places it is used.
  for (const path of ["/a", "/b"])
    app.get(path, compressed(2), (_request, response) => {
      response.type("text/plain").write("x".repeat(4_096));
      response.flushHeaders();
    });
  const server = await listen(app, "127.0.0.1", 0);
  const asked = async (path = "/b"): Promise<IncomingMessage> => {
    const request = get(`${server.url}${path}`, { headers: { "Accept-Encoding": "br" }, agent: false });
    const [response] = (await once(request, "response")) as [IncomingMessage];
    return response;
  };
  const held = [await asked("/a"), await asked(), await asked()];
  expect(held.map(({ headers }) => headers["content-encoding"])).toEqual(["br", "br", undefined]);
  held[0]?.destroy();
  await expect
    .poll(async () => {
      const response = await asked();
      response.destroy();
      return response.headers["content-encoding"];
    })
    .toBe("br");
  for (const response of held) response.destroy();
  await server.close();
});
