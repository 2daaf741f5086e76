import { type Hex, numberToHex } from "viem";
import { describe, expect, test } from "vitest";
import { loadArtifacts } from "../../../../cli/artifacts.ts";
import {
  type Artifacts,
  DEPLOYED_CONTRACTS,
  type DeployedContract,
  type SystemContracts,
  systemAddresses,
} from "../../../../protocol/chain/deploy/parts.ts";
import type { GameConstants } from "../../../../protocol/rules/types.ts";
import { LOCAL_CONSTANTS } from "../../../support/deploy.ts";

const artifacts = loadArtifacts();
const before = systemAddresses(artifacts, LOCAL_CONSTANTS);
const changed = (after: SystemContracts): string[] =>
  Object.entries(after)
    .filter(([key, address]) => before[key as keyof SystemContracts] !== address)
    .map(([key]) => key)
    .sort();

describe("systemAddresses", () => {
  test("default: every contract has an address of its own", () => {
    expect(new Set(Object.values(before)).size).toBe(DEPLOYED_CONTRACTS.length + 2);
    expect(systemAddresses(artifacts, { ...LOCAL_CONSTANTS })).toEqual(before);
  });

  test.each<[keyof GameConstants, number | bigint]>([
    ["answerSeconds", LOCAL_CONSTANTS.answerSeconds + 1],
    ["gasPriceFloor", LOCAL_CONSTANTS.gasPriceFloor + 1n],
    ["gasBase", LOCAL_CONSTANTS.gasBase + 1n],
    ["gasPerDemand", LOCAL_CONSTANTS.gasPerDemand + 1n],
  ])("args: another %s moves Assay and Promises with what they make, and nothing else", (name, value) => {
    const after = systemAddresses(artifacts, { ...LOCAL_CONSTANTS, [name]: value });
    expect(changed(after)).toEqual(["assay", "courier", "promiseReader", "promises"]);
  });

  test("args: another salt moves everything", () => {
    const after = systemAddresses(artifacts, LOCAL_CONSTANTS, numberToHex(1, { size: 32 }));
    expect(changed(after)).toEqual(Object.keys(before).sort());
  });

  test.each<[DeployedContract, string[]]>([
    ["FastInterpreter", ["fastInterpreter"]],
    ["ProofLane", ["assay", "courier", "promiseReader", "promises", "proofAdapter"]],
    ["ModelRegistry", Object.keys(before).filter((key) => key !== "floatJudge" && key !== "codecJudge")],
  ])("behavior: other code of %s moves what is made from it", (name, moved) => {
    const bytecode: Hex = `${artifacts[name].bytecode}00`;
    const other: Artifacts = { ...artifacts, [name]: { ...artifacts[name], bytecode } };
    expect(changed(systemAddresses(other, LOCAL_CONSTANTS))).toEqual([...moved].sort());
  });
});
