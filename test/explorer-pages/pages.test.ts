/** The pages with a real deployment: a dispute watched from its claim to its conviction, and every state that a page has. */
import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { type Hex, keccak256 } from "viem";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { toHex } from "../../base/bytes.ts";
import { execute, trace } from "../../inference/executor/execute.ts";
import { prepare } from "../../inference/executor/prepare.ts";
import type { Tensor } from "../../inference/program/form.ts";
import { storedElement } from "../../inference/program/tensor.ts";
import { ownPolicy } from "../../protocol/chain/finality.ts";
import { parseReceipt } from "../../protocol/rules/receipt/receipt.ts";
import { parseRecord, verifyRecord } from "../../protocol/rules/receipt/record.ts";
import { verifyReceipt } from "../../protocol/rules/receipt/verify.ts";
import { LANE } from "../../protocol/rules/types.ts";
import { axeFindings } from "../support/axe.ts";
import { explorerPages, PATIENCE_MS } from "../support/explorer-pages.ts";
import { type ExplorerSystem, HOSTILE, startExplorerSystem } from "../support/explorer-system.ts";
import { takeBack } from "../support/reorg.ts";
import { sampled, scaled } from "../support/scale.ts";
import { ROLES, systemAccount } from "../support/system.ts";
import { describeExportedSite } from "./exported-site.ts";

/** The step of the forecast whose element the cheat falsifies: a linear layer that requantizes. */
const WRONG_STEP = 35;
const CHEAT = ROLES.cheat;
const SILENT = ROLES.cheat + 1;

let set: ExplorerSystem;
const tab = explorerPages(() => set.url);
const { hosts, open, picture, textOf } = tab;
let page: Page;
/** What other tests look at once the dispute is over. */
const seen = { wrong: "", waiting: "", right: "", request: "" };

beforeAll(async () => {
  set = await startExplorerSystem();
});
afterAll(async () => {
  await set?.system.stop();
  await set?.node.stop();
});
beforeEach(() => {
  ({ page } = tab);
});

describe("the overview", () => {
  it("default: shows a request, its claim and its end as they happen, without being loaded again", async () => {
    await open("/");
    await page.getByText("Nothing has happened yet").waitFor({ state: "detached" });
    await page.locator(".chain-head.is-live").waitFor();
    await page.evaluate("window.isSamePage = true");
    await set.askForecast(5, ROLES.prover, LANE.EXECUTION);
    await page.locator(".event-line", { hasText: "requested by" }).waitFor();
    await page.locator(".event-line", { hasText: "settled by EXECUTION" }).waitFor();
    await page.locator(".track.lane-execution", { hasText: "1 final" }).waitFor();
    expect(await page.evaluate("window.isSamePage")).toBe(true);
  });
});

