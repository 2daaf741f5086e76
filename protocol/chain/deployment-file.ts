/** Files deployments/<chainId>.json. */
import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { BaseError } from "../../base/errors.ts";
import { type Deployment, parseDeployment, renderDeployment } from "./deployment.ts";

/** The file that is meant for a chain. @param path of the file, or of a folder with one for each chain */
export function deploymentPath(path: string, chainId: number): string {
  const isFile = path.endsWith(".json") || statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  return isFile ? path : join(path, `${chainId}.json`);
}

/** @throws BaseError DEPLOYMENT_MISSING, DEPLOYMENT_INVALID */
export function readDeployment(path: string): Deployment {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (cause) {
    throw new BaseError({
      code: "DEPLOYMENT_MISSING",
      shortMessage: `There is no deployment file ${path}.`,
      nextStep: "Run `assay deploy`, or name the file with --deployment or ASSAY_DEPLOYMENT.",
      cause,
    });
  }
  return parseDeployment(text, path);
}

/** Replaces the file in one step, so that nobody reads half of it. */
export function writeDeployment(path: string, deployment: Deployment): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(`${path}.new`, renderDeployment(deployment));
  renameSync(`${path}.new`, path);
}
