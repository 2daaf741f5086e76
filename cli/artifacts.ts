/** The compiled contracts that `assay deploy` needs, from forge's output. */
import { readFileSync } from "node:fs";
import type { Abi, Hex } from "viem";
import { BaseError } from "../base/errors.ts";
import { type Artifact, DEPLOYED_CONTRACTS, type DeployedContract } from "../protocol/chain/deploy/parts.ts";
import { artifactPath, ensureCompiled } from "../tools/compile.ts";

/** Compiles if sources changed, then reads.
 *  @throws BaseError ARTIFACT_MISSING; Error with the compiler's messages */
export function loadArtifacts(): Record<DeployedContract, Artifact> {
  ensureCompiled("contracts");
  const entries = DEPLOYED_CONTRACTS.map((name) => [name, loadArtifact(name)] as const);
  return Object.fromEntries(entries) as Record<DeployedContract, Artifact>;
}

/** Reads one artifact; it must be there.
 *  @param file the Solidity file, if it is not named after the contract */
export function loadArtifact(name: string, file?: string): Artifact {
  const path = artifactPath(name, file);
  try {
    return readArtifact(path);
  } catch (cause) {
    throw new BaseError({
      code: "ARTIFACT_MISSING",
      shortMessage: `The compiled contract ${name} cannot be read from ${path}.`,
      nextStep: "Run `npm run compile`.",
      cause,
    });
  }
}

/** Reads a file of forge's. */
export function readArtifact(path: string): Artifact {
  const { abi, bytecode } = JSON.parse(readFileSync(path, "utf8")) as { abi: Abi; bytecode: { object: Hex } };
  return { abi, bytecode: bytecode.object };
}
