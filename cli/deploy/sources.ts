/** What explorers take to verify sources: the compiler's standard JSON input of each contract, with its version and the
 *  constructor's arguments. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Address, type Hex, keccak256, pad, size, slice, toHex } from "viem";
import { BaseError } from "../../base/errors.ts";
import { type Artifacts, asDeployed, firstMadeBy, layOut } from "../../protocol/chain/deploy/parts.ts";
import type { Deployment } from "../../protocol/chain/deployment.ts";
import { artifactPath } from "../../tools/compile.ts";
import { projectRoot } from "../../tools/foundry.ts";
import { toJson } from "../output.ts";

/** Of the compiler, as forge keeps it. */
interface Metadata {
  readonly compiler: { readonly version: string };
  readonly language: string;
  readonly settings: Readonly<Record<string, unknown>> & {
    readonly compilationTarget: Readonly<Record<string, string>>;
  };
  readonly sources: Readonly<Record<string, { readonly keccak256: Hex }>>;
}

export interface StandardInput {
  readonly language: string;
  readonly sources: Readonly<Record<string, { readonly content: string }>>;
  readonly settings: Readonly<Record<string, unknown>>;
}

/** One contract for an explorer's form. */
export interface SourceEntry {
  readonly address: Address;
  /** `path:Name` */
  readonly contract: string;
  /** `v0.8.…+commit.…` */
  readonly compiler: string;
  /** ABI-encoded, as explorers take it: without 0x */
  readonly constructorArguments: string;
  /** file with the standard JSON input, in the same folder */
  readonly input: string;
}

/** The folder beside a deployment file. */
export const sourcesFolder = (deploymentPath: string): string =>
  `${deploymentPath.replace(/\.json$/, "")}.sources`;

/** What constructors create is compiled from the sources of its creator. */
const MADE_BY: Readonly<Record<string, { readonly contract: string; readonly args?: readonly string[] }>> = {
  Assay: { contract: "Courier.sol:Courier" },
  ProofLane: { contract: "proof/EzklVerifiers.sol:EzklVerifiers" },
  Promises: { contract: "promises/PromiseReader.sol:PromiseReader", args: ["registry", "judge"] },
};

/** @throws BaseError SOURCES_CHANGED where the artifacts are of other sources */
export function writeSources(folder: string, deployment: Deployment, artifacts: Artifacts): void {
  mkdirSync(folder, { recursive: true });
  const { contracts, constants } = deployment;
  const entries: SourceEntry[] = [];
  for (const { name, address, initCode } of layOut(artifacts, constants, asDeployed(contracts)).creations) {
    const metadata = metadataOf(name);
    const [[file, contract] = []] = Object.entries(metadata.settings.compilationTarget);
    const input = `${name}.json`;
    writeFileSync(join(folder, input), toJson(standardInput(metadata)));
    const code = size(artifacts[name].bytecode);
    const constructorArguments = size(initCode) === code ? "" : slice(initCode, code).slice(2);
    const common = { compiler: `v${metadata.compiler.version}`, input };
    entries.push({ address, contract: `${file}:${contract}`, ...common, constructorArguments });
    const made = MADE_BY[name];
    if (made === undefined) continue;
    const values = (made.args ?? []).map((key) => contracts[key] as Address);
    entries.push({
      ...{ address: firstMadeBy(address), contract: `verifier-contracts/${made.contract}`, ...common },
      constructorArguments: values.map((value) => pad(value).slice(2).toLowerCase()).join(""),
    });
  }
  writeFileSync(join(folder, "index.json"), `${toJson(entries)}\n`);
}

const metadataOf = (name: string): Metadata =>
  (JSON.parse(readFileSync(artifactPath(name), "utf8")) as { metadata: Metadata }).metadata;

export function standardInput({ language, settings, sources }: Metadata): StandardInput {
  const { compilationTarget: _target, ...compiled } = settings;
  const contents = Object.entries(sources).map(([path, { keccak256: hash }]) => {
    const content = readFileSync(join(projectRoot, path), "utf8");
    if (keccak256(toHex(content)) !== hash) throw changed(path);
    return [path, { content }] as const;
  });
  const outputSelection = { "*": { "*": ["abi", "evm.bytecode.object", "evm.deployedBytecode"] } };
  return { language, sources: Object.fromEntries(contents), settings: { ...compiled, outputSelection } };
}

const changed = (path: string) =>
  new BaseError({
    code: "SOURCES_CHANGED",
    shortMessage: `${path} is not the source that was compiled.`,
    nextStep: "Run `npm run compile`, then deploy again: what stands is used.",
  });
