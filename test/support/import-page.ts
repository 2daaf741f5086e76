/** The explorer's import page in Chromium, on a deployment of its own, and the command that it is compared with. */
import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { unzipSync } from "fflate";
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect } from "vitest";
import { connect } from "../../protocol/chain/connect.ts";
import { projectRoot } from "../../tools/foundry.ts";
import { startLocalChain } from "./anvil.ts";
import { deployLocal, temporaryFolder } from "./deploy.ts";
import { explorerPages } from "./explorer-pages.ts";
import { startLocalExplorer } from "./local-explorer.ts";

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
type Parts = Awaited<ReturnType<typeof startParts>>;

/** A chain with a deployment, and an explorer of it that has no models' folders. */
async function startParts() {
  const folder = temporaryFolder();
  const local = await startLocalChain();
  const deployment = await deployLocal(local);
  const chain = await connect({ rpcUrl: local.rpcUrl, deployment });
  const explorer = await startLocalExplorer({ chain, models: [], data: join(folder.path, "explorer") });
  const stop = async () => {
    await explorer.stop();
    await local.stop();
    folder.remove();
  };
  return { folder: folder.path, local, deployment, url: explorer.url, stop };
}

/** Registers what starts and ends deployment, explorer and browser. */
export function importPage() {
  let parts: Parts | undefined;
  const started = (): Parts => parts as Parts;
  beforeAll(async () => {
    parts = await startParts();
  });
  afterAll(() => parts?.stop());
  const pages = explorerPages(() => started().url);
  const { hosts, picture } = pages;
  afterAll(() => {
    // What is saved comes from no host.
    expect([...hosts].filter((host) => host !== "")).toEqual([new URL(started().url).host]);
  });
  const imported = () => pages.page.locator("[data-model]");
  const idShown = async () => (await imported().getAttribute("data-model")) ?? "";
  return {
    parts: started,
    picture,
    get page(): Page {
      return pages.page;
    },
    open: () => pages.open("/import"),
    give: (files: Given) => pages.page.locator(".drop-input").setInputFiles(files),
    imported,
    idShown,
    /** The next model that the page shows instead of this one. */
    anotherThan: async (id: string): Promise<string> => {
      await pages.page.locator(`[data-model]:not([data-model="${id}"])`).waitFor();
      return idShown();
    },
    /** Files of the archive that the page makes. */
    downloaded: async (): Promise<Record<string, Uint8Array>> => {
      const [download] = await Promise.all([
        pages.page.waitForEvent("download"),
        pages.page.getByRole("button", { name: "Download the model's folder" }).click(),
      ]);
      return unzipSync(readFileSync(await download.path()));
    },
    /** By axe, light and dark, on a screen and a phone. @param what is looked at */
    expectAccessible: async (what: string): Promise<void> => {
      const findings: string[] = [];
      for (const width of [1280, 390]) {
        await pages.page.setViewportSize({ width, height: 860 });
        findings.push(...(await pages.findings(`${what}, ${width}`, width)));
      }
      await pages.page.setViewportSize({ width: 1280, height: 860 });
      expect(findings).toEqual([]);
    },
  };
}