describe("a dispute", () => {
  it("behavior: is followed from its claim to its conviction, down to the wrong byte", async () => {
    await set.startCheat(CHEAT, `element:${WRONG_STEP}`);
    await set.startCheat(SILENT, "stall-reveal");
    const right = await set.askText("Profit beats forecasts");
    const { request, requestId } = await set.askForecast(9, CHEAT);
    await open(`/requests/${requestId}`);
    await page.getByRole("link", { name: "attempt 1" }).click();
    await page.getByText("Not final yet").waitFor();
    seen.wrong = new URL(page.url()).pathname;
    await set.askText("Dividend cut", SILENT);
    await set.startChallenger();
    await page.getByRole("link", { name: "The dispute" }).click();
    await page.locator("#conviction").waitFor();
    // What this test computes by itself.
    const model = set.system.model("forecast-vix");
    const calldata = set.forecastInput(9);
    expect(request.inputHash).toBe(set.hashOf(calldata));
    const tensors = trace(prepare(model.model, model.selector), calldata);
    const expected = storedElement((tensors[WRONG_STEP] as Tensor).data, 0);
    await page.locator(".verdict-own .tone-good").waitFor();
    expect(await textOf(".verdict-right")).toBe(`${expected}`);
    expect(await textOf(".verdict-own")).toBe(`${expected} as the contract`);
    const claimed = Number(await textOf(".verdict-wrong"));
    expect(claimed).not.toBe(expected);
    // The tree leads to that element, and the products add up to it.
    expect(await textOf(".floor:last-child .partings tbody tr")).toBe(`0${expected}${claimed}`);
    expect(await textOf(".floor:first-child p")).toContain(`s${WRONG_STEP}: u8[1,12] = dot.integer`);
    const products = await page.locator(".term-cell strong").allTextContents();
    const sum = products.reduce((all, text) => all + Number(text.replace("−", "-").replaceAll(",", "")), 0);
    expect(Number((await textOf(".longhand tr:first-child .mono")).replaceAll(",", ""))).toBe(sum);
    expect(await textOf(".longhand tr:last-child .mono")).toBe(`${expected}`);
    await picture("dispute");
    seen.request = `/requests/${right.requestId}`;
  });

  it("behavior: a demand that nobody answers is shown with its clock, counted down on chain time", async () => {
    const { claimId } = await set.system.events.until("Demanded", ({ challenger }) => {
      return challenger === systemAccount(ROLES.challenger).address;
    });
    const { items } = (await (
      await fetch(`${set.url}/v1/claims?prover=${systemAccount(SILENT).address}`)
    ).json()) as {
      items: { claimId: string }[];
    };
    seen.waiting = `/claims/${items[0]?.claimId ?? claimId}/dispute`;
    await open(seen.waiting);
    const clock = page.locator(".notice.tone-wait time");
    await clock.filter({ hasText: /\d+ s left/ }).waitFor();
    const secondsLeft = async () => Number(/(\d+) s left/.exec((await clock.textContent()) ?? "")?.[1]);
    const before = await secondsLeft();
    await expect.poll(secondsLeft, { timeout: PATIENCE_MS }).toBeLessThan(before);
    await page.getByText("Waiting for the prover…").waitFor();
    await picture("dispute-waiting");
  });
});

describe("a claim", () => {
  it("behavior: run again in the browser, a right claim is right and a wrong one wrong", async () => {
    await open(seen.request);
    await page.getByRole("link", { name: "attempt 1" }).click();
    await page.getByRole("button", { name: "Run it again here" }).click();
    await page.locator("[data-verdict=right]").waitFor();
    seen.right = new URL(page.url()).pathname;
    await page.evaluate("scrollTo(0, 0)");
    await picture("claim");
    await open(seen.wrong);
    await page.getByRole("button", { name: "Run it again here" }).click();
    await page.locator("[data-verdict=wrong]").waitFor();
    const model = set.system.model("forecast-vix");
    const own = toHex(execute(prepare(model.model, model.selector), set.forecastInput(9)));
    const shown = await page.locator(".bytes").last().textContent();
    expect(`0x${shown}`).toBe(own);
    expect(await page.locator(".bytes mark").count()).toBeGreaterThan(0);
  });
});

describe("proofs", () => {
  /** What the browser saves when this button is pressed. */
  async function saved(button: string): Promise<string> {
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: button }).click();
    await page.locator(".notice", { hasText: "is saved" }).waitFor();
    return readFileSync(await (await download).path(), "utf8");
  }
  const trustOf = (header: Hex) => {
    const { game, constants } = set.system.chain;
    return { ...game, ...constants, blockHash: keccak256(header) };
  };

  it("default: a receipt of a final output and the record of a fallen claim are saved, and hold offline", async () => {
    const { items } = (await (await fetch(`${set.url}/v1/requests?lane=EXECUTION`)).json()) as {
      items: { requestId: string }[];
    };
    await open(`/requests/${items[0]?.requestId}`);
    const receipt = parseReceipt(await saved("Download the receipt"));
    const verdict = verifyReceipt(receipt, trustOf(receipt.header), ownPolicy(receipt.request));
    expect(verdict).toMatchObject({ valid: true, requestId: items[0]?.requestId, lane: LANE.EXECUTION });
    expect(await axeFindings(page)).toEqual([]);
    await open(seen.wrong);
    const record = parseRecord(await saved("Download the record"));
    expect(verifyRecord(record, trustOf(record.header))).toMatchObject({ valid: true, end: "FALLEN" });
    expect(await page.getByRole("button", { name: "Download the receipt" }).count()).toBe(0);
  });
});

