/** Faults that could stand in the lowering of products. */
import type { Mutant } from "../../../../tools/mutant.ts";
import { inFile } from "./in-file.ts";

const transposed = inFile("conv-transpose.ts");
const einsum = inFile("einsum.ts");
const qdq = inFile("qdq.ts");
const windows = inFile("windows.ts");
const rows = inFile("window-rows.ts");
const conv = inFile("conv.ts");

export const PRODUCT_FAULTS: readonly Mutant[] = [
  ...windows(
    "Conv in groups",
    ["SAME_UPPER and SAME_LOWER exchanged", 'auto === "SAME_UPPER" ? [less', 'auto === "SAME_LOWER" ? [less'],
    [
      "the pads of both ends exchanged",
      "let [before = 0, after = 0] = [pads[i], pads[i + rank]];",
      "let [after = 0, before = 0] = [pads[i], pads[i + rank]];",
    ],
    ["a reach without its dilation", "const reach = (k - 1) * dilation + 1;", "const reach = k;"],
  ),
  ...rows(
    "Conv in groups",
    [
      "a group reads the first one's channels",
      "{ axis: kernelAt - 1, factor: perGroup }",
      "{ axis: kernelAt - 1, factor: 0 }",
    ],
    ["each image is the first one", "offset: image, checked: false }", "offset: 0 * image, checked: false }"],
    [
      "images written over each other",
      "offset: -image, checked: true }",
      "offset: 0 * image, checked: true }",
    ],
  ),
  ...conv(
    "Conv in groups",
    ["int8 padded with the byte 0", "{ pad: zero } : { shift }", "{ pad: zeroPoint & 255 } : { shift }"],
    [
      "kernel positions and channels exchanged",
      "(o * perGroup + (i % perGroup)) * taps + Math.floor(i / perGroup);",
      "o * perGroup * taps + i;",
    ],
  ),
  ...transposed(
    "ConvTranspose",
    ["a kernel that is not turned", "const tap = taps - 1 - (i % taps);", "const tap = i % taps;"],
    [
      "no zero points between",
      "if (strides.every((s) => s === 1)) return tensor;",
      "if (strides.every((s) => s >= 1)) return tensor;",
    ],
    ["the byte 0 between", "{ stored: storedZero(tensor, zero), value: zero }", "{ stored: 0, value: zero }"],
    [
      "output_padding in front",
      "before.push(reach - start);\n    after.push(reach - end + more);",
      "before.push(reach - start + more);\n    after.push(reach - end);",
    ],
    ["weights of another group", "Math.floor(out / perGroup) * inner + ci", "ci"],
    ["SAME_UPPER and SAME_LOWER exchanged", 'auto === "SAME_UPPER" ? [less', 'auto === "SAME_LOWER" ? [less'],
    ["dilation unseen", "const reach = (k - 1) * dilation;", "const reach = k - 1;"],
  ),
  ...qdq(
    "Gemm",
    ["alpha left out", "factor: factor * alpha * unit,", "factor: factor * unit,"],
    ["beta left out", "beta === 1\n      ? bias", "beta !== 0\n      ? bias"],
    [
      "transA unseen",
      'transposed(operands.activation, intAttribute(node, "transA", 0))',
      "transposed(operands.activation, 0)",
    ],
    [
      "a computed addend left out",
      'return chain(ctx, [{ ...scaled, fused: false }, addend], "add");',
      'return addend === bias && !isKnown(bias) ? { ...scaled, fused: true } : chain(ctx, [{ ...scaled, fused: false }, addend], "add");',
    ],
  ),
  ...einsum(
    "Einsum",
    [
      "the second operand as it lies",
      "ctx.set(names[1], matrix(y, b, inner, columns));",
      "ctx.set(names[1], matrix(y, b, columns, inner));",
    ],
    [
      "the letters of the result in the order of the product",
      "const perm = [...given].map((letter) => letters.indexOf(letter));",
      "const perm = [...given].map((_, i) => i);",
    ],
  ),
  ...einsum("Einsum of one operand", [
    "the permutation's inverse",
    "[...given].map((letter) => a.indexOf(letter)),",
    "[...a].map((letter) => given.indexOf(letter)),",
  ]),
];
