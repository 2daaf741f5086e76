/** Results of sending, for commands: done, or an error. */
import { BaseError } from "../../base/errors.ts";
import type { Inclusion } from "./journal.ts";
import type { SendResult } from "./sender.ts";

/** @returns where it was mined, if by this key
 *  @throws BaseError REFUSED with the contract's reason, or the retryable fault */
export function requireSent(what: string, result: SendResult): Inclusion | undefined {
  switch (result.status) {
    case "sent":
    case "already-done":
      return result.inclusion;
    case "retryable":
      throw result.error;
    case "refused":
      throw new BaseError({
        code: "REFUSED",
        shortMessage: `The contract refused to ${what}: ${result.revert.message}.`,
        nextStep: "Change what the reason names, then try again.",
        details: { revert: result.revert.name },
      });
  }
}
