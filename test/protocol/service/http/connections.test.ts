import { connect, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { connectionLimits, descriptorLimit } from "../../../../protocol/service/http/connections.ts";
import { type HttpServer, limitsFor, listen } from "../../../../protocol/service/http/listen.ts";

describe("connectionLimits", () => {
  it.each([
    [1_024, 256, { most: 256, perAddress: 64 }],
    [1_024, 10, { most: 256, perAddress: 10 }],
    [1_024, 0, { most: 256, perAddress: undefined }],
    [16, 256, { most: 8, perAddress: 2 }],
    [1_048_576, 256, { most: 8_192, perAddress: 256 }],
  ])("args: %i descriptors, %i for one address", (descriptors, perAddress, limits) => {
    expect(connectionLimits(perAddress, descriptors)).toEqual(limits);
  });

  it("behavior: this process's descriptors, and no limit for the address of a trusted proxy", () => {
    expect(descriptorLimit()).toBeGreaterThan(0);
    const limits = { requestsPerMinute: 0, connectionsPerCaller: 10 };
    expect(limitsFor(limits).perAddress).toBe(10);
    expect(limitsFor({ ...limits, trustProxy: 1 }).perAddress).toBeUndefined();
  });
});

describe("listen", () => {
  let server: HttpServer;
  const sockets: Socket[] = [];
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await server.close();
  });
  const open = async (from: string): Promise<boolean> => {
    const socket = connect({ port: Number(new URL(server.url).port), host: "127.0.0.1", localAddress: from });
    sockets.push(socket);
    return new Promise((resolve) => {
      // Whoever is let in gets an answer, on a connection that stays open.
      socket.on("data", () => resolve(true));
      socket.on("error", () => resolve(false));
      socket.on("close", () => resolve(false));
      socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    });
  };

  it("error: one address gets its part, all together theirs, and places come back", async () => {
    server = await listen((_request, response) => void response.end("here"), "127.0.0.1", 0, {
      most: 5,
      perAddress: 2,
    });
    const first = [await open("127.0.0.1"), await open("127.0.0.1"), await open("127.0.0.1")];
    expect(first).toEqual([true, true, false]);
    const others: boolean[] = [];
    for (const from of ["127.0.0.2", "127.0.0.2", "127.0.0.3", "127.0.0.4"]) others.push(await open(from));
    expect(others).toEqual([true, true, true, false]);
    sockets[0]?.destroy();
    await expect.poll(() => open("127.0.0.1"), { timeout: 10_000 }).toBe(true);
  });
});
