import { describe, expect, it } from "vitest";
import { PAYMENT_SETTINGS, paymentTerms } from "../../cli/payment-options.ts";
import { loadConfig } from "../../protocol/service/config.ts";

const PAYEE = "0x00000000000000000000000000000000000000AA";
const FLAGS = {
  paymentPrice: "2500",
  paymentAsset: "0x00000000000000000000000000000000000000bb",
  paymentNetwork: "eip155:8453",
  paymentFacilitator: "https://facilitator.example",
};
const termsOf = (flags: Readonly<Record<string, string>>, sign: "on" | "off" = "off") =>
  paymentTerms({ ...loadConfig(PAYMENT_SETTINGS, { flags, env: {} }), sign }, PAYEE);

describe("paymentTerms", () => {
  it("default: all four settings, paid to the prover", () => {
    expect(termsOf(FLAGS)).toEqual({
      price: 2_500n,
      maxStrangers: 16,
      asset: "0x00000000000000000000000000000000000000bb",
      network: "eip155:8453",
      payTo: PAYEE,
      facilitatorUrl: "https://facilitator.example",
      binding: "accepted",
    });
  });

  it("args: a price for signed answers, where answers are signed", () => {
    const flags = { ...FLAGS, signedPrice: "100" };
    expect(termsOf(flags, "on")).toMatchObject({ price: 2_500n, signedPrice: 100n });
    for (const wrong of [() => termsOf(flags), () => termsOf({ signedPrice: "100" }, "on")])
      expect(wrong).toThrow(expect.objectContaining({ code: "ARGUMENT_INVALID" }));
    expect(() => termsOf({ ...FLAGS, signedPrice: "0" }, "on")).toThrow(/signed-price/);
  });

  it("behavior: without any of them nothing costs", () => {
    expect(termsOf({})).toBeUndefined();
  });

  it.each(Object.keys(FLAGS))("error: %s alone is missing", (name) => {
    const { [name as keyof typeof FLAGS]: _, ...others } = FLAGS;
    expect(() => termsOf(others)).toThrow(expect.objectContaining({ code: "ARGUMENT_INVALID" }));
  });

  it.each([
    { ...FLAGS, paymentPrice: "0" },
    { ...FLAGS, paymentFacilitator: "facilitator" },
    { ...FLAGS, paymentNetwork: "base" },
    { ...FLAGS, paymentAsset: "0x12" },
  ])("error: a setting of another form, case %#", (flags) => {
    expect(() => termsOf(flags)).toThrow(/--payment|payment/);
  });
});
