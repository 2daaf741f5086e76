/** Changes single wires of a witness. */
import { type Constraint, FIELD_ORDER, type R1cs, type Witness } from "../../prover/proof/groth16/r1cs.ts";
import { evaluateAt, wiresOf } from "./forge.ts";
import type { Rng } from "./rng.ts";

/** Other values of a wire: one more and less, 0, 1, −1, powers of two, its negative, a random one. */
export function mutations(rng: Rng, value: bigint): bigint[] {
  const random = BigInt(rng.u32()) ** 8n;
  const power = 1n << BigInt(rng.int(1, 253));
  return [value + 1n, value - 1n, 0n, 1n, -1n, power, -power, value + power, random, FIELD_ORDER - value]
    .map((x) => ((x % FIELD_ORDER) + FIELD_ORDER) % FIELD_ORDER)
    .filter((x) => x !== value);
}

/** Wires that can be changed, each alone, without breaking a constraint. */
export function freeWires(r1cs: R1cs, honest: Witness, rng: Rng): Set<number> {
  const constraintsOf = Array.from({ length: r1cs.wires }, (): number[] => []);
  r1cs.constraints.forEach((constraint, i) => {
    for (const wire of wiresOf(constraint)) constraintsOf[wire]?.push(i);
  });
  const witness = [...honest];
  const free = new Set<number>();
  for (let wire = 1; wire < r1cs.wires; wire++) {
    const value = witness[wire] as bigint;
    for (const mutation of mutations(rng, value)) {
      witness[wire] = mutation;
      const broken = (i: number): boolean => isBroken(r1cs.constraints[i] as Constraint, witness);
      if (!constraintsOf[wire]?.some(broken)) free.add(wire);
    }
    witness[wire] = value;
  }
  return free;
}

function isBroken({ a, b, c }: Constraint, witness: Witness): boolean {
  const left = evaluateAt(a, witness) * evaluateAt(b, witness);
  return (left - evaluateAt(c, witness)) % FIELD_ORDER !== 0n;
}
