import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it, test } from "vitest";
import { isPublicAddress } from "../../../agent/egress/addresses.ts";
import { type EgressPolicy, guardedFetch } from "../../../agent/egress/guarded-fetch.ts";
import { isBaseError } from "../../../base/errors.ts";

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

async function serve(listener: RequestListener, host = "127.0.0.1"): Promise<number> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  return (server.address() as AddressInfo).port;
}

const open = (origin: string, changes: Partial<EgressPolicy> = {}) =>
  guardedFetch({
    origins: [origin],
    allowPrivate: true,
    maxResponseBytes: 1_000,
    timeoutMs: 60_000,
    ...changes,
  });

async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
  } catch (error) {
    return isBaseError(error) ? error.code : String(error);
  }
  return "none";
}

describe("isPublicAddress", () => {
  test.each([
    ["8.8.8.8", true],
    ["172.32.0.1", true],
    ["2606:4700::1111", true],
    ["127.0.0.1", false],
    ["127.255.0.9", false],
    ["0.0.0.0", false],
    ["10.1.2.3", false],
    ["100.64.0.1", false],
    ["169.254.169.254", false],
    ["172.16.0.1", false],
    ["172.31.255.255", false],
    ["192.168.1.1", false],
    ["198.18.0.1", false],
    ["224.0.0.1", false],
    ["255.255.255.255", false],
    ["::1", false],
    ["::", false],
    ["::ffff:127.0.0.1", false],
    ["::ffff:8.8.8.8", false],
    ["fe80::1", false],
    ["fd00::1", false],
    ["64:ff9b::7f00:1", false],
    ["2002:7f00:1::", false],
    ["2001:db8::1", false],
    ["localhost", false],
    ["", false],
  ])("default: %s is %s", (address, expected) => {
    expect(isPublicAddress(address)).toBe(expected);
  });
});

describe("guardedFetch", () => {
  it("default: sends method, headers and body, and gives status, headers and body back", async () => {
    const port = await serve((request, response) => {
      request.setEncoding("utf8").on("data", (body: string) => {
        response.writeHead(201, {
          "x-seen": `${request.method} ${request.url} ${request.headers["x-mine"]}`,
        });
        response.end(`got ${body}`);
      });
    });
    const response = await open(`http://127.0.0.1:${port}`)(`http://127.0.0.1:${port}/a?b=c`, {
      method: "POST",
      headers: { "x-mine": "1" },
      body: "text",
    });
    expect(response.status).toBe(201);
    expect(response.headers.get("x-seen")).toBe("POST /a?b=c 1");
    expect(await response.text()).toBe("got text");
  });

  test.each([
    "http://127.0.0.1:1/",
    "https://127.0.0.1:9/",
    "http://127.0.0.1.evil.example:9/",
    "http://user:secret@127.0.0.1:9/",
    "http://127.0.0.1:9@evil.example/",
    "file:///etc/passwd",
    "//127.0.0.1:9/",
    "http://",
  ])("error: an address outside the list, %s", async (target) => {
    expect(await codeOf(open("http://127.0.0.1:9")(target))).toBe("EGRESS_ORIGIN_REFUSED");
  });

  test.each([
    "http://127.0.0.1:9",
    "http://[::1]:9",
    "http://0x7f.1:9",
    "http://2130706433:9",
    "http://[::ffff:7f00:1]:9",
  ])("error: a private address by number, %s", async (origin) => {
    expect(await codeOf(open(origin, { allowPrivate: false })(origin))).toBe("EGRESS_ADDRESS_REFUSED");
  });

  it("error: a name is refused if any of its addresses is private", async () => {
    const resolve = async () => [
      { address: "8.8.8.8", family: 4 },
      { address: "169.254.169.254", family: 4 },
    ];
    const fetchIt = open("http://rebind.example", { allowPrivate: false, resolve });
    expect(await codeOf(fetchIt("http://rebind.example/"))).toBe("EGRESS_ADDRESS_REFUSED");
  });

  it("behavior: the connection uses the addresses that were checked, whatever the name says later", async () => {
    const hits: string[] = [];
    const port = await serve((_request, response) => response.end("first"), "127.0.0.1");
    const other = createServer((_request, response) => {
      hits.push("second");
      response.end("second");
    });
    servers.push(other);
    await new Promise<void>((resolve) => other.listen(port, "127.0.0.2", resolve));
    let asked = 0;
    const resolve = async () => {
      asked += 1;
      return [{ address: asked === 1 ? "127.0.0.1" : "127.0.0.2", family: 4 }];
    };
    const response = await open(`http://rebind.example:${port}`, { resolve })(
      `http://rebind.example:${port}/`,
    );
    expect(await response.text()).toBe("first");
    expect([asked, hits]).toEqual([1, []]);
  });

  it("error: redirects are not followed", async () => {
    let visits = 0;
    const port = await serve((_request, response) => {
      visits += 1;
      response.writeHead(302, { location: "http://169.254.169.254/" }).end();
    });
    const origin = `http://127.0.0.1:${port}`;
    expect(await codeOf(open(origin)(origin))).toBe("EGRESS_REDIRECT_REFUSED");
    expect(visits).toBe(1);
  });

  test.each([true, false])("error: a body that is too long, announced %s", async (announced) => {
    const port = await serve((_request, response) => {
      if (announced) response.setHeader("content-length", "1001");
      response.write("x".repeat(600));
      response.end("x".repeat(401));
    });
    const origin = `http://127.0.0.1:${port}`;
    const read = async () => (await open(origin)(origin)).text();
    expect(await codeOf(read())).toBe("EGRESS_TOO_LARGE");
  });

  it("error: a server that never ends is left after the time limit", async () => {
    const port = await serve((_request, response) => void response.write("x"));
    const origin = `http://127.0.0.1:${port}`;
    const read = async () => (await open(origin, { timeoutMs: 100 })(origin)).text();
    expect(await codeOf(read())).toBe("EGRESS_TIMEOUT");
  });

  it("error: the caller's signal ends it", async () => {
    const leave = new AbortController();
    const port = await serve(() => leave.abort());
    const origin = `http://127.0.0.1:${port}`;
    expect(await codeOf(open(origin)(origin, { signal: leave.signal }))).toBe("EGRESS_FAILED");
  });

  it("error: a compressed body, which could be far longer than it looks", async () => {
    const port = await serve((_request, response) => {
      response.writeHead(200, { "content-encoding": "gzip" }).end("x");
    });
    const origin = `http://127.0.0.1:${port}`;
    expect(await codeOf(open(origin)(origin))).toBe("EGRESS_FAILED");
  });
});
