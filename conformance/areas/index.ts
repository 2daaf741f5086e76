/** All areas, in the order in which they are tried: what others rest on first. */
import type { Area } from "../case.ts";
import { BATCHES } from "./batches.ts";
import { CLAIMED } from "./claimed.ts";
import { OPENINGS, OUTPUTS } from "./commitments.ts";
import { EDGE_PROGRAMS } from "./edges.ts";
import { IDS, ORDERS, SIGNALS } from "./game.ts";
import { RECEIPTS } from "./receipts.ts";
import { REVEALS } from "./reveals.ts";
import { DIRECTED_PROGRAMS, OPCODE_AREAS, PROGRAMS } from "./runs.ts";
import { SIGNED_CLAIMS } from "./signed-claims.ts";
import { CALLDATA, LIMIT, STRUCTURE } from "./structure.ts";

export const AREAS: readonly Area[] = [
  STRUCTURE,
  EDGE_PROGRAMS,
  LIMIT,
  CALLDATA,
  ...OPCODE_AREAS,
  PROGRAMS,
  DIRECTED_PROGRAMS,
  CLAIMED,
  OUTPUTS,
  OPENINGS,
  REVEALS,
  IDS,
  ORDERS,
  SIGNALS,
  RECEIPTS,
  SIGNED_CLAIMS,
  BATCHES,
];
