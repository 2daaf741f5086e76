/** What a person waits for: the explorer's pages in Chromium, over an index that is full. */
import type { Browser } from "playwright-core";
import { hasChromium, startChromium } from "../../test/support/chromium.ts";
import { buildPages, bytesAtFirst, MOST_BYTES } from "../../tools/build-pages.ts";
import { type Figure, grouped } from "../report.ts";

/** Longest until a page can be used, ms. */
const MOST_MS = 1_000;
/** Loads of each page: the first has an empty cache, so all have. */
const ROUNDS = 5;
/** A pause in the main thread's work that ends the loading, as Lighthouse's for pages without requests, ms. */
const QUIET_MS = 500;

export interface PageFigures {
  readonly figures: readonly Figure[];
  readonly rows: readonly object[];
}

/** Where the pages are, made anew. */
export const builtPages = (): Promise<string> => buildPages("explorer");

/** @param url of an explorer that serves the pages @param paths by name */
export async function measurePages(
  url: string,
  folder: string,
  paths: Readonly<Record<string, string>>,
): Promise<PageFigures> {
  const script = bytesAtFirst(folder);
  const size: Figure = {
    name: "JavaScript of the first page, gzipped",
    value: `${grouped(script)} bytes`,
    target: `≤ ${grouped(MOST_BYTES)}`,
    isMet: script <= MOST_BYTES,
  };
  if (!hasChromium()) {
    const missing = { name: "time to interactive", value: "unavailable: there is no Chromium (CHROMIUM)" };
    return { figures: [size, missing], rows: [] };
  }
  const browser = await startChromium();
  try {
    const rows: { page: string; medianMs: number; worstMs: number; transferred: number }[] = [];
    for (const [page, path] of Object.entries(paths)) {
      const loads = [];
      for (let i = 0; i < ROUNDS; i++) loads.push(await load(browser, url + path));
      const took = loads.map(({ ms }) => ms).sort((a, b) => a - b);
      const [medianMs, worstMs] = [took[ROUNDS >> 1] as number, took.at(-1) as number];
      rows.push({ page, medianMs, worstMs, transferred: loads[0]?.transferred ?? 0 });
    }
    return {
      figures: [
        size,
        ...rows.map(({ page, medianMs, worstMs, transferred }) => ({
          name: `${page}: time to interactive, median and worst of ${ROUNDS} with an empty cache, and what is transferred`,
          value: `${medianMs.toFixed(0)} ms, ${worstMs.toFixed(0)} ms, ${grouped(transferred)} bytes`,
          target: `≤ ${grouped(MOST_MS)} ms`,
          isMet: medianMs <= MOST_MS,
        })),
      ],
      rows,
    };
  } finally {
    await browser.close();
  }
}

/** Watches the main thread from before the page's own scripts. */
const WATCH = `window.longTasks = [];
new PerformanceObserver((list) => {
  for (const { startTime, duration } of list.getEntries()) window.longTasks.push(startTime + duration);
}).observe({ type: "longtask", buffered: true });`;

/** From the navigation until its content stands and the main thread has come to rest. */
async function load(browser: Browser, url: string): Promise<{ ms: number; transferred: number }> {
  // A context of its own has a cache of its own.
  // The waiting below evaluates text, which the pages themselves may not.
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, bypassCSP: true });
  try {
    const page = await context.newPage();
    await page.addInitScript(WATCH);
    await page.goto(url, { waitUntil: "commit" });
    // Nothing is grey any more: what was asked for is shown.
    const shown = (await page
      .waitForFunction(
        "document.querySelector('h1') && !document.querySelector('.bone') && document.querySelector('main :is(.sheet, .listing)') && performance.now()",
        undefined,
        { polling: "raf" },
      )
      .then((handle) => handle.jsonValue())) as number;
    await page.waitForFunction(`performance.now() - Math.max(${shown}, ...window.longTasks) > ${QUIET_MS}`);
    const last = Number(await page.evaluate(`Math.max(${shown}, ...window.longTasks)`));
    const transferred = Number(
      await page.evaluate(
        "performance.getEntriesByType('resource').concat(performance.getEntriesByType('navigation')).reduce((sum, { transferSize }) => sum + transferSize, 0)",
      ),
    );
    return { ms: last, transferred };
  } finally {
    await context.close();
  }
}
