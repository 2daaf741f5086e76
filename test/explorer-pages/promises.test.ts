/** The pages of batches and signed claims, over promises that were played on a real chain. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { decodeFunctionResult } from "viem";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { PAGES_FOLDER } from "../../explorer/http/pages.ts";
import { connect } from "../../protocol/chain/connect.ts";
import { iPromiseReaderAbi } from "../../protocol/rules/generated/abis.ts";
import { explorerPages, PATIENCE_MS } from "../support/explorer-pages.ts";
import { HOSTILE } from "../support/explorer-system.ts";
import { caughtUp, startLocalExplorer } from "../support/local-explorer.ts";
import { type PlayedPromises, playPromises } from "../support/promises/played-promises.ts";
import { sampled, scaled } from "../support/scale.ts";

let played: PlayedPromises;
const explorers: { readonly url: string; stop(): Promise<void> }[] = [];
let url: string;
const tab = explorerPages(() => url);
const { open, picture, textOf } = tab;
let page: Page;

async function start(deployment: PlayedPromises["deployment"], name: string): Promise<string> {
  const explorer = await startLocalExplorer({
    chain: await connect({ rpcUrl: played.local.rpcUrl, deployment }),
    models: [played.models],
    data: join(played.folder.path, name),
    pagesFolder: PAGES_FOLDER,
  });
  explorers.push(explorer);
  await caughtUp(explorer.url, played.played.chain);
  return explorer.url;
}

beforeAll(async () => {
  played = await playPromises(HOSTILE);
  url = await start(played.deployment, "explorer");
});
afterAll(async () => {
  await Promise.all(explorers.map((explorer) => explorer.stop()));
  await played?.stop();
});
beforeEach(() => {
  ({ page } = tab);
});

const batchPath = ({ id }: { readonly id: string }) => `/batches/${id}`;
const rows = () => page.locator(".listing-row");

describe("batches", () => {
  it("default: from the list to the leaf that fell, and to the arithmetic of its dispute", async () => {
    await open("/batches");
    await rows().nth(2).waitFor();
    await page.getByLabel("state").selectOption("FALLEN");
    await page.waitForURL("**/batches?state=FALLEN");
    await expect.poll(() => rows().count(), { timeout: PATIENCE_MS }).toBe(1);
    await rows().first().getByRole("link").first().click();
    await page.waitForURL(`**${batchPath(played.fallen)}`);
    await page.getByText("One output in it was wrong").waitFor();
    const station = (name: string) => page.locator(".station", { hasText: name }).waitFor();
    for (const name of ["posted", "leaf opened", "closed", "released"]) await station(name);
    await picture("batch-fallen");
    await page.getByRole("link", { name: "leaf 1" }).click();
    await page.getByText("Somebody doubted it").waitFor();
    await page.getByRole("link", { name: "its dispute" }).click();
    await page.locator("#conviction").waitFor();
    await page.goBack();
    await page.getByRole("button", { name: "Check it here" }).click();
    await page.locator("[data-place=there]").waitFor();
    await page.locator("[data-verdict=wrong]").waitFor();
    expect(await page.locator(".bytes mark").count()).toBeGreaterThan(0);
    await picture("leaf-wrong");
  });

  it("default: a right leaf is checked here, and what is saved passes requireFinalLeaf", async () => {
    await open(`${batchPath(played.right)}/leaves/0`);
    await page.getByRole("button", { name: "Check it here" }).click();
    await page.locator("[data-place=there]").waitFor();
    await page.locator("[data-verdict=right]").waitFor();
    expect(await page.locator("[data-shown=other]").count()).toBe(0);
    await page.locator("summary", { hasText: "siblings" }).click();
    expect(await page.locator("details ol li").count()).toBe(3);
    await picture("leaf");
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download what it takes" }).click();
    const saved = JSON.parse(readFileSync(await (await download).path(), "utf8"));
    const { data = "0x" } = await played.local.client.call({ to: saved.reader, data: saved.calldata });
    const functionName = "requireFinalLeaf";
    const output = decodeFunctionResult({ abi: iPromiseReaderAbi, functionName, data });
    expect([saved.isFinal, saved.output]).toEqual([true, output]);
    expect(saved.payload).toBe(played.right.payload(0));
  });

  it("error: a server that shows another output than the leaf's is found out", async () => {
    const path = `${batchPath(played.right)}/leaves/0`;
    await page.route(`**/v1${path}`, async (route) => {
      const response = await route.fetch();
      const leaf = await response.json();
      const other = (hex: string) => hex.slice(0, -1) + (hex.endsWith("0") ? "1" : "0");
      const output = { ...leaf.output, hex: other(leaf.output.hex) };
      await route.fulfill({ response, json: { ...leaf, output } });
    });
    await open(path);
    await page.getByRole("button", { name: "Check it here" }).click();
    await page.locator("[data-shown=other]").waitFor();
    await page.locator("[data-verdict=right]").waitFor();
  });

  it("behavior: one in its window counts down on chain time, and says what waits", async () => {
    await open(batchPath(played.running));
    await page.getByText("Doubted: not final").waitFor();
    await page.locator(".station.is-ahead", { hasText: "last leaf opened" }).waitFor();
    await page
      .locator(".clock")
      .filter({ hasText: /min .*left/ })
      .first()
      .waitFor();
    await rows().nth(3).waitFor();
    await picture("batch");
  });

  it("error: an unknown batch and an unknown leaf are told", async () => {
    await open(`/batches/0x${"ab".repeat(32)}`);
    await page.getByRole("alert").filter({ hasText: "There is no batch" }).waitFor();
    await open(`${batchPath(played.right)}/leaves/9`);
    await page.getByRole("alert").filter({ hasText: "There is no leaf" }).waitFor();
  });
});

