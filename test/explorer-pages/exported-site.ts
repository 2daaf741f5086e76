/** The tests of an exported site, over the deployment of the pages' tests: the same pages and the same answers without a
 *  server. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { ROUTES } from "../../explorer/http/routes.ts";
import { LANE } from "../../protocol/rules/types.ts";
import { runInProcess } from "../support/assay.ts";
import { everyPath } from "../support/every-path.ts";
import { type ExplorerPages, PATIENCE_MS } from "../support/explorer-pages.ts";
import type { ExplorerSystem } from "../support/explorer-system.ts";
import { type FileServer, serveFiles } from "../support/file-server.ts";
import { type RpcProxy, startRpcProxy } from "../support/rpc-proxy.ts";
import { ROLES } from "../support/system.ts";

interface Subject {
  readonly set: () => ExplorerSystem;
  readonly tab: ExplorerPages;
  /** path of a claim that fell by an element */
  readonly fallen: () => string;
}

/** Where the site lies on its host: never at the root. */
const PLACE = "/some/place/";
const SITE_FILE = "deployment.json";

export function describeExportedSite({ set, tab, fallen }: Subject): void {
  let files: FileServer;
  let node: RpcProxy;
  let folder: string;
  let page: Page;

  beforeAll(async () => {
    const { system } = set();
    node = await startRpcProxy(system.rpcUrl);
    folder = join(system.folder, "site");
    const { code, stdout, stderr } = await runInProcess([
      ...["explorer", "export", folder, "--rpc-url", node.url, "--poll-interval-ms", "300"],
      ...["--deployment", join(system.folder, "deployment.json"), "--models", join(system.folder, "models")],
    ]);
    expect(code, stderr).toBe(0);
    expect(stdout).toContain("Models with their files: forecast-btc, forecast-vix, sentiment.");
    expect(stderr).toContain("answers on its own machine");
    files = await serveFiles(folder, PLACE);
  });
  // What a test that failed had the node do is no other test's.
  afterEach(() => {
    node.decide = () => "pass";
  });
  afterAll(async () => {
    await files?.stop();
    await node?.stop();
  });

  /** Opens a page of the site in the test's tab, which reads the chain anew. */
  async function open(path: string): Promise<void> {
    ({ page } = tab);
    await page.emulateMedia({ colorScheme: "light", reducedMotion: "reduce" });
    await page.goto(`${files.url}#${path}`);
    await page.locator("h1").waitFor();
  }
  const openLive = async (path: string): Promise<void> => {
    await open(path);
    await page.locator(".chain-head.is-live").waitFor();
  };
  /** What the worker answers, as text. */
  const own = (path: string): Promise<string> =>
    page.evaluate(`assay.fetch(${JSON.stringify(path)}).then((answer) => answer.text())`);
  /** What the server answers; only its errors name their request. */
  const served = async (path: string): Promise<string> =>
    (await (await fetch(`${set().url}${path}`)).text()).replace(/,"requestId":"[^"]*"(?=\}\n$)/, "");
  /** Changes what the site is told, for the time of some work. */
  async function changed(change: Record<string, unknown>, work: () => Promise<void>): Promise<void> {
    const path = join(folder, SITE_FILE);
    const text = readFileSync(path, "utf8");
    writeFileSync(path, JSON.stringify({ ...JSON.parse(text), ...change }));
    await work().finally(() => writeFileSync(path, text));
  }

  describe("an exported site", () => {
    it("default: shows a conviction with its arithmetic, run again in the browser, and loads nothing from elsewhere", async () => {
      const hosts = new Set<string>();
      tab.page.on("request", (request) => hosts.add(new URL(request.url()).host));
      await openLive(`${fallen()}/dispute`);
      await page.locator(".verdict-own .tone-good").waitFor();
      expect(await tab.textOf(".verdict-own")).toContain("as the contract");
      await page.getByRole("link", { name: "The arithmetic" }).click();
      expect(await page.evaluate("document.activeElement.id")).toBe("conviction");
      expect(new URL(page.url()).hash).toBe(`#${fallen()}/dispute`);
      expect([...hosts].sort()).toEqual([new URL(files.url).host, new URL(node.url).host].sort());
    });

    it("behavior: shows a request, its claim and its end as they happen", async () => {
      await openLive("/");
      await page.evaluate("window.isSamePage = true");
      const { requestId } = await set().askForecast(23, ROLES.prover, LANE.EXECUTION);
      await page.locator(`.event-line:has-text("requested by")`).first().waitFor();
      const link = page.locator(`a[href*="${requestId}"]`).first();
      await link.waitFor();
      await page.locator(".event-line", { hasText: "settled by EXECUTION" }).first().waitFor();
      await link.click();
      await page.getByText("Download the receipt").waitFor();
      expect(await page.evaluate("window.isSamePage")).toBe(true);
    });

    it("behavior: every route answers what the server answers, byte for byte", async () => {
      await openLive("/");
      await set().system.withoutBlocks(async () => {
        const paths = await everyPath(served);
        const asked = paths.map((path) => path.split("?")[0] as string);
        for (const { path } of ROUTES) {
          const form = new RegExp(`^${path.replace(/\{\w+\}/g, "[^/]+")}$`);
          expect(
            asked.some((one) => form.test(one)),
            path,
          ).toBe(true);
        }
        for (const path of paths) {
          // Either may still be reading the last block, and a node's own value comes a moment later.
          const both = async () => {
            const [inBrowser, onServer] = await Promise.all([own(path), served(path)]);
            return inBrowser === onServer ? { path } : { path, inBrowser, onServer };
          };
          await expect.poll(both, { timeout: PATIENCE_MS }).toEqual({ path });
        }
      });
    });

    it("error: what is refused is refused alike", async () => {
      await openLive("/");
      for (const path of [
        `/v1/claims/0x${"00".repeat(32)}`,
        "/v1/claims/0x12",
        "/v1/claims?limit=0",
        "/v1/claims?limit=1&limit=2",
        "/v1/claims?colour=red",
        "/v1/search?q=",
        "/v1/models/%zz",
        `/v1/accounts/0x${"12".repeat(20)}`,
        `/v1/requests/0x${"00".repeat(32)}/receipt`,
      ])
        expect([path, await own(path)]).toEqual([path, await served(path)]);
    });

    it("behavior: the chain's node runs a model for the page", async () => {
      await openLive(`/models/${set().system.model("sentiment").modelId}`);
      await page.locator("textarea").fill("Shares fall after a profit warning");
      await page.getByRole("button", { name: "Run it on the chain" }).click();
      expect(await tab.textOf(".reading-text")).toMatch(/^bearish/);
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("link", { name: "weights.bin" }).click(),
      ]);
      const file = join(set().system.folder, "models/sentiment/weights.bin");
      expect(readFileSync(await download.path())).toEqual(readFileSync(file));
    });

    it("behavior: a node that refuses long ranges and breaks off is told, and reading goes on", async () => {
      const most = 7;
      let isRefusing = true;
      node.decide = ({ method, params = [] }) => {
        const [{ fromBlock, toBlock } = {}] = params as [{ fromBlock?: string; toBlock?: string }];
        if (method !== "eth_getLogs" || fromBlock === undefined || toBlock === undefined) return "pass";
        if (Number(toBlock) - Number(fromBlock) >= most)
          return { error: { code: -32005, message: `query exceeds the max block range of ${most}` } };
        return isRefusing ? { error: { code: -32000, message: "the node is out of order" } } : "pass";
      };
      await open("/");
      await page.getByText("The chain's node did not answer a question").waitFor();
      await page.getByText("the node is out of order").waitFor();
      await page.getByText(/answers for at most \d blocks at once/).waitFor();
      await tab.picture("exported-refused");
      expect(await tab.findings("a site that is refused", 1280)).toEqual([]);
      isRefusing = false;
      await page.locator(".chain-head.is-live").waitFor();
      await page.getByText("The chain's node did not answer a question").waitFor({ state: "detached" });
    });

    it("behavior: reading ends at its limit, which is told with what to do", async () => {
      await changed({ maxEvents: 5 }, async () => {
        await open("/claims");
        await page.getByText("More happened here than a page reads by itself").waitFor();
        await page.getByText(/\d+ events are read, the limit is 5/).waitFor();
        await tab.picture("exported-full");
        expect(await tab.findings("a site at its limit", 1280)).toEqual([]);
      });
    });

    it("error: another chain is refused by its number", async () => {
      const { deployment } = JSON.parse(readFileSync(join(folder, SITE_FILE), "utf8"));
      await changed({ deployment: { ...deployment, chainId: 5 } }, async () => {
        await open("/claims");
        await page.getByText("This site cannot read its chain").waitFor();
        await page.getByText("The node is on chain 31337, the deployment on chain 5").first().waitFor();
        expect(await tab.findings("a site of another chain", 1280)).toEqual([]);
      });
    });
  });
}
