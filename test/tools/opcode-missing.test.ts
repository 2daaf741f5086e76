import { describe, expect, it } from "vitest";
import { filesOf, missingOf } from "../../tools/opcode-cost.ts";

/** What RESCALE touches and nobody misses of a new opcode, and why nothing is computed wrongly without it. */
const NOT_NEEDED: Readonly<Record<string, string>> = {
  "inference/program/codes.ts": "the row that was added",
  "inference/onnx/builder.ts": "import writes no step of an opcode that it has no method for",
  "verifier-contracts/execution/plan/Plan.sol": "a program whose steps have no instruction has no plan",
  "verifier-contracts/execution/plan/PlanRun.sol": "it runs instructions, not opcodes",
  "verifier-contracts/execution/plan/PlanWriter.sol":
    "it refuses what it does not know: Dispatch.t.sol, NotPlannable",
};

describe("missingOf", () => {
  const missing = missingOf("throwaway");
  const named = (by: string): string[] => missing.filter((one) => one.by === by).map(({ place }) => place);

  it("behavior: the generator says which files are stale", () => {
    expect(named("gen:check").sort()).toEqual([
      "inference/opcodes/generated/index.ts",
      "inference/profile/generated/index.ts",
      "inference/profile/generated/reads.ts",
      "prover/proof/groth16/gadgets/generated/index.ts",
      "verifier-contracts/generated/Codes.sol",
      "verifier-contracts/generated/Elements.sol",
      "verifier-contracts/generated/Kernels.sol",
      "verifier-contracts/generated/Rules.sol",
    ]);
  });

  it("behavior: both compilers name what is not there yet", () => {
    expect(named("tsc")).toEqual([
      "conformance/generate/random-steps.ts",
      "conformance/reference/judge.ts",
      "inference/emit/steps.ts",
      "inference/opcodes/throwaway.ts",
      "inference/profile/throwaway.ts",
      "protocol/chain/execution/cost.ts",
      "prover/proof/groth16/gadgets/throwaway.ts",
    ]);
    expect(named("solc")).toEqual([
      "verifier-contracts/opcodes/Throwaway.sol",
      "verifier-contracts/opcodes/Throwaway.sol judge",
      "verifier-contracts/opcodes/Throwaway.sol rules",
      "verifier-contracts/opcodes/rows/ThrowawayRows.sol",
      "verifier-contracts/opcodes/rows/ThrowawayRows.sol run",
    ]);
  });

  it("behavior: no place that RESCALE touches is left out in silence", () => {
    const asThrowaway = (file: string): string =>
      file.replace(/(rescale|Rescale)(Rows)?\.(ts|sol)$/, (_, name: string, rows = "", end: string) => {
        return `${name === "rescale" ? "throwaway" : "Throwaway"}${rows}.${end}`;
      });
    const places = new Set(missing.map(({ place }) => place));
    const silent = filesOf("rescale").filter((file) => !places.has(asThrowaway(file)));
    expect(silent.sort()).toEqual(Object.keys(NOT_NEEDED).sort());
  });
});