describe("signed claims", () => {
  it("default: one that stood leads to its claim, which leads back; one that waits says for what", async () => {
    await open("/signed-claims");
    await rows().nth(1).waitFor();
    await open(`/signed-claims/${played.stood}`);
    for (const name of ["claimed", "opened", "final", "closed"])
      await page.locator(".station", { hasText: name }).first().waitFor();
    await page.getByRole("button", { name: "Run it again here" }).click();
    await page.getByText("The signed claim is right").waitFor();
    await picture("signed-claim");
    await page.getByRole("link", { name: "The claim that it became" }).click();
    await page.getByText("was a promise").waitFor();
    await page.locator("dd a[title]", { hasText: played.stood.slice(0, 8) }).click();
    await page.waitForURL(`**/signed-claims/${played.stood}`);
    await open(`/signed-claims/${played.queued}`);
    await page.locator(".notice", { hasText: "Waits for stake" }).waitFor();
    await picture("signed-claim-waiting");
  });
});

describe("an account", () => {
  it("default: stake, what it is at work for, and its promises", async () => {
    const { reader, prover } = played;
    const { free, leaving, away, slots } = await reader.account(prover);
    const figure = (name: string) => page.locator(".figure", { hasText: name }).locator("dd").first();
    // The split is the node's word: an answer does not wait for it, and the next one has it.
    const isSplit = async () => {
      await open(`/accounts/${prover}`);
      await page.getByText("12 outputs in 3 batches, 1 fell").waitFor();
      return (await figure("at work").count()) > 0;
    };
    await expect.poll(isSplit, { timeout: PATIENCE_MS }).toBe(true);
    const shown = async (name: string) => Number((await figure(name).textContent())?.replace(/[^\d.]/g, ""));
    const ether = (wei: bigint) => Number(wei) / 1e18;
    expect(await shown("behind its promises")).toBeCloseTo(ether(free + leaving + away + slots), 3);
    expect(await shown("backs what it signs")).toBeCloseTo(ether(free), 3);
    expect(await shown("leaving")).toBeCloseTo(ether(leaving), 3);
  });
});

describe("the overview", () => {
  it("default: counts outputs in batches beside the lanes", async () => {
    await open("/");
    await page.locator(".track.lane-batched", { hasText: "5 final" }).waitFor();
    await page.locator("#promised").waitFor();
    expect(await textOf("#promised")).toMatch(/^Promises have 0\.99\d* ETH behind them$/);
    expect(await tab.findings("overview", 1280)).toEqual([]);
    await picture("overview-promises");
  });
});

/** By width of the window: a phone shows the same in one column. */
const pages = (): Readonly<Record<1280 | 390, readonly (readonly [name: string, path: string])[]>> => ({
  1280: [
    ["batches", "/batches"],
    ["no batches", "/batches?state=FINAL&prover=0x000000000000000000000000000000000000dEaD"],
    ["fallen batch", batchPath(played.fallen)],
    ["fallen leaf", `${batchPath(played.fallen)}/leaves/1`],
    ["signed claims", "/signed-claims"],
    ["waiting signed claim", `/signed-claims/${played.queued}`],
    ["prover account", `/accounts/${played.prover}`],
  ],
  390: [
    ["batches", "/batches"],
    ["running batch", batchPath(played.running)],
    ["final leaf", `${batchPath(played.right)}/leaves/0`],
    ["prover account", `/accounts/${played.prover}`],
  ],
});

describe("every page", () => {
  it.each(scaled<readonly (1280 | 390)[]>([1280], [1280, 390]))(
    "default: at %i pixels each looks as it did, nothing is wider, and axe finds nothing",
    async (width) => {
      const findings: string[] = [];
      for (const [name, path] of sampled(pages()[width], 2)) {
        await open(path, width);
        await page.locator("[role=status]").first().waitFor({ state: "detached" });
        findings.push(...(await tab.findings(name, width)));
        findings.push(...(await tab.compare(`${name.replaceAll(" ", "-")}-${width}`)));
        await picture(`${name.replaceAll(" ", "-")}-${width}`);
      }
      expect(findings).toEqual([]);
    },
  );

  it("behavior: what strangers write is text, with controls of direction shown as such", async () => {
    for (const path of [
      batchPath(played.right),
      `${batchPath(played.right)}/leaves/4`,
      `/signed-claims/${played.queued}`,
    ]) {
      await open(path);
      await page.getByText("<script>").first().waitFor();
      const body = (await page.locator("body").textContent()) ?? "";
      expect(body, path).toContain("\\u{202e}123");
      expect(body, path).not.toContain("\u202e");
      expect(await page.locator("main img, main script").count(), path).toBe(0);
      expect(await page.title()).not.toBe("owned");
    }
  });
});

describe("a deployment without promises", () => {
  it("behavior: has no page of them, and no error", async () => {
    const { promises: _, promiseReader: __, ...contracts } = played.deployment.contracts;
    url = await start({ ...played.deployment, contracts }, "plain");
    await open("/");
    await page.locator("#finality").waitFor();
    await page.locator(".chain-head.is-live").waitFor();
    expect(await page.locator(".shell-nav a").allTextContents()).not.toContain("Batches");
    expect(await page.locator(".lane-batched, #promised").count()).toBe(0);
    await open("/batches");
    await page.getByText("This deployment has no promises").waitFor();
    await open("/signed-claims");
    await page.getByText("This deployment has no promises").waitFor();
    expect(await page.getByRole("alert").count()).toBe(0);
  });
});
