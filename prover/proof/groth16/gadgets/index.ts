import type { Opcode } from "../../../../inference/program/form.ts";
import { arith } from "./arith.ts";
import { dot } from "./dot.ts";
import { float } from "./float.ts";
import type { Gadget } from "./gadget.ts";
import { lookup } from "./lookup.ts";
import { move } from "./move.ts";
import { reduce } from "./reduce.ts";
import { requant } from "./requant.ts";
import { rescale } from "./rescale.ts";
import { select } from "./select.ts";
import { table } from "./table.ts";

/** One gadget an opcode. CODEC steps are outside: their tensors are public signals (unpack.ts). */
export const GADGETS: Readonly<Record<Exclude<Opcode, "codec">, Gadget>> = {
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
