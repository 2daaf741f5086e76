import { fillClaimedTensor } from "../codecs/claimed.ts";
import { type CodecInput, decodeInput, fillInputTensor } from "../codecs/input.ts";
import { TokenCache } from "../codecs/text.ts";
import { OPCODE_FORMS } from "../opcodes/generated/index.ts";
import type { Kernel, PreparedOperand } from "../opcodes/opcode.ts";
import type { ProgramBounds } from "../profile/causality/bounds.ts";
import {
  elementCount,
  isClaimed,
  isStep,
  isWeight,
  type Model,
  NONE,
  type Operand,
  type Program,
  type Step,
  type Tensor,
  type TensorData,
  weightIndex,
} from "../program/form.ts";
import { assertTensor, fromStoredBytes, newData } from "../program/tensor.ts";
import { assertValid } from "../program/validate.ts";
import { assertWeightLengths } from "../program/weights.ts";
import { type NewData, newTensors, passTensors } from "./memory.ts";
import type { Span } from "./parts.ts";
import type {
  OpcodeForms,
  PreparedModel,
  PrepareOptions,
  SecondThread,
  SeeTensor,
} from "./prepared-model.ts";
import { planRows, type RowPlan } from "./rows/plan.ts";

const NOTHING = new Uint8Array(0);

/** @param selector the model's 4 bytes
 *  @throws BaseError PROGRAM_INVALID or WEIGHTS_MISMATCH */
export function prepare(model: Model, selector: Uint8Array, options: PrepareOptions = {}): PreparedModel {
  const { program } = model;
  assertValid(program);
  assertWeightLengths(model);
  return new Prepared(model, selector.slice(), options);
}

class Prepared implements PreparedModel {
  readonly model: Model;
  readonly program: Program;
  readonly selector: Uint8Array;
  readonly #constants = new Map<number, TensorData>();
  readonly #forms: OpcodeForms;
  readonly #kernels: Kernel[] = [];
  readonly #caches: readonly (TokenCache | undefined)[];
  #made: readonly Tensor[] | undefined;
  #passing: readonly Tensor[] | undefined;
  readonly #bounds: ProgramBounds | undefined;
  readonly #second: SecondThread | undefined;
  #plan: { readonly rows: RowPlan | undefined } | undefined;

  constructor(model: Model, selector: Uint8Array, { forms = OPCODE_FORMS, bounds, second }: PrepareOptions) {
    this.#bounds = bounds;
    this.#second = second;
    this.#forms = forms;
    this.model = model;
    this.program = model.program;
    this.selector = selector;
    model.program.weights.forEach((weight, i) => {
      if (weight.layout !== "plain") return;
      this.#constants.set(i, fromStoredBytes(weight.type, model.weights[i] as Uint8Array));
    });
    const { steps } = model.program;
    this.#caches = steps.map((step) => this.#cacheOf(step));
  }

  /** Of tensors that the second thread sees, where there is one. */
  readonly #newData: NewData = (type, count) =>
    this.#second === undefined ? newData(type, count) : this.#second.newData(type, count);

