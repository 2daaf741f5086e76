/** A rank-1 constraint system over the scalar field of BN254, and an assignment of its wires.
 *  Wire 0 is the constant 1, wires 1 to `publicWires` are the public signals in their one order
 *  (protocol/rules/proof/public-signals.ts), the others are private. */

/** Order of the scalar field of BN254. Source: EIP-196. */
export const FIELD_ORDER = 21888242871839275222246405745257275088548364400416034343698204186575808495617n;

/** Sum of coefficient × wire; coefficients are in 1 .. FIELD_ORDER − 1, a wire stands at most once. */
export type LinearCombination = readonly (readonly [wire: number, coefficient: bigint])[];

/** `a · b = c`, and the property that it enforces. */
export interface Constraint {
  readonly a: LinearCombination;
  readonly b: LinearCombination;
  readonly c: LinearCombination;
  /** What breaks without it, with the step and element, for messages and for the tests that drop it. */
  readonly note: string;
}

export interface R1cs {
  /** Number of wires, the constant included. */
  readonly wires: number;
  readonly publicWires: number;
  readonly constraints: readonly Constraint[];
}

/** Value of every wire, in 0 .. FIELD_ORDER − 1; the first is 1. */
export type Witness = readonly bigint[];
