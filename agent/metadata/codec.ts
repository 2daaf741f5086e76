/** Calldata and replies of an agent's methods, by its metadata. Source: specs/003, lines 173-373. */

import { concatBytes, fromHex, type Hex, toHex } from "../../base/bytes.ts";
import { BaseError } from "../../base/errors.ts";
import { type AbiFunction, selectorOf, signatureOf } from "../../inference/manifest/abi.ts";
import { decodeValues, encodeValues, renamed } from "../../protocol/rules/abi-values.ts";

export interface AgentMethod extends AbiFunction {
  /** `name(type1,…)` */
  readonly signature: string;
  /** 0x and 8 digits */
  readonly selector: Hex;
}

export interface AgentCall {
  readonly method: AgentMethod;
  readonly args: readonly unknown[];
}

export interface AgentCodec {
  readonly methods: readonly AgentMethod[];
  /** @throws BaseError METHOD_UNKNOWN */
  method(name: string): AgentMethod;
  /** Selector, then the encoded arguments: what a contract call carries.
   *  @throws BaseError METHOD_UNKNOWN, INPUTS_INVALID */
  encodeCall(name: string, args: readonly unknown[]): Uint8Array;
  /** @throws BaseError CALLDATA_TOO_SHORT, SELECTOR_UNKNOWN, CALLDATA_NOT_CANONICAL, TEXT_NOT_UNICODE */
  decodeCall(calldata: Uint8Array): AgentCall;
  /** The encoded outputs alone. @throws BaseError OUTPUT_INVALID */
  encodeReply(name: string, results: readonly unknown[]): Uint8Array;
  /** @throws BaseError OUTPUT_INVALID, TEXT_NOT_UNICODE */
  decodeReply(name: string, reply: Uint8Array): readonly unknown[];
}

const SELECTOR_BYTES = 4;
const WORD_BYTES = 32;

/** @param abi of valid metadata: names and selectors are distinct */
export function agentCodec(abi: readonly AbiFunction[]): AgentCodec {
  const methods = abi.map((f) => ({ ...f, signature: signatureOf(f), selector: toHex(selectorOf(f)) }));
  const bySelector = new Map(methods.map((method) => [method.selector, method]));
  const byName = new Map(methods.map((method) => [method.name, method]));
  const method = (name: string): AgentMethod => {
    const found = byName.get(name);
    if (found !== undefined) return found;
    throw unknownMethod(JSON.stringify(name.slice(0, 80)), "METHOD_UNKNOWN", methods);
  };
  return {
    methods,
    method,
    encodeCall: (name, args) => {
      const { selector, inputs } = method(name);
      const encoded = renaming("INPUTS_INVALID", () => encodeValues(inputs, args));
      return concatBytes(fromHex(selector), fromHex(encoded));
    },
    decodeCall: (calldata) => {
      if (calldata.length < SELECTOR_BYTES) throw tooShort(calldata.length);
      const selector = toHex(calldata.subarray(0, SELECTOR_BYTES));
      const called = bySelector.get(selector);
      if (called === undefined) throw unknownMethod(`the selector ${selector}`, "SELECTOR_UNKNOWN", methods);
      const encoded = calldata.subarray(SELECTOR_BYTES);
      const args = renaming("CALLDATA_NOT_CANONICAL", () => decodeValues(called.inputs, encoded));
      return { method: called, args };
    },
    encodeReply: (name, results) =>
      fromHex(renaming("OUTPUT_INVALID", () => encodeValues(method(name).outputs, results))),
    decodeReply: (name, reply) => {
      if (reply.length % WORD_BYTES !== 0) throw notWords(reply.length);
      return renaming("OUTPUT_INVALID", () => decodeValues(method(name).outputs, reply));
    },
  };
}

function renaming<T>(code: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw renamed(error, code);
  }
}

const unknownMethod = (what: string, code: string, methods: readonly AgentMethod[]) =>
  new BaseError({
    code,
    shortMessage: `The agent has no method of ${what}.`,
    nextStep: `It has ${methods.map(({ selector, signature }) => `${selector} ${signature}`).join(", ")}.`,
  });

const tooShort = (bytes: number) =>
  new BaseError({
    code: "CALLDATA_TOO_SHORT",
    shortMessage: `The calldata has ${bytes} bytes, a selector alone has ${SELECTOR_BYTES}.`,
    nextStep: "Send the selector, then the ABI-encoded arguments.",
    details: { bytes },
  });

const notWords = (bytes: number) =>
  new BaseError({
    code: "OUTPUT_INVALID",
    shortMessage: `The reply has ${bytes} bytes, no multiple of ${WORD_BYTES}.`,
    nextStep: "Check that the address is an agent's and that the metadata is its own.",
    details: { bytes },
  });
