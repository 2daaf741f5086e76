import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { SILENT } from "../../../base/log.ts";
import { exportSite } from "../../../explorer/export.ts";
import { Library } from "../../../explorer/library.ts";
import { modelPath, parseSite, renderSite, type SiteFile } from "../../../explorer/site/site-file.ts";
import { projectRoot } from "../../../tools/foundry.ts";
import { temporaryFolder } from "../../support/deploy.ts";

const folder = temporaryFolder();
afterAll(() => folder.remove());

const address = (digit: string) => `0x${digit.repeat(40)}` as const;
const SITE: SiteFile = {
  deployment: {
    chainId: 7,
    judgeVersion: 1,
    contracts: { assay: address("1"), registry: address("2") },
    constants: { answerSeconds: 60, gasPriceFloor: 1n, gasBase: 2n, gasPerDemand: 3n },
    block: { number: 4n, hash: `0x${"5".repeat(64)}` },
  },
  rpcUrl: "https://one.example/rpc, https://two.example",
  confirmations: 3,
  pollIntervalMs: 1_000,
  maxEvents: 20_000,
};
const library = new Library([join(projectRoot, "models")], SILENT, async () => new Uint8Array());

/** As small as what `npm run build` makes. */
function builtPages(): string {
  const pages = join(folder.path, "pages");
  mkdirSync(join(pages, "assets"), { recursive: true });
  mkdirSync(join(pages, ".vite"), { recursive: true });
  for (const [name, text] of [
    ["index.html", "of a server"],
    ["exported.html", '<head>\n    <meta charset="utf-8">\n</head>'],
    ["mark.svg", "<svg/>"],
    ["assets/a.js", "1"],
    [".vite/manifest.json", "{}"],
  ] as const)
    writeFileSync(join(pages, name), text);
  return pages;
}

describe("exportSite", () => {
  const models = [...library.models].filter((model) => ["sentiment", "credit"].includes(model.folder));
  const options = { site: SITE, library, models, pagesFolder: builtPages() };

  it("default: pages, models and what they read, under a policy that names the nodes", () => {
    const out = join(folder.path, "site");
    expect(exportSite({ ...options, out }).files).toBeGreaterThan(8);
    const read = (name: string) => readFileSync(join(out, name), "utf8");
    expect(parseSite(read("deployment.json"))).toEqual(SITE);
    expect(read("index.html")).toContain("connect-src 'self' https://one.example https://two.example\"");
    expect(read("index.html")).not.toContain("frame-ancestors");
    expect(existsSync(join(out, "exported.html")) || existsSync(join(out, ".vite"))).toBe(false);
    const listed = JSON.parse(read("models.json"));
    expect(listed.map((model: { folder: string }) => model.folder)).toEqual(["credit", "sentiment"]);
    for (const { id } of models)
      for (const { name } of library.files(id))
        expect(existsSync(join(out, modelPath(id, name))), name).toBe(true);
  });

  it("behavior: another export replaces all of the first", () => {
    const out = join(folder.path, "site");
    writeFileSync(join(out, "assets", "old.js"), "");
    exportSite({ ...options, out, models: [] });
    expect(existsSync(join(out, "assets", "old.js")) || existsSync(join(out, "models"))).toBe(false);
    expect(existsSync(join(out, "assets", "a.js"))).toBe(true);
  });

  it("error: a folder with something else, and no pages", () => {
    const out = join(folder.path, "taken");
    mkdirSync(out);
    writeFileSync(join(out, "thesis.txt"), "");
    expect(() => exportSite({ ...options, out })).toThrow("is not empty, and is no earlier export");
    expect(readFileSync(join(out, "thesis.txt"), "utf8")).toBe("");
    const pagesFolder = join(folder.path, "none");
    expect(() => exportSite({ ...options, out: join(folder.path, "new"), pagesFolder })).toThrow(
      "There are no built pages",
    );
  });
});

describe("parseSite", () => {
  it("error: what is no site names its field", () => {
    const changed = (change: object) => JSON.stringify({ ...JSON.parse(renderSite(SITE)), ...change });
    expect(() => parseSite("<html>")).toThrow("it is no JSON");
    expect(() => parseSite(changed({ maxEvents: 0 }))).toThrow("maxEvents");
    expect(() => parseSite(changed({ key: "0x1" }))).toThrow("Unrecognized key");
    expect(() => parseSite(changed({ deployment: {} }))).toThrow("chainId");
  });
});
