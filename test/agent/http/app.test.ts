import { request as requestHttp } from "node:http";
import { decodeFunctionResult, encodeFunctionData, hexToBytes, keccak256, slice, toBytes } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createAgentApp } from "../../../agent/http/app.ts";
import { callAgent, postCalldata } from "../../../agent/metadata/call.ts";
import { agentCodec } from "../../../agent/metadata/codec.ts";
import { BaseError } from "../../../base/errors.ts";
import { SILENT } from "../../../base/log.ts";
import type { HttpServer } from "../../../protocol/service/http/listen.ts";
import { DEFAULT_CALLER_LIMITS } from "../../../protocol/service/http/service.ts";
import { RECIPIENT } from "../../support/agent-calls.ts";
import { GREETER, GREETER_HANDLERS, ORDER_ID, startAgent } from "../../support/http-agent.ts";

let agentUrl: string;
const servers: HttpServer[] = [];
beforeAll(async () => {
  servers.push(await startAgent(GREETER, GREETER_HANDLERS));
  agentUrl = servers[0]!.url;
});
afterAll(() => Promise.all(servers.map((server) => server.close())));

const post = (body: Uint8Array | string, headers: Record<string, string> = {}, url = agentUrl) =>
  fetch(url, { method: "POST", body: typeof body === "string" ? body : Buffer.from(body), headers });
const codeOf = async (response: Promise<Response>) => {
  const answered = await response;
  const body = (await answered.json()) as { error: { code: string } };
  return [answered.status, body.error.code];
};

const GREET_ABI = [
  {
    type: "function",
    name: "greet",
    inputs: [{ name: "name", type: "string" }],
    outputs: [{ name: "greeting", type: "string" }],
    stateMutability: "nonpayable",
  },
] as const;

describe("POST /", () => {
  // shows: S-22, S-24, S-25, S-27, S-31, D-71
  it("default: example 1 of the text, as shown there, the status looked at first", async () => {
    const abi = GREET_ABI;

    // Encode request (includes 4-byte selector)
    const calldata = encodeFunctionData({ abi, functionName: "greet", args: ["Alice"] });
    expect(calldata).toMatch(/^0xead710c4000/);

    // Send to agent
    const response = await fetch(agentUrl, {
      method: "POST",
      body: Buffer.from(calldata.slice(2), "hex"),
    });
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("application/octet-stream");

    // Decode response
    const responseHex = `0x${Buffer.from(await response.arrayBuffer()).toString("hex")}` as const;
    const result = decodeFunctionResult({ abi, functionName: "greet", data: responseHex });
    expect(result).toBe("Hello, Alice!");
  });

  // shows: S-23, S-31, D-71
  it("default: the selector as the text computes it", () => {
    const signature = "fetch(string,string)";
    const hash = keccak256(toBytes(signature));
    expect(slice(hash, 0, 4)).toBe("0xe207bc0c");
  });

  // shows: S-28, S-29, S-31
  it("default: examples 2 and 3 of the text, with types of viem", async () => {
    const abi = [
      {
        type: "function",
        name: "request",
        inputs: [
          { name: "url", type: "string" },
          { name: "keys", type: "string[]" },
          { name: "values", type: "string[]" },
        ],
        outputs: [{ name: "response", type: "string" }],
        stateMutability: "nonpayable",
      },
      {
        type: "function",
        name: "createOrder",
        inputs: [
          {
            name: "order",
            type: "tuple",
            components: [
              { name: "item", type: "string" },
              { name: "quantity", type: "uint256" },
              { name: "recipient", type: "address" },
            ],
          },
        ],
        outputs: [
          { name: "orderId", type: "bytes32" },
          { name: "success", type: "bool" },
        ],
        stateMutability: "nonpayable",
      },
    ] as const;
    const response: string = await callAgent(agentUrl, {
      abi,
      functionName: "request",
      args: ["https://api.example.com/webhook", ["action", "amount"], ["transfer", "100"]],
    });
    expect(JSON.parse(response)).toMatchObject({ keys: ["action", "amount"], values: ["transfer", "100"] });
    const [orderId, success]: readonly [string, boolean] = await callAgent(agentUrl, {
      abi,
      functionName: "createOrder",
      args: [{ item: "Widget", quantity: 5n, recipient: RECIPIENT }],
    });
    expect([orderId, success]).toEqual([ORDER_ID, true]);
  });

  // shows: S-26
  it("behavior: two methods in one container, by selector", async () => {
    const again = await callAgent(agentUrl, { abi: GREET_ABI, functionName: "greet", args: ["Bob"] });
    expect(again).toBe("Hello, Bob!");
    expect(await codeOf(post(Uint8Array.of(0x12, 0x34, 0x56, 0x78)))).toEqual([400, "SELECTOR_UNKNOWN"]);
    expect(await codeOf(post(Uint8Array.of(1, 2, 3)))).toEqual([400, "CALLDATA_TOO_SHORT"]);
    expect(await codeOf(post(""))).toEqual([400, "CALLDATA_TOO_SHORT"]);
  });

  const calldata = () => encodeFunctionData({ abi: GREET_ABI, functionName: "greet", args: ["Alice"] });
  // shows: S-25, D-71
  it("args: any content type; hexadecimal text and JSON are refused", async () => {
    for (const type of ["application/octet-stream", "text/plain", "application/json"]) {
      expect((await post(hexToBytes(calldata()), { "content-type": type })).status).toBe(200);
    }
    expect(await codeOf(post(calldata()))).toEqual([400, "BODY_NOT_BYTES"]);
    expect(await codeOf(post(calldata().slice(2)))).toEqual([400, "BODY_NOT_BYTES"]);
    expect(await codeOf(post(JSON.stringify({ name: "Alice" })))).toEqual([400, "SELECTOR_UNKNOWN"]);
  });

  // shows: S-18
  it("error: text that is no UTF-8, arguments that no encoder writes", async () => {
    const bytes = hexToBytes(calldata());
    bytes.set([0xff], 68);
    expect(await codeOf(post(bytes))).toEqual([400, "TEXT_NOT_UNICODE"]);
    expect(await codeOf(post(hexToBytes(calldata()).slice(0, -1)))).toEqual([400, "CALLDATA_NOT_CANONICAL"]);
    expect(await codeOf(post(hexToBytes(`${calldata()}00`)))).toEqual([400, "CALLDATA_NOT_CANONICAL"]);
  });

  it("args: a body of 10 MB is taken, a larger one is not, said or unsaid", async () => {
    const limit = 10 * 1024 * 1024;
    // Encoding megabytes takes longer than an idle connection is kept: each of these has its own.
    const statusOf = (body: Uint8Array, headers: Record<string, string>) =>
      new Promise((resolve, reject) => {
        const sent = requestHttp(agentUrl, { method: "POST", agent: false, headers });
        sent.once("response", (response) => resolve(response.resume().statusCode)).once("error", reject);
        sent.write(body);
        if (body.length <= limit) sent.end();
      });
    const long = agentCodec(GREETER.abi).encodeCall("greet", ["x".repeat(limit - 100)]);
    expect(long.length).toBeGreaterThan(limit - 32);
    expect(await statusOf(long, { "content-length": `${long.length}` })).toBe(200);
    const tooLong = new Uint8Array(limit + 1);
    expect(await statusOf(tooLong, { "content-length": `${limit + 1}` })).toBe(413);
    expect(await statusOf(tooLong, { "transfer-encoding": "chunked" })).toBe(413);
  });

  it("error: 500 without the cause, 503 when it takes too long, and the handler is told to stop", async () => {
    let stopped = false;
    const logged: object[] = [];
    const error = (fields: object) => void logged.push(fields);
    const fails = await startAgent(
      GREETER,
      {
        ...GREETER_HANDLERS,
        greet: ([name], { signal }) => {
          if (name === "fault") throw new Error("a secret");
          if (name === "wrong") return [7];
          signal.addEventListener("abort", () => {
            stopped = true;
          });
          return new Promise(() => {});
        },
      },
      50,
      { ...SILENT, error },
    );
    servers.push(fails);
    const greet = (name: string) =>
      post(
        hexToBytes(encodeFunctionData({ abi: GREET_ABI, functionName: "greet", args: [name] })),
        {},
        fails.url,
      );
    for (const name of ["fault", "wrong"]) {
      const response = await greet(name);
      expect(response.status).toBe(500);
      expect(await response.text()).not.toContain("secret");
    }
    expect(logged).toHaveLength(2);
    expect(await codeOf(greet("slow"))).toEqual([503, "AGENT_TIMEOUT"]);
    expect(stopped).toBe(true);
  });
});

