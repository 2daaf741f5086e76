/** Faults that could stand in what import computes of constants, and in operators' defaults. */
import type { Mutant } from "../../../../tools/mutant.ts";
import { inFile } from "./in-file.ts";

const shape = inFile("shape.ts");
const constants = inFile("constants.ts");
const gather = inFile("gather.ts");
const picks = inFile("picks.ts");
const masks = inFile("masks.ts");
const modulo = inFile("modulo.ts");
const real = inFile("real-steps.ts");
const elements = inFile("elementwise.ts");
const normalize = inFile("normalize.ts");

export const FOLDING_FAULTS: readonly Mutant[] = [
  ...shape("Pad of constants", [
    "one element behind the end",
    "s < 0 || s >= dim ? -1",
    "s < 0 || s > dim ? -1",
  ]),
  ...shape("Slice of constants", [
    "every element",
    "sum + t.factor * (at[t.axis] as number)",
    "sum + (at[t.axis] as number)",
  ]),
  ...constants("DepthToSpace of constants", [
    "strides by the wrong axis",
    "(strides[axis + 1] as number) * (padded[axis + 1] as number)",
    "(strides[axis + 1] as number) * (padded[axis] as number)",
  ]),
  ...constants("SpaceToDepth of constants", [
    "the inverse order",
    "const dims = order.map((axis) => padded[axis] as number);",
    "const dims = [...order].reverse().map((axis) => padded[axis] as number);",
  ]),
  ...gather("Resize of constants", [
    "a run that is one step longer",
    "=== start + length * step) length++;",
    "=== start + (length - 1) * step) length++;",
  ]),
  ...gather("Gather of constants", [
    "ids from the end unseen",
    "(i < 0 ? i + size : i)",
    "(i < 0 ? i + size - 1 : i)",
  ]),
  ...masks("Trilu of constants", [
    "kept and left out exchanged",
    "(c, x, y) => (c !== 0 ? x : y) as number);\n  if (known",
    "(c, x, y) => (c === 0 ? x : y) as number);\n  if (known",
  ]),
  ...masks("OneHot of constants", ["positions from the id on", "Number(x === y)", "Number(x <= y)"]),
  ...modulo("Mod of constants", ["the divisor taken away", "? rest : rest + y;", "? rest : rest - y;"]),
  ...real("PRelu of constants", [
    "the operands exchanged",
    "folded(ctx, [value, slope], type, f)",
    "folded(ctx, [slope, value], type, f)",
  ]),
  ...elements("Mean of constants", ["the sum alone", "Math.fround(x / y);", "Math.fround(y === 0 ? 0 : x);"]),
  ...picks("GatherElements", [
    "the last axis by default",
    'normalAxis(intAttribute(node, "axis", 0), dims.length)',
    'normalAxis(intAttribute(node, "axis", -1), dims.length)',
  ]),
  ...masks("OneHot", [
    "the first axis by default",
    'normalAxis(intAttribute(node, "axis", -1), dims.length + 1)',
    'normalAxis(intAttribute(node, "axis", 0), dims.length + 1)',
  ]),
  ...normalize("QLinearSoftmax", [
    "the last axis by default",
    'intAttribute(node, "axis", isOld ? 1 : -1)',
    'intAttribute(node, "axis", -1)',
  ]),
  ...normalize("RMSNormalization", [
    "another epsilon by default",
    'const epsilon = builder.f32(floatAttribute(node, "epsilon", Math.fround(1e-5)));',
    'const epsilon = builder.f32(floatAttribute(node, "epsilon", Math.fround(1e-3)));',
  ]),
];
