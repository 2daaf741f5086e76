/** `npm run lock`: adds the optional packages of other platforms that npm left out of package-lock.json.
 *
 *  npm leaves out an optional package that it cannot find in the registry it uses (a mirror may lack those
 *  of other platforms), and then `npm ci` refuses the lock file. The missing entries follow from the name:
 *  `<package>-<os>-<cpu>[-musl]`, with the exact version that the parent asks for. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { projectRoot } from "./foundry.ts";

type LockedPackage = {
  version?: string;
  optional?: boolean;
  dev?: boolean;
  os?: string[];
  cpu?: string[];
  libc?: string[];
  optionalDependencies?: Record<string, string>;
};
export type Lock = { packages: Record<string, LockedPackage> };

const PLATFORM = /-(android|darwin|freebsd|linux|win32)-(amd64|arm|arm64|ia32|x64)(?:-(musl))?$/;
const EXACT_VERSION = /^\d+\.\d+\.\d+$/;

/** The lock with the missing platform packages, and their names. Entries that exist stay as they are. */
export function completeLock(lock: Lock): { lock: Lock; added: string[] } {
  const packages = { ...lock.packages };
  const added: string[] = [];
  for (const parent of Object.values(lock.packages)) {
    for (const [name, version] of Object.entries(parent.optionalDependencies ?? {})) {
      const path = `node_modules/${name}`;
      const [, os, cpu, libc] = PLATFORM.exec(name) ?? [];
      if (path in packages || os === undefined || cpu === undefined || !EXACT_VERSION.test(version)) continue;
      packages[path] = {
        version,
        cpu: [cpu === "amd64" ? "x64" : cpu],
        ...(parent.dev === true ? { dev: true } : {}),
        ...(libc !== undefined ? { libc: [libc] } : {}),
        optional: true,
        os: [os],
      };
      added.push(name);
    }
  }
  const sorted = Object.entries(packages).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return { lock: { ...lock, packages: Object.fromEntries(sorted) }, added };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const path = join(projectRoot, "package-lock.json");
  const { lock, added } = completeLock(JSON.parse(readFileSync(path, "utf8")) as Lock);
  if (added.length > 0) writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`);
  console.log(added.length > 0 ? `Added ${added.join(", ")}.` : "Nothing to add.");
}
