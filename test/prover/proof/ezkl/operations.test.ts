import { describe, expect, it } from "vitest";
import { assertUniqueOutput, operationsOf } from "../../../../prover/proof/ezkl/operations.ts";

/** As ezkl draws it. */
function table(...operations: readonly string[]): string {
  const width = Math.max(6, ...operations.map((one) => one.length));
  const row = (idx: string, op: string) => `│ ${idx.padEnd(3)} │ ${op.padEnd(width)} │ 13        │`;
  const rule = `├─────┼─${"─".repeat(width)}─┼───────────┤`;
  const rows = operations.map((one, i) => `${rule}\n${row(String(i), one)}`);
  return ` \n┌─────┬─\n${row("idx", "opkind")}\n${rows.join("\n")}\n└─────┴─\n`;
}

const NETWORK = [
  "Input",
  "CONST (scale=13)",
  "EINSUM mk,kn->n",
  "ADD",
  "LEAKYRELU (slope=0)",
  "EINSUM k,kn->mn",
];

describe("operationsOf", () => {
  it("default", () => {
    expect(operationsOf(table(...NETWORK))).toEqual(NETWORK);
  });

  it.each(["", "no table", "│ a │ b │\n│ 1 │ 2 │", table()])("error: no table of ezkl (%#)", (text) => {
    expect(() => operationsOf(text)).toThrow("cannot be read");
  });
});

describe("assertUniqueOutput", () => {
  it("default", () => {
    expect(() => assertUniqueOutput(table(...NETWORK))).not.toThrow();
  });

  it("behavior: an operand that is multiplied first", () => {
    expect(() => assertUniqueOutput(table("Input", "RESCALED INPUT (ADD)"))).not.toThrow();
    expect(() => assertUniqueOutput(table("Input", "RESCALED INPUT (DIV (denom=2))"))).toThrow(
      "1 operations",
    );
  });

  it.each([
    "REBASED (div=8192.0, rebasing_op=DIV (denom=8192)) (EINSUM mk,kn->n)",
    "DIV (denom=128)",
    "RECIP (input_scale=8192, output_scale=8192, eps=0)",
    "SOFTMAX (input_scale=13, output_scale=13, axes=[1], eps=0)",
    "SUMPOOL (padding=[], stride=[], kernel_shape=[], normalized=true, data_format=DEFAULT)",
    "SIGMOID(scale=13)",
    "ROUND(scale=13, legs=2)",
    "ADDED",
    "",
  ])("error: %s", (operation) => {
    expect(() => assertUniqueOutput(table("Input", operation))).toThrow(
      expect.objectContaining({ code: "EZKL_OUTPUT_NOT_UNIQUE", details: { operations: [operation] } }),
    );
  });

  it("error: names the first three", () => {
    const many = Array.from({ length: 5 }, (_, i) => `DIV (denom=${i})`);
    expect(() => assertUniqueOutput(table(...many))).toThrow(
      "5 operations that leave the prover a choice of outputs: DIV (denom=0); DIV (denom=1); DIV (denom=2) and 2 more.",
    );
  });
});
