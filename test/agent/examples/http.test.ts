import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { dataProcessor } from "../../../agent/examples/http/data-processor.ts";
import {
  createHandlers as createJsonSelector,
  jsonSelector,
} from "../../../agent/examples/http/json-selector.ts";
import {
  createHandlers as createGenerator,
  textGeneration,
} from "../../../agent/examples/http/text-generation.ts";
import type { MethodHandlers } from "../../../agent/http/app.ts";
import { EXAMPLES, exampleFiles } from "../../../agent/http/serve.ts";
import { postCalldata } from "../../../agent/metadata/call.ts";
import { agentCodec } from "../../../agent/metadata/codec.ts";
import { readMetadata, requireMetadata } from "../../../agent/metadata/read.ts";
import { isBaseError } from "../../../base/errors.ts";
import { AGENT_EXAMPLES } from "../../support/agent-metadata.ts";
import { startAgent } from "../../support/http-agent.ts";

const folder = mkdtempSync(join(tmpdir(), "assay-agents-"));
afterAll(() => rmSync(folder, { recursive: true }));
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const metadataOf = (name: string) => {
  const { metadata } = exampleFiles(name);
  return requireMetadata(readFileSync(metadata), metadata);
};

/** Calls an example over HTTP. */
async function startExample(name: string, handlers: MethodHandlers) {
  const metadata = metadataOf(name);
  const codec = agentCodec(metadata.abi);
  const server = await startAgent(metadata, handlers);
  closing.push(() => server.close());
  const call = async (method: string, ...args: unknown[]) =>
    codec.decodeReply(method, await postCalldata(server.url, codec.encodeCall(method, args)));
  const refusal = (method: string, ...args: unknown[]) =>
    call(method, ...args).then(
      () => "none",
      (error: unknown) => {
        if (!isBaseError(error, "AGENT_REFUSED")) throw error;
        return `${error.details.status} ${/[A-Z_]{5,}/.exec(error.shortMessage.split(":").slice(1).join())?.[0]}`;
      },
    );
  return { call, refusal, post: (calldata: Uint8Array) => postCalldata(server.url, calldata), codec };
}

type Answerer = (
  path: string,
  body: string,
) => { status?: number; headers?: Record<string, string>; body: string };
/** @returns its origin */
async function startSource(answer: Answerer): Promise<string> {
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const { status = 200, headers = {}, body } = answer(request.url ?? "", Buffer.concat(parts).toString());
    response.writeHead(status, headers).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => new Promise((resolve) => server.close(resolve)));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe("the metadata of the examples", () => {
  // shows: S-32, S-33, S-35, S-51
  it.each(EXAMPLES)("default: %s has the text's methods, every parameter described", (name) => {
    const { errors, warnings } = readMetadata(readFileSync(exampleFiles(name).metadata));
    expect([errors, warnings]).toEqual([[], []]);
    const text = AGENT_EXAMPLES[EXAMPLES.indexOf(name)]!;
    const of = ({ abi }: typeof text) => agentCodec(abi).methods.map(({ signature }) => signature);
    const outputs = ({ abi }: typeof text) =>
      abi.map((f) => f.outputs.map(({ name, type }) => `${type} ${name}`));
    expect(of(metadataOf(name))).toEqual(of(text));
    expect(outputs(metadataOf(name))).toEqual(outputs(text));
  });
});

describe("JSON Selector", () => {
  const source: Answerer = (path) =>
    path === "/price"
      ? { body: '{"eth":{"usd":3021.4500}, "name":"Ether"}' }
      : path === "/moved"
        ? { status: 302, headers: { location: "/price" }, body: "" }
        : path === "/large"
          ? { body: `"${"x".repeat(1 << 20)}"` }
          : path === "/page"
            ? { body: "<html>" }
            : { status: path === "/busy" ? 503 : 404, body: "{}" };

  // shows: S-32
  it("default: a value of a local server, every digit as it was sent", async () => {
    const origin = await startSource(source);
    const { call } = await startExample(
      "json-selector",
      jsonSelector({ origins: [origin], allowPrivate: true }),
    );
    expect(await call("fetch", `${origin}/price`, "eth.usd")).toEqual(["3021.4500"]);
    expect(await call("fetch", `${origin}/price`, "$.name")).toEqual(["Ether"]);
  });

  it("error: other origins, redirects, large answers, no JSON, statuses, selectors", async () => {
    const [origin, other] = [await startSource(source), await startSource(source)];
    const { refusal } = await startExample(
      "json-selector",
      jsonSelector({ origins: [origin], allowPrivate: true }),
    );
    expect(await refusal("fetch", `${other}/price`, "eth")).toBe("400 EGRESS_ORIGIN_REFUSED");
    expect(await refusal("fetch", origin.replace("http://", "http://user:pw@"), "")).toBe(
      "400 EGRESS_ORIGIN_REFUSED",
    );
    expect(await refusal("fetch", "file:///etc/passwd", "")).toBe("400 EGRESS_ORIGIN_REFUSED");
    expect(await refusal("fetch", `${origin}/moved`, "eth")).toBe("400 EGRESS_REDIRECT_REFUSED");
    expect(await refusal("fetch", `${origin}/large`, "")).toBe("400 EGRESS_TOO_LARGE");
    expect(await refusal("fetch", `${origin}/page`, "")).toBe("400 JSON_INVALID");
    expect(await refusal("fetch", `${origin}/none`, "")).toBe("400 SOURCE_REFUSED");
    expect(await refusal("fetch", `${origin}/busy`, "")).toBe("503 SOURCE_UNAVAILABLE");
    expect(await refusal("fetch", `${origin}/price`, "eth.eur")).toBe("400 VALUE_MISSING");
    expect(await refusal("fetch", `${origin}/price`, "eth..")).toBe("400 SELECTOR_INVALID");
  });

  it("error: private addresses by default, by number and by a listed name that resolves to one", async () => {
    const origin = await startSource(source);
    const direct = await startExample("json-selector", createJsonSelector({ ASSAY_AGENT_ORIGINS: origin }));
    expect(await direct.refusal("fetch", `${origin}/price`, "")).toBe("400 EGRESS_ADDRESS_REFUSED");
    const named = "http://prices.example.com";
    const resolve = async () => [{ address: "127.0.0.1", family: 4 }];
    const rebound = await startExample("json-selector", jsonSelector({ origins: [named], resolve }));
    expect(await rebound.refusal("fetch", `${named}/price`, "")).toBe("400 EGRESS_ADDRESS_REFUSED");
    const nothing = await startExample("json-selector", createJsonSelector({}));
    expect(await nothing.refusal("fetch", "https://example.com", "")).toBe("400 EGRESS_ORIGIN_REFUSED");
  });
});

