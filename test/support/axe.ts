/** axe-core in a page whose policy lets no script in but its own. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

const SOURCE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

interface Results {
  readonly violations: readonly {
    readonly id: string;
    readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
  }[];
}

/** What axe finds, each with its place; contrast by AA. */
export async function axeFindings(page: Page): Promise<string[]> {
  // Evaluated by the debugger, which the policy does not bind.
  await page.evaluate(`(() => { ${SOURCE} })()`);
  const { violations } = (await page.evaluate(
    `window.axe.run(document, { resultTypes: ["violations"] })`,
  )) as Results;
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(
      ({ html, failureSummary = "" }) =>
        `${id}: ${html.slice(0, 200)} ${failureSummary.replaceAll(/\s+/g, " ")}`,
    ),
  );
}
