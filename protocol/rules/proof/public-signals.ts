/** The public signals of a model's PROOF: one ordered list, which circuit, TypeScript and Solidity
 *  (verifier-contracts/proof/PublicSignals.sol) derive from the program alone. Source: docs/PROTOCOL.md, Proofs.
 *
 *  First each CODEC step's tensor in step order, then the last step's tensor with the binding behind it. A tensor is
 *  packed: its elements in row-major order as unsigned big-endian fields of `fieldBytes`, joined, cut into pieces of
 *  31 bytes (the last one shorter), each piece one signal, its first byte the most significant. */
import { type Address, encodeAbiParameters, type Hex, keccak256 } from "viem";
import { equalBytes, viewOf } from "../../../base/bytes.ts";
import { BaseError } from "../../../base/errors.ts";
import { decodeInput, fillInputTensor } from "../../../inference/codecs/input.ts";
import { decodeOutput, encodeOutput } from "../../../inference/codecs/output.ts";
import {
  elementBytes,
  elementCount,
  isClaimed,
  type Program,
  type TensorData,
} from "../../../inference/program/form.ts";
import { newData, storedElement } from "../../../inference/program/tensor.ts";

/** Bytes of a signal: below the order of the scalar field, which has 254 bits, whatever they hold. */
export const PIECE_BYTES = 31;
/** Bytes of the binding: it shares a signal with an output of up to three s32. To meet another account's, somebody
 *  would have to find keys until one of 2^152 hashes comes out. */
export const BINDING_BYTES = 19;

/** A tensor among the public signals. */
export interface PackedTensor {
  /** `input`, `input[1]`, … for CODEC steps, `output`. */
  readonly name: string;
  /** Index of the step whose tensor it is. */
  readonly step: number;
  readonly elements: number;
  /** Bytes of an element's field, 1 to 4. */
  readonly fieldBytes: number;
  /** The field holds (stored element + offset) modulo 2^(8·fieldBytes); stored: u8, bool the byte, s8 value + 128,
   *  s32 two's complement (docs/EXACT.md, section 1). 32,768 for prices and lanes, else 0. */
  readonly offset: number;
  /** Place of its first signal in the list, from 0; wire first + 1 of the circuit. */
  readonly first: number;
  /** Number of its signals. */
  readonly signals: number;
  /** Bytes of its signals: its fields and, behind the output's, the binding. */
  readonly bytes: number;
}

export interface SignalLayout {
  readonly inputs: readonly PackedTensor[];
  /** The last signals, which hold the binding, too. */
  readonly output: PackedTensor;
  /** Number of all signals. */
  readonly count: number;
}

/** What a proof is bound to, so that nobody else, and no other chain or contract, can use it. */
export interface ProofBinding {
  readonly chainId: number;
  /** The ProofLane contract that verifies it. */
  readonly proofLane: Address;
  readonly modelId: Hex;
  /** Who presents it. */
  readonly submitter: Address;
}

/** @throws BaseError NO_PUBLIC_SIGNALS for a program with f32 in or out, which no integer circuit computes, or one that
 *  reads the claimed output */
export function signalLayout(program: Program): SignalLayout {
  const claimed = program.steps.findIndex(isClaimed);
  if (claimed !== -1) refuseClaimed(claimed);
  let first = 0;
  const codecs = program.steps.flatMap((step, index) => (step.opcode === "codec" ? [index] : []));
  const place = (
    name: string,
    step: number,
    fieldBytes: number,
    offset: number,
    appended = 0,
  ): PackedTensor => {
    const { type, dims } = program.steps[step] as Program["steps"][number];
    if (type === "f32") refuse(name, step);
    const elements = elementCount(dims);
    const bytes = elements * fieldBytes + appended;
    const signals = Math.ceil(bytes / PIECE_BYTES);
    first += signals;
    return { name, step, elements, fieldBytes, offset, first: first - signals, signals, bytes };
  };
  const inputs = codecs.map((step, i) =>
    place(codecs.length === 1 ? "input" : `input[${i}]`, step, ...inputField(program, step)),
  );
  const last = program.steps.length - 1;
  const output = place(
    "output",
    last,
    elementBytes((program.steps[last] as Program["steps"][number]).type),
    0,
    BINDING_BYTES,
  );
  return { inputs, output, count: first };
}

/** @returns bytes of a field and offset */
function inputField(program: Program, step: number): [fieldBytes: number, offset: number] {
  const { type, k } = program.steps[step] as Program["steps"][number];
  switch (program.inputCodec) {
    case "prices":
    case "int16s":
      return [2, 32_768];
    case "text":
      return [k - 1 < 2 ** 8 ? 1 : k - 1 < 2 ** 16 ? 2 : 3, 0];
    case "raw":
      return [elementBytes(type), 0];
  }
}

