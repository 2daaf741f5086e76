/** Whose order is taken, before it costs gas. Pure; docs/X402.md has the rules in words. */
import { BaseError } from "../../base/errors.ts";

/** Orders under way at once: each binds a fee and a bond. */
export const MAX_ORDERS = 64;
/** Orders of one payer that are not paid, however many he has paid. */
export const MAX_CREDIT = 16;
/** Payers of one order whose payments are held at once: each is looked at whenever somebody asks about the order. */
export const MAX_PAYERS = 16;
/** Span in which unpaid orders of payers without a record count, seconds. */
export const RECORD_SECONDS = 3_600;

/** One payer's orders at this node. */
export interface PayerRecord {
  /** not over */
  readonly open: number;
  /** became final, and his payment failed, and nobody else paid */
  readonly owed: number;
  /** that he certainly paid for */
  readonly paid: number;
}

export interface Exposure {
  /** orders that are not over, of everybody */
  readonly open: number;
  /** orders of payers who have never paid here: not over, or ended within the last hour without money that is certain */
  readonly strangers: number;
}

/** Why a payer's order is not taken.
 *  @param maxStrangers most orders of payers who have never paid here, at once and unpaid within an hour */
export function refusalOf(
  payer: PayerRecord,
  exposure: Exposure,
  maxStrangers: number,
): BaseError | undefined {
  if (payer.owed > 0) return owes(payer.owed);
  const credit = Math.min(MAX_CREDIT, payer.paid + 1);
  if (payer.open >= credit) return atCredit(payer.open, credit);
  if (exposure.open >= MAX_ORDERS) return busy(`${MAX_ORDERS} orders are under way`);
  if (payer.paid === 0 && exposure.strangers >= maxStrangers) {
    return busy(
      `${maxStrangers} orders of payers who have never paid here are under way or ended unpaid within an hour`,
    );
  }
  return undefined;
}

const owes = (owed: number) =>
  new BaseError({
    code: "PAYMENT_OWED",
    shortMessage: `${owed} orders of this payer became final and could not be paid with what he signed.`,
    nextStep: "Ask for those outputs again and pay them first.",
    details: { owed },
  });

const atCredit = (open: number, credit: number) =>
  new BaseError({
    code: "PAYER_BUSY",
    shortMessage: `${open} orders of this payer are not paid yet, at most ${credit} may be.`,
    nextStep: `Wait until one is paid: each paid order allows one more at once, up to ${MAX_CREDIT}.`,
    details: { open, limit: credit },
    retryable: true,
  });

export const busy = (why: string) =>
  new BaseError({
    code: "TOO_BUSY",
    shortMessage: `${why}.`,
    nextStep: "Ask again in a minute, or ask another node; nothing was taken.",
    retryable: true,
  });
