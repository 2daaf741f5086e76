/** Ids in paths. */
import { BaseError } from "../../base/errors.ts";

/** @throws BaseError ID_INVALID */
export function idOf(text: string): string {
  if (/^0x[0-9a-fA-F]{64}$/.test(text)) return text.toLowerCase();
  throw new BaseError({
    code: "ID_INVALID",
    shortMessage: `${JSON.stringify(text.slice(0, 80))} is no id.`,
    nextStep: "Give 0x and 64 hexadecimal digits.",
  });
}

const unknown = (code: string, what: string, id: string) =>
  new BaseError({
    code,
    shortMessage: `There is no ${what} ${id} on this chain.`,
    nextStep: "Check the id, the chain and the deployment.",
  });

export const claimUnknown = (id: string): BaseError => unknown("CLAIM_UNKNOWN", "claim", id);
export const requestUnknown = (id: string): BaseError => unknown("REQUEST_UNKNOWN", "request", id);
