/** From a model and calldata to evidence that ProofLane accepts. */
import { type Hex, toHex } from "../../../base/bytes.ts";
import { execute } from "../../../inference/executor/execute.ts";
import { prepare } from "../../../inference/executor/prepare.ts";
import type { Model } from "../../../inference/program/form.ts";
import { encodeProof } from "../../../protocol/rules/proof/groth16.ts";
import { groth16Binding, type ProofBinding } from "../../../protocol/rules/proof/public-signals.ts";
import { type CompiledCircuit, compileCircuit } from "./compile.ts";
import type { ModelKeys } from "./keys.ts";
import type { Groth16Prover } from "./snark/prover.ts";
import { stateInference } from "./statement.ts";

/** A proof with its statement, as `assay proof prove` writes it. */
export interface ProvenInference extends ProofBinding {
  readonly vkHash: Hex;
  readonly input: Hex;
  readonly output: Hex;
  readonly signals: readonly bigint[];
  /** 256 bytes: the evidence of `settle`. */
  readonly evidence: Hex;
}

/** What is known already of a model and its run. */
export interface KnownInference {
  readonly circuit?: CompiledCircuit;
  readonly output?: Uint8Array;
}

/** @param known is not computed again
 *  @throws BaseError as the codecs, `compileCircuit` and `Groth16Prover.prove` */
export async function proveInference(
  { model, selector }: { readonly model: Model; readonly selector: Uint8Array },
  calldata: Uint8Array,
  binding: ProofBinding,
  keys: ModelKeys,
  prover: Groth16Prover,
  known: KnownInference = {},
): Promise<ProvenInference> {
  const { circuit = compileCircuit(model), output = execute(prepare(model, selector), calldata) } = known;
  const { signals, witness } = stateInference(
    circuit,
    model.program,
    selector,
    calldata,
    output,
    groth16Binding(binding),
  );
  const proof = await prover.prove(keys.provingKey, witness);
  return {
    ...binding,
    vkHash: keys.vkHash,
    input: toHex(calldata),
    output: toHex(output),
    signals,
    evidence: toHex(encodeProof(proof)),
  };
}
