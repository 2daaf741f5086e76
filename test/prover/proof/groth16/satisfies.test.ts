import { describe, expect, test } from "vitest";
import { FIELD_ORDER, type R1cs } from "../../../../prover/proof/groth16/r1cs.ts";
import { satisfies } from "../../../../prover/proof/groth16/satisfies.ts";

/** x · x = y, y + 1 = z. */
const SQUARE: R1cs = {
  wires: 4,
  publicWires: 1,
  constraints: [
    { a: [[1, 1n]], b: [[1, 1n]], c: [[2, 1n]], note: "y is the square" },
    {
      a: [],
      b: [],
      c: [
        [0, 1n],
        [2, 1n],
        [3, FIELD_ORDER - 1n],
      ],
      note: "z is one more",
    },
  ],
};

describe("satisfies", () => {
  test("default: in the field", () => {
    expect(satisfies(SQUARE, [1n, 3n, 9n, 10n])).toEqual({ satisfied: true });
    expect(satisfies(SQUARE, [1n, FIELD_ORDER - 1n, 1n, 2n])).toEqual({ satisfied: true });
  });

  test("behavior: names the first broken constraint", () => {
    expect(satisfies(SQUARE, [1n, 3n, 8n, 10n])).toEqual({
      satisfied: false,
      constraint: 0,
      broken: "y is the square",
    });
    expect(satisfies(SQUARE, [1n, 3n, 9n, 9n])).toMatchObject({ constraint: 1 });
  });

  test("args: skip", () => {
    expect(satisfies(SQUARE, [1n, 3n, 8n, 9n], 0)).toEqual({ satisfied: true });
  });

  test.each([
    [[1n, 3n, 9n], "the witness has 3 wires, must have 4"],
    [[2n, 3n, 9n, 10n], "wire 0 is 2, must be 1"],
    [[1n, 3n, 9n, 10n + FIELD_ORDER], `wire 3 is ${10n + FIELD_ORDER}, must be a field element`],
    [[1n, -3n, 9n, 10n], "wire 1 is -3, must be a field element"],
  ])("error: %s", (witness, broken) => {
    expect(satisfies(SQUARE, witness)).toEqual({ satisfied: false, constraint: undefined, broken });
  });
});
