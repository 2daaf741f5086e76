/** Runs a circuit and the executor on the same input. */

import { randomInput } from "../../conformance/generate/random-program.ts";
import { type CodecInput, encodeInput } from "../../inference/codecs/input.ts";
import { decodeOutput, encodeOutput } from "../../inference/codecs/output.ts";
import { prepare } from "../../inference/executor/prepare.ts";
import type { PreparedModel } from "../../inference/executor/prepared-model.ts";
import {
  elementCount,
  type Model,
  type Program,
  type Step,
  type Tensor,
} from "../../inference/program/form.ts";
import { newData } from "../../inference/program/tensor.ts";
import { publicSignals, signalsOfTrace } from "../../protocol/rules/proof/public-signals.ts";
import { type CompiledCircuit, compileCircuit } from "../../prover/proof/groth16/compile.ts";
import type { Witness } from "../../prover/proof/groth16/r1cs.ts";
import type { Rng } from "./rng.ts";

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

  /** A random input, every other time one of edges. */
  random(rng: Rng): CircuitRun {
    const { program } = this.#prepared;
    if (rng.chance(0.5)) return this.run(randomInput(rng, program, rng.chance(0.5)));
    const inputs = program.steps
      .filter((step) => step.opcode === "codec")
      .map((step): Tensor => {
        const edges = edgesOf(program, step);
        const data = newData(step.type, elementCount(step.dims)).map(() => rng.pick(edges));
        return { type: step.type, dims: step.dims, data };
      });
    return this.runTensors(inputs);
  }

  /** From the content of the CODEC steps. */
  runTensors(inputs: readonly Tensor[]): CircuitRun {
    const { program } = this.#prepared;
    const tensors = [...this.#prepared.runTensors(inputs)];
    // What the contract sees: int16s saturates in the return data.
    const output = decodeOutput(program, encodeOutput(program, tensors.at(-1) as Tensor));
    const data = [...tensors.slice(0, -1), output].map((tensor) => tensor.data);
    const expected = signalsOfTrace(program, data, BINDING);
    return { witness: this.circuit.witness(this.#inputs(expected), BINDING), expected };
  }

  #inputs(signals: readonly bigint[]): bigint[] {
    return signals.slice(0, this.circuit.signals.output.first);
  }

  run(input: CodecInput): CircuitRun {
    const { program } = this.#prepared;
    const output = encodeOutput(program, this.#prepared.run(input).at(-1) as Tensor);
    const calldata = encodeInput(program, SELECTOR, input);
    const expected = publicSignals(program, SELECTOR, calldata, output, BINDING);
    return { witness: this.circuit.witness(this.#inputs(expected), BINDING), expected };
  }
}

/** Stored elements at the ends of what a codec gives. */
function edgesOf({ inputCodec }: Program, { type, k }: Step): number[] {
  if (inputCodec === "text") return [0, 1, k - 2, k - 1];
  if (inputCodec === "prices") return [-32_767, 32_767, 0, -1, 1];
  if (inputCodec === "int16s") return [-32_768, 32_767, -32_767, 0, -1, 1];
  if (type === "bool") return [0, 1];
  return type === "s32" ? [-(2 ** 31), 2 ** 31 - 1, 0, -1, 1] : [0, 255, 127, 128, 129, 1];
}
