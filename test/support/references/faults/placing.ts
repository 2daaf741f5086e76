/** Faults that could stand in the lowering of operators that lay out, cut or repeat elements. */
import type { Mutant } from "../../../../tools/mutant.ts";
import { inFile } from "./in-file.ts";

const pad = inFile("pad.ts");
const shape = inFile("shape.ts");
const space = inFile("space.ts");
const resize = inFile("resize.ts");
const masks = inFile("masks.ts");

export const PLACING_FAULTS: readonly Mutant[] = [
  ...pad(
    "Pad",
    [
      "the pads of both ends exchanged",
      "[pads[i], pads[i + axes.length]];\n    const dim",
      "[pads[i + axes.length], pads[i]];\n    const dim",
    ],
    [
      "axes in the order of the file",
      "const list = axesInput === undefined ? dims.map((_, i) => i) : numbers(axesInput);",
      "const list = axesInput === undefined ? dims.map((_, i) => i) : numbers(axesInput).map((_, i) => i);",
    ],
    [
      "edge reads one too far",
      "Math.min(Math.max(at, 0), size - 1),",
      "Math.min(Math.max(at, 1), size - 1) % size,",
    ],
    [
      "reflect repeats the edge",
      "const period = Math.max(2 * (size - 1), 1);",
      "const period = Math.max(2 * size - 1, 1);",
    ],
    [
      "wrap from the wrong end",
      "wrap: (at, size) => ((at % size) + size) % size,",
      "wrap: (at, size) => (size - (at % size)) % size,",
    ],
    [
      "a cut axis is padded from before the cut",
      "cut + position(at - Math.max(before, 0), left)",
      "position(at - before, size)",
    ],
    ["an int8 pad value without its offset", "stored: value + 128, value }", "stored: value & 255, value }"],
    [
      "a float32 pad value as an integer",
      "return { stored: view.getUint32(0), value };",
      "return { stored: value >>> 0, value };",
    ],
  ),
  ...pad(
    "Pad of dequantized bytes",
    [
      "0 padded as the byte 0",
      "const zero = value.zero[0] as number;",
      "const zero = 0 * (value.zero[0] as number);",
    ],
    ["another pad value taken for 0", "value.scale.length === 1 && fill === 0)", "value.scale.length === 1)"],
  ),
  ...shape(
    "Slice",
    ["an end before the first element", "clamp(ends[i], -1, dim - 1)", "clamp(ends[i], 0, dim - 1)"],
    ["ends rounded down", "Math.ceil((end - start) / step)", "Math.max(1, Math.floor((end - start) / step))"],
  ),
  ...space(
    "DepthToSpace",
    ["CRD read as DCR", '"DCR") === "CRD"', '"DCR") !== "DCR" && false'],
    ["rows and columns of a block exchanged", "[0, 3, 4, 1, 5, 2],", "[0, 3, 4, 2, 5, 1],"],
  ),
  ...space("SpaceToDepth", ["blocks behind their channels", "[0, 3, 5, 1, 2, 4]", "[0, 1, 3, 5, 2, 4]"]),
  ...resize(
    "Resize",
    [
      "half_pixel without its half",
      "half_pixel: (at, scale) => f(f(f(at + 0.5) / scale) - 0.5),",
      "half_pixel: (at, scale) => f(at / scale),",
    ],
    ["the symmetric offset with the wrong sign", "return f(offset + f(", "return f(-offset + f("],
    [
      "one pixel of pytorch_half_pixel",
      "pytorch_half_pixel: (at, scale, size) => (size > 1 ?",
      "pytorch_half_pixel: (at, scale, size) => (size > 0 ?",
    ],
    ["corners by the number of elements", "f(f(at * f(from - 1)) / f(size - 1))", "f(f(at * from) / size)"],
    [
      "round_prefer_floor takes the upper of two",
      "round_prefer_floor: (x) => Math.ceil(x - 0.5),",
      "round_prefer_floor: (x) => Math.floor(x + 0.5),",
    ],
    [
      "round_prefer_ceil takes the lower of two",
      "round_prefer_ceil: (x) => Math.floor(x + 0.5),",
      "round_prefer_ceil: (x) => Math.ceil(x - 0.5),",
    ],
    [
      "sizes rounded up",
      "sizes?.[i] ?? Math.floor(f(from * (scales?.[i] ?? 1)))",
      "sizes?.[i] ?? Math.ceil(f(from * (scales?.[i] ?? 1)))",
    ],
    [
      "the listed axes taken for the first ones",
      "const axes = given.map((axis) => normalAxis(axis, dims.length));",
      "const axes = given.map((_, i) => normalAxis(i, dims.length));",
    ],
    ["positions beyond the end", "clamp(nearest(x), 0, from - 1)", "Math.max(nearest(x), 0) % from"],
  ),
  ...resize("Upsample", [
    "coordinates of a newer Resize",
    'isOld ? "asymmetric" : "half_pixel"',
    '"half_pixel"',
  ]),
  ...masks(
    "Trilu",
    ["the diagonal left out", "distance >= k : distance <= k", "distance > k : distance <= k"],
    [
      "upper and lower exchanged",
      'intAttribute(node, "upper", 1) !== 0',
      'intAttribute(node, "upper", 1) === 0',
    ],
    [
      "rows counted by their length",
      "(i % columns) - Math.floor(i / columns)",
      "(i % columns) - Math.floor(i / rows)",
    ],
  ),
];
