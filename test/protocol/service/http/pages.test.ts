import { mkdirSync, writeFileSync } from "node:fs";
import { get, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import express from "express";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type HttpServer, listen } from "../../../../protocol/service/http/listen.ts";
import { pages } from "../../../../protocol/service/http/pages.ts";
import { temporaryFolder } from "../../../support/deploy.ts";

const SCRIPT = "export const answer = 42;\n".repeat(400);
const folder = temporaryFolder();
let server: HttpServer;

beforeAll(async () => {
  mkdirSync(join(folder.path, "assets"));
  writeFileSync(join(folder.path, "index.html"), "<!doctype html>".padEnd(2_000));
  writeFileSync(join(folder.path, "assets", "a.js"), SCRIPT);
  const app = express().use(pages({ folder: folder.path, policy: "default-src 'none'", isPage: () => true }));
  server = await listen(app, "127.0.0.1", 0);
});

afterAll(async () => {
  await server.close();
  folder.remove();
});

/** As a browser asks, without decoding what comes. */
async function raw(path: string, headers: Record<string, string>) {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(`${server.url}${path}`, { headers }, resolve).on("error", reject);
  });
  return { headers: response.headers, status: response.statusCode, body: await buffer(response) };
}

describe("pages", () => {
  it("default: scripts and documents come in the encoding that a browser takes", async () => {
    const zipped = await raw("/assets/a.js", { "Accept-Encoding": "gzip" });
    expect(zipped.headers).toMatchObject({ "content-encoding": "gzip", vary: "Accept-Encoding" });
    expect(zipped.body.length).toBeLessThan(SCRIPT.length / 10);
    expect(gunzipSync(zipped.body).toString()).toBe(SCRIPT);
    const brotli = await raw("/assets/a.js", { "Accept-Encoding": "gzip, deflate, br" });
    expect(brotli.headers["content-encoding"]).toBe("br");
    expect(brotliDecompressSync(brotli.body).toString()).toBe(SCRIPT);
    expect((await raw("/claims", { "Accept-Encoding": "br" })).headers["content-encoding"]).toBe("br");
  });

  it("behavior: who asks for none, or for a part of a file, is sent the file's own bytes", async () => {
    const plain = await raw("/assets/a.js", {});
    expect(plain.headers["content-encoding"]).toBeUndefined();
    expect(plain.body.toString()).toBe(SCRIPT);
    const part = await raw("/assets/a.js", { "Accept-Encoding": "br", Range: "bytes=0-1999" });
    expect(part.headers["content-encoding"]).toBeUndefined();
    expect([part.status, part.body.toString()]).toEqual([206, SCRIPT.slice(0, 2_000)]);
    // A cache that keeps either has to know that another caller may be sent other bytes.
    const same = { "If-None-Match": plain.headers.etag ?? "" };
    const unchanged = await raw("/assets/a.js", { "Accept-Encoding": "br", ...same });
    expect([plain, part, unchanged].map(({ status, headers }) => [status, headers.vary])).toEqual([
      [200, "Accept-Encoding"],
      [206, "Accept-Encoding"],
      [304, "Accept-Encoding"],
    ]);
  });
});
