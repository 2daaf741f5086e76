import { request as httpRequest } from "node:http";
import { decodeFunctionResult, encodeFunctionData, keccak256 } from "viem";
import { describe, expect, test } from "vitest";
import { fromHex, toHex } from "../../base/bytes.ts";
import { execute } from "../../inference/executor/execute.ts";
import {
  asked,
  bodyOf,
  calldata,
  codeOf,
  encodeText,
  JSON_TYPE,
  logged,
  MAX_WAIT_SECONDS,
  OCTETS,
  post,
  prover,
  right,
  served,
  serveForTests,
  texts,
} from "../support/http-prover.ts";

serveForTests();

describe("POST /tools/:name", () => {
  test("default: calldata to return data, as viem encodes and decodes them", async () => {
    const text = "Profit beats forecasts, shares jump";
    const abi = texts.manifest.abi as Parameters<typeof encodeFunctionData>[0]["abi"];
    const functionName = texts.function.name;
    const body = encodeFunctionData({ abi, functionName, args: [text] });
    const response = await post("/tools/sentiment", fromHex(body), OCTETS);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe(OCTETS);
    expect(response.headers.get("assay-status")).toBe("unverified");
    expect(response.headers.get("assay-claim")).toBeNull();
    const data = toHex(new Uint8Array(await response.arrayBuffer()));
    expect(data).toBe(toHex(execute(texts.prepared, fromHex(body))));
    expect(decodeFunctionResult({ abi, functionName, data })).toBeDefined();
  });

  test("args: any content type or none, by the model's name, by its id", async () => {
    for (const name of ["forecast-vix", encodeURIComponent(served.name), served.id])
      for (const type of [undefined, OCTETS, "application/x-www-form-urlencoded"]) {
        const response = await post(`/tools/${name}`, fromHex(calldata), type);
        expect(new Uint8Array(await response.arrayBuffer())).toEqual(new Uint8Array(right));
      }
  });

  test.each<[string, number, string, () => Promise<Response>]>([
    ["JSON", 400, "SELECTOR_MISMATCH", () => post("/tools/sentiment", "{}", JSON_TYPE)],
    ["hex text", 400, "BODY_NOT_BYTES", () => post("/tools/forecast-vix", calldata.slice(0, 600), OCTETS)],
    [
      "hex text without 0x",
      400,
      "BODY_NOT_BYTES",
      () => post("/tools/forecast-vix", "00".repeat(40), OCTETS),
    ],
    ["nothing", 400, "SELECTOR_MISMATCH", () => post("/tools/sentiment", "", OCTETS)],
    [
      "another selector",
      400,
      "SELECTOR_MISMATCH",
      () => post("/tools/forecast-vix", fromHex(encodeText("a")), OCTETS),
    ],
    [
      "a byte too much",
      413,
      "BODY_TOO_LARGE",
      () => post("/tools/forecast-vix", fromHex(`${calldata}00`), OCTETS),
    ],
    [
      "a byte too few",
      400,
      "CALLDATA_NOT_CANONICAL",
      () => post("/tools/forecast-vix", fromHex(calldata).slice(0, -1), OCTETS),
    ],
    ["another tool", 404, "MODEL_NOT_SERVED", () => post("/tools/nothing", "", OCTETS)],
    [
      "a compressed body",
      415,
      "CONTENT_TYPE_UNSUPPORTED",
      () => post("/tools/sentiment", "x", OCTETS, { "content-encoding": "gzip" }),
    ],
    ["a broken path", 400, "PATH_INVALID", () => post("/tools/%ff", "", OCTETS)],
  ])("error: %s", async (_what, status, code, ask) => {
    expect(await codeOf(ask())).toEqual([status, code]);
  });

  test("error: text that is not UTF-8, which the chain itself would take", async () => {
    const good = fromHex(encodeText("ab"));
    good.set([0xc3, 0x28], 68);
    expect(() => texts.prepared.decode(good)).not.toThrow();
    expect(await codeOf(post("/tools/sentiment", good, OCTETS))).toEqual([400, "TEXT_NOT_UNICODE"]);
  });

  test("error: a body above the limit that does not say its length", async () => {
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const sent = httpRequest(
        `${prover.server.url}/tools/forecast-vix`,
        { method: "POST", headers: { "transfer-encoding": "chunked" } },
        (response) => {
          response.resume();
          resolve(response.statusCode);
        },
      );
      sent.on("error", reject);
      sent.write(Buffer.alloc(served.maxCalldata + 1));
    });
    expect(status).toBe(413);
  });

  test("behavior: the executor stands in for an engine that fails", async () => {
    prover.failure = "the child died";
    const response = await post("/tools/forecast-vix", fromHex(calldata), OCTETS);
    expect(new Uint8Array(await response.arrayBuffer())).toEqual(new Uint8Array(right));
    expect(logged.some(({ fields }) => fields.reason === "the child died")).toBe(true);
  });

  test("error: a fault of ours is 500, its cause in the log alone", async () => {
    prover.failure = new Error("secret inner state");
    const response = await post("/tools/forecast-vix", fromHex(calldata), OCTETS);
    const body = await response.text();
    expect(response.status).toBe(500);
    expect(body).toContain("INTERNAL");
    expect(body).not.toContain("secret");
    expect(logged.some(({ fields }) => fields.error === prover.failure)).toBe(true);
  });
});

