/** What the examples share: where the system runs, and who asks. `npm run demo -- --keep` prints both. */
import { readFileSync } from "node:fs";
import { type Chain, connect, type ModelManifest, parseDeployment } from "assay/sdk";
import { createWalletClient, type Hex, http, type WalletClient } from "viem";
import { privateKeyToAccount } from "viem/accounts";

/** @returns the demo's chain */
export async function openChain(rpcUrl: string, deploymentPath: string): Promise<Chain> {
  const deployment = parseDeployment(readFileSync(deploymentPath, "utf8"), deploymentPath);
  return connect({ rpcUrl, deployment });
}

/** @param key of an account with ether; in a browser, a wallet's provider stands in for it */
export function openWallet(rpcUrl: string, key: string | undefined): WalletClient {
  if (key === undefined) throw new Error("Set ASSAY_KEY to the private key of an account with ether.");
  return createWalletClient({ account: privateKeyToAccount(key as Hex), transport: http(rpcUrl) });
}

/** @param name of a model that this repository ships */
export function readManifest(name: string): ModelManifest {
  const path = new URL(`../../../models/${name}/manifest.json`, import.meta.url);
  return JSON.parse(readFileSync(path, "utf8")) as ModelManifest;
}

/** @returns the command's arguments @throws Error with how it is used */
export function readArguments(...names: string[]): string[] {
  const given = process.argv.slice(2);
  if (given.length === names.length) return given;
  throw new Error(`usage: npx tsx ${process.argv[1]} ${names.map((name) => `<${name}>`).join(" ")}`);
}
