/** Draws the charts of docs/charts/ as docs/NAME.svg, by Observable Plot in Chromium: `npx tsx bench/charts/draw.ts`, and
 *  after every `npm run bench` that writes. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { hasChromium, startChromium } from "../../test/support/chromium.ts";
import { projectRoot } from "../../tools/foundry.ts";
import type { Chart } from "./chart.ts";

const DOCS = join(projectRoot, "docs");

/** Charts as SVG documents, in the same order. @throws Error of Chromium */
export async function drawCharts(charts: readonly Chart[]): Promise<string[]> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL("plot.mjs", import.meta.url))],
    ...{ bundle: true, write: false, format: "iife", globalName: "chart" },
  });
  const browser = await startChromium();
  try {
    const page = await browser.newPage();
    await page.addScriptTag({ content: outputFiles[0]?.text ?? "" });
    const drawn: string[] = [];
    for (const chart of charts)
      drawn.push(`${await page.evaluate(`chart.draw(${JSON.stringify(chart)})`)}\n`);
    return drawn;
  } finally {
    await browser.close();
  }
}

/** Draws all of them anew. @returns paths of what was written */
export async function drawAll(): Promise<string[]> {
  const names = readdirSync(join(DOCS, "charts")).filter((name) => name.endsWith(".json"));
  const charts = names.map((name) => JSON.parse(readFileSync(join(DOCS, "charts", name), "utf8")) as Chart);
  const paths = names.map((name) => join(DOCS, name.replace(".json", ".svg")));
  for (const [i, svg] of (await drawCharts(charts)).entries()) writeFileSync(paths[i] as string, svg);
  return paths;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (!hasChromium()) throw new Error("There is no Chromium: CHROMIUM names one.");
  for (const path of await drawAll()) console.log(`Written to ${path}`);
}
