/** The explorer's import page in Chromium, on a deployment of its own, and the command that it is compared with. */
import { spawn } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { unzipSync } from "fflate";
import type { Locator, Page } from "playwright-core";
import { expect } from "vitest";
import { connect } from "../../protocol/chain/connect.ts";
import { projectRoot } from "../../tools/foundry.ts";
import { startLocalChain } from "./anvil.ts";
import { axeFindings } from "./axe.ts";
import { startChromium } from "./chromium.ts";
import { deployLocal, temporaryFolder } from "./deploy.ts";
import { startLocalExplorer } from "./local-explorer.ts";

/** Where pictures for people go. */
export const PICTURES = join(projectRoot, "build", "explorer-pictures");
/** A hang ends the wait; a slow machine does not. */
export const PATIENCE_MS = 120_000;
/** Its requantizations have an integer form in all channels only when scales are nudged. */
export const NUDGEABLE = join(projectRoot, "test/vectors/quantized/conv1d.qdq.onnx");

/** The ONNX file of a shipped model, and what the import takes beside it. */
export function filesOf(model: string): string[] {
  const folder = join(projectRoot, "models", model);
  const taken = ["model.onnx", "tool.json", "README.md", "eval.json", "verification-key.bin"];
  return readdirSync(folder)
    .filter((name) => taken.includes(name))
    .map((name) => join(folder, name));
}

/** `assay` with these arguments, in a process of its own. @returns what it prints */
export function assay(...args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [join(projectRoot, "bin/assay.js"), ...args], { cwd: tmpdir() });
    let [out, err] = ["", ""];
    child.stdout.on("data", (part) => {
      out += part;
    });
    child.stderr.on("data", (part) => {
      err += part;
    });
    child.on("close", (code) => (code === 0 ? resolve(out) : reject(new Error(err))));
  });
}

type Given = Parameters<Locator["setInputFiles"]>[0];
export type ImportPage = Awaited<ReturnType<typeof openImportPage>>;

/** Starts chain, explorer and browser; call `stop` when done, `begin` and `end` around each test. */
export async function openImportPage() {
  mkdirSync(PICTURES, { recursive: true });
  const folder = temporaryFolder();
  const local = await startLocalChain();
  const deployment = await deployLocal(local);
  const chain = await connect({ rpcUrl: local.rpcUrl, deployment });
  const explorer = await startLocalExplorer({ chain, models: [], data: join(folder.path, "explorer") });
  const browser = await startChromium();
  const problems: string[] = [];
  const own = new URL(explorer.url).host;
  let page: Page;
  const imported = () => page.locator("[data-model]");
  const idShown = async () => (await imported().getAttribute("data-model")) ?? "";
  return {
    folder: folder.path,
    local,
    deployment,
    get page(): Page {
      return page;
    },
    begin: async () => {
      problems.length = 0;
      page = await browser.newPage();
      page.setDefaultTimeout(PATIENCE_MS);
      page.on("pageerror", (error) => problems.push(String(error)));
      page.on("console", (line) => {
        if (/Content Security Policy|React|Warning/.test(line.text())) problems.push(line.text());
      });
      page.on("request", (request) => {
        const { protocol, host } = new URL(request.url());
        if (protocol !== "blob:" && host !== own) problems.push(request.url());
      });
    },
    /** @returns what went wrong in the page, and what it asked of other hosts */
    end: async (): Promise<readonly string[]> => {
      await page.close();
      return problems;
    },
    open: async () => {
      await page.setViewportSize({ width: 1280, height: 860 });
      await page.emulateMedia({ colorScheme: "light", reducedMotion: "reduce" });
      await page.goto(`${explorer.url}/import`);
      await page.locator("h1").waitFor();
    },
    give: (files: Given) => page.locator(".drop-input").setInputFiles(files),
    imported,
    idShown,
    /** The next model that the page shows instead of this one. */
    anotherThan: async (id: string): Promise<string> => {
      await page.locator(`[data-model]:not([data-model="${id}"])`).waitFor();
      return idShown();
    },
    /** Files of the archive that the page makes. */
    downloaded: async (): Promise<Record<string, Uint8Array>> => {
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("button", { name: "Download the model's folder" }).click(),
      ]);
      return unzipSync(readFileSync(await download.path()));
    },
    /** By axe, light and dark, on a screen and a phone. @param what is looked at */
    expectAccessible: async (what: string): Promise<void> => {
      const findings: string[] = [];
      for (const width of [1280, 390]) {
        await page.setViewportSize({ width, height: 860 });
        for (const colorScheme of ["light", "dark"] as const) {
          await page.emulateMedia({ colorScheme });
          const found = await axeFindings(page);
          findings.push(...found.map((one) => `${what}, ${width}, ${colorScheme}: ${one}`));
        }
        const wide = Number(await page.evaluate("document.documentElement.scrollWidth"));
        if (wide > width) findings.push(`${what} is ${wide} pixels wide`);
      }
      await page.setViewportSize({ width: 1280, height: 860 });
      expect(findings).toEqual([]);
    },
    stop: async () => {
      await browser.close();
      await explorer.stop();
      await local.stop();
      folder.remove();
    },
  };
}
