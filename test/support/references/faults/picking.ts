/** Faults that could stand in the lowering of operators that pick by ids. */
import type { Mutant } from "../../../../tools/mutant.ts";
import { inFile } from "./in-file.ts";

const masks = inFile("masks.ts");
const picks = inFile("picks.ts");
const gather = inFile("gather.ts");

export const PICKING_FAULTS: readonly Mutant[] = [
  ...picks(
    "GatherElements",
    [
      "ids from the end one too far",
      "builder.select(isNegative, builder.s32(size), builder.s32(0))",
      "builder.select(isNegative, builder.s32(size - 1), builder.s32(0))",
    ],
    ["ids in the order of their storage", "ctx.inLayout(plainIds, order)", "ctx.plain(plainIds)"],
    [
      "the axis of the data as it is stored",
      "ctx.reshape(ctx.inLayout(tensor, order), [count(lead), 1, size])",
      "ctx.reshape(ctx.plain(tensor), [count(lead), 1, size])",
    ],
    [
      "0 where nothing is picked",
      'if (type === "s32") return builder.s32(-(2 ** 31));',
      'if (type === "s32") return builder.s32(0);',
    ],
  ),
  ...picks(
    "Gather of computed data from either end",
    ["ids from the end unseen", "if (low >= 0) return ids;", "if (low >= -(2 ** 31)) return ids;"],
    ["the ids' axes in front", "a < axis ? a : a + ids.length - 1", "a + ids.length - 1"],
    [
      "positions from 1",
      "Int32Array.from({ length: size }, (_, i) => i);\n  const isPicked",
      "Int32Array.from({ length: size }, (_, i) => i + 1);\n  const isPicked",
    ],
  ),
  ...gather("Gather", [
    "a table of another axis as it lies",
    "const table = axis === 0 ? tensor : movedConstant(tensor, order);",
    "const table = axis === 0 ? tensor : { ...tensor, dims: order.map((a) => tensor.dims[a] as number) };",
  ]),
  ...gather("Gather by int64 ids", [
    "the picked axis in front",
    "...gathered(tensor.dims, ids.dims, axis) };",
    "dims };",
  ]),
  ...masks(
    "OneHot",
    ["on and off exchanged", "const [off, on] = [0, 1].map(", "const [on, off] = [0, 1].map("],
    ["ids below 0 unseen", "isUnsigned ? positive : choose(equal(-depth), on, positive)", "positive"],
    [
      "the axis one further",
      "[...dims.slice(0, axis), 1, ...dims.slice(axis)]",
      "[...dims.slice(0, axis + 1), 1, ...dims.slice(axis + 1)]",
    ],
    [
      "positions in the type of the ids",
      'makeTensor(\n        "int32",\n        along,',
      "makeTensor(\n        type,\n        along,",
    ],
  ),
];
