/** Who sees or steals a payment, against provers with the official facilitator and payers with the official client. */
import { encodePaymentRequiredHeader } from "@x402/core/http";
import express from "express";
import { type Address, type Hex, keccak256 } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { checkedFetch } from "../../../agent/sdk/adapters/x402.ts";
import { SILENT } from "../../../base/log.ts";
import type { PaidOrder } from "../../../protocol/rules/paid-order.ts";
import type { Digest } from "../../../protocol/rules/promises/signed-claim.ts";
import type { ModelId } from "../../../protocol/rules/types.ts";
import { listen } from "../../../protocol/service/http/listen.ts";
import { openDatabase } from "../../../protocol/service/journal/database.ts";
import { connectFacilitator } from "../../../prover/payment/facilitator.ts";
import { ORDERS_SCHEMA } from "../../../prover/payment/order-store.ts";
import { orderOffer } from "../../../prover/payment/record-extension.ts";
import type { PaymentService } from "../../../prover/payment/service.ts";
import { SignedSaleStore } from "../../../prover/payment/signed-sale-store.ts";
import { SignedSales } from "../../../prover/payment/signed-sales.ts";
import { accountAt, type LocalChain, startLocalChain } from "../../support/anvil.ts";
import { temporaryFolder } from "../../support/deploy.ts";
import { hashOf } from "../../support/orders.ts";
import { type PaymentSystem, startPayments } from "../../support/x402.ts";

const VALID_SECONDS = 600;
const PRICE = 25n;
const payer = accountAt(5);
const payee = accountAt(6).address;
const BODY = new Uint8Array([1, 2, 3]);
const ORDER: PaidOrder = {
  ...{ kind: "signed", chainId: 31337, assay: accountAt(1).address, model: `0x${"11".repeat(32)}` },
  ...{ inputHash: keccak256(BODY), requester: payer.address },
};
/** What else a thief may want to have for it. */
const OTHERS: readonly Partial<PaidOrder>[] = [
  { kind: "final" },
  { chainId: 1 },
  { assay: accountAt(2).address },
  { model: `0x${"12".repeat(32)}` },
  { inputHash: `0x${"33".repeat(32)}` },
  { requester: accountAt(9).address },
];

let local: LocalChain;
let payments: PaymentSystem;
beforeAll(async () => {
  local = await startLocalChain();
  payments = await startPayments(local, payer, accountAt(7));
});
afterAll(async () => {
  await payments?.stop();
  await local?.stop();
});

const serviceOf = (binding: "accepted" | "required") => {
  const { asset, network, facilitatorUrl } = payments;
  const terms = { price: PRICE, asset, network, payTo: payee, facilitatorUrl, binding };
  return connectFacilitator(terms, VALID_SECONDS);
};
/** The header with which a payer pays for an order. */
async function headerOf(order: PaidOrder, isBound: boolean): Promise<string> {
  const { sign } = await payments.as(payer, isBound ? ORDER : undefined);
  const terms = await serviceOf("accepted").terms("http://prover/tools/a", "none", order);
  const headers = await sign(new Response(null, { status: 402, headers: { "payment-required": terms } }));
  return headers["PAYMENT-SIGNATURE"] as string;
}
const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "accepted",
    ({ code }: { code: string }) => code,
  );
interface Payload {
  extensions: Record<string, { info: Record<string, unknown> }>;
  payload: { permit2Authorization: Record<string, unknown> };
}
const changed = (header: string, change: (payload: Payload) => void): string => {
  const payload = JSON.parse(Buffer.from(header, "base64").toString("utf8")) as Payload;
  change(payload);
  return Buffer.from(JSON.stringify(payload)).toString("base64");
};

