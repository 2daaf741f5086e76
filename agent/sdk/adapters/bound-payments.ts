/** Payments of x402 that are good for one order alone (docs/X402.md, Bound payments): the nonce that the payer signs
 *  commits to what he buys, so that whoever gets hold of a payment can use it for nothing else. */
import { type Address, type Hex, keccak256, toHex } from "viem";
import { BaseError } from "../../../base/errors.ts";
import type { GameAddress } from "../../../protocol/rules/ids.ts";
import { boundNonce, ORDER_EXTENSION, orderIn, type PaidOrder } from "../../../protocol/rules/paid-order.ts";
import { ZERO_ADDRESS } from "../../../protocol/rules/types.ts";

interface TypedData {
  readonly domain: Record<string, unknown>;
  readonly types: Record<string, unknown>;
  readonly primaryType: string;
  readonly message: Record<string, unknown>;
}

/** An account of viem, or another signer of x402. */
export interface PayingSigner {
  readonly address: Address;
  signTypedData(data: TypedData): Promise<Hex>;
}

/** `UptoEvmScheme` of @x402/evm. Its methods are bivariant: the library's own types stay with the caller. */
export interface PayingScheme {
  createPaymentPayload(
    version: number,
    requirements: never,
    context?: { readonly extensions?: Record<string, unknown> },
  ): Promise<{ x402Version: number; payload: Record<string, unknown>; extensions?: Record<string, unknown> }>;
}

/** The scheme whose payments are bound: `boundScheme((signer) => new UptoEvmScheme(signer), account)`, to be registered in
 *  the place of the one that is made. It pays nobody whose terms name no order.
 *  @throws BaseError PAYMENT_UNBOUND, in `createPaymentPayload` */
export function boundScheme<Signer extends PayingSigner, Scheme extends PayingScheme>(
  make: (signer: Signer) => Scheme,
  signer: Signer,
): Scheme {
  const create: PayingScheme["createPaymentPayload"] = async (version, requirements, context) => {
    const order = orderIn(context?.extensions);
    if (order === undefined) throw noOrder();
    const salt = toHex(crypto.getRandomValues(new Uint8Array(32)));
    const nonce = boundNonce(order, salt);
    // The scheme makes a nonce itself; what is signed, and sent, has this one.
    const signTypedData = (data: TypedData) =>
      signer.signTypedData(
        data.domain.name === "Permit2" ? { ...data, message: { ...data.message, nonce } } : data,
      );
    const binding: Signer = Object.create(signer, { signTypedData: { value: signTypedData } });
    const made = await make(binding).createPaymentPayload(version, requirements, context);
    const { permit2Authorization: authorization } = made.payload;
    if (typeof authorization !== "object" || authorization === null) throw noOrder();
    return {
      ...made,
      payload: { ...made.payload, permit2Authorization: { ...authorization, nonce: `${nonce}` } },
      extensions: { ...made.extensions, [ORDER_EXTENSION]: { info: { salt } } },
    };
  };
  return Object.assign(make(signer), { createPaymentPayload: create });
}

/** Where a payer buys, and what. */
export interface Bought extends GameAddress {
  /** ids of models by the names that his calls have in their paths; what is asked for by its id needs none */
  readonly models?: Readonly<Record<string, Hex>>;
}

/** `fetch` for `wrapFetchWithPayment`: terms that name another order than the call's, be it of another chain, contract or
 *  model, are refused before anything is signed. Of calls in JSON the input is not compared: their calldata is the prover's.
 *  @throws BaseError PAYMENT_OTHER_ORDER */
export function checkedFetch(bought: Bought, send: typeof fetch = fetch): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    const isCalldata = request.headers.get("content-type") === "application/octet-stream";
    const body = isCalldata ? request.clone() : undefined;
    const response = await send(request);
    const header = response.headers.get("payment-required");
    if (response.status !== 402 || header === null) return response;
    const named = orderIn(extensionsIn(header));
    if (named === undefined) throw otherOrder(request.url, "no order");
    const inputHash = body === undefined ? undefined : keccak256(new Uint8Array(await body.arrayBuffer()));
    requireAsked(named, orderOf(bought, new URL(request.url), inputHash), request.url);
    return response;
  };
}

/** What a call asks for. @param inputHash undefined: the call does not say. The model is undefined for a name without an id */
function orderOf(
  { chainId, assay, models = {} }: Bought,
  { pathname, searchParams }: URL,
  inputHash: Hex | undefined,
): Asked {
  const name = decodeURIComponent(pathname.slice(pathname.lastIndexOf("/") + 1));
  const isSigned = ["signed", "batched"].includes(searchParams.get("finality") ?? "");
  return {
    ...{ kind: isSigned ? "signed" : "final", chainId, assay, inputHash },
    model: /^0x[0-9a-f]{64}$/.test(name)
      ? name
      : Object.hasOwn(models, name)
        ? models[name]
        : `${name}, whose id is not in models`,
    requester: (isSigned && searchParams.get("requester")) || ZERO_ADDRESS,
  };
}

type Asked = { readonly [Name in keyof PaidOrder]: string | number | undefined };

/** @throws BaseError PAYMENT_OTHER_ORDER */
function requireAsked(named: PaidOrder, asked: Asked, url: string): void {
  for (const field of ["kind", "chainId", "assay", "model", "inputHash", "requester"] as const) {
    const wanted = asked[field];
    const isSame = `${named[field]}`.toLowerCase() === `${wanted}`.toLowerCase();
    if (wanted !== undefined && !isSame)
      throw otherOrder(url, `${field} ${named[field]}`, `${field} ${wanted}`);
  }
}

function extensionsIn(header: string): Record<string, unknown> | undefined {
  try {
    const bytes = Uint8Array.from(atob(header), (character) => character.charCodeAt(0));
    return JSON.parse(new TextDecoder().decode(bytes)).extensions;
  } catch {
    return undefined;
  }
}

const noOrder = () =>
  new BaseError({
    code: "PAYMENT_UNBOUND",
    shortMessage: `The terms name no order in the extension ${ORDER_EXTENSION}, so no payment can be bound to it; nothing was signed.`,
    nextStep: "Ask a prover of this version, or pay by the scheme itself.",
  });

const otherOrder = (url: string, named: string, asked = "one") =>
  new BaseError({
    code: "PAYMENT_OTHER_ORDER",
    shortMessage: `The terms of ${url} name ${named}, and the call asks for ${asked}; nothing was signed.`,
    nextStep:
      "Check chain, contract and models of checkedFetch; if they are right, do not use this prover, or what stands between it and you.",
    details: { url, named, asked },
  });
