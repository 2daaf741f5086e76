import { variantsOf } from "./codes.ts";
import { MAX_RANK } from "./encode.ts";
import {
  elementCount,
  isStep,
  isWeight,
  NONE,
  type Operand,
  type Program,
  rowCount,
  type Step,
  TENSOR_TYPES,
  type TensorType,
  type WeightDescriptor,
  type WeightLayout,
  weightIndex,
} from "./form.ts";
import { type TreeShape, tensorShape } from "./shape.ts";

/** One broken structure rule. */
export interface Problem {
  /** `header`, `weight tensor 3`, `step 7 (dot)`. */
  readonly place: string;
  /** Index of the step, where it is one. */
  readonly step?: number;
  readonly field: string;
  readonly value: string;
  readonly limit: string;
}

/** As many as the registry can check in one transaction, whatever they are. */
export const MAX_WEIGHTS = 2048;
export const MAX_STEPS = 2048;
/** log2 of the most leaves of a tensor; rows and words each rounded up to a power of two. */
export const MAX_HEIGHT = 22;
export const MAX_ELEMENTS = 2 ** 24 - 1;
/** Height of a tensor that is judged whole: 4,096 leaves. */
export const MAX_WHOLE_HEIGHT = 12;
/** Bytes of input and output that a move carries: with 6,000 bytes for its other arguments, hashes and the
 *  transaction around them, every move of a model fits a transaction of 90,000 bytes. Source: docs/EXACT.md, section 5. */
export const MAX_MOVE_BYTES = 84_000;
/** Of a DOT of bytes. */
export const MAX_DOT_LENGTH = 992;
/** Of a DOT of numbers of 16 bits, and so of DOT weights: with the parameter word a row of them has 64 words. */
export const MAX_PLANES_LENGTH = 2016;
/** Of DOT activations: no weight row with a parameter word has to fit. */
export const MAX_ACTIVATIONS_LENGTH = 1024;
export const MAX_LOOKUP_LENGTH = 1024;
/** Of a row that REDUCE takes the sum, the least or the largest element of. */
export const MAX_REDUCED_LENGTH = 1024;

export type Report = (field: string, value: unknown, limit: string) => void;

/** @returns true if the dims describe a tensor, so that rules about its size can be asked */
export function checkDims(dims: readonly number[], shape: () => TreeShape, report: Report): boolean {
  if (dims.length < 1 || dims.length > MAX_RANK || dims.some((dim) => !Number.isInteger(dim) || dim < 1)) {
    report("dims", `[${dims.join(", ")}]`, `1 to ${MAX_RANK} integers >= 1`);
    return false;
  }
  const count = elementCount(dims);
  if (count > MAX_ELEMENTS) report("elements", count, `<= ${MAX_ELEMENTS}`);
  const { height } = shape();
  if (height > MAX_HEIGHT) report("leaves", `2^${height}`, `<= 2^${MAX_HEIGHT}`);
  return count <= MAX_ELEMENTS && height <= MAX_HEIGHT;
}

/** A tensor as an operand sees it. */
export interface OperandShape {
  readonly type: TensorType;
  readonly dims: readonly number[];
}

export const BYTE_TYPES: readonly TensorType[] = ["u8", "s8"];
export const INTEGERS: readonly TensorType[] = ["u8", "s8", "s32", "bool"];

/** What the rules of one step are asked with: reports what is broken, returns undefined for an operand that is
 *  already reported, so that one fault gives one problem. */
export class StepCheck {
  readonly program: Program;
  readonly step: Step;
  readonly #index: number;
  readonly #weights: readonly boolean[];
  readonly #steps: readonly boolean[];
  readonly #problems: Problem[];

  constructor(
    program: Program,
    index: number,
    usableWeights: readonly boolean[],
    usableSteps: readonly boolean[],
    problems: Problem[],
  ) {
    this.program = program;
    this.step = program.steps[index] as Step;
    this.#index = index;
    this.#weights = usableWeights;
    this.#steps = usableSteps;
    this.#problems = problems;
  }

  report(field: string, value: unknown, limit: string): void {
    const place = `step ${this.#index} (${this.step.opcode})`;
    this.#problems.push({ place, step: this.#index, field, value: String(value), limit });
  }

