/** Apart from the payment gate: every prover answers, and few load the library by which some are paid. */
import type { Response } from "express";

/** Says that the answer is what was paid for. */
export function takePayment(response: Response): void {
  response.removeHeader("Settlement-Overrides");
}