describe("POST /v1/tools/:name", () => {
  const prices = () => {
    const [closes, highs, lows] = [0, 1, 2].map((list) =>
      Array.from({ length: 65 }, (_, i) => `${20_000_000 + ((i * 7_919) % 90_000) + list}`),
    );
    return { closes, highs, lows };
  };

  test("default: arguments by name, results by name, big numbers as text", async () => {
    const response = await post("/v1/tools/forecast-vix", JSON.stringify(prices()), JSON_TYPE);
    const body = await bodyOf(response);
    expect(response.status).toBe(200);
    expect(body).toMatchObject({ status: "unverified", modelId: served.id });
    const result = body.result as Record<string, string>;
    expect(Object.keys(result)).toEqual(served.function.outputs.map(({ name }) => name));
    for (const value of Object.values(result)) expect(value).toMatch(/^-?\d+$/);
    expect(body.meaning).toMatchObject({ kind: "quantiles", unit: "%" });
    expect((body.meaning as { text: string }).text).toMatch(
      /^[−+]?\d+\.\d % … [−+]?\d+\.\d % … [−+]?\d+\.\d % tomorrow$/,
    );
  });

  test("behavior: the same output as by calldata", async () => {
    const text = "Ünïcode ✓ 利益";
    const json = await bodyOf(
      await post("/v1/tools/sentiment", JSON.stringify({ [inputName()]: text }), JSON_TYPE),
    );
    const raw = await post("/tools/sentiment", fromHex(encodeText(text)), OCTETS);
    expect(json.output).toBe(toHex(new Uint8Array(await raw.arrayBuffer())));
    expect(json.inputHash).toBe(keccak256(encodeText(text)));
  });

  const inputName = () => texts.function.inputs[0]?.name ?? "0";
  const send = (value: unknown) => () =>
    post("/v1/tools/sentiment", typeof value === "string" ? value : JSON.stringify(value), JSON_TYPE);
  test.each<[string, number, string, () => Promise<Response>]>([
    ["no JSON", 400, "JSON_INVALID", send("{")],
    ["an array", 400, "JSON_INVALID", send([])],
    ["null", 400, "JSON_INVALID", send("null")],
    ["nothing", 400, "JSON_INVALID", send("")],
    ["nesting without end", 400, "JSON_INVALID", send(`{"a":${"[".repeat(3_000)}${"]".repeat(3_000)}}`)],
    ["a missing argument", 400, "INPUTS_INVALID", send({})],
    ["an unknown argument", 400, "INPUTS_INVALID", send({ [inputName()]: "a", more: "b" })],
    ["another type", 400, "INPUTS_INVALID", send({ [inputName()]: 5 })],
    ["a list of text", 400, "INPUTS_INVALID", send({ [inputName()]: ["a"] })],
    ["a number that JSON cannot hold", 400, "NUMBER_UNSAFE", send(`{"${inputName()}":9007199254740993}`)],
    ["half a surrogate pair", 400, "TEXT_NOT_UNICODE", send(`{"${inputName()}":"\\ud800"}`)],
    [
      "a text too long",
      400,
      "TEXT_TOO_LONG",
      send({ [inputName()]: "a".repeat(texts.prepared.program.inputSize + 1) }),
    ],
    [
      "a body too long",
      413,
      "BODY_TOO_LARGE",
      send({ [inputName()]: "a".repeat(6 * texts.maxCalldata + 5_000) }),
    ],
    ["octets", 415, "CONTENT_TYPE_UNSUPPORTED", () => post("/v1/tools/sentiment", "{}", OCTETS)],
    [
      "bytes that are not UTF-8",
      400,
      "TEXT_NOT_UNICODE",
      () => post("/v1/tools/sentiment", Uint8Array.of(0x7b, 0xff, 0x7d), JSON_TYPE),
    ],
    [
      "a negative price",
      400,
      "INPUTS_INVALID",
      () => post("/v1/tools/forecast-vix", JSON.stringify({ ...prices(), lows: ["-1"] }), JSON_TYPE),
    ],
    [
      "too few prices",
      400,
      "PRICES_INVALID",
      () => post("/v1/tools/forecast-vix", JSON.stringify({ ...prices(), lows: ["1"] }), JSON_TYPE),
    ],
  ])("error: %s", async (_what, status, code, ask) => {
    expect(await codeOf(ask())).toEqual([status, code]);
  });
});

