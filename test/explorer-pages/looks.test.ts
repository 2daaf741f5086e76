/** That the comparison of pictures finds a broken layout, and nothing in other fonts: on pages of a deployment without
 *  events, beside themselves. */

import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { explorerPages } from "../support/explorer-pages.ts";
import { appearanceOf, differencesOf } from "../support/picture-compare.ts";
import { sampled } from "../support/scale.ts";
import { ROLES, type System, startSystem } from "../support/system.ts";

/** Fonts that another machine may have: wider, narrower, with serifs, and of another size by a little. */
const FONTS = [
  "* { font-family: serif !important; }",
  "body * { font-family: monospace !important; letter-spacing: -0.06em; }",
  "* { letter-spacing: 0.02em; }",
  "html { font-size: 15.5px; }",
  "* { font-weight: 500 !important; }",
];
/** What a careless change does. */
const BROKEN = [
  ".sheet { width: 45% !important; }",
  "main { padding-top: 400px !important; }",
  ".sheet { position: absolute !important; }",
  "h1, h2, p, dl, table, figure, svg { display: none !important; }",
  "body { font-size: 2em; }",
  "main { filter: invert(1); }",
  "main { margin-left: 40% !important; }",
];

/** The same where there is room for it: a phone has one narrow column already. */
const BROKEN_WIDE = [
  ".columns, .figures, .facts, .row { display: block !important; }",
  ".shell-width { max-width: 30rem !important; }",
];

/** A page in a window; the first of those that a test names is what every change plays. */
interface View {
  readonly name: "overview" | "model";
  readonly width: number;
}
const DESK: readonly View[] = [
  { name: "overview", width: 1280 },
  { name: "model", width: 1280 },
];
const PHONE: readonly View[] = [
  { name: "model", width: 390 },
  { name: "overview", width: 390 },
];

const played = (views: readonly View[]): readonly View[] => sampled(views, views.length);

let system: System;
let url: string;
const tab = explorerPages(() => url);
let page: Page;

beforeAll(async () => {
  system = await startSystem({ models: ["sentiment"], answerSeconds: 60 });
  const explorer = system.daemon("explorer", ROLES.deployer, ["explorer", "--port", "0"]);
  url = String((await explorer.logged("explorer is up")).url);
});
afterAll(() => system?.stop());
beforeEach(() => {
  ({ page } = tab);
});

describe("differencesOf", () => {
  /** What is found for each page, width and style: the style, and what it changed. */
  async function found(
    styles: readonly string[],
    views: readonly View[],
  ): Promise<(readonly [string, readonly string[]])[]> {
    const blank = await (page.context().browser() as Browser).newPage();
    const all: (readonly [string, readonly string[]])[] = [];
    for (const { name, width } of played(views)) {
      const path = name === "overview" ? "/" : `/models/${system.model("sentiment").modelId}`;
      await tab.open(path, width);
      await page.getByRole("status").first().waitFor({ state: "detached" });
      await page.locator("h2").or(page.locator(".blank")).first().waitFor();
      await page.waitForLoadState("networkidle");
      // Charts are drawn once their library is there; a page grows by each.
      await page.locator(".chart:empty").first().waitFor({ state: "detached" });
      const before = await appearanceOf(page, blank);
      for (const style of styles) {
        await page.evaluate(`{
          const sheet = new CSSStyleSheet();
          sheet.replaceSync(${JSON.stringify(style)});
          document.adoptedStyleSheets = [sheet];
        }`);
        all.push([
          `${name} ${width} ${style}`,
          await differencesOf(blank, before, await appearanceOf(page, blank)),
        ]);
      }
    }
    await blank.close();
    return all;
  }

  it("behavior: other fonts are no difference", async () => {
    expect(
      (await found(sampled(FONTS, 4), [...PHONE, ...DESK])).filter(
        ([, differences]) => differences.length > 0,
      ),
    ).toEqual([]);
  });

  it("behavior: every broken layout is one", async () => {
    const broken = sampled(BROKEN, 4);
    const all = [...(await found(broken, [...DESK, ...PHONE])), ...(await found(BROKEN_WIDE, DESK))];
    const missed = all.filter(([, differences]) => differences.length === 0);
    expect(missed.map(([style]) => style)).toEqual([]);
    const [both, wide] = [played([...DESK, ...PHONE]), played(DESK)].map(({ length }) => length) as [
      number,
      number,
    ];
    expect(all).toHaveLength(both * broken.length + wide * BROKEN_WIDE.length);
  });
});
