/** Receipts: that an output is final, with all that shows it to whoever trusts one block's hash.
 *
 *  It holds the request, the claim and the output, the block's header, and nodes of the state tries from the header's
 *  state root down to the words of Assay's storage that `requireFinal` reads. As JSON, integers above 53 bits are
 *  decimal text. */
import * as z from "zod";
import { jsonOf } from "../../../base/json.ts";
import type { Evidence } from "./evidence.ts";
import { EVIDENCE_FORM, parseForm } from "./form.ts";

export interface Receipt extends Evidence {
  readonly format: typeof FORMAT;
}

export const FORMAT = "assay-receipt-1";

const receipt = z.strictObject({ format: z.literal(FORMAT), ...EVIDENCE_FORM });

export const renderReceipt = (value: Receipt): string => jsonOf(value);

/** @throws BaseError RECEIPT_MALFORMED with the first field that is wrong */
export const parseReceipt = (text: string): Receipt => parseForm(receipt, text);