  get #tensors(): readonly Tensor[] {
    this.#made ??= newTensors(this.program, this.#newData);
    return this.#made;
  }

  #kernel(i: number): Kernel {
    const step = this.program.steps[i] as Step;
    this.#kernels[i] ??= this.#forms[step.opcode].prepare(step, this.#operandsOf(step));
    return this.#kernels[i] as Kernel;
  }

  makeKernels(): void {
    for (const i of this.program.steps.keys()) this.#kernel(i);
  }

  makeReady(): void {
    this.makeKernels();
    this.#passing ??= passTensors(this.program, this.#newData);
  }

  computePart(i: number, tensors: readonly Tensor[], { from, to }: Span): void {
    this.#compute(i, tensors, from, to);
  }

  #operandsOf(step: Step): (PreparedOperand | undefined)[] {
    return [step.a, step.b, step.c].map((operand) => {
      if (operand === NONE) return undefined;
      if (isStep(operand)) return this.program.steps[operand] as Step;
      const index = weightIndex(operand);
      const weight = this.program.weights[index] as (typeof this.program.weights)[number];
      const constant = this.#constants.get(index);
      return constant === undefined
        ? { ...weight, words: this.model.weights[index] as Uint8Array }
        : { ...weight, constant };
    });
  }

  #cacheOf(step: Step): TokenCache | undefined {
    if (step.opcode !== "codec" || isClaimed(step) || this.program.inputCodec !== "text") return undefined;
    const [tokens, width] = step.dims as [number, number];
    return new TokenCache({ tokens, grams: width - 1, rows: step.k });
  }

  #dataOf(operand: Operand, tensors: readonly Tensor[]): TensorData | undefined {
    if (isStep(operand)) return (tensors[operand] as Tensor).data;
    return operand === NONE ? undefined : this.#constants.get(weightIndex(operand));
  }

  /** @param from and `to`: as of a Kernel */
  #compute(i: number, tensors: readonly Tensor[], from?: number, to?: number): void {
    const { a, b, c } = this.program.steps[i] as Step;
    this.#kernel(i)(
      (tensors[i] as Tensor).data,
      this.#dataOf(a, tensors),
      this.#dataOf(b, tensors),
      this.#dataOf(c, tensors),
      from,
      to,
    );
  }

  rowPlan(): RowPlan | undefined {
    this.#plan ??= { rows: planRows(this.model, this.#bounds) };
    return this.#plan.rows;
  }

  runStage(plan: RowPlan, stage: number, claimed: Uint8Array): readonly Tensor[] {
    for (const [i, step] of this.program.steps.entries())
      if (isClaimed(step)) fillClaimedTensor(this.program, step, claimed, (this.#tensors[i] as Tensor).data);
    plan.compute(stage, (i, from, to) => this.#compute(i, this.#tensors, from, to));
    return this.#tensors;
  }

  decode(calldata: Uint8Array): CodecInput {
    return decodeInput(this.program, this.selector, calldata);
  }

  constant(operand: Operand): TensorData {
    return this.#constants.get(weightIndex(operand)) as TensorData;
  }

  #fill(i: number, input: CodecInput, claimed: Uint8Array, out: TensorData): void {
    const step = this.program.steps[i] as Step;
    if (isClaimed(step)) fillClaimedTensor(this.program, step, claimed, out);
    else fillInputTensor(step, input, out, this.#caches[i]);
  }

  inputTensors(input: CodecInput, claimed = NOTHING): Tensor[] {
    return this.program.steps.flatMap((step, i) => {
      if (step.opcode !== "codec") return [];
      const data = newData(step.type, elementCount(step.dims));
      this.#fill(i, input, claimed, data);
      return [{ type: step.type, dims: step.dims, data }];
    });
  }

  run(input: CodecInput, claimed = NOTHING): readonly Tensor[] {
    return this.#run(this.#tensors, input, claimed, this.#second);
  }

  runApart(input: CodecInput, claimed = NOTHING): readonly Tensor[] {
    return this.#run(newTensors(this.program), input, claimed);
  }

  pass(input: CodecInput, claimed = NOTHING, see?: SeeTensor): Tensor {
    this.#passing ??= passTensors(this.program, this.#newData);
    // Whoever looks at the tensors has threads of its own at work on them.
    const second = see === undefined ? this.#second : undefined;
    return this.#run(this.#passing, input, claimed, second, see).at(-1) as Tensor;
  }

  #run(
    tensors: readonly Tensor[],
    input: CodecInput,
    claimed: Uint8Array,
    second?: SecondThread,
    see?: SeeTensor,
  ): readonly Tensor[] {
    for (const [i, step] of this.program.steps.entries()) {
      const { data } = tensors[i] as Tensor;
      if (step.opcode === "codec") this.#fill(i, input, claimed, data);
      else if (second === undefined) this.#compute(i, tensors);
      else this.#share(second, i, tensors);
      see?.(i, tensors[i] as Tensor);
    }
    return tensors;
  }

  #share(second: SecondThread, i: number, tensors: readonly Tensor[]): void {
    const span = { from: 0, to: (tensors[i] as Tensor).data.length };
    try {
      second.compute(i, tensors, span, (from, to) => this.#compute(i, tensors, from, to));
    } catch (error) {
      // The other thread may be at a part still: what it writes is in no later run's memory.
      [this.#made, this.#passing] = [undefined, undefined];
      throw error;
    }
  }

  runTensors(inputs: readonly Tensor[]): readonly Tensor[] {
    const { steps } = this.program;
    const codecs = steps.filter((step) => step.opcode === "codec").length;
    let next = 0;
    for (let i = 0; i < steps.length; i++) {
      const step = steps[i] as Step;
      if (step.opcode !== "codec") {
        this.#compute(i, this.#tensors);
        continue;
      }
      const place = `input tensor ${next} of ${codecs} (step ${i})`;
      const input = inputs[next++];
      const absent: Tensor = { type: step.type, dims: [], data: new Uint8Array(0) };
      assertTensor(input ?? absent, step.type, step.dims, place);
      (this.#tensors[i] as Tensor).data.set((input as Tensor).data);
    }
    return this.#tensors;
  }

  runStep(i: number, operands: readonly (Tensor | undefined)[]): Tensor {
    const step = this.program.steps[i] as Step;
    const content = [step.a, step.b, step.c].map((operand, slot) => {
      if (!isStep(operand)) return isWeight(operand) ? this.#constants.get(weightIndex(operand)) : undefined;
      const { type, dims } = this.program.steps[operand] as Step;
      const tensor = operands[slot] ?? { type, dims: [], data: new Uint8Array(0) };
      assertTensor(tensor, type, dims, `operand ${slot} of step ${i}`);
      return tensor.data;
    });
    const data = newData(step.type, elementCount(step.dims));
    this.#kernel(i)(data, content[0], content[1], content[2]);
    return { type: step.type, dims: step.dims, data };
  }
}
