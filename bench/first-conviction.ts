/** `npx tsx bench/first-conviction.ts [REPOSITORY]`: how long somebody waits who has nothing but git and Node.js, from a
 *  clone to the arithmetic of a conviction in a browser. It clones this repository, or the one that is named, into a
 *  folder of its own, with an empty npm cache. The clone needs Chromium (CHROMIUM) here, and the network for npm. */
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { startChromium } from "../test/support/chromium.ts";
import { projectRoot } from "../tools/foundry.ts";
import { describeMachine } from "./report.ts";

const [repository = projectRoot] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "assay-first-conviction-"));
const clone = join(folder, "assay");
const began = performance.now();
let last = began;

function logStage(what: string): void {
  const now = performance.now();
  console.log(`${((now - last) / 1_000).toFixed(0).padStart(5)} s  ${what}`);
  last = now;
}

function run(command: string, args: readonly string[], cwd: string): void {
  const { status, stderr } = spawnSync(command, args, { cwd, encoding: "utf8" });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")} ended with ${status}:\n${stderr}`);
}

/** Address of the conviction's page, once the demonstration prints it. */
async function addressIn(output: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface({ input: output })) {
    const [, url] = /^\s*conviction\s+(http\S+)/.exec(line) ?? [];
    if (url !== undefined) return url;
  }
  throw new Error("The demonstration ended without the address of a conviction.");
}

async function untilShown(url: string): Promise<string> {
  const browser = await startChromium();
  try {
    const page = await browser.newPage();
    await page.goto(url);
    // What this browser computed by itself, beside the contract's word.
    return (await page.locator(".verdict-own:has(.tone-good)").textContent({ timeout: 600_000 })) ?? "";
  } finally {
    await browser.close();
  }
}

try {
  run("git", ["clone", "--quiet", "--no-local", repository, clone], folder);
  logStage("git clone");
  run("npm", ["ci", "--cache", join(folder, "npm-cache")], clone);
  logStage("npm ci, with an empty cache");
  const demo = spawn("npm", ["run", "demo", "--", "--keep", "--traffic"], {
    cwd: clone,
    detached: true,
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    const url = await addressIn(demo.stdout);
    logStage("npm run demo -- --keep --traffic, until it prints the address of the conviction");
    const shown = await untilShown(url);
    logStage(`until a browser shows its arithmetic: ${shown}`);
  } finally {
    demo.stdout.resume();
    const ended = new Promise((resolve) => demo.once("exit", resolve));
    // It and all that it started.
    if (demo.pid !== undefined && demo.exitCode === null) process.kill(-demo.pid, "SIGINT");
    await ended;
  }
  const [load] = loadavg() as [number, number, number];
  console.log(`${((last - began) / 60_000).toFixed(1)} minutes in all.`);
  console.log([...describeMachine(), `Load of the last minute: ${load.toFixed(1)}`].join("; "));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
