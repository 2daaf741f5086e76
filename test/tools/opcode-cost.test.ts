import { describe, expect, it } from "vitest";
import { OPCODES } from "../../inference/program/form.ts";
import { filesOf } from "../../tools/opcode-cost.ts";

/** Most source files that an opcode touches. */
const MOST = 12;

describe("filesOf", () => {
  it("default", () => {
    expect(filesOf("rescale")).toEqual([
      "inference/emit/steps.ts",
      "inference/onnx/builder.ts",
      "inference/opcodes/rescale.ts",
      "inference/profile/rescale.ts",
      "inference/program/codes.ts",
      "protocol/chain/execution/cost.ts",
      "prover/proof/groth16/gadgets/rescale.ts",
      "verifier-contracts/execution/plan/Plan.sol",
      "verifier-contracts/execution/plan/PlanRun.sol",
      "verifier-contracts/execution/plan/PlanWriter.sol",
      "verifier-contracts/opcodes/Rescale.sol",
      "verifier-contracts/opcodes/rows/RescaleRows.sol",
    ]);
    expect(filesOf("rescale").length).toBeLessThanOrEqual(MOST);
  });

  it("behavior: every opcode has files, one that is not there has none", () => {
    for (const opcode of OPCODES) expect(filesOf(opcode)).toContain(`inference/opcodes/${opcode}.ts`);
    expect(filesOf("throwaway")).toEqual([]);
  });
});
