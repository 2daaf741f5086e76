#!/usr/bin/env node
// Runs the bundled program; makes the bundle first if there is none or a source has changed. Where none can be made,
// a read-only folder say, it runs the sources themselves, which takes seconds to start.
import { readFileSync, statSync } from "node:fs";

const root = new URL("../", import.meta.url);

function currentBundle() {
  try {
    const { entry, sources } = JSON.parse(readFileSync(new URL("build/program/current.json", root), "utf8"));
    for (const [path, mtimeMs, bytes] of sources) {
      const now = statSync(new URL(path, root));
      if (now.mtimeMs !== mtimeMs || now.size !== bytes) return undefined;
    }
    statSync(new URL(entry, root));
    return new URL(entry, root).href;
  } catch {
    return undefined;
  }
}

async function newBundle() {
  const { register } = await import("tsx/esm/api");
  const { pathToFileURL } = await import("node:url");
  register();
  try {
    const { bundleProgram } = await import("../tools/bundle.ts");
    return pathToFileURL(await bundleProgram()).href;
  } catch {
    return new URL("cli/main.ts", root).href;
  }
}

await import(currentBundle() ?? (await newBundle()));