describe("GET", () => {
  it("default: health, and the metadata", async () => {
    const health = await fetch(`${agentUrl}/health`);
    expect([health.status, await health.json()]).toEqual([
      200,
      { status: "ok", name: GREETER.name, version: GREETER.version },
    ]);
    expect(await (await fetch(`${agentUrl}/metadata.json`)).json()).toEqual(GREETER);
    expect(await codeOf(fetch(agentUrl))).toEqual([404, "ROUTE_UNKNOWN"]);
  });
});

describe("createAgentApp", () => {
  it("error: a method without a handler", () => {
    const { greet: _, ...handlers } = GREETER_HANDLERS;
    const create = () =>
      createAgentApp({
        metadata: GREETER,
        handlers,
        log: SILENT,
        nowMs: Date.now,
        limits: DEFAULT_CALLER_LIMITS,
      });
    expect(create).toThrow("methods that nothing computes: greet");
  });
});

describe("callAgent", () => {
  const call = { abi: GREET_ABI, functionName: "greet", args: ["Alice"] } as const;
  const failing = async (work: Promise<unknown>) => {
    const error = await work.then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    if (error instanceof BaseError) return [error.code, error.retryable];
    throw new Error("there was no error of ours", { cause: error });
  };

  // shows: S-24, D-71
  it("error: the body of an error is never decoded, nor a reply of another form", async () => {
    const replies = await startAgent(GREETER, {
      ...GREETER_HANDLERS,
      greet: () => Promise.reject(new Error()),
    });
    servers.push(replies);
    expect(await failing(callAgent(replies.url, call))).toEqual(["AGENT_REFUSED", true]);
    expect(await failing(callAgent(`${agentUrl}/none`, call))).toEqual(["AGENT_REFUSED", false]);
    const order = { ...GREET_ABI[0], outputs: [{ name: "x", type: "uint256" }] } as const;
    expect(await failing(callAgent(agentUrl, { ...call, abi: [order] }))).toEqual(["OUTPUT_INVALID", false]);
    expect(
      await failing(postCalldata(agentUrl, hexToBytes(encodeFunctionData(call)), { maxBytes: 64 })),
    ).toEqual(["REPLY_TOO_LARGE", false]);
  });

  it("error: nobody there", async () => {
    const gone = await startAgent(GREETER, GREETER_HANDLERS);
    await gone.close();
    expect(await failing(callAgent(gone.url, call))).toEqual(["AGENT_UNREACHABLE", true]);
  });
});