describe("AI Generate", () => {
  interface Asked {
    messages: { role: string; content: string }[];
    temperature: number;
    seed: number;
  }
  /** Answers differently each time, as servers do that do not keep to their seed. */
  async function startModel(asked: Asked[], status = () => 200): Promise<string> {
    const origin = await startSource((_path, body) => {
      asked.push(JSON.parse(body) as Asked);
      const message = { role: "assistant", content: `answer ${asked.length}` };
      const reply = { choices: [{ index: 0, message, finish_reason: "stop" }] };
      return {
        status: status(),
        headers: { "content-type": "application/json" },
        body: JSON.stringify(reply),
      };
    });
    return `${origin}/v1`;
  }
  let stores = 0;
  const optionsFor = (baseUrl: string) => {
    stores += 1;
    return { baseUrl, model: "small", answers: join(folder, `answers-${stores}.sqlite`) };
  };

  // shows: S-33, S-34
  it("default: both methods; the same calldata gives the same bytes, from a restart too", async () => {
    const asked: Asked[] = [];
    const options = optionsFor(await startModel(asked));
    const { post, codec } = await startExample("text-generation", textGeneration(options));
    const generate = codec.encodeCall("generate", ["Say hello"]);
    const chat = codec.encodeCall("chat", [
      ["Be brief.", "Hi"],
      ["system", "user"],
    ]);
    const first = await post(generate);
    expect(codec.decodeReply("generate", first)).toEqual(["answer 1"]);
    expect(codec.decodeReply("chat", await post(chat))).toEqual(["answer 2"]);
    expect(await post(generate)).toEqual(first);
    const restarted = await startExample("text-generation", textGeneration(options));
    expect(await restarted.post(generate)).toEqual(first);
    expect(asked).toHaveLength(2);
    expect(asked[0]).toMatchObject({
      temperature: 0,
      seed: 7,
      messages: [{ role: "user", content: "Say hello" }],
    });
    expect(asked[1]?.messages.map(({ role }) => role)).toEqual(["system", "user"]);
  });

  // shows: S-34
  it("behavior: callers at the same time get one answer", async () => {
    const asked: Asked[] = [];
    const { call } = await startExample(
      "text-generation",
      textGeneration(optionsFor(await startModel(asked))),
    );
    const answers = await Promise.all(Array.from({ length: 8 }, () => call("generate", "Say hello")));
    expect(new Set(answers.flat())).toEqual(new Set(["answer 1"]));
    expect(asked).toHaveLength(1);
  });

  // shows: S-33
  it("error: unequal lengths, no message, an unknown role", async () => {
    const { refusal } = await startExample(
      "text-generation",
      textGeneration(optionsFor("http://127.0.0.1:9/v1")),
    );
    expect(await refusal("chat", ["a", "b"], ["user"])).toBe("400 CHAT_INVALID");
    expect(await refusal("chat", [], [])).toBe("400 CHAT_INVALID");
    expect(await refusal("chat", ["a"], ["tool"])).toBe("400 CHAT_INVALID");
  });

  it("error: a model that fails is 503, and its failure is not kept", async () => {
    const asked: Asked[] = [];
    const url = await startModel(asked, () => (asked.length < 3 ? 400 : 200));
    const { call, refusal } = await startExample("text-generation", textGeneration(optionsFor(url)));
    for (let i = 0; i < 2; i++) expect(await refusal("generate", "a")).toBe("503 GENERATION_FAILED");
    expect(await call("generate", "a")).toEqual(["answer 3"]);
    expect(() => createGenerator({})).toThrow("Set ASSAY_AGENT_MODEL_URL");
  });
});

describe("Data Processor", () => {
  // shows: S-30, S-35
  it("default: hash, size and whether the bytes are JSON, in 96 bytes", async () => {
    const { call, post, codec } = await startExample("data-processor", dataProcessor);
    // keccak256 of nothing and of "abc", as published with the SHA-3 competition's Keccak.
    const empty = "0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470";
    const abc = "0x4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45";
    expect(await call("analyze", "0x")).toEqual([empty, 0n, false]);
    expect(await call("analyze", "0x616263")).toEqual([abc, 3n, false]);
    expect((await call("analyze", "0x5b315d")).slice(1)).toEqual([3n, true]);
    expect((await call("analyze", "0x22ff22")).slice(1)).toEqual([3n, false]);
    expect((await post(codec.encodeCall("analyze", ["0x"]))).length).toBe(96);
  });
});
