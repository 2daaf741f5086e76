import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Tool, ToolOutcome } from "../../agent/gateway/tool.ts";
import { axeFindings } from "../support/axe.ts";
import { startChromium } from "../support/chromium.ts";
import { PICTURES } from "../support/explorer-pages.ts";
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
    const meaning = {
      kind: "classes",
      text: "bullish (99.8 %)",
      label: "bullish",
      classes: [{ label: "bullish" }],
    } as const;
    finish({ success: true, status: "final", data: { label: "2" }, meaning, evidence: { claimId: CLAIM } });
    await page.waitForSelector(".reply");
    expect(await textOf('.call[data-state="final"]')).toContain(
      `claim ${CLAIM}\nbullish (99.8 %)\n{"label":"2"}`,
    );
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

  it("behavior: what turns the direction of writing or has no width is shown, in results, errors and names", async () => {
    const points = [
      0x200b, 0x200c, 0x200d, 0x200e, 0x200f, 0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2060, 0x2061, 0x2066,
      0x2067, 0x2068, 0x2069, 0x206a, 0x061c, 0xfeff, 0x00ad, 0x034f, 0x115f, 0x3164, 0x2028, 0xe0041, 0x7f,
      0x9b,
    ];
    const note = points.map((point) => `a${String.fromCodePoint(point)}1`).join("");
    outcome = Promise.resolve({ success: true, status: "unverified", data: { note } });
    gateway.model.answers({ calls: [call] }, { text: "no" });
    await ask(note);
    await page.waitForSelector(".reply");
    const shown = points.map((point) => `a\\u{${point.toString(16)}}1`).join("");
    for (const part of [".message", ".detail"]) {
      const text = await textOf(part);
      expect(text).toContain(shown);
      for (const point of points) expect(text).not.toContain(String.fromCodePoint(point));
    }
    // As it is drawn: "1" stands right of "a", and so does what follows.
    outcome = Promise.resolve({ success: true, status: "unverified", data: { note: "abc\u202e123" } });
    gateway.model.answers({ calls: [call] }, { text: "no" });
    await page.waitForSelector("#send:enabled");
    await ask("again");
    await page.locator(".reply").nth(1).waitFor();
    const [first, last] = (await page.evaluate(`(() => {
      const texts = document.createTreeWalker(
        [...document.querySelectorAll(".detail")].at(-1), NodeFilter.SHOW_TEXT);
      const nodes = [];
      while (texts.nextNode()) nodes.push(texts.currentNode);
      const leftOf = (found) => {
        const node = nodes.find(({ data }) => data.includes(found));
        const range = document.createRange();
        const at = node.data.indexOf(found);
        range.setStart(node, at);
        range.setEnd(node, at + 1);
        return range.getBoundingClientRect().left;
      };
      return [leftOf("123"), leftOf("23")];
    })()`)) as number[];
    expect(first).toBeLessThan(last ?? 0);
  });

  it("default: axe finds nothing, light or dark, on a screen and a phone, in every state of a call", async () => {
    const findings: string[] = [];
    const examine = async (what: string) => {
      for (const width of [1280, 390]) {
        await page.setViewportSize({ width, height: 860 });
        for (const colorScheme of ["light", "dark"] as const) {
          await page.emulateMedia({ colorScheme });
          findings.push(
            ...(await axeFindings(page)).map((found) => `${what}, ${width}, ${colorScheme}: ${found}`),
          );
        }
        const wide = Number(await page.evaluate("document.documentElement.scrollWidth"));
        if (wide > width) findings.push(`${what} is ${wide} pixels wide`);
      }
    };
    await examine("nothing asked");
    const states = ["final", "unverified", "pending", "failed"] as const;
    for (const status of states) {
      outcome = Promise.resolve(
        status === "final" || status === "unverified"
          ? { success: true, status, data: { label: "2" }, evidence: { claimId: CLAIM } }
          : { success: false, status, code: "NOT_FINAL", error: "not final", evidence: {} },
      ) as Promise<ToolOutcome>;
      gateway.model.answers({ calls: [call] }, { text: "no" });
      await ask(status);
      await page.waitForSelector(`.call[data-state="${status}"]`);
      await page.waitForSelector("#send:enabled");
    }
    gateway.model.answers({ calls: [{ name: "call_uniswap_swap", arguments: "{}" }] }, { text: "done" });
    await ask("Swap!");
    await page.waitForSelector('.call[data-state="denied"]');
    await page.waitForSelector("#send:enabled");
    await examine("calls");
    gateway.model.answers({ hangs: true });
    await ask("Hm?");
    await page.waitForSelector("#cancel:enabled");
    await examine("busy");
    await page.click("#cancel");
    await page.waitForSelector(".error");
    await examine("an error");
    mkdirSync(PICTURES, { recursive: true });
    await page.emulateMedia({ colorScheme: "light" });
    await page.setViewportSize({ width: 1280, height: 860 });
    await page.screenshot({ path: join(PICTURES, "chat.png"), fullPage: true });
    expect(findings).toEqual([]);
  });

  it("behavior: the keyboard alone asks and cancels", async () => {
    gateway.model.answers({ hangs: true });
    await page.focus("#message");
    await page.keyboard.type("Hm?");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.waitForSelector("#cancel:enabled");
    await page.focus("#message");
    await page.keyboard.press("Tab");
    expect(await page.evaluate("document.activeElement.id")).toBe("cancel");
    await page.keyboard.press("Enter");
    await page.waitForSelector(".error");
    expect(problems).toEqual([]);
  });

  it("behavior: its policy lets in nothing but its own scripts and styles", async () => {
    const served = await fetch(gateway.url);
    expect(await served.text()).not.toMatch(/ on[a-z]+=|<script>|style=/);
    const policy = served.headers.get("content-security-policy");
    expect(policy?.split("; ").sort()).toEqual([
      "base-uri 'none'",
      "connect-src 'self'",
      "default-src 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
      "script-src 'self'",
      "style-src 'self'",
    ]);
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
