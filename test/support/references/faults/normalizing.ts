/** Faults that could stand in the lowering of normalizations and computed quantization. */
import type { Mutant } from "../../../../tools/mutant.ts";
import { inFile } from "./in-file.ts";

const normalize = inFile("normalize.ts");
const softmaxRows = inFile("softmax-rows.ts");
const scaleShift = inFile("scale-shift.ts");
const rows = inFile("window-rows.ts");
const dynamic = inFile("dynamic.ts");
const activations = inFile("activations.ts");

export const NORMALIZING_FAULTS: readonly Mutant[] = [
  ...normalize(
    "QLinearSoftmax",
    ["the axis of a newer operator set", "const isOld = opset < 13;", "const isOld = opset < 7;"],
    [
      "the graph's operator set for the node's",
      'intAttribute(node, "opset", ctx.graph.opset)',
      "ctx.graph.opset",
    ],
  ),
  ...softmaxRows("QLinearSoftmax", [
    "the byte less the maximum",
    'builder.arith("sub", "s32", top, stored)',
    'builder.arith("sub", "s32", stored, top)',
  ]),
  ...normalize(
    "InstanceNormalization",
    [
      "gains along the images",
      "scaledAndShifted(ctx, node, apart, [channels, 1])",
      "scaledAndShifted(ctx, node, ctx.reshape(apart, [channels, batch, n]), [channels, 1])",
    ],
    [
      "epsilon's default",
      'const rows = normalizedRows(ctx, value, n, floatAttribute(node, "epsilon", Math.fround(1e-5)));\n  const apart',
      "const rows = normalizedRows(ctx, value, n, Math.fround(1e-5));\n  const apart",
    ],
    [
      "the deviation of a sample",
      'builder.float("mul", "f32", positive, builder.f32((unit * unit) / n))',
      'builder.float("mul", "f32", positive, builder.f32((unit * unit) / Math.max(n - 1, 1)))',
    ],
  ),
  ...scaleShift("InstanceNormalization", [
    "no shift",
    'return shift === undefined ? scaled : builder.float("add", "f32", scaled, shift);',
    "return scaled;",
  ]),
  ...normalize(
    "RMSNormalization",
    [
      "bytes without their zero point",
      'builder.arith("sub", "s32", stored, builder.s32(zero[0] as number))',
      'builder.arith("sub", "s32", stored, builder.s32(0 * (zero[0] as number)))',
    ],
    [
      "the sum of squares for their mean",
      "real(ctx, positive, (unit * unit) / n)",
      "real(ctx, positive, unit * unit)",
    ],
    [
      "the last axis alone",
      'const n = count(dims.slice(normalAxis(intAttribute(node, "axis", -1), dims.length)));\n  checkLength(n);',
      "const n = count(dims.slice(-1));\n  checkLength(n);",
    ],
  ),
];

export const DYNAMIC_FAULTS: readonly Mutant[] = [
  ...dynamic(
    "DynamicQuantizeLinear",
    [
      "a range without 0",
      'builder.float("max", "f32", reduceRows(ctx, "max", both, [2, 1]), zero)',
      'reduceRows(ctx, "max", both, [2, 1])',
    ],
    ["divided by 256", "builder.f32(255));", "builder.f32(256));"],
    [
      "the scale of a flat tensor",
      "builder.select(isFlat, builder.f32(1), quotient)",
      "builder.select(isFlat, builder.f32(2), quotient)",
    ],
    [
      "the zero point from the maximum",
      'builder.float("quant", "u8", lift, scale, builder.s32(0))',
      'builder.float("quant", "u8", most, scale, builder.s32(0))',
    ],
  ),
  ...dynamic(
    "MatMulInteger with a computed zero point",
    [
      "weights with their offset in the sum",
      "weights.reduce((sum, w) => sum + w - offset, 0)",
      "weights.reduce((sum, w) => sum + w, 0)",
    ],
    [
      "the zero point added",
      'builder.arith("sub", "s32", result.operand, excess)',
      'builder.arith("add", "s32", result.operand, excess)',
    ],
  ),
  ...rows("ConvInteger with a computed zero point", [
    "windows hold the byte 0 outside",
    '"shift" in outside && leaves ?',
    '"shift" in outside && !leaves ?',
  ]),
  ...activations(
    "MatMulInteger of two computed operands",
    [
      "a computed zero point left out",
      'if (shift !== undefined) return ctx.builder.arith("sub", "s32", operand, shift);',
      "if (shift !== undefined) return operand;",
    ],
    ["the second operand as it lies", "rank - 1, rank - 2]", "rank - 2, rank - 1]"],
  ),
];
