/** .wtns and .r1cs files, as snarkjs reads them. */
import { concatBytes } from "../../../../base/bytes.ts";
import { type Constraint, FIELD_ORDER, type LinearCombination, type R1cs, type Witness } from "../r1cs.ts";
import { u32s, writeBinFile, writeFields } from "./binfile.ts";

const FIELD_BYTES = 32;
const field = (): Uint8Array => concatBytes(u32s(FIELD_BYTES), writeFields([FIELD_ORDER]));

export const writeWitness = (witness: Witness): Uint8Array =>
  writeBinFile("wtns", 2, [
    [1, concatBytes(field(), u32s(witness.length))],
    [2, writeFields(witness)],
  ]);

/** The public signals are outputs, in the file's sense: the order of wires is the same. */
export function writeR1cs({ wires, publicWires, constraints }: R1cs): Uint8Array {
  const labels = new Uint8Array(8 * wires);
  for (let wire = 0; wire < wires; wire++) labels.set(u32s(wire), 8 * wire);
  const counts = u32s(wires, publicWires, 0, 0);
  return writeBinFile("r1cs", 1, [
    [1, concatBytes(field(), counts, u32s(wires, 0), u32s(constraints.length))],
    [2, concatBytes(...constraints.map(writeConstraint))],
    [3, labels],
  ]);
}

const writeConstraint = ({ a, b, c }: Constraint): Uint8Array =>
  concatBytes(...[a, b, c].map(writeCombination));

function writeCombination(terms: LinearCombination): Uint8Array {
  const parts = terms.flatMap(([wire, coefficient]) => [u32s(wire), writeFields([coefficient])]);
  return concatBytes(u32s(terms.length), ...parts);
}
