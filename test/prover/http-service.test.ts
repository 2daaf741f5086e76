import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { fromHex } from "../../base/bytes.ts";
import { statusOf } from "../../protocol/service/http/error-answer.ts";
import { listen } from "../../protocol/service/http/listen.ts";
import {
  bodyOf,
  calldata,
  codeOf,
  encodeText,
  logged,
  OCTETS,
  post,
  prover,
  served,
  serveForTests,
  stopping,
} from "../support/http-prover.ts";

serveForTests();

describe("GET /v1/models", () => {
  const get = (path: string) => fetch(`${prover.server.url}${path}`);

  test("default: what a caller needs to know of each", async () => {
    const { models: listed } = (await (await get("/v1/models")).json()) as {
      models: Record<string, unknown>[];
    };
    expect(listed).toHaveLength(2);
    expect(listed[0]).toMatchObject({
      modelId: served.id,
      maxCalldata: served.maxCalldata,
      outputLength: 96,
    });
  });

  test("behavior: every listed file has the listed hash", async () => {
    const { files } = (await (await get("/v1/models/forecast-vix/files")).json()) as {
      files: { name: string; bytes: number; sha256: string }[];
    };
    expect(files.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["manifest.json", "program.bin", "weights.bin"]),
    );
    for (const { name, bytes, sha256 } of files) {
      const content = Buffer.from(await (await get(`/v1/models/${served.id}/files/${name}`)).arrayBuffer());
      expect([name, content.length]).toEqual([name, bytes]);
      expect(createHash("sha256").update(content).digest("hex")).toBe(sha256);
    }
  });

  test.each(["..%2fREADME.md", "toString", "train.py", "%2e%2e%2fmanifest.json"])(
    "error: the file %s",
    async (name) => {
      expect(await codeOf(get(`/v1/models/forecast-vix/files/${name}`))).toEqual([404, "FILE_UNKNOWN"]);
    },
  );

  test.each<[string, number, string]>([
    ["/v1/models/none", 404, "MODEL_NOT_SERVED"],
    ["/v1/nothing", 404, "ROUTE_UNKNOWN"],
    ["/tools/sentiment", 404, "ROUTE_UNKNOWN"],
    ["/v1/claims/0x12", 400, "ID_INVALID"],
    ["/v1/requests/x", 400, "ID_INVALID"],
    ["/v1/quote", 400, "QUERY_INVALID"],
    ["/v1/quote?model=sentiment", 503, "CHAIN_NOT_READ_YET"],
  ])("error: GET %s", async (path, status, code) => {
    expect(await codeOf(get(path))).toEqual([status, code]);
  });
});

describe("listen", () => {
  test("error: PORT_TAKEN", async () => {
    const port = Number(new URL(prover.server.url).port);
    await expect(listen(() => {}, "127.0.0.1", port)).rejects.toMatchObject({ code: "PORT_TAKEN" });
  });
});

describe("request ids", () => {
  test("behavior: a plain one of the caller is kept, another replaced; the log holds neither query nor body", async () => {
    const text = "very private text";
    const response = await post(
      `/tools/sentiment?finality=any&token=hidden`,
      fromHex(encodeText(text)),
      OCTETS,
      {
        "x-request-id": "mine-1",
      },
    );
    await response.arrayBuffer();
    expect(response.headers.get("x-request-id")).toBe("mine-1");
    const other = await post("/tools/none", "", OCTETS, { "x-request-id": "<script>" });
    expect(other.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
    expect((await bodyOf(other)).requestId).toBe(other.headers.get("x-request-id"));
    // A response may be logged after its caller has read it.
    const named = ({ fields }: (typeof logged)[number]) =>
      [response, other].some((one) => one.headers.get("x-request-id") === fields.requestId);
    await expect.poll(() => logged.filter(named).length, { timeout: 60_000 }).toBe(2);
    expect(JSON.stringify(logged)).not.toMatch(/hidden|private/);
  });
});

describe("statusOf", () => {
  test("behavior: unknown is 500", () => {
    expect(statusOf(new Error("x"))).toBe(500);
    expect(statusOf(undefined)).toBe(500);
  });
});

describe("stopping", () => {
  // Last: the signal stays aborted.
  test("behavior: who waits is told", async () => {
    const waiting = post("/tools/forecast-vix?finality=final", fromHex(calldata), OCTETS);
    await new Promise((resolve) => setTimeout(resolve, 30));
    stopping.abort();
    expect(await codeOf(waiting)).toEqual([503, "STOPPING"]);
  });
});
