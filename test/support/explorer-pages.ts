/** The explorer's pages in a browser: a new tab for each test, which must not complain of anything. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect } from "vitest";
import { projectRoot } from "../../tools/foundry.ts";
import { axeFindings } from "./axe.ts";
import { startChromium } from "./chromium.ts";

/** Where pictures for people go. */
export const PICTURES = join(projectRoot, "build", "explorer-pictures");
/** A hang ends the wait; a slow machine does not. */
export const PATIENCE_MS = 60_000;

export interface ExplorerPages {
  /** of the running test */
  readonly page: Page;
  /** every host that was asked for anything */
  readonly hosts: ReadonlySet<string>;
  /** @param path below the explorer's address @param width of the window, pixels */
  open(path: string, width?: number): Promise<void>;
  picture(name: string, fullPage?: boolean): Promise<unknown>;
  textOf(selector: string): Promise<string>;
  /** What axe finds in light and dark on the open page, and whether it is wider than the window. */
  findings(name: string, width: number): Promise<string[]>;
}

/** Registers what starts and ends the browser. @param urlOf the explorer's address, once it is up */
export function explorerPages(urlOf: () => string): ExplorerPages {
  let browser: Browser | undefined;
  let page: Page;
  const problems: string[] = [];
  const hosts = new Set<string>();
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
    picture: (name, fullPage = true) => page.screenshot({ path: join(PICTURES, `${name}.png`), fullPage }),
    textOf: async (selector) => (await page.locator(selector).first().textContent()) ?? "",
    async findings(name, width) {
      const found: string[] = [];
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme });
        found.push(...(await axeFindings(page)).map((finding) => `${name}, ${colorScheme}: ${finding}`));
      }
      const wide = Number(await page.evaluate("document.documentElement.scrollWidth"));
      return wide > width ? [...found, `${name} is ${wide} pixels wide`] : found;
    },
  };
}