describe("a payment that is bound to its order", () => {
  it("default: the official facilitator takes it, for its order", async () => {
    const service = serviceOf("required");
    const payment = await service.read(await headerOf(ORDER, true), ORDER);
    await service.verify(payment);
    const before = await payments.balanceOf(payee);
    expect(await service.settle(payment, {})).toMatchObject({ status: "taken" });
    expect((await payments.balanceOf(payee)) - before).toBe(PRICE);
  });

  it.each(OTHERS)("error: whoever has stolen it uses it for nothing else: %o", async (other) => {
    const header = await headerOf(ORDER, true);
    for (const binding of ["accepted", "required"] as const) {
      const service = serviceOf(binding);
      expect(await codeOf(service.read(header, { ...ORDER, ...other }))).toBe("PAYMENT_OTHER_ORDER");
    }
  });

  it("error: nor without its salt, with another one, or with a nonce that says nothing", async () => {
    const header = await headerOf(ORDER, true);
    const service = serviceOf("accepted");
    const read = (edited: string) => codeOf(service.read(edited, ORDER));
    const without = changed(header, ({ extensions }) => void delete extensions["assay-order"]);
    expect(await read(without)).toBe("PAYMENT_OTHER_ORDER");
    const salted = changed(header, ({ extensions }) => {
      (extensions["assay-order"] as Payload["extensions"][string]).info.salt = `0x${"00".repeat(32)}`;
    });
    expect(await read(salted)).toBe("PAYMENT_OTHER_ORDER");
    const plain = changed(header, ({ payload }) => {
      payload.permit2Authorization.nonce = "7";
    });
    expect(await codeOf(service.read(plain, ORDER).then((payment) => service.verify(payment)))).toBe(
      "PAYMENT_REFUSED",
    );
  });

  it("behavior: two payments for one order have two nonces, and the facilitator is given no salt", async () => {
    const service = serviceOf("accepted");
    const read = async () => service.read(await headerOf(ORDER, true), ORDER);
    const [one, two] = [await read(), await read()];
    expect(one.nonce).not.toBe(two.nonce);
    expect(one.signed).not.toContain('salt":"0x');
  });
});

describe("a payment of another client", () => {
  it("behavior: it is accepted, unless the operator demands that it names its order", async () => {
    const header = await headerOf(ORDER, false);
    const service = serviceOf("accepted");
    await service.verify(await service.read(header, ORDER));
    expect(await codeOf(serviceOf("required").read(header, ORDER))).toBe("PAYMENT_UNBOUND");
  });

  it("behavior: one that the facilitator was asked to take before that was demanded is asked for again, and buys its answer", async () => {
    const folder = temporaryFolder();
    const db = openDatabase(`${folder.path}/orders.sqlite`, [ORDERS_SCHEMA]);
    const salesOf = (service: PaymentService) =>
      new SignedSales({ store: new SignedSaleStore(db), service, offer: {}, nowMs: Date.now, log: SILENT });
    const bought = { model: ORDER.model as ModelId, inputHash: ORDER.inputHash };
    const digest = hashOf(1) as Digest;
    try {
      const header = await headerOf(ORDER, false);
      const lost = {
        ...serviceOf("accepted"),
        settle: async () => ({ status: "unknown", reason: "" }) as const,
      };
      const before = salesOf(lost);
      const first = await before.read(header, ORDER);
      expect(
        await codeOf(
          before.sell(
            bought,
            first,
            () => undefined,
            async () => ({ digest }),
          ),
        ),
      ).toBe("PAYMENT_UNKNOWN");
      const after = salesOf(serviceOf("required"));
      const sold = await after.sell(
        bought,
        await after.read(header, ORDER),
        () => ({ digest }),
        async () => ({ digest }),
      );
      expect([sold.answer, sold.receipt]).toEqual([{ digest }, expect.any(String)]);
      expect(await codeOf(after.read(await headerOf(ORDER, false), ORDER))).toBe("PAYMENT_UNBOUND");
    } finally {
      db.close();
      folder.remove();
    }
  });

  it("error: the SDK's scheme signs for no terms that name no order", async () => {
    const { sign } = await payments.as(payer, ORDER);
    const terms = await serviceOf("accepted").terms("http://prover/tools/a", "none", ORDER);
    const silent = changed(terms, ({ extensions }) => void delete extensions["assay-order"]);
    const asking = new Response(null, { status: 402, headers: { "payment-required": silent } });
    await expect(sign(asking)).rejects.toThrow("name no order");
  });
});

