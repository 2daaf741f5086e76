/** Faults to plant in the executor: the differential suite must find them. The same kernels without their fault
 *  compute what the executor computes, so it is the fault that is found and not the kernel. */
import { prepare } from "../../inference/executor/prepare.ts";
import { broadcastElement } from "../../inference/opcodes/broadcast.ts";
import { dot } from "../../inference/opcodes/dot.ts";
import {
  elementCount,
  FLOAT_VARIANTS,
  isStep,
  type Model,
  type Operand,
  type Step,
  type Tensor,
  type WeightDescriptor,
  weightIndex,
} from "../../inference/program/form.ts";
import { floatOfBits } from "../../inference/program/tensor.ts";
import { readParameters } from "../../inference/program/weights.ts";
import type { Executor } from "./differential.ts";

type Reader = (element: number) => number;

/** A run in the middle of a step. */
interface Place {
  readonly model: Model;
  readonly step: Step;
  /** Content of a step or PLAIN operand. */
  tensor(operand: Operand): Tensor;
  /** Element of an operand at an element of the output, in memory's form. */
  reader(operand: Operand, dims?: readonly number[]): Reader;
}

/** Element of the output in memory's form; undefined: the step is computed as it should be. */
export type Kernel = (place: Place) => Reader | undefined;

/** The executor, step by step, with one kernel replaced. */
export function withKernel(kernel: Kernel): Executor {
  return (model, runs) => {
    const prepared = prepare(model, new Uint8Array(4));
    const { steps, weights } = model.program;
    return runs.map((inputs) => {
      const tensors: Tensor[] = [];
      const tensor = (operand: Operand): Tensor => {
        if (isStep(operand)) return tensors[operand] as Tensor;
        const { type, dims } = weights[weightIndex(operand)] as WeightDescriptor;
        return { type, dims, data: prepared.constant(operand) };
      };
      let next = 0;
      steps.forEach((step, i) => {
        if (step.opcode === "codec") {
          tensors.push(inputs[next++] as Tensor);
          return;
        }
        const reader = (operand: Operand, outDims = step.dims): Reader => {
          const { dims, data } = tensor(operand);
          return (element) => data[broadcastElement(outDims, dims, element)] as number;
        };
        const operands = [step.a, step.b, step.c].map((o) => (isStep(o) ? tensors[o] : undefined));
        const { type, dims, data } = prepared.runStep(i, operands);
        const replaced = kernel({ model, step, tensor, reader });
        if (replaced !== undefined) for (let e = 0; e < data.length; e++) data[e] = replaced(e);
        tensors.push({ type, dims, data });
      });
      return tensors;
    });
  };
}

export type Rounding = (x: number) => number;

export const halfEven: Rounding = (x) => {
  const floor = Math.floor(x);
  const rest = x - floor;
  return rest > 0.5 || (rest === 0.5 && floor % 2 !== 0) ? floor + 1 : floor;
};
export const halfUp: Rounding = (x) => Math.floor(x + 0.5);

/** DOT and REQUANT in the binary32 form. */
export const requantization =
  (round: Rounding): Kernel =>
  ({ model, step, tensor }) => {
    if ((step.opcode !== "dot" && step.opcode !== "requant") || step.variant !== 2) return undefined;
    const { dims } = model.program.weights[weightIndex(step.b)] as WeightDescriptor;
    const words = model.weights[weightIndex(step.b)] as Uint8Array;
    const stride = words.length / (dims[0] as number);
    const channels = Array.from({ length: dims[0] as number }, (_, n) =>
      readParameters(words, (n + 1) * stride - 32),
    );
    const input = tensor(step.a);
    const sums = new Int32Array(elementCount(step.dims));
    if (step.opcode === "dot") {
      const weights = { type: "u8", dims, words } as const;
      const operands = [{ type: input.type, dims: input.dims }, weights];
      dot.prepare({ ...step, variant: 0, type: "s32" }, operands)(sums, input.data, undefined, undefined);
    } else {
      sums.set(input.data.map((x, e) => x + (channels[e % channels.length]?.bias as number)));
    }
    return (e) => {
      const c = channels[e % channels.length] as (typeof channels)[number];
      const q = round(Math.fround(Math.fround(sums[e] as number) * floatOfBits(c.scaleBits)));
      return Math.min(Math.max(q + c.zeroPoint, c.lower), c.upper);
    };
  };

const isFloat = ({ opcode, variant }: Step, name: (typeof FLOAT_VARIANTS)[number]): boolean =>
  opcode === "float" && FLOAT_VARIANTS[variant] === name;

/** FLOAT round and quant. */
export const rounding =
  (round: Rounding): Kernel =>
  ({ step, reader }) => {
    if (isFloat(step, "round")) {
      const a = reader(step.a);
      return (e) => {
        const x = a(e);
        const rounded = round(x);
        return rounded === 0 && (x < 0 || Object.is(x, -0)) ? -0 : rounded;
      };
    }
    if (!isFloat(step, "quant")) return undefined;
    const [a, scale, zero] = [reader(step.a), reader(step.b), reader(step.c)];
    const offset = step.type === "s8" ? 128 : 0;
    return (e) => {
      const q = round(Math.fround(a(e) / scale(e))) + zero(e) + offset;
      return Math.min(Math.max(q, 0), 255);
    };
  };

/** FLOAT add and sub of a product.
 *  @param fused true: the product is not rounded before it is added. A double holds the product exactly. */
export const multiplyAdd =
  (fused: boolean): Kernel =>
  ({ model, step, reader }) => {
    const isAdd = isFloat(step, "add");
    if (!(isAdd || isFloat(step, "sub")) || !isStep(step.a)) return undefined;
    const product = model.program.steps[step.a] as Step;
    const sameDims = product.dims.join() === step.dims.join();
    if (!isFloat(product, "mul") || !sameDims) return undefined;
    const [x, y, b] = [reader(product.a), reader(product.b), reader(step.b)];
    return (e) => {
      const exact = x(e) * y(e);
      const term = fused ? exact : Math.fround(exact);
      return Math.fround(isAdd ? term + b(e) : term - b(e));
    };
  };
