/** What explorers are given is what was deployed: compiled from it by the npm package, the creation code is the same. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { loadArtifacts } from "../../cli/artifacts.ts";
import { type SourceEntry, writeSources } from "../../cli/deploy/sources.ts";
import { asDeployed, byProxy, layOut } from "../../protocol/chain/deploy/parts.ts";
import type { Deployment } from "../../protocol/chain/deployment.ts";
import { LOCAL_CONSTANTS, temporaryFolder } from "../support/deploy.ts";
import { scaled } from "../support/scale.ts";

interface Compiled {
  readonly errors?: readonly { readonly severity: string }[];
  readonly contracts: Record<string, Record<string, { evm: { bytecode: { object: string } } }>>;
}
const solc = createRequire(import.meta.url)("solc") as { compile(input: string): string; version(): string };

const artifacts = loadArtifacts();
const { contracts } = layOut(artifacts, LOCAL_CONSTANTS, byProxy());
const deployment = { contracts, constants: LOCAL_CONSTANTS } as unknown as Deployment;
const { creations } = layOut(artifacts, LOCAL_CONSTANTS, asDeployed(contracts));

const folder = temporaryFolder();
let entries: readonly SourceEntry[] = [];
beforeAll(() => {
  writeSources(folder.path, deployment, artifacts);
  entries = JSON.parse(readFileSync(join(folder.path, "index.json"), "utf8"));
});
afterAll(folder.remove);

// The largest take seconds.
const FEW = ["ExecutionLane", "TraceReader"];
const names = creations.map(({ name }) => name as string);

describe("writeSources", () => {
  test.each(scaled(FEW, names))("behavior: the standard JSON of %s compiles to what is created", (name) => {
    const entry = entries.find(({ contract }) => contract.endsWith(`:${name}`)) as SourceEntry;
    const [file, contract] = entry.contract.split(":") as [string, string];
    const output = JSON.parse(solc.compile(readFileSync(join(folder.path, entry.input), "utf8"))) as Compiled;
    expect(output.errors?.filter(({ severity }) => severity === "error") ?? []).toEqual([]);
    const code = output.contracts[file]?.[contract]?.evm.bytecode.object;
    const creation = creations.find((one) => one.name === name);
    expect(`0x${code}${entry.constructorArguments}`).toBe(creation?.initCode);
    expect(entry.address).toBe(creation?.address);
    expect(entry.compiler).toBe(`v${solc.version().replace(".Emscripten.clang", "")}`);
  });
});