describe("a model", () => {
  it("behavior: opened from a claim, shows every step and its numbers in the honest run", async () => {
    const { model, selector } = set.system.model("forecast-vix");
    const tensors = trace(prepare(model, selector), set.forecastInput(9));
    await open(seen.wrong);
    await page.getByRole("link", { name: "The run, opened" }).click();
    await page.getByRole("button", { name: `${WRONG_STEP} dot` }).click();
    await page.getByRole("heading", { name: `Step ${WRONG_STEP}: dot` }).waitFor();
    const numbers = [...(tensors[WRONG_STEP] as Tensor).data].join(", ");
    await page.locator(".program-step p", { hasText: numbers }).waitFor();
    expect(await page.locator(".step-box").count()).toBe(model.program.steps.length);
    const cells = () => page.locator(".program-step .chart rect").count();
    await expect.poll(cells, { timeout: PATIENCE_MS }).toBe(12);
    await picture("program");
  });

  it("default: answers a text by the chain's own run, in words and numbers", async () => {
    const { modelId, model, selector } = set.system.model("sentiment");
    await open(`/models/${modelId}`);
    await page.locator("textarea").fill("Shares fall after a profit warning");
    await page.getByRole("button", { name: "Run it on the chain" }).click();
    await page.locator(".reading-text").waitFor();
    const output = toHex(
      execute(prepare(model, selector), set.textInput("Shares fall after a profit warning")),
    );
    await page.locator("summary", { hasText: "128 bytes" }).click();
    expect(await textOf(".code.wrap")).toBe(output);
    expect(await textOf(".reading-text")).toMatch(/^bearish/);
    await page.locator(".chart svg").first().waitFor();
    await picture("model");
    await page.locator("summary", { hasText: "The same from your code" }).click();
    await page.getByRole("tab", { name: "Python" }).click();
    expect(await textOf("[role=tabpanel] pre")).toContain(`chain.open_model("${modelId}")`);
  });

  it("error: an input of another length is refused with the value and the limit", async () => {
    await open(`/models/${set.system.model("forecast-vix").modelId}`);
    await page.locator("textarea").first().fill("1, 2, 3");
    await page.getByRole("button", { name: "Run it on the chain" }).click();
    await page.getByRole("alert").filter({ hasText: "closes: 3 numbers, must be 65" }).waitFor();
  });
});

/** Every page, with what is there by now: every second one is looked at on every change, each in `npm run test:nightly`. */
const pages = (): readonly (readonly [name: string, path: string])[] => [
  ["overview", "/"],
  ["models", "/models"],
  ["model", `/models/${set.system.model("sentiment").modelId}`],
  ["strange model", `/models/${set.system.model("forecast-btc").modelId}`],
  ["program", `/models/${set.system.model("sentiment").modelId}/program?claim=${seen.right.split("/")[2]}`],
  ["no requests", "/requests?state=REFUNDED"],
  ["requests", "/requests"],
  ["request", seen.request],
  ["fallen claim", seen.wrong],
  ["claim", seen.right],
  ["dispute", `${seen.wrong}/dispute`],
  ["waiting dispute", seen.waiting],
  ["account", `/accounts/${systemAccount(CHEAT).address}`],
  ["accounts", "/accounts"],
  ["no daemons", "/operator"],
  ["claims", "/claims"],
  ["search", "/search?q=nothing"],
  ["unknown claim", `/claims/0x${"00".repeat(32)}`],
  ["no page", "/nowhere"],
];

/** What these show depends on whether a window or a demand's time is over by now, and so on the machine's speed. */
const TIMED: ReadonlySet<string> = new Set(["waiting dispute", "request", "claim"]);

