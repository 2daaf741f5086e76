/** What a Groth16 proof of an inference states, and its witness. */
import type { Program } from "../../../inference/program/form.ts";
import { publicSignals, signalLayout } from "../../../protocol/rules/proof/public-signals.ts";
import type { CompiledCircuit } from "./compile.ts";
import type { Witness } from "./r1cs.ts";

export interface Statement {
  /** All public signals in order. */
  readonly signals: readonly bigint[];
  readonly witness: Witness;
}

/** @param output return data, whose tensor must be what the program computes
 *  @throws BaseError as `publicSignals`; TypeError if the circuit computes another output: a fault of this program */
export function stateInference(
  circuit: CompiledCircuit,
  program: Program,
  selector: Uint8Array,
  calldata: Uint8Array,
  output: Uint8Array,
  binding: bigint,
): Statement {
  const signals = publicSignals(program, selector, calldata, output, binding);
  const witness = circuit.witness(signals.slice(0, signalLayout(program).output.first), binding);
  const wrong = signals.findIndex((signal, i) => witness[1 + i] !== signal);
  if (wrong >= 0) throw new TypeError(`public signal ${wrong} of the circuit differs from the output's`);
  return { signals, witness };
}
