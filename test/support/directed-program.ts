/** Random programs that end in a chosen opcode, variant and type, with tensors of thousands of elements: what the
 *  differential suite counts. `random-program.ts` makes chains of all opcodes, with small tensors. */
import { variantCode } from "../../inference/program/codes.ts";
import {
  ARITH_VARIANTS,
  FLOAT_VARIANTS,
  type Model,
  REDUCE_VARIANTS,
  type Tensor,
  type TensorType,
} from "../../inference/program/form.ts";
import { type Content, DirectedBuilder, draw, type Target } from "./directed-builder.ts";
import { DIRECTED_STEPS } from "./directed-steps.ts";
import type { Rng } from "./rng.ts";

const ALL = ["u8", "s8", "s32", "f32", "bool"] as const;
const INTEGERS = ["u8", "s8", "s32", "bool"] as const;
const BYTES = ["u8", "s8"] as const;

const targets = (
  opcode: Target["opcode"],
  variant: number,
  types: readonly TensorType[],
): readonly Target[] => types.map((type) => ({ opcode, variant, type }));

const isComparison = (name: string): boolean => ["lt", "le", "eq"].includes(name);

const arithTargets = (name: string, variant: number): readonly Target[] =>
  targets("arith", variant, isComparison(name) ? ["bool"] : name === "cast" ? INTEGERS : ["u8", "s8", "s32"]);

function floatTypes(name: string): readonly TensorType[] {
  if (isComparison(name)) return ["bool"];
  return name === "toint" ? INTEGERS : name === "quant" ? BYTES : ["f32"];
}

/** Every opcode and variant with every type that its output can have. */
export const TARGETS: readonly Target[] = [
  ...targets("lookup", 0, ["s32"]),
  ...targets("lookup", 1, ALL),
  ...targets("lookup", variantCode("lookup", "each"), ALL),
  ...targets("lookup", variantCode("lookup", "below"), ALL),
  ...targets("dot", 0, ["s32"]),
  ...[1, 2].flatMap((variant) => [...targets("dot", variant, BYTES), ...targets("requant", variant, BYTES)]),
  ...targets("rescale", 0, ["s32"]),
  ...targets("table", 0, ["u8", "s8", "bool"]),
  ...ARITH_VARIANTS.flatMap((name, variant) => (name === "rotate" ? [] : arithTargets(name, variant))),
  ...FLOAT_VARIANTS.flatMap((name, variant) => targets("float", variant, floatTypes(name))),
  ...REDUCE_VARIANTS.flatMap((name, variant) =>
    targets("reduce", variant, name === "sum" || name === "norm" ? ["s32"] : INTEGERS),
  ),
  ...targets("select", 0, ALL),
  ...targets("dot", variantCode("dot", "activations"), ["s32"]),
  ...targets("rescale", variantCode("rescale", "ratio"), ["u8", "s8", "s32"]),
  ...targets("dot", variantCode("dot", "planes"), ["s32"]),
  ...targets("rescale", variantCode("rescale", "planes"), ["u8"]),
  ...targets("dot", variantCode("dot", "rescaled"), ["s32", "u8", "s8"]),
  ...targets("arith", variantCode("arith", "rotate"), ["s32", "u8", "s8"]),
];

export interface DirectedProgram {
  readonly model: Model;
  /** Content of the CODEC steps for one run. */
  draw(rng: Rng): Tensor[];
}

/** A random program whose last step is the target. The same rng state gives the same program. */
export function directedProgram(rng: Rng, target: Target): DirectedProgram {
  const builder = new DirectedBuilder(rng);
  DIRECTED_STEPS[target.opcode](builder, target);
  // Constants alone are no test of a run.
  if (builder.contents.length === 0) return directedProgram(rng, target);
  const codecs = builder.steps.filter(({ opcode }) => opcode === "codec");
  return {
    model: {
      program: {
        inputCodec: "raw",
        outputCodec: "raw",
        inputSize: builder.used,
        weights: builder.weights,
        steps: builder.steps,
      },
      weights: builder.weightBytes,
    },
    draw: (from) => codecs.map(({ dims }, i) => draw(from, builder.contents[i] as Content, dims)),
  };
}
