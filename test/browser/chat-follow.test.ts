import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Tool, ToolOutcome } from "../../agent/gateway/tool.ts";
import type { Asked } from "../../agent/sdk/index.ts";
import { startChromium } from "../support/chromium.ts";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";
import { ask, claim, local, openLocalSdk, pendingClaim, settle, system } from "../support/sdk.ts";

openLocalSdk();

let gateway: TestGateway;
let browser: Browser;
let page: Page;
let asked: Asked;

beforeAll(async () => {
  const tool: Tool = {
    id: "models/tiny",
    name: "call_models_tiny",
    description: "Gives bytes back",
    parameters: { type: "object" },
    price: 0,
    run: async (): Promise<ToolOutcome> => ({
      success: false,
      status: "pending",
      code: "NOT_FINAL",
      error: `Request ${asked.requestId} has no claim yet.`,
      evidence: { requestId: asked.requestId },
    }),
  };
  const server = { slug: "models", description: "Models", tools: async () => [tool], close: async () => {} };
  gateway = await startTestGateway({ servers: new Map([["models", server]]), chain: system.chain });
  await gateway.agents.createAgent({ name: "Tiny", availableTools: ["models/tiny"] });
  browser = await startChromium();
});
afterAll(async () => {
  await browser?.close();
  await gateway?.stop();
});

/** A page on which a call waits for a request that nobody has claimed. */
async function openPage(): Promise<void> {
  await page?.close();
  page = await browser.newPage();
  await page.goto(gateway.url);
  await page.locator("#agent option").waitFor({ state: "attached" });
  gateway.model.answers({ calls: [{ name: "call_models_tiny", arguments: "{}" }] }, { text: "nothing yet" });
  await page.fill("#message", "Bytes?");
  await page.click("#send");
  await page.waitForSelector('.call[data-state="pending"]');
}
const shows = (text: string) => page.locator(".call", { hasText: text }).waitFor({ timeout: 120_000 });

describe("a call that waits for a request without a claim", () => {
  it("default: is followed to its claim, and to the end", async () => {
    asked = await ask();
    await openPage();
    await shows("nobody has claimed yet");
    await claim(asked);
    const id = (await claimOf()) ?? "";
    await shows(`claim ${id}`);
    await local.passTime(asked.request.window + 1);
    await shows("the claim is final now: ask again");
    expect(await page.locator('.call[data-state="final"]').count()).toBe(1);
  });

  it("behavior: a request that truth settled without a claim is final", async () => {
    asked = await ask();
    await openPage();
    await shows("nobody has claimed yet");
    expect(await settle(asked)).toMatchObject({ status: "sent" });
    await shows("the request is final now: ask again");
  });

  it("behavior: a request that nobody claimed in time ends", async () => {
    asked = await ask();
    await openPage();
    await shows("nobody has claimed yet");
    await local.passTime(3_601);
    await shows("nobody answered in time: ask again");
    expect(await page.locator('.call[data-state="failed"]').count()).toBe(1);
  });

  async function claimOf(): Promise<string | undefined> {
    const { claim: found } = await pendingClaim(asked);
    const body = await fetch(`${gateway.url}/v1/requests/${asked.requestId}`);
    const { claimId } = (await body.json()) as { claimId?: string };
    expect(found).toBeDefined();
    return claimId;
  }
});