describe("finality", () => {
  const ask = (query = "") => post(`/tools/forecast-vix${query}`, fromHex(calldata), OCTETS);

  test.each<["open" | "busy" | "done", string]>([
    ["open", "unverified"],
    ["busy", "pending"],
    ["done", "final"],
  ])("behavior: a request that is %s makes the output %s", async (status, expected) => {
    const ids = asked(status);
    const { headers } = await ask();
    expect(headers.get("assay-status")).toBe(expected);
    expect(headers.get("assay-claim")).toBe(expected === "unverified" ? null : ids.claim);
    expect(headers.get("assay-request")).toBe(expected === "unverified" ? null : ids.request);
  });

  test.each(["busy", "done"] as const)(
    "behavior: another output that is %s says nothing about ours",
    async (status) => {
      asked(status, "0x00");
      expect((await ask()).headers.get("assay-status")).toBe("unverified");
    },
  );

  test("behavior: ?finality=final waits until it is final", async () => {
    asked("busy");
    const waiting = ask("?finality=final");
    await new Promise((resolve) => setTimeout(resolve, 50));
    const { claim } = asked("done");
    const response = await waiting;
    expect([response.status, response.headers.get("assay-status")]).toEqual([200, "final"]);
    expect(response.headers.get("assay-claim")).toBe(claim);
  });

  test("error: 504 with the state when it takes too long", async () => {
    const { claim } = asked("busy");
    const response = await ask("?finality=final&timeout=1");
    expect([response.status, response.headers.get("assay-status")]).toEqual([504, "pending"]);
    expect((await bodyOf(response)).error).toMatchObject({
      code: "NOT_FINAL_IN_TIME",
      details: { status: "pending", claim },
    });
  });

  test.each([
    "?finality=soon",
    "?finality=final&timeout=0",
    `?finality=final&timeout=${MAX_WAIT_SECONDS + 1}`,
    "?finality=final&timeout=x",
  ])("error: %s", async (query) => {
    expect(await codeOf(ask(query))).toEqual([400, "QUERY_INVALID"]);
  });
});