describe("every page", () => {
  // What a phone shows is looked at in `npm run test:nightly`.
  it.each(scaled([1280], [1280, 390]))(
    "default: at %i pixels each looks as it did, nothing is wider, and axe finds nothing",
    async (width) => {
      const findings: string[] = [];
      for (const [name, path] of sampled(pages(), 2)) {
        await open(path, width);
        await page.locator("[role=status]").first().waitFor({ state: "detached" });
        findings.push(...(await tab.findings(name, width)));
        if (!TIMED.has(name)) findings.push(...(await tab.compare(`${name.replaceAll(" ", "-")}-${width}`)));
        await picture(`${name.replaceAll(" ", "-")}-${width}`);
      }
      expect(findings).toEqual([]);
    },
  );

  it("behavior: what strangers write is text, with controls of direction shown as such", async () => {
    const asked = await set.askText(HOSTILE);
    await set.system.events.until("Claimed", ({ requestId }) => requestId === asked.requestId);
    const strange = set.system.model("forecast-btc").modelId;
    for (const path of [
      "/models",
      `/models/${strange}`,
      `/requests/${asked.requestId}`,
      `/search?q=${encodeURIComponent(HOSTILE)}`,
    ]) {
      await open(path);
      await page.getByText("<script>").first().waitFor();
      const body = (await page.locator("body").textContent()) ?? "";
      expect(body, path).toContain("\\u{202e}123");
      expect(body, path).not.toContain("\u202e");
      expect(await page.locator("main img, main script").count(), path).toBe(0);
      const title = await page.title();
      expect(title).not.toBe("owned");
      expect(title).not.toContain("\u202e");
    }
  });

  it("behavior: the keyboard alone finds a claim, opens a term, and passes by what repeats", async () => {
    await open("/");
    await page.keyboard.press("Tab");
    expect(await page.evaluate("document.activeElement.textContent")).toBe("To the page");
    await page.keyboard.press("/");
    await page.keyboard.type(seen.wrong.split("/")[2] as string);
    await page.keyboard.press("Enter");
    await page.waitForURL(`**${seen.wrong}`);
    const term = page.locator("h1 .term");
    await term.focus();
    await page.getByRole("tooltip").filter({ hasText: "bonded statement" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("tooltip").waitFor({ state: "detached" });
  });

  it("behavior: filters stand in the address", async () => {
    await open("/claims");
    await page.locator(".listing-row").nth(1).waitFor();
    await page.getByLabel("fell because").selectOption("ELEMENT");
    await page.waitForURL("**/claims?fall=ELEMENT");
    const rows = page.locator(".listing-row");
    await expect.poll(() => rows.count(), { timeout: PATIENCE_MS }).toBe(1);
    expect(await rows.locator("a").first().getAttribute("title")).toBe(seen.wrong.split("/")[2]);
    await page.getByLabel("fell because").selectOption("CODEC");
    await page.getByText("No claim is like that").waitFor();
  });

  it("behavior: nothing is loaded from another host", () => {
    expect([...hosts]).toEqual([new URL(set.url).host]);
  });
});

describeExportedSite({ set: () => set, tab, fallen: () => seen.wrong });

describe("what is not as usual", () => {
  it("behavior: a re-org is told, and what it took back is gone", async () => {
    const asked = await set.askText("A request that will not stay");
    await open(`/requests/${asked.requestId}`);
    const event = set.system.events.events.find(
      ({ name, args }) => name === "Requested" && "requestId" in args && args.requestId === asked.requestId,
    );
    await takeBack(set.system, event as NonNullable<typeof event>);
    await page.getByText("The chain replaced its blocks above").waitFor();
    await picture("re-org");
    await page.getByRole("button", { name: "Understood" }).click();
    await page.getByText("The chain replaced its blocks above").waitFor({ state: "detached" });
  });

  it("behavior: a node that is silent is told, and so is its return", async () => {
    await open("/");
    await page.locator(".chain-head.is-live").waitFor();
    set.node.decide = () => "break";
    await page.getByText("The chain's node is silent").waitFor();
    await page.locator(".chain-head.is-stale").waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await picture("node-gone");
    set.node.decide = () => "pass";
    await page.getByText("The chain's node is silent").waitFor({ state: "detached" });
    await page.locator(".chain-head.is-live").waitFor();
  });

  it("behavior: an explorer that is gone is told, and what was read stays", async () => {
    await open("/claims");
    await page.locator(".listing-row").first().waitFor();
    await set.explorer.stop();
    await page.getByText("The explorer does not answer").waitFor();
    expect(await page.locator(".listing-row").count()).toBeGreaterThan(0);
    expect(await axeFindings(page)).toEqual([]);
    await picture("explorer-gone");
  });
});
