/** What the interval rules of one step see: its operands with their intervals, and where to report. */

import {
  isStep,
  isWeight,
  type Model,
  NONE,
  type Step,
  type TensorType,
  type WeightDescriptor,
  weightIndex,
} from "../program/form.ts";
import { fromStoredBytes } from "../program/tensor.ts";
import { anything, exactly, highest, LIMITS, lowest, type Range } from "./range.ts";

/** A proof that failed. */
export interface ProfileProblem {
  readonly step: number;
  readonly opcode: string;
  /** Name of the ONNX node that the step came from, where it is known. */
  readonly node?: string;
  /** What could happen, e.g. "the sum can leave s32". */
  readonly what: string;
  readonly low: number;
  readonly high: number;
  readonly limit: string;
  readonly nextStep: string;
}

export interface RangedOperand {
  readonly type: TensorType;
  readonly dims: readonly number[];
  readonly range: Range;
}

/** Intervals of a model's plain weights, computed once. */
export type WeightRanges = Map<number, Range>;

/** By step, as a list of them has it. */
export interface RangesOfSteps {
  at(step: number): Range | undefined;
}

export class StepRanges {
  constructor(
    readonly model: Model,
    readonly step: Step,
    readonly index: number,
    private readonly ranges: RangesOfSteps,
    private readonly weightRanges: WeightRanges,
    private readonly report: (problem: ProfileProblem) => void,
  ) {}

  /** A step, or a PLAIN weight tensor, with its intervals. */
  operand(name: "a" | "b" | "c"): RangedOperand {
    const operand = this.step[name];
    if (isStep(operand)) {
      const { type, dims } = this.model.program.steps[operand] as Step;
      return { type, dims, range: this.ranges.at(operand) as Range };
    }
    const { descriptor, bytes } = this.weight(name);
    const index = weightIndex(operand);
    let range = this.weightRanges.get(index);
    if (range === undefined) {
      const { type } = descriptor;
      const values = plainValues(type, bytes);
      range = this.areNumbers(type, values) ? exactly(values, type === "f32") : anything(type);
      this.weightRanges.set(index, range);
    }
    return { type: descriptor.type, dims: descriptor.dims, range };
  }

  /** Whether constants are numbers that their type can hold; reports them where they are not.
   *  @param values as `plainValues` */
  areNumbers(type: TensorType, values: ArrayLike<number>): boolean {
    const [min, max] = LIMITS[type];
    let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    let isNumber = true;
    for (let i = 0; i < values.length; i++) {
      const value = values[i] as number;
      isNumber &&= !Number.isNaN(value);
      if (value < low) low = value;
      if (value > high) high = value;
    }
    if (isNumber && low >= min && high <= max) return true;
    const limit = type === "f32" ? "finite numbers" : `${type}: ${min} to ${max}`;
    const what = isNumber ? `a constant is no ${type}` : "a constant is not a number";
    this.problem(what, low, high, limit, "Write another constant.");
    return false;
  }

  /** Present operands in order a, b, c. */
  operands(): RangedOperand[] {
    return (["a", "b", "c"] as const).filter((n) => this.step[n] !== NONE).map((n) => this.operand(n));
  }

  weight(name: "a" | "b" | "c"): { descriptor: WeightDescriptor; bytes: Uint8Array } {
    const operand = this.step[name];
    if (!isWeight(operand)) throw new TypeError(`operand ${name} of step ${this.index} is no weight tensor`);
    const index = weightIndex(operand);
    return {
      descriptor: this.model.program.weights[index] as WeightDescriptor,
      bytes: this.model.weights[index] as Uint8Array,
    };
  }

  problem(what: string, low: number, high: number, limit: string, nextStep: string): void {
    this.report({ step: this.index, opcode: this.step.opcode, what, low, high, limit, nextStep });
  }

  /** The range if it fits the type, the output's by default; else reports and continues with every value of the type. */
  within(range: Range, what: string, nextStep: string, type: TensorType = this.step.type): Range {
    const [min, max] = LIMITS[type];
    const low = lowest(range);
    const high = highest(range);
    if (low >= min && high <= max) return range;
    this.problem(what, low, high, `${type}: ${min} to ${max}`, nextStep);
    return anything(type);
  }
}

/** What the stored bytes of a PLAIN weight tensor mean. Of a bool that is the byte. */
export function plainValues(type: TensorType, bytes: Uint8Array): ArrayLike<number> {
  if (type !== "s8") return fromStoredBytes(type, bytes);
  const values = new Int8Array(bytes.length);
  for (let i = 0; i < bytes.length; i++) values[i] = (bytes[i] as number) - 128;
  return values;
}
