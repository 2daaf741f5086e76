/** Runs a circuit and the executor on the same input. */
import { type CodecInput, encodeInput } from "../../inference/codecs/input.ts";
import { encodeOutput } from "../../inference/codecs/output.ts";
import { type PreparedModel, prepare } from "../../inference/executor/prepare.ts";
import type { Model, Tensor } from "../../inference/program/form.ts";
import { publicSignals } from "../../protocol/proof/public-signals.ts";
import { type CompiledCircuit, compileCircuit } from "../../prover/proof/groth16/compile.ts";
import type { Witness } from "../../prover/proof/groth16/r1cs.ts";

export const BINDING = 0xb1d1n;
const SELECTOR = new Uint8Array(4);

export interface CircuitRun {
  readonly witness: Witness;
  /** What the contract builds from calldata and the executor's return data. */
  readonly expected: readonly bigint[];
}

/** A model as executor and as circuit. */
export class CircuitPair {
  readonly circuit: CompiledCircuit;
  readonly #prepared: PreparedModel;

  constructor(model: Model, limit?: number) {
    this.circuit = compileCircuit(model, limit);
    this.#prepared = prepare(model, SELECTOR);
  }

  run(input: CodecInput): CircuitRun {
    const { program } = this.#prepared;
    const output = encodeOutput(program, this.#prepared.run(input).at(-1) as Tensor);
    const calldata = encodeInput(program, SELECTOR, input);
    const expected = publicSignals(program, SELECTOR, calldata, output, BINDING);
    const inputs = expected.slice(0, this.circuit.signals.output.first);
    return { witness: this.circuit.witness(inputs, BINDING), expected };
  }
}
