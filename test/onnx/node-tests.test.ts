import { describe, expect, it } from "vitest";
import { OPERATOR_ROWS } from "../../inference/onnx/lower/operator-table.ts";
import { type NodeTest, nodeTests, type Outcome, runNodeTest } from "../support/onnx-node-tests.ts";

const SUPPORTED = new Set(OPERATOR_ROWS.flatMap((row) => Object.keys(row.operators)));
const isSupported = ({ operators }: NodeTest): boolean => operators.every((name) => SUPPORTED.has(name));

/** Why a test of supported operators is refused: what docs/EXACT.md, section 6, says of types, attributes and limits. */
const LIMITS: readonly (readonly [string, RegExp])[] = [
  ["an element type that no program holds", /which no program holds|it casts to (a|no|u?int|b?float|of)/],
  ["an operator set before 7", /uses operator set \d+; 7 to/],
  [
    "float32 where only dequantized bytes are exact",
    /dequantized byte|dequantized int32 constant|multiplies float32/,
  ],
  ["parameters that are computed", /\(input \d\) is computed, not constant|is no float32 constant of/],
  ["larger than a codec", /codec raw holds \d+|can be returned/],
  ["an empty tensor", /Empty tensors|Use shapes of 1 to|its shape is \[.*\b0\b|into \[0,/],
  ["training", /training mode/],
  ["an output that is not computed", /Only the first output/],
  [
    "an attribute",
    /storage_order|Fold (alpha|beta)|batch_dims|with align_corners|resizes by tf_crop|ceil_mode 0/,
  ],
  ["outputs of float32 and integers in one model", /outputs mix float32 and integers/],
  ["float32 numbers that can become subnormal", /can be subnormal/],
  ["ids that are float32", /its ids are float32/],
  ["more than two spatial axes", /has 3 spatial axes/],
  ["bytes that wrap", /it computes in uint8|it divides uint8/],
];

interface Result {
  readonly test: NodeTest;
  readonly outcome: Outcome;
}

async function runAll(): Promise<Result[]> {
  const results: Result[] = [];
  for (const test of nodeTests()) results.push({ test, outcome: await runNodeTest(test) });
  return results;
}

/** What version 1.12 of the tests gives; later ones have more. */
const LEAST_PASSED = 470;

const results = await runAll();
const operators = [...SUPPORTED].filter((name) =>
  results.some(({ test }) => isSupported(test) && test.operators.includes(name)),
);

describe("the node tests of the ONNX project", () => {
  it.each(operators)(
    "behavior: %s gives the reference's outputs bit for bit, or is refused by a stated limit",
    (name) => {
      for (const { test, outcome } of results) {
        if (!isSupported(test) || !test.operators.includes(name)) continue;
        if (outcome.kind === "refused")
          expect(
            LIMITS.some(([, pattern]) => pattern.test(outcome.reason)),
            `${test.name}: ${outcome.reason}`,
          ).toBe(true);
        else expect(outcome, test.name).toMatchObject({ kind: "passed" });
      }
    },
  );

  it("behavior: operators without a lowering are refused by name", () => {
    for (const { test, outcome } of results) {
      if (isSupported(test)) continue;
      expect(outcome.kind, test.name).toBe("refused");
      if (outcome.kind !== "refused" || outcome.code !== "IMPORT_REFUSED") continue;
      const named = test.operators.some((operator) => outcome.reason.includes(operator));
      expect(named, `${test.name}: ${outcome.reason}`).toBe(true);
    }
  });

  it("behavior: prints what passed and what was refused", () => {
    const passed = results.flatMap(({ outcome }) => (outcome.kind === "passed" ? [outcome] : []));
    const lines = [`${passed.length} of ${results.length} tests passed`];
    for (const way of ["all", "the first", "none"]) {
      const list = passed.filter((outcome) => outcome.way === way);
      const elements = list.reduce((sum, outcome) => sum + outcome.elements, 0);
      lines.push(`  ${list.length} with inputs computed: ${way} (${elements} elements)`);
    }
    const near = passed.filter((outcome) => outcome.near > 0);
    const elements = near.reduce((sum, outcome) => sum + outcome.near, 0);
    lines.push(`  ${near.length} have ${elements} elements that differ in their bits by at most one unit`);
    const refused = results.filter(({ outcome }) => outcome.kind === "refused");
    lines.push(`${refused.length} refused`);
    lines.push(
      `  ${refused.filter(({ test }) => !isSupported(test)).length} have an operator without a lowering`,
    );
    for (const [why, pattern] of LIMITS) {
      const list = refused.filter(
        ({ test, outcome }) =>
          isSupported(test) && outcome.kind === "refused" && pattern.test(outcome.reason),
      );
      lines.push(`  ${list.length}: ${why}`);
    }
    process.stdout.write(`${lines.join("\n")}\n`);
    expect(passed.length).toBeGreaterThanOrEqual(LEAST_PASSED);
  });
});
