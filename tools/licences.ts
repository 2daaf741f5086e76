/** The licences of what is bundled. */
import { existsSync, readFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { projectRoot } from "./foundry.ts";

const FILES = ["LICENSE", "LICENSE.md", "LICENSE.txt", "LICENCE", "license", "License.md"];

/** The licence of each package of which something is in a bundle.
 *  @param modules paths, those of other code among them */
export function licencesOf(modules: Iterable<string>): string {
  const packages = new Set(
    [...modules].flatMap((path) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []),
  );
  const texts = [...packages].sort().map((found) => {
    const folder = resolve(projectRoot, found);
    const { name, version, license } = JSON.parse(
      readFileSync(join(folder, "package.json"), "utf8"),
    ) as Record<string, string>;
    const file = FILES.map((own) => join(folder, own)).find(existsSync);
    const text = file === undefined ? `${license}\n` : readFileSync(file, "utf8");
    return `${name ?? basename(folder)} ${version} (${license})\n\n${text.trim()}\n`;
  });
  return texts.join(`\n${"-".repeat(80)}\n\n`);
}
