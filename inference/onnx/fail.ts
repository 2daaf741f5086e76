import { BaseError, type ErrorDetails } from "../../base/errors.ts";

/** An error of the import: what is wrong with the bad value and its limit, and what to do about it. */
export function fail(
  code: string,
  shortMessage: string,
  nextStep: string,
  details: ErrorDetails = {},
  cause?: unknown,
): BaseError {
  return new BaseError({ code, shortMessage, nextStep, details, ...(cause === undefined ? {} : { cause }) });
}
