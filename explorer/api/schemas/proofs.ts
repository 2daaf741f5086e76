/** Receipts and correctness records; docs/SDK.md has what they show, the rules of each field stand with their readers. */
import { z } from "zod";
import { FORMAT } from "../../../protocol/rules/receipt/receipt.ts";
import { RECORD_FORMAT } from "../../../protocol/rules/receipt/record.ts";
import { hex } from "./common.ts";

const evidence = {
  request: z.looseObject({}).meta({ description: "the order, as in the event Requested" }),
  claim: z.looseObject({}).optional().meta({ description: "absent after truth that no claim agreed with" }),
  output: hex,
  header: hex.meta({ description: "RLP of the block's header: its hash is what has to be trusted" }),
  nodes: z.array(hex).meta({ description: "of the state's tries" }),
};

export const receipt = z.object({ format: z.literal(FORMAT), ...evidence });
export const record = z.object({
  format: z.literal(RECORD_FORMAT),
  ...evidence,
  input: hex,
  unproven: z.looseObject({}).meta({ description: "said besides: the block does not show it" }),
});
