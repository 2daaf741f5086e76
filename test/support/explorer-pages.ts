/** The explorer's pages in a browser: a new tab for each test, which must not complain of anything. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect } from "vitest";
import { projectRoot } from "../../tools/foundry.ts";
import { axeFindings } from "./axe.ts";
import { startChromium } from "./chromium.ts";
import { type Appearance, appearanceOf, differencesOf } from "./picture-compare.ts";
import { scaled } from "./scale.ts";

/** Where pictures for people go. */
export const PICTURES = join(projectRoot, "build", "explorer-pictures");
/** What the pages looked like when somebody last looked, in small. */
const LOOKS = join(projectRoot, "test", "explorer-pages", "looks");
const RENEW = "`TEST_DEPTH=nightly RENEW_PICTURES=1 npm run test:explorer` keeps the new look";
/** A hang ends the wait; a slow machine does not. */
export const PATIENCE_MS = 240_000;

export interface ExplorerPages {
  /** of the running test */
  readonly page: Page;
  /** every host that was asked for anything */
  readonly hosts: ReadonlySet<string>;
  /** @param path below the explorer's address @param width of the window, pixels */
  open(path: string, width?: number): Promise<void>;
  /** Keeps what the open page looks like for people: in `npm run test:nightly`. */
  picture(name: string, fullPage?: boolean): Promise<void>;
  /** Compares the open page, in light, with what it looked like, or keeps how it looks (`RENEW_PICTURES=1`). On every
   *  change a fifth of the pages that are opened are compared, in `npm run test:nightly` all.
   *  @returns what is wrong, one line each */
  compare(name: string): Promise<string[]>;
  textOf(selector: string): Promise<string>;
  /** What axe finds in light and dark on the open page, and whether it is wider than the window. */
  findings(name: string, width: number): Promise<string[]>;
}

/** Registers what starts and ends the browser. @param urlOf the explorer's address, once it is up */
export function explorerPages(urlOf: () => string): ExplorerPages {
  let browser: Browser | undefined;
  let page: Page;
  let blank: Page | undefined;
  const problems: string[] = [];
  const hosts = new Set<string>();
  /** pages whose look somebody wanted compared */
  let asked = 0;
  const show = (name: string, fullPage = true) =>
    page.screenshot({ path: join(PICTURES, `${name}.png`), fullPage });
  beforeAll(async () => {
    mkdirSync(PICTURES, { recursive: true });
    browser = await startChromium();
  });
  afterAll(() => browser?.close());
  beforeEach(async () => {
    problems.length = 0;
    page = await (browser as Browser).newPage();
    page.setDefaultTimeout(PATIENCE_MS);
    page.on("pageerror", (error) => problems.push(String(error)));
    page.on("console", (line) => {
      if (/Content Security Policy|React|Warning/.test(line.text())) problems.push(line.text());
    });
    page.on("request", (request) => hosts.add(new URL(request.url()).host));
  });
  afterEach(async () => {
    await page.close();
    expect(problems).toEqual([]);
  });
  return {
    get page() {
      return page;
    },
    hosts,
    async open(path, width = 1280) {
      await page.setViewportSize({ width, height: width < 500 ? 844 : 860 });
      await page.emulateMedia({ colorScheme: "light", reducedMotion: "reduce" });
      await page.goto(`${urlOf()}${path}`);
      await page.locator("h1").waitFor();
    },
    picture: async (name, fullPage = true) => {
      if (scaled(false, true)) await show(name, fullPage);
    },
    async compare(name) {
      // A picture of a whole page costs seconds where there is no graphics card.
      if (asked++ % scaled(5, 1) !== 0 && process.env.RENEW_PICTURES !== "1") return [];
      await page.emulateMedia({ colorScheme: "light" });
      await page.evaluate("scrollTo(0, 0)");
      // On a machine that is busy the index may be behind for a moment, and says so above the page.
      await page.locator(".banners .notice").first().waitFor({ state: "detached" });
      blank ??= await (browser as Browser).newPage();
      const appearance = await appearanceOf(page, blank);
      const [picture, blocks] = ["png", "json"].map((end) => join(LOOKS, `${name}.${end}`)) as [
        string,
        string,
      ];
      if (process.env.RENEW_PICTURES === "1") {
        const { png, ...rest } = appearance;
        writeFileSync(picture, png);
        writeFileSync(blocks, `${JSON.stringify(rest)}\n`);
        return [];
      }
      if (!existsSync(picture)) return [`${name} has no picture: ${RENEW}`];
      const was = { ...JSON.parse(readFileSync(blocks, "utf8")), png: readFileSync(picture) } as Appearance;
      const found = await differencesOf(blank, was, appearance);
      if (found.length > 0) await show(name);
      return found.map(
        (difference) => `${name}: ${difference}; look at build/explorer-pictures, then ${RENEW}`,
      );
    },
    textOf: async (selector) => (await page.locator(selector).first().textContent()) ?? "",
    async findings(name, width) {
      const found: string[] = [];
      // What axe reads is the same on a phone and in the dark, but for layout and contrast: there it looks in
      // `npm run test:nightly`.
      const schemes: readonly ("light" | "dark")[] = ["light", "dark"];
      const few = width < 500 ? [] : schemes.slice(0, 1);
      for (const colorScheme of scaled(few, schemes)) {
        await page.emulateMedia({ colorScheme });
        found.push(...(await axeFindings(page)).map((finding) => `${name}, ${colorScheme}: ${finding}`));
      }
      const wide = Number(await page.evaluate("document.documentElement.scrollWidth"));
      return wide > width ? [...found, `${name} is ${wide} pixels wide`] : found;
    },
  };
}
