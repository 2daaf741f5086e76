/** Parameters after the question mark. */
import { BaseError } from "../../base/errors.ts";

export const queryInvalid = (name: string, value: unknown, limit: string): BaseError =>
  new BaseError({
    code: "QUERY_INVALID",
    shortMessage: `${name} is ${JSON.stringify(value)?.slice(0, 80)}, must be ${limit}.`,
    nextStep: "Correct the query.",
    details: { name },
  });