function refuseClaimed(step: number): never {
  throw new BaseError({
    code: "NO_PUBLIC_SIGNALS",
    shortMessage: `Step ${step} reads the claimed output, which no circuit does.`,
    nextStep: "Leave out the lane PROOF.",
    details: { step },
  });
}

function refuse(name: string, step: number): never {
  throw new BaseError({
    code: "NO_PUBLIC_SIGNALS",
    shortMessage: `The ${name} (step ${step}) is f32; public signals hold u8, s8, s32 or bool.`,
    nextStep: "Use another lane, or a model whose inputs and outputs are integers.",
    details: { name, step },
  });
}

/** Every signal's name in order: `input.0`, …, `output.0`, …, `output.1+binding`. */
export function signalNames({ inputs, output }: SignalLayout): string[] {
  const names = [...inputs, output].flatMap(({ name, signals }) =>
    Array.from({ length: signals }, (_, i) => `${name}.${i}`),
  );
  const size = output.bytes - BINDING_BYTES;
  return names.map((name, i) => {
    const from = PIECE_BYTES * (i - output.first);
    if (from >= size) return "binding";
    return from + PIECE_BYTES > size ? `${name}+binding` : name;
  });
}

/** The signals of one tensor.
 *  @param data of exactly `elements` elements; out-of-range ids and lanes are cut
 *  @param binding of 152 bits, for the output */
export function packTensor(
  { elements, fieldBytes, offset, bytes: size }: PackedTensor,
  data: TensorData,
  binding = 0n,
): bigint[] {
  const bytes = new Uint8Array(size);
  for (let at = size - 1, rest = binding; at >= elements * fieldBytes; at--) {
    bytes[at] = Number(rest & 0xffn);
    rest >>= 8n;
  }
  for (let i = 0; i < elements; i++) {
    let rest = (storedElement(data, i) + offset) >>> 0;
    for (let at = fieldBytes * (i + 1) - 1; at >= fieldBytes * i; at--) {
      bytes[at] = rest;
      rest >>>= 8;
    }
  }
  return Array.from({ length: Math.ceil(bytes.length / PIECE_BYTES) }, (_, i) =>
    toInteger(bytes.subarray(PIECE_BYTES * i, PIECE_BYTES * (i + 1))),
  );
}

function toInteger(bytes: Uint8Array): bigint {
  const wide = new Uint8Array(32);
  wide.set(bytes, 32 - bytes.length);
  const view = viewOf(wide);
  let value = 0n;
  for (let at = 0; at < 32; at += 8) value = (value << 64n) | view.getBigUint64(at);
  return value;
}

/** What binds a proof by ezkl: 248 bits of keccak256(abi.encode(chain id, ProofLane, modelId, submitter)). */
export function ezklBinding({ chainId, proofLane, modelId, submitter }: ProofBinding): bigint {
  const encoded = encodeAbiParameters(
    [{ type: "uint256" }, { type: "address" }, { type: "bytes32" }, { type: "address" }],
    [BigInt(chainId), proofLane, modelId, submitter],
  );
  return BigInt(keccak256(encoded)) >> 8n;
}

/** What binds a proof by Groth16: the first 152 bits of ezklBinding, which stand beside the output. */
export const groth16Binding = (binding: ProofBinding): bigint =>
  ezklBinding(binding) >> BigInt(248 - 8 * BINDING_BYTES);

/** All signals from a trace. @param tensors content of every step's tensor */
export function signalsOfTrace(program: Program, tensors: readonly TensorData[], binding: bigint): bigint[] {
  const { inputs, output } = signalLayout(program);
  return [
    ...inputs.flatMap((part) => packTensor(part, tensors[part.step] as TensorData)),
    ...packTensor(output, tensors[output.step] as TensorData, binding),
  ];
}

/** All signals as the contract builds them.
 *  @param selector the model's 4 bytes @param output return data
 *  @throws BaseError as `decodeInput` and `decodeOutput`; OUTPUT_NOT_CANONICAL for return data that is not what its
 *  tensor encodes to */
export function publicSignals(
  program: Program,
  selector: Uint8Array,
  calldata: Uint8Array,
  output: Uint8Array,
  binding: bigint,
): bigint[] {
  const layout = signalLayout(program);
  const input = decodeInput(program, selector, calldata);
  const inputs = layout.inputs.flatMap((part) => {
    const step = program.steps[part.step] as Program["steps"][number];
    const data = newData(step.type, part.elements);
    fillInputTensor(step, input, data);
    return packTensor(part, data);
  });
  const tensor = decodeOutput(program, output);
  if (!equalBytes(encodeOutput(program, tensor), output)) {
    throw new BaseError({
      code: "OUTPUT_NOT_CANONICAL",
      shortMessage: `The return data of ${output.length} bytes is not the encoding of the tensor that it holds.`,
      nextStep: "Encode the output again with a standard ABI encoder.",
      details: { bytes: output.length },
    });
  }
  return [...inputs, ...packTensor(layout.output, tensor.data, binding)];
}
