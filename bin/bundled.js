// Runs a program of this repository from its bundle; makes the bundle first if there is none or a source has changed.
// Where none can be made, a read-only folder say, it runs the sources themselves, which takes seconds to start.
import { readFileSync, statSync } from "node:fs";
import { pathToFileURL } from "node:url";

const root = new URL("../", import.meta.url);

function currentBundle() {
  try {
    const { entry, sources } = JSON.parse(readFileSync(new URL("build/program/current.json", root), "utf8"));
    for (const [path, mtimeMs, bytes] of sources) {
      const now = statSync(new URL(path, root));
      if (now.mtimeMs !== mtimeMs || now.size !== bytes) return undefined;
    }
    statSync(new URL(entry, root));
    return new URL(entry, root);
  } catch {
    return undefined;
  }
}

/** @param name of a source, without its ending: one of the bundle's entries */
export async function start(name) {
  let main = currentBundle();
  if (main === undefined) {
    const { register } = await import("tsx/esm/api");
    register();
    try {
      const { bundleProgram } = await import("../tools/bundle.ts");
      main = pathToFileURL(await bundleProgram());
    } catch {
      return import(new URL(`${name}.ts`, root).href);
    }
  }
  return import(new URL(`../${name}.mjs`, main).href);
}
