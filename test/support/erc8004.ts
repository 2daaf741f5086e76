/** The registries of ERC-8004 on a local chain: the ones of this repository's tests, or the reference contracts, of which
 *  ERC8004_CONTRACTS names a clone with its dependencies in node_modules. No registry of packages has those. */
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import {
  type Abi,
  type Address,
  createWalletClient,
  encodeFunctionData,
  type Hex,
  http,
  parseAbi,
} from "viem";
import { loadArtifact } from "../../cli/artifacts.ts";
import { accountAt, type LocalChain } from "./anvil.ts";

export const REFERENCE = process.env.ERC8004_CONTRACTS;

export const IDENTITY = parseAbi([
  "function register() returns (uint256)",
  "function ownerOf(uint256) view returns (address)",
  "function getAgentWallet(uint256) view returns (address)",
  "function approve(address, uint256)",
  "function setApprovalForAll(address, bool)",
  "function transferFrom(address, address, uint256)",
]);
export const VALIDATIONS = parseAbi([
  "function getIdentityRegistry() view returns (address)",
  "function validationRequest(address, uint256, string, bytes32)",
  "function validationResponse(bytes32, uint8, string, bytes32, string)",
  "function getValidationStatus(bytes32) view returns (address validator, uint256 agentId, uint8 response, bytes32 responseHash, string tag, uint256 lastUpdate)",
  "function getSummary(uint256, address[], string) view returns (uint64, uint8)",
]);

export interface Registries {
  readonly identity: Address;
  readonly validations: Address;
}

interface Artifact {
  readonly abi: Abi;
  readonly bytecode: Hex;
}

/** @param reference folder of the reference contracts; absent: those of this repository's tests */
export async function deployRegistries(local: LocalChain, reference?: string): Promise<Registries> {
  const wallet = createWalletClient({ account: accountAt(0), transport: http(local.rpcUrl) });
  const deploy = async ({ abi, bytecode }: Artifact, args: readonly unknown[]): Promise<Address> => {
    const hash = await wallet.deployContract({ abi, bytecode, args, chain: null });
    const { contractAddress } = await local.client.waitForTransactionReceipt({ hash });
    return contractAddress as Address;
  };
  if (reference === undefined) {
    const identity = await deploy(loadArtifact("TestIdentityRegistry", "TestValidationRegistry.sol"), []);
    return { identity, validations: await deploy(loadArtifact("TestValidationRegistry"), [identity]) };
  }
  const artifacts = compileReference(reference);
  const named = (name: string): Artifact => artifacts[name] as Artifact;
  /** As its deployment does it: a proxy of a contract that does nothing, which is then replaced. */
  const deployBehindProxy = async (name: string, args: readonly unknown[]): Promise<Address> => {
    const empty = named("HardhatMinimalUUPS");
    const begin = encodeFunctionData({ ...empty, functionName: "initialize", args: [accountAt(9).address] });
    const proxy = await deploy(named("ERC1967Proxy"), [await deploy(empty, []), begin]);
    const { abi } = named(name);
    const initialize = encodeFunctionData({ abi, functionName: "initialize", args });
    const upgrade = [await deploy(named(name), []), initialize];
    const data = encodeFunctionData({ abi, functionName: "upgradeToAndCall", args: upgrade });
    const hash = await wallet.sendTransaction({ to: proxy, data, chain: null });
    const { status } = await local.client.waitForTransactionReceipt({ hash });
    if (status !== "success") throw new Error(`${name} was not put behind its proxy`);
    return proxy;
  };
  const identity = await deployBehindProxy("IdentityRegistryUpgradeable", []);
  return { identity, validations: await deployBehindProxy("ValidationRegistryUpgradeable", [identity]) };
}

const REFERENCE_CONTRACTS = [
  ...["ERC1967Proxy", "HardhatMinimalUUPS", "IdentityRegistryUpgradeable", "ValidationRegistryUpgradeable"],
];

function compileReference(folder: string): Readonly<Record<string, Artifact>> {
  const solc = createRequire(import.meta.url)("solc");
  const sourceOf = (name: string): string => `contracts/${name}.sol`;
  const read = (path: string): string => readFileSync(path, "utf8");
  const input = {
    language: "Solidity",
    sources: Object.fromEntries(
      REFERENCE_CONTRACTS.map((name) => [sourceOf(name), { content: read(join(folder, sourceOf(name))) }]),
    ),
    settings: {
      optimizer: { enabled: true, runs: 200 },
      viaIR: true,
      outputSelection: { "*": { "*": ["abi", "evm.bytecode.object"] } },
    },
  };
  const find = (path: string): { contents: string } | { error: string } => {
    const found = [folder, join(folder, "node_modules")].map((at) => join(at, path)).find(existsSync);
    return found === undefined
      ? { error: `There is no ${path}: run npm ci in ${folder}.` }
      : { contents: read(found) };
  };
  const { contracts, errors = [] } = JSON.parse(solc.compile(JSON.stringify(input), { import: find }));
  const fault = errors.find(({ severity }: { severity: string }) => severity === "error");
  if (fault !== undefined) throw new Error(fault.formattedMessage);
  return Object.fromEntries(
    REFERENCE_CONTRACTS.map((name) => {
      const { abi, evm } = contracts[sourceOf(name)][name];
      return [name, { abi, bytecode: `0x${evm.bytecode.object}` }];
    }),
  );
}
