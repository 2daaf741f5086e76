import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Tool, ToolOutcome } from "../../agent/gateway/tool.ts";
import { startChromium } from "../support/chromium.ts";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";

const CLAIM = `0x${"cd".repeat(32)}` as const;
const EVIL = '<img src=x onerror="document.title=\'owned\'"><script>document.title="owned"</script>';

let gateway: TestGateway;
let browser: Browser;
let page: Page;
let outcome: Promise<ToolOutcome>;
const problems: string[] = [];

beforeAll(async () => {
  const tool: Tool = {
    id: "models/sentiment",
    name: "call_models_sentiment",
    description: `bullish or bearish ${EVIL}`,
    parameters: { type: "object" },
    price: 0,
    run: () => outcome,
  };
  const server = { slug: "models", description: "Models", tools: async () => [tool], close: async () => {} };
  gateway = await startTestGateway({ servers: new Map([["models", server]]) });
  await gateway.agents.createAgent({
    name: "Sentiment <img src=x onerror=alert(1)>",
    availableTools: ["models/sentiment"],
  });
  browser = await startChromium();
});
afterAll(async () => {
  await browser?.close();
  await gateway?.stop();
});
beforeEach(async () => {
  await page?.close();
  problems.length = 0;
  page = await browser.newPage();
  page.on("pageerror", (error) => problems.push(String(error)));
  page.on("console", (line) => {
    if (/Content Security Policy/.test(line.text())) problems.push(line.text());
  });
  await page.goto(gateway.url);
  // Not waitForFunction, which the page's policy forbids to ask twice.
  await page.locator("#agent option").waitFor({ state: "attached" });
});

async function ask(message: string): Promise<void> {
  await page.fill("#message", message);
  await page.click("#send");
}
const call = { name: "call_models_sentiment", arguments: "{}" };
const textOf = async (selector: string) => (await page.locator(selector).textContent()) ?? "";

describe("the chat page", () => {
  // shows: X-06
  it("default: shows a call as it happens, then its result and the reply", async () => {
    let finish: (value: ToolOutcome) => void = () => {};
    outcome = new Promise((resolve) => {
      finish = resolve;
    });
    gateway.model.answers({ calls: [call] }, { text: "bullish (call_models_sentiment)" });
    await ask("What is the sentiment?");
    await page.waitForSelector('.call[data-state="running"]');
    expect(await textOf(".call")).toContain("call_models_sentiment: running");
    expect(await page.locator(".reply").count()).toBe(0);
    finish({ success: true, status: "final", data: { label: "bullish" }, evidence: { claimId: CLAIM } });
    await page.waitForSelector(".reply");
    expect(await textOf('.call[data-state="final"]')).toContain(`claim ${CLAIM}`);
    expect(await textOf(".reply")).toBe("bullish (call_models_sentiment)");
    await page.waitForSelector("#send:enabled");
    expect(problems).toEqual([]);
  });

  // shows: D-79
  it("behavior: a pending claim is shown as pending, with its id, and no data", async () => {
    outcome = Promise.resolve({
      success: false,
      status: "pending",
      code: "NOT_FINAL",
      error: "Claim is not final yet.",
      evidence: { claimId: CLAIM },
    });
    gateway.model.answers({ calls: [call] }, { text: "bullish" });
    await ask("What is the sentiment?");
    await page.waitForSelector(".reply");
    expect(await textOf('.call[data-state="pending"]')).toContain(`claim ${CLAIM}`);
    expect(await textOf(".reply")).toBe(
      "I was unable to retrieve data from call_models_sentiment. Please try again.",
    );
  });

  it("behavior: a denied call is shown as denied", async () => {
    gateway.model.answers({ calls: [{ name: "call_uniswap_swap", arguments: "{}" }] }, { text: "done" });
    await ask("Swap!");
    await page.waitForSelector(".reply");
    expect(await textOf('.call[data-state="denied"]')).toContain("Access denied.");
  });

  it("behavior: markup of names, messages, results and replies stays text", async () => {
    outcome = Promise.resolve({ success: true, status: "unverified", data: { note: EVIL } });
    gateway.model.answers({ calls: [call] }, { text: `${EVIL} (call_models_sentiment)` });
    await ask(EVIL);
    await page.waitForSelector(".reply");
    expect(await textOf(".message")).toBe(EVIL);
    expect(await textOf(".reply")).toContain("<script>");
    expect(await page.locator("#log img, #log script, #agent img").count()).toBe(0);
    expect(await page.title()).toBe("Assay agents");
  });

  it("behavior: Cancel ends the turn", async () => {
    gateway.model.answers({ hangs: true });
    await ask("Hm?");
    await page.click("#cancel:enabled");
    await page.waitForSelector(".error");
    expect(await textOf(".error")).toBe("Cancelled.");
  });

  // shows: X-08
  it("behavior: an error of the turn is shown", async () => {
    gateway.model.answers({ status: 400 });
    await ask("Hm?");
    await page.waitForSelector(".error");
    expect(await textOf(".error")).toBe("The model of this agent could not answer. Please try again.");
  });
});
