import express from "express";
import { describe, expect, test } from "vitest";
import { type EventStream, openEventStream } from "../../../../protocol/service/http/event-stream.ts";
import { listen } from "../../../../protocol/service/http/listen.ts";

describe("openEventStream", () => {
  async function open(heartbeatMs?: number) {
    const app = express();
    let stream: EventStream | undefined;
    app.get("/", (_request, response) => {
      stream = openEventStream(response, heartbeatMs);
    });
    const server = await listen(app, "127.0.0.1", 0);
    const leaving = new AbortController();
    const response = await fetch(server.url, { signal: leaving.signal });
    const reader = response.body?.getReader();
    const read = async () => Buffer.from((await reader?.read())?.value as Uint8Array).toString();
    return { server, stream: stream as EventStream, read, leave: () => leaving.abort() };
  }

  test("behavior: comments while nothing happens, until the client leaves", async () => {
    const { server, stream, read, leave } = await open(1);
    expect(await read()).toMatch(/^(:\n\n)+$/);
    leave();
    await expect.poll(() => stream.signal.aborted, { timeout: 240_000 }).toBe(true);
    await server.close();
  });

  test("behavior: a client that does not read is cut off, and memory with it", async () => {
    const { server, stream } = await open();
    const data = "x".repeat(100_000);
    for (let i = 0; i < 10_000 && !stream.signal.aborted; i++) {
      stream.send({ event: "big", data });
      await new Promise(setImmediate);
    }
    expect(stream.signal.aborted).toBe(true);
    await server.close();
  });
});
