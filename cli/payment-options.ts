/** `assay prover`: whether final outputs cost something over HTTP. */
import { type Address, getAddress, isAddress } from "viem";
import { z } from "zod";
import { type Config, integer, type Settings, text, wei } from "../protocol/service/config.ts";
import type { ProverOptions } from "../prover/main.ts";
import type { PaymentTerms } from "../prover/payment/facilitator.ts";
import { refuseArgument } from "./output.ts";

const address = z
  .string()
  .refine((value) => isAddress(value), "must be an address")
  .transform((value) => getAddress(value));

export const PAYMENT_SETTINGS = {
  paymentPrice: {
    schema: wei,
    description: "x402: what a final output costs over HTTP, in units of the token; with the three below",
  },
  paymentAsset: { schema: address, description: "x402: address of the ERC-20 token" },
  paymentNetwork: {
    schema: z.string().regex(/^eip155:[1-9]\d{0,15}$/, "must be eip155: and a chain id"),
    description: "x402: the token's chain, such as eip155:8453",
  },
  paymentFacilitator: { schema: text, description: "x402: URL of the facilitator that moves the token" },
  signedPrice: {
    schema: wei,
    description:
      "x402: what a signed answer costs over HTTP (--sign on), in units of the token; absent: nothing",
  },
  paymentBinding: {
    schema: z.enum(["accepted", "required"]),
    default: "accepted",
    description:
      "x402: required refuses payments whose nonce names no order, as that of other clients than @assay/sdk/x402 does not",
  },
  paymentStrangers: {
    schema: integer(1, 10_000),
    default: 16,
    description: "x402: most orders of payers who have never paid here, at once and unpaid within an hour",
  },
} as const satisfies Settings;

/** @param payTo who is paid
 *  @returns undefined if nothing costs
 *  @throws BaseError ARGUMENT_INVALID for some of the settings without the others */
export function paymentTerms(
  settings: Config<typeof PAYMENT_SETTINGS> & { readonly sign: "on" | "off" },
  payTo: Address,
): ProverOptions["payment"] | undefined {
  const { paymentPrice: price, paymentAsset: asset, paymentFacilitator: facilitatorUrl } = settings;
  const network = settings.paymentNetwork as PaymentTerms["network"] | undefined;
  const given = [price, asset, network, facilitatorUrl].filter((value) => value !== undefined);
  const { signedPrice, sign } = settings;
  if (signedPrice !== undefined && (given.length === 0 || sign === "off"))
    refuseArgument("--signed-price", signedPrice.toString(), "absent without --payment-price and --sign on");
  if (signedPrice === 0n)
    refuseArgument("--signed-price", "0", "at least 1; without it signed answers cost nothing");
  if (given.length === 0) return undefined;
  if (price === undefined || asset === undefined || network === undefined || facilitatorUrl === undefined) {
    return refuseArgument(
      "--payment-price, -asset, -network, -facilitator",
      given.length,
      "all four, or none",
    );
  }
  if (price === 0n)
    refuseArgument("--payment-price", price.toString(), "at least 1; without it nothing costs");
  if (!URL.canParse(facilitatorUrl)) refuseArgument("--payment-facilitator", facilitatorUrl, "a URL");
  const maxStrangers = settings.paymentStrangers;
  const binding = settings.paymentBinding;
  return { price, signedPrice, asset, network, payTo, facilitatorUrl, binding, maxStrangers };
}
