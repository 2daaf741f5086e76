/** A circuit small enough to set up within a test: x³ + x + 5 = y over public signals x, unread, y. */
import { FIELD_ORDER, type R1cs, type Witness } from "../../prover/proof/groth16/r1cs.ts";

/** Wires: 1, x, unread, y, x², x³. No constraint reads wire 2. */
export const SMALL_CIRCUIT: R1cs = {
  wires: 6,
  publicWires: 3,
  constraints: [
    { a: [[1, 1n]], b: [[1, 1n]], c: [[4, 1n]], note: "x · x is x²" },
    { a: [[4, 1n]], b: [[1, 1n]], c: [[5, 1n]], note: "x² · x is x³" },
    {
      a: [
        [0, 5n],
        [1, 1n],
        [5, 1n],
      ],
      b: [[0, 1n]],
      c: [[3, 1n]],
      note: "x³ + x + 5 is y",
    },
  ],
};

/** @param unread any signal: a proof is bound to it all the same */
export function smallWitness(x: bigint, unread: bigint): Witness {
  const square = (x * x) % FIELD_ORDER;
  const cube = (square * x) % FIELD_ORDER;
  return [1n, x, unread, (cube + x + 5n) % FIELD_ORDER, square, cube];
}
