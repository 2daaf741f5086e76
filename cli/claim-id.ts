/** A claim's id as an argument. */
import type { ClaimId } from "../protocol/rules/types.ts";
import { isModelId } from "./model-source.ts";
import { refuseArgument } from "./output.ts";

/** @throws BaseError ARGUMENT_INVALID */
export function claimIdOf(text: string): ClaimId {
  if (!isModelId(text)) refuseArgument("claim", text, "32 bytes as hex");
  return text as string as ClaimId;
}
