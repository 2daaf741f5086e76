import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { toHex } from "../../base/bytes.ts";
import { expectDocumented } from "../support/openapi.ts";
import { CALLDATA, type PlayedExplorer, startPlayedExplorer, TEXT } from "../support/played-explorer.ts";

let explorer: PlayedExplorer;
let { played, get, ask, caughtUp, document } = {} as PlayedExplorer;

beforeAll(async () => {
  explorer = await startPlayedExplorer([]);
  ({ played, get, ask, caughtUp, document } = explorer);
});

afterAll(() => explorer?.stop());

describe("POST /v1/models/{id}/infer", () => {
  const infer = (body: unknown, headers: Record<string, string> = {}) =>
    get(`/v1/models/${played.modelId}/infer`, {
      method: "POST",
      headers: { "Content-Type": "application/json", ...headers },
      body: JSON.stringify(body),
    });

  it("default: the chain's node computes what the executor does, by arguments or calldata", async () => {
    const expected = toHex(played.honest(CALLDATA).output);
    for (const body of [{ arguments: { text: TEXT } }, { input: toHex(CALLDATA) }]) {
      const answer = await expectDocumented(document, "POST /v1/models/{id}/infer", await infer(body));
      expect(answer).toMatchObject({
        output: { hex: expected },
        input: toHex(CALLDATA),
        finality: "unverified",
      });
    }
  });

  it("error: an input of another form, too long, or another function's; a page of another origin", async () => {
    const code = async (response: Response) => {
      const body = (await response.json()) as { error: { code: string } };
      return [response.status, body.error.code];
    };
    expect(await code(await infer({ arguments: { words: 1 } }))).toEqual([400, "INPUTS_INVALID"]);
    expect(await code(await infer({ input: "0x1234" }))).toEqual([400, "SELECTOR_MISMATCH"]);
    expect(await code(await infer({ input: `0x${"00".repeat(3_000)}` }))).toEqual([413, "BODY_TOO_LARGE"]);
    expect(await code(await infer({ input: `0x${"00".repeat(30_000)}` }))).toEqual([413, "BODY_TOO_LARGE"]);
    expect(await code(await infer({}, { Origin: "https://elsewhere.example" }))).toEqual([
      403,
      "ORIGIN_REFUSED",
    ]);
  });
});

describe("GET /v1/stream", () => {
  /** Reads events until one of this name came, with the ids of all. @param onFirst what is done once the first came */
  async function listen(
    until: string,
    headers: Record<string, string> = {},
    onFirst: () => Promise<unknown> = async () => undefined,
  ) {
    let first: Promise<unknown> | undefined;
    const response = await get("/v1/stream", { headers });
    const decoder = new TextDecoder();
    let text = "";
    for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
      text += decoder.decode(chunk, { stream: true });
      const events = [...text.matchAll(/(?:id: (.+)\n)?event: (.+)\ndata: (.+)\n\n/g)].map(
        ([, id, event, data]) => ({
          id,
          event,
          data: JSON.parse(data as string) as Record<string, unknown>,
        }),
      );
      if (events.length > 0) first ??= onFirst();
      if (!events.some(({ event }) => event === until)) continue;
      await first;
      return events;
    }
    throw new Error(`The stream ended: ${text}`);
  }

  it("default: begins with the head; an event that comes is told", async () => {
    expect((await listen("head")).map(({ event }) => event)).toEqual(["head"]);
    await caughtUp();
    const [head, event] = await listen("event", {}, () => played.request(CALLDATA));
    expect([head?.event, event?.data.name]).toEqual(["head", "Requested"]);
  });

  it("behavior: Last-Event-ID goes on after that event, and one of another chain resets", async () => {
    await caughtUp();
    const { items } = (await ask("/v1/events", "/v1/events?limit=5")) as { items: { id: string }[] };
    const ids = items.map(({ id }) => id).reverse();
    const events = await listen("head", { "Last-Event-ID": ids[0] as string });
    expect(events.map(({ id }) => id)).toEqual([...ids.slice(1), undefined]);
    const other = (ids[0] as string).replace(/[0-9a-f]{16}$/, "0".repeat(16));
    expect((await listen("reset", { "Last-Event-ID": other })).map(({ event }) => event)).toEqual(["reset"]);
    const wrong = await get("/v1/stream", { headers: { "Last-Event-ID": "newest" } });
    expect(wrong.status).toBe(400);
  });
});

describe("pages", () => {
  it("default: one document for every address, hashed files for ever, and a policy that lets nothing else in", async () => {
    for (const path of ["/", "/claims/0x12", "/models"]) {
      const page = await get(path);
      expect([path, page.status, page.headers.get("cache-control")]).toEqual([path, 200, "no-cache"]);
      expect(page.headers.get("content-security-policy")).toContain("default-src 'none'; script-src 'self'");
      expect(await page.text()).toContain("<title>Explorer</title>");
    }
    const asset = await get("/assets/main-abc123.js");
    expect(asset.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
    expect((await get("/assets/gone-123.js")).status).toBe(404);
    expect((await get("/v1/nothing")).status).toBe(404);
  });

  it("behavior: health", async () => {
    expect(await ask("/livez", "/livez")).toMatchObject({ status: "alive" });
    await caughtUp();
    await expect.poll(async () => (await get("/healthz")).status).toBe(200);
    expect(await ask("/healthz", "/healthz")).toMatchObject({ status: "ok" });
  });
});
