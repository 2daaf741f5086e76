/** `npm run packages`: what others install, as packed files in build/packages/. Arguments name some of them. */
import { statSync } from "node:fs";
import { relative } from "node:path";
import { projectRoot } from "../foundry.ts";
import { buildContracts } from "./contracts.ts";
import { type PackageSource, pack } from "./pack.ts";
import { buildProgram } from "./program.ts";
import { buildSdk } from "./sdk.ts";

const SOURCES: readonly PackageSource[] = [
  { folder: "sdk", build: buildSdk },
  { folder: "contracts", build: buildContracts },
  { folder: "program", build: buildProgram },
];

const wanted = process.argv.slice(2);
for (const source of SOURCES) {
  if (wanted.length > 0 && !wanted.includes(source.folder)) continue;
  const file = await pack(source);
  console.log(`${relative(projectRoot, file)}  ${Math.ceil(statSync(file).size / 1024)} KB`);
}
