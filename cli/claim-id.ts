/** A claim's id as an argument. */
import { type ClaimId, isModelId } from "../protocol/rules/types.ts";
import { refuseArgument } from "./output.ts";

/** @throws BaseError ARGUMENT_INVALID */
export function claimIdOf(text: string): ClaimId {
  if (!isModelId(text)) refuseArgument("claim", text, "32 bytes as hex");
  return text as string as ClaimId;
}
