/** `@assay/contracts`: what a consumer's contract imports, ABIs, and where Assay is deployed. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { transform } from "esbuild";
import ts from "typescript";
import * as abis from "../../protocol/rules/generated/abis.ts";
import { projectRoot } from "../foundry.ts";
import { abiConstantName, CONTRACTS, contractOf } from "../gen-abis.ts";

/** Below verifier-contracts/, as in the package. What they import comes along. */
const ENTRIES: readonly string[] = [
  "consumer/AssayConsumer.sol",
  "interfaces/IFastInterpreter.sol",
  "interfaces/ILayerBuilder.sol",
  "interfaces/IPlanner.sol",
  "interfaces/IProofLane.sol",
  "interfaces/IWeightStore.sol",
  "libraries/ClaimWord.sol",
  "libraries/Settlements.sol",
];

/** Licences that ask nothing of whoever imports a file. */
const PERMISSIVE = /^\/\/ SPDX-License-Identifier: (MIT|CC0-1\.0)\n/;

/** The files and all that they import, by path.
 *  @throws Error for one that is not permissively licensed, or that imports another package */
export function importClosure(root: string, entries: readonly string[]): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  const pending = [...entries];
  for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
    if (files.has(path)) continue;
    const text = readFileSync(join(root, path), "utf8");
    if (!PERMISSIVE.test(text))
      throw new Error(`${path} is in @assay/contracts and neither MIT nor CC0-1.0.`);
    files.set(path, text);
    for (const [, target = ""] of text.matchAll(/^(?:import|\})[^";]*"([^"]+)";/gm)) {
      if (!target.startsWith(".")) throw new Error(`${path} imports ${target}, which is another package.`);
      pending.push(normalize(join(dirname(path), target)));
    }
  }
  return files;
}

/** @param folder of the package to be packed
 *  @throws Error as `importClosure` does */
export async function buildContracts(folder: string): Promise<void> {
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  const sources = importClosure(join(projectRoot, "verifier-contracts"), ENTRIES);
  for (const [path, text] of sources) write(path, text);
  const byName: Readonly<Record<string, unknown>> = abis;
  for (const entry of CONTRACTS) {
    const name = contractOf(entry);
    write(`abi/${name}.json`, `${JSON.stringify(byName[abiConstantName(name)], null, 2)}\n`);
  }
  const typed = readFileSync(join(projectRoot, "protocol/rules/generated/abis.ts"), "utf8");
  write("abi/index.js", (await transform(typed, { loader: "ts" })).code);
  write("abi/index.d.ts", ts.transpileDeclaration(typed, {}).outputText);
  write("deployments.js", `export const deployments = ${JSON.stringify(readDeployments(), null, 2)};\n`);
}

/** Deployment files of public chains, by chain id: of deployments/, without the local ones. */
function readDeployments(): Readonly<Record<string, unknown>> {
  const folder = join(projectRoot, "deployments");
  if (!existsSync(folder)) return {};
  const names = readdirSync(folder).filter((name) => /^\d+\.json$/.test(name) && name !== "31337.json");
  return Object.fromEntries(
    names.map((name) => [name.replace(".json", ""), JSON.parse(readFileSync(join(folder, name), "utf8"))]),
  );
}
