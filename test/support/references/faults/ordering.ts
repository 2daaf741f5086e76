/** Faults that could stand in the lowering of operators that count, order or divide. */
import type { Mutant } from "../../../../tools/mutant.ts";
import { inFile } from "./in-file.ts";

const masks = inFile("masks.ts");
const ranks = inFile("ranks.ts");
const modulo = inFile("modulo.ts");
const elements = inFile("elementwise.ts");

export const ORDERING_FAULTS: readonly Mutant[] = [
  ...ranks(
    "CumSum",
    [
      "exclusive unseen",
      'intAttribute(node, "exclusive", 0) !== 0',
      'intAttribute(node, "exclusive", 0) > 1',
    ],
    ["one addend too few", "distance < length; distance *= 2", "2 * distance < length; distance *= 2"],
    [
      "positions after instead of before",
      "offset: i === 1 ? -distance : 0",
      "offset: i === 1 ? distance : 0",
    ],
  ),
  ...ranks(
    "TopK",
    [
      "the last of equal elements",
      'reduceRows(ctx, "min", ids, [rows, 1])',
      'reduceRows(ctx, "max", builder.select(candidates, positions, builder.s32(-1)), [rows, 1])',
    ],
    [
      "taken elements found again",
      'builder.select(open, isTop, builder.plain("bool", [1], Uint8Array.of(0)))',
      "isTop",
    ],
    [
      "smallest read as largest",
      'intAttribute(node, "largest", 1) !== 0',
      'intAttribute(node, "largest", 1) >= 0',
    ],
    ["taken bytes as 0 where the smallest are wanted", 'isLeast ? 0 : type === "bool" ? 1 : 255', "0"],
    [
      "the axis before the last",
      "const order = [...Array.from({ length: rank }, (_, i) => i).filter((i) => i !== axis), axis];\n  const rows",
      "const order = Array.from({ length: rank }, (_, i) => i);\n  const rows",
    ],
  ),
  ...modulo(
    "Mod",
    [
      "the sign of the dividend",
      'const isTruncated = intAttribute(node, "fmod", 0) !== 0;',
      'const isTruncated = intAttribute(node, "fmod", 0) >= 0;',
    ],
    [
      "the sign of the divisor with fmod",
      'const isTruncated = intAttribute(node, "fmod", 0) !== 0;',
      'const isTruncated = intAttribute(node, "fmod", 0) > 1;',
    ],
    [
      "a divisor below 0 as its size",
      "const turned = !isTruncated && isNegative;",
      "const turned = false && isNegative;",
    ],
    [
      "a size in the type of its divisor",
      'folded(ctx, [b], "int32", (y = 1) => Math.abs(y))',
      "folded(ctx, [b], type, (y = 1) => Math.abs(y))",
    ],
    ["int8 as uint8", 'LIMITS[type === "int8" ? "s8" : "u8"]', 'LIMITS["u8"]'],
  ),
  ...masks(
    "Hardmax",
    [
      "the last of equal maxima",
      'new Map([["axis", { kind: "int", value: at }]])',
      'new Map([["axis", { kind: "int", value: at }], ["select_last_index", { kind: "int", value: 1 }]] as const)',
    ],
    [
      "old rows along one axis",
      'const isOld = ctx.graph.opset < 13;\n  const axis = normalAxis(intAttribute(node, "axis", isOld ? 1 : -1), dims.length);\n  if (knownTensor',
      'const isOld = ctx.graph.opset < 7;\n  const axis = normalAxis(intAttribute(node, "axis", isOld ? 1 : -1), dims.length);\n  if (knownTensor',
    ],
  ),
  ...elements("Mean", [
    "divided by one operand too few",
    "makeTensor(type, [], [node.inputs.length])",
    "makeTensor(type, [], [Math.max(node.inputs.length - 1, 1)])",
  ]),
];
