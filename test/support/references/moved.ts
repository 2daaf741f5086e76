/** A node that hands elements on. */
import type { TestNode } from "../onnx-file.ts";
import { type CaseParts, caseOf, type Plain, type ReferenceCase, tensor } from "./plain.ts";

export const TYPES = ["uint8", "int8", "int32", "float32"] as const;

/** One node from x to y, both of one type. */
export const moved = (
  type: (typeof TYPES)[number],
  x: Plain,
  made: TestNode,
  expected: Plain,
  constants: NonNullable<CaseParts["constants"]> = {},
  opset = 21,
): ReferenceCase =>
  caseOf({
    inputs: { x: tensor(type, x) },
    nodes: [made],
    constants,
    outputs: { y: type },
    expected: { y: expected },
    opset,
  });