  must(holds: boolean, field: string, value: unknown, limit: string): void {
    if (!holds) this.report(field, value, limit);
  }

  /** Rules of the output tensor that hold for every opcode. */
  tensor(): boolean {
    const { type, dims } = this.step;
    this.must(TENSOR_TYPES.includes(type), "type", type, TENSOR_TYPES.join(", "));
    return checkDims(
      dims,
      () => tensorShape(type, dims),
      (field, value, limit) => this.report(field, value, limit),
    );
  }

  /** @returns whether the opcode has the step's variant */
  variant(): boolean {
    const known = variantsOf(this.step.opcode);
    const limit = `${Math.min(...known)}..${Math.max(...known)}`;
    const isKnown = known.includes(this.step.variant);
    this.must(isKnown, "variant", this.step.variant, limit);
    return isKnown;
  }

  type(...allowed: readonly TensorType[]): void {
    this.must(allowed.includes(this.step.type), "type", this.step.type, allowed.join(" or "));
  }

  /** k of the opcodes that have none. */
  noAttribute(): void {
    this.must(this.step.k === 0, "k", this.step.k, "0");
  }

  none(...names: readonly ("a" | "b" | "c")[]): void {
    for (const name of names) {
      this.must(this.step[name] === NONE, `operand ${name}`, hexOperand(this.step[name]), "ffff (none)");
    }
  }

  /** An earlier step or a PLAIN weight tensor, of one of the types. */
  plain(name: "a" | "b" | "c", ...types: readonly TensorType[]): OperandShape | undefined {
    const operand = this.step[name];
    const shape = isStep(operand) ? this.#stepOperand(name, operand) : this.weights(name, "plain");
    if (shape !== undefined) {
      this.must(types.includes(shape.type), `type of operand ${name}`, shape.type, types.join(" or "));
    }
    return shape;
  }

  #stepOperand(name: string, operand: Operand): OperandShape | undefined {
    if (operand >= this.#index) {
      const limit =
        this.#index === 0 ? "a weight tensor (no step is earlier)" : `a step below ${this.#index}`;
      this.report(`operand ${name}`, `step ${operand}`, limit);
      return undefined;
    }
    return this.#steps[operand] ? this.program.steps[operand] : undefined;
  }

  weights(name: "a" | "b" | "c", layout: WeightLayout): WeightDescriptor | undefined {
    const operand = this.step[name];
    const count = this.program.weights.length;
    if (!isWeight(operand) || weightIndex(operand) >= count) {
      this.report(`operand ${name}`, hexOperand(operand), `a ${layout} weight tensor, of ${count} there are`);
      return undefined;
    }
    const weight = this.program.weights[weightIndex(operand)] as WeightDescriptor;
    this.must(weight.layout === layout, `layout of operand ${name}`, weight.layout, layout);
    return weight.layout === layout && this.#weights[weightIndex(operand)] ? weight : undefined;
  }

  sameDims(name: string, operand: OperandShape | undefined): void {
    if (operand === undefined) return;
    const { dims } = this.step;
    const same = operand.dims.length === dims.length && operand.dims.every((dim, axis) => dim === dims[axis]);
    this.must(same, `dims of operand ${name}`, `[${operand.dims.join(", ")}]`, `[${dims.join(", ")}]`);
  }

  broadcasts(name: string, operand: OperandShape | undefined): void {
    if (operand === undefined) return;
    const { dims } = this.step;
    const skip = dims.length - operand.dims.length;
    const fits = skip >= 0 && operand.dims.every((dim, axis) => dim === 1 || dim === dims[skip + axis]);
    const limit = `broadcast to [${dims.join(", ")}]`;
    this.must(fits, `dims of operand ${name}`, `[${operand.dims.join(", ")}]`, limit);
  }

  rows(name: string, operand: OperandShape | undefined, expected: number): void {
    if (operand === undefined) return;
    const rows = rowCount(operand.dims);
    this.must(rows === expected, `rows of operand ${name}`, rows, `${expected}`);
  }
}

const hexOperand = (operand: Operand): string => operand.toString(16).padStart(4, "0");
