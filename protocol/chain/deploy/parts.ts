/** The contracts of a system, what each is made from, and so where each stands. Pure: nothing here asks a chain. */
import {
  type Abi,
  type Address,
  encodeDeployData,
  getContractAddress,
  getCreate2Address,
  type Hex,
  zeroHash,
} from "viem";
import type { GameConstants } from "../../rules/types.ts";
import { PROXY_ADDRESS } from "./proxy.ts";

/** Compiled contract. */
export interface Artifact {
  readonly abi: Abi;
  /** creation code without constructor arguments */
  readonly bytecode: Hex;
}

/** In an order in which each finds those that it needs. Arguments are parts and constants by their names. */
const PARTS = [
  { key: "registry", contract: "ModelRegistry", args: [] },
  { key: "floatJudge", contract: "FloatJudge", args: [] },
  { key: "codecJudge", contract: "CodecJudge", args: [] },
  { key: "judge", contract: "Judge", args: ["registry", "floatJudge", "codecJudge"] },
  { key: "traceReader", contract: "TraceReader", args: ["registry"] },
  { key: "weightStore", contract: "WeightStore", args: ["registry"] },
  { key: "layerBuilder", contract: "LayerBuilder", args: ["registry"] },
  {
    key: "elementCheck",
    contract: "ElementCheck",
    args: ["registry", "weightStore", "floatJudge", "codecJudge"],
  },
  {
    key: "interpreter",
    contract: "Interpreter",
    args: ["registry", "weightStore", "layerBuilder", "floatJudge", "codecJudge", "elementCheck"],
  },
  { key: "planner", contract: "Planner", args: ["weightStore", "layerBuilder"] },
  { key: "fastInterpreter", contract: "FastInterpreter", args: ["interpreter", "planner"] },
  { key: "executionAdapter", contract: "ExecutionLane", args: ["interpreter"] },
  { key: "proofAdapter", contract: "ProofLane", args: ["registry"] },
  {
    key: "assay",
    contract: "Assay",
    args: [
      "registry",
      "judge",
      "traceReader",
      "executionAdapter",
      "proofAdapter",
      "answerSeconds",
      "gasPriceFloor",
      "gasBase",
      "gasPerDemand",
    ],
  },
  { key: "promises", contract: "Promises", args: ["assay"] },
] as const satisfies readonly { key: string; contract: string; args: readonly string[] }[];

type Part = (typeof PARTS)[number];
export type DeployedContract = Part["contract"];
export type Artifacts = Readonly<Record<DeployedContract, Artifact>>;
export const DEPLOYED_CONTRACTS: readonly DeployedContract[] = PARTS.map(({ contract }) => contract);

/** Addresses by their names in a deployment. The courier is made by Assay, the reader of promises by Promises. */
export type SystemContracts = Readonly<Record<Part["key"] | "courier" | "promiseReader", Address>>;

/** One contract that is to be created. */
export interface Creation {
  readonly name: DeployedContract;
  /** its name in a deployment */
  readonly key: Part["key"];
  readonly args: readonly unknown[];
  /** creation code with the constructor's arguments */
  readonly initCode: Hex;
  readonly address: Address;
}

export interface SystemLayout {
  /** in the order in which they are created */
  readonly creations: readonly Creation[];
  readonly contracts: SystemContracts;
}

/** Says where a contract will stand; undefined: the system has none of it. @param index of it among the creations */
export type Placement = (creation: Omit<Creation, "address">, index: number) => Address | undefined;

/** By the deterministic deployment proxy: the address depends on salt, creation code and arguments alone. Without a
 *  salt, that is with 32 zero bytes, systems of the same constants are one system. */
export const byProxy =
  (salt: Hex = zeroHash): Placement =>
  ({ initCode }) =>
    getCreate2Address({ from: PROXY_ADDRESS, salt, bytecode: initCode });

/** By the next transactions of an account, from this nonce on. */
export const byAccount =
  (from: Address, nonce: number): Placement =>
  (_creation, index) =>
    getContractAddress({ from, nonce: BigInt(nonce + index) });

/** Where they stand already. Systems from before promises have none of these. */
export const asDeployed =
  (contracts: Readonly<Record<string, Address>>): Placement =>
  ({ key }) =>
    contracts[key];

/** What a contract creates first: Assay its courier, ProofLane the verifiers of ezkl, Promises its reader. */
export const firstMadeBy = (address: Address): Address => getContractAddress({ from: address, nonce: 1n });

export function layOut(artifacts: Artifacts, constants: GameConstants, place: Placement): SystemLayout {
  const values: Record<string, unknown> = { ...constants };
  const creations = PARTS.flatMap(({ key, contract: name, args: names }, index): Creation[] => {
    const { abi, bytecode } = artifacts[name];
    const args = names.map((one) => values[one]);
    const made = { name, key, args, initCode: encodeDeployData({ abi, bytecode, args }) };
    const address = place(made, index);
    if (address === undefined) return [];
    values[key] = address;
    return [{ ...made, address }];
  });
  const contracts = Object.fromEntries(creations.map(({ key, address }) => [key, address]));
  const { assay, promises } = contracts;
  const made = {
    ...(assay !== undefined && { courier: firstMadeBy(assay) }),
    ...(promises !== undefined && { promiseReader: firstMadeBy(promises) }),
  };
  return { creations, contracts: { ...contracts, ...made } as SystemContracts };
}

/** The addresses of a system that the deterministic deployment proxy makes: the same on every chain. */
export const systemAddresses = (
  artifacts: Artifacts,
  constants: GameConstants,
  salt?: Hex,
): SystemContracts => layOut(artifacts, constants, byProxy(salt)).contracts;