describe("checkedFetch", () => {
  const models = { sentiment: ORDER.model as Hex };
  /** Asks somebody, whose terms are about this order. @param path behind /tools */
  const ask = async (
    named: Partial<PaidOrder> | undefined,
    path: string,
    contentType = "application/octet-stream",
    send = checkedFetch({ ...ORDER, models }),
  ): Promise<string> => {
    const app = express();
    app.post("/tools/:model", (_request, response) => {
      const extensions = named === undefined ? {} : orderOffer({ ...ORDER, ...named }, "accepted");
      const required = {
        ...{ x402Version: 2 as const, accepts: [], resource: { url: "http://prover" }, extensions },
      };
      response.status(402).set("PAYMENT-REQUIRED", encodePaymentRequiredHeader(required)).send();
    });
    const server = await listen(app, "127.0.0.1", 0);
    try {
      const headers = { "content-type": contentType };
      return await codeOf(send(`${server.url}/tools/${path}`, { method: "POST", body: BODY, headers }));
    } finally {
      await server.close();
    }
  };
  const signed = `finality=signed&requester=${payer.address}`;
  const nobody = `0x${"00".repeat(20)}` as Address;
  const final = { kind: "final", requester: nobody } as const;

  it.each([ORDER.model, "sentiment"])("default: terms for what was asked for pass: %s", async (model) => {
    expect(await ask({}, `${model}?${signed}`)).toBe("accepted");
    expect(await ask({}, `${model}?${signed}`, "application/json")).toBe("accepted");
    expect(await ask(final, `${model}?finality=final&timeout=9`)).toBe("accepted");
    expect(await ask({ assay: ORDER.assay.toLowerCase() as Address }, `${model}?${signed}`)).toBe("accepted");
  });

  it.each(OTHERS.flatMap((other) => [ORDER.model, "sentiment"].map((model) => ({ other, model }))))(
    "error: a server that names another order has nothing signed: %o",
    async ({ other, model }) => {
      expect(await ask(other, `${model}?${signed}`)).toBe("PAYMENT_OTHER_ORDER");
      // The prover makes the calldata of a call in JSON.
      const isInput = "inputHash" in other;
      const code = await ask(other, `${model}?${signed}`, "application/json");
      expect(code).toBe(isInput ? "accepted" : "PAYMENT_OTHER_ORDER");
    },
  );

  it("error: terms for another requester, another finality, without an order, or for a name that says no model", async () => {
    const path = `${ORDER.model}?${signed}`;
    expect(await ask({ requester: nobody }, path)).toBe("PAYMENT_OTHER_ORDER");
    expect(await ask({}, `${ORDER.model}?finality=final`)).toBe("PAYMENT_OTHER_ORDER");
    expect(await ask(undefined, path)).toBe("PAYMENT_OTHER_ORDER");
    for (const name of ["forecast-vix", "toString", "__proto__"])
      expect([name, await ask({}, `${name}?${signed}`)]).toEqual([name, "PAYMENT_OTHER_ORDER"]);
  });

  it("error: it names the field, what the terms say and what was asked for", async () => {
    const named = { chainId: 1 };
    const work = ask(named, `sentiment?${signed}`, undefined, async (...call) => {
      const thrown = await checkedFetch({ ...ORDER, models })(...call).catch((error: Error) => error);
      expect((thrown as Error).message).toMatch(/name chainId 1, and the call asks for chainId 31337/);
      throw thrown;
    });
    expect(await work).toBe("PAYMENT_OTHER_ORDER");
  });

  it("behavior: an official client that pays by it pays no lying server", async () => {
    const { fetch: pay } = await payments.as(payer, { ...ORDER, models });
    const paid: unknown[] = [];
    const app = express();
    app.post("/tools/:model", async (request, response) => {
      const header = request.get("payment-signature");
      if (header !== undefined) paid.push(header);
      const lie = { ...ORDER, model: `0x${"12".repeat(32)}` as Hex };
      const terms = await serviceOf("accepted").terms("http://prover", "none", lie);
      response.status(402).set("PAYMENT-REQUIRED", terms).send();
    });
    const server = await listen(app, "127.0.0.1", 0);
    try {
      const headers = { "content-type": "application/octet-stream" };
      const call = pay(`${server.url}/tools/sentiment?${signed}`, { method: "POST", body: BODY, headers });
      await expect(call).rejects.toThrow("model 0x1212");
      expect(paid).toEqual([]);
    } finally {
      await server.close();
    }
  });
});
