/** Why a receipt shows nothing. None of these says that anybody cheated. */
import { BaseError } from "../../../base/errors.ts";

/** The receipt is not of the form of one. */
export const malformed = (why: string, cause?: unknown) =>
  new BaseError({
    code: "RECEIPT_MALFORMED",
    shortMessage: `The receipt cannot be read: ${why}.`,
    nextStep: "Take the receipt again from where it came; a text that was cut or changed is no receipt.",
    cause,
  });

/** The receipt's proof does not lead from the trusted block to what it says. */
export const unproven = (why: string) =>
  new BaseError({
    code: "RECEIPT_UNPROVEN",
    shortMessage: `The receipt proves nothing: ${why}.`,
    nextStep: "Ask for a receipt at the block that you trust, of the deployment that you trust.",
  });

/** The chain was asked, so to speak, and it says that the output is not final by this policy. */
export const unmet = (code: string, why: string) =>
  new BaseError({
    code,
    shortMessage: `The receipt does not meet the policy: ${why}.`,
    nextStep: "Do not use the output; wait for finality, or ask again with other terms.",
  });
