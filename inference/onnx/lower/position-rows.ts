/** The rows of operators that pick and lay out elements, and of those that import computes. */

import { constantOfShape, rangeOfNumbers, shapeOf, sizeOf } from "./fold.ts";
import { gather, gatherND } from "./gather.ts";
import { type OperatorRow, same } from "./operator-row.ts";
import { pad } from "./pad.ts";
import { gatherElements } from "./picks.ts";
import { expand, split, tile } from "./repeat.ts";
import { resize } from "./resize.ts";
import {
  concat,
  constant,
  dropout,
  flatten,
  identity,
  reshape,
  slice,
  squeeze,
  transpose,
  unsqueeze,
} from "./shape.ts";
import { depthToSpace, spaceToDepth } from "./space.ts";

export const POSITION_ROWS: readonly OperatorRow[] = [
  {
    operators: { Gather: gather },
    reads:
      "any axis. Constant table, computed ids: LOOKUP pick (→ Cast int32 → ReduceSum over the ids of an int8 table whose row 0 is zero: LOOKUP sum). Constant ids: MOVE. Both computed: as GatherElements",
    limits:
      "int32 or int64 ids. Ids outside of a constant table, negative ones too, are clamped into it: import says so where the codec allows them",
    opcodes: ["lookup", "move", "arith", "select", "reduce", "float"],
    exactness: "exact",
  },
  {
    operators: { GatherND: gatherND },
    reads: "every type; indices below 0 count from the end",
    limits: "indices constant; batch_dims 0",
    opcodes: ["move"],
    exactness: "exact",
  },
  {
    operators: { GatherElements: gatherElements },
    reads: "every type; ids are compared with each position of the axis",
    limits: "ids as long as the data along the other axes",
    opcodes: ["move", "arith", "select", "reduce", "float"],
    exactness: "exact",
  },
  {
    operators: {
      Concat: concat,
      DepthToSpace: depthToSpace,
      Expand: expand,
      Flatten: flatten,
      Pad: pad,
      Reshape: reshape,
      Slice: slice,
      SpaceToDepth: spaceToDepth,
      Split: split,
      Squeeze: squeeze,
      Tile: tile,
      Transpose: transpose,
      Unsqueeze: unsqueeze,
    },
    reads:
      "every type; Pad constant, edge, reflect, wrap, after negative pads have cut. Transpose only renames stored axes until something needs the order; two moves in a row are one where MOVE can hold them",
    limits: "rank ≤ 6; shapes, axes and starts constant; no empty tensors",
    opcodes: ["move", "float", "lookup", "arith"],
    exactness: "exact",
  },
  {
    operators: same(resize, "Resize", "Upsample"),
    reads:
      "nearest: every type, by MOVE. linear and cubic: float32 and dequantized bytes, by products and sums in FLOAT along one axis after the other",
    limits: "scales and sizes constant; no tf_crop_and_resize, no antialias, no kept aspect ratio",
    opcodes: ["move", "float", "lookup", "arith"],
    exactness: "one unit",
  },
  {
    operators: {
      Constant: constant,
      ConstantOfShape: constantOfShape,
      Dropout: dropout,
      Identity: identity,
      Range: rangeOfNumbers,
      Shape: shapeOf,
      Size: sizeOf,
    },
    reads: "known at import, or nothing to do",
    limits: "constant operands",
    opcodes: [],
    exactness: "exact",
  },
];
