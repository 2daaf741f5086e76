import type { Opcode } from "../program/form.ts";
import { arith } from "./arith.ts";
import { codec } from "./codec.ts";
import { dot } from "./dot.ts";
import { float } from "./float.ts";
import { lookup } from "./lookup.ts";
import { move } from "./move.ts";
import type { OpcodeForm } from "./opcode.ts";
import { reduce } from "./reduce.ts";
import { requant } from "./requant.ts";
import { rescale } from "./rescale.ts";
import { select } from "./select.ts";
import { table } from "./table.ts";

export const OPCODE_FORMS: Readonly<Record<Opcode, OpcodeForm>> = {
  codec,
  move,
  lookup,
  dot,
  requant,
  rescale,
  table,
  arith,
  float,
  reduce,
  select,
};
