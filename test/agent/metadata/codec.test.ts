import { readFileSync } from "node:fs";
import fc from "fast-check";
import {
  type Abi,
  concatHex,
  encodeFunctionData,
  encodeFunctionResult,
  keccak256,
  slice,
  toBytes,
} from "viem";
import { describe, expect, it } from "vitest";
import { agentCodec } from "../../../agent/metadata/codec.ts";
import { fromHex, toHex } from "../../../base/bytes.ts";
import { isBaseError } from "../../../base/errors.ts";
import type { AbiFunction, AbiParameter } from "../../../inference/manifest/abi.ts";
import { CALLS, CREATE_ORDER, GREET, RECIPIENT, REQUEST } from "../../support/agent-calls.ts";
import { AGENT_EXAMPLES } from "../../support/agent-metadata.ts";

const { vectors } = JSON.parse(readFileSync("test/vectors/agent-calldata.json", "utf8")) as {
  vectors: { signature: string; calldata: string; reply: string }[];
};
const function1 = (type: string, components?: AbiParameter[]): AbiFunction => {
  const parameter = { name: "x", type, ...(components === undefined ? {} : { components }) };
  return { type: "function", name: "f", inputs: [parameter], outputs: [parameter] };
};
/** Integers as text, whatever the value was given as. */
const plain = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (_key, part) => (typeof part === "bigint" ? `${part}` : part)));
const codeOf = (work: () => unknown): string => {
  try {
    work();
  } catch (error) {
    if (isBaseError(error)) return error.code;
    throw error;
  }
  return "none";
};

describe("agentCodec", () => {
  const cases = CALLS.map((call, i) => ({ ...call, ...vectors[i]! }));
  // shows: S-16, S-17, S-18, S-20, S-21, S-22, S-23, S-24, S-27, S-28, S-29, S-30, D-71
  it.each(cases)("default: $signature as cast encodes it", ({ method, args, results, calldata, reply }) => {
    const codec = agentCodec([method]);
    expect(toHex(codec.encodeCall(method.name, args))).toBe(calldata);
    expect(plain(codec.decodeCall(fromHex(calldata)).args)).toEqual(args);
    expect(toHex(codec.encodeReply(method.name, results))).toBe(reply);
    expect(plain(codec.decodeReply(method.name, fromHex(reply)))).toEqual(results);
  });

  // shows: S-20, S-23, S-27, S-28, S-29, S-30, D-71
  it("behavior: selectors are computed, by viem's functions as by ours", () => {
    const selectors = Object.fromEntries(
      CALLS.map(({ method }) => agentCodec([method]).methods[0]!).map((m) => [m.signature, m.selector]),
    );
    expect(selectors).toMatchObject({
      "greet(string)": "0xead710c4",
      "fetch(string,string)": "0xe207bc0c",
      "request(string,string[],string[])": "0xa31b4644",
      "createOrder((string,uint256,address))": "0x6c2d582f",
      "processUser((string,uint256,address))": "0xc0860860",
      "analyze(bytes)": "0x8171a6ef",
    });
    for (const [signature, selector] of Object.entries(selectors)) {
      expect(slice(keccak256(toBytes(signature)), 0, 4)).toBe(selector);
    }
  });

  // shows: S-22, S-25, S-31
  it("behavior: a body is encodeFunctionData's, byte for byte; greet('Alice') has 100", () => {
    const body = agentCodec([GREET]).encodeCall("greet", ["Alice"]);
    const abi = [GREET] as unknown as Abi;
    expect(toHex(body)).toBe(encodeFunctionData({ abi, functionName: "greet", args: ["Alice"] }));
    expect(body.length).toBe(100);
    const order = { item: "Widget", quantity: 5n, recipient: RECIPIENT };
    expect(toHex(agentCodec([CREATE_ORDER]).encodeCall("createOrder", [order]))).toBe(
      encodeFunctionData({
        abi: [CREATE_ORDER] as unknown as Abi,
        functionName: "createOrder",
        args: [order],
      }),
    );
  });

  // shows: S-29, S-30
  it("behavior: several outputs are one tuple: 64 bytes for two words, 96 for three", () => {
    expect(agentCodec([CREATE_ORDER]).encodeReply("createOrder", [new Uint8Array(32), true]).length).toBe(64);
    const [{ abi }] = AGENT_EXAMPLES.slice(2) as [(typeof AGENT_EXAMPLES)[number]];
    expect(agentCodec(abi).encodeReply("analyze", [new Uint8Array(32), 1, false]).length).toBe(96);
  });

  // shows: S-26
  it("behavior: calldata is dispatched by its selector", () => {
    const codec = agentCodec(AGENT_EXAMPLES[1]!.abi);
    expect(codec.decodeCall(codec.encodeCall("generate", ["a"])).method.name).toBe("generate");
    expect(codec.decodeCall(codec.encodeCall("chat", [["a"], ["user"]])).method.name).toBe("chat");
    expect(codeOf(() => codec.decodeCall(agentCodec([GREET]).encodeCall("greet", ["A"])))).toBe(
      "SELECTOR_UNKNOWN",
    );
    expect(codeOf(() => codec.decodeCall(Uint8Array.of(1, 2, 3)))).toBe("CALLDATA_TOO_SHORT");
    expect(codeOf(() => codec.method("toString"))).toBe("METHOD_UNKNOWN");
  });

  // shows: S-18
  it("error: text that is no UTF-8, in calldata and in a reply; half a surrogate pair in arguments", () => {
    const codec = agentCodec([GREET]);
    const bytes = codec.encodeCall("greet", ["ab"]);
    bytes.set([0xc3, 0x28], 68);
    expect(codeOf(() => codec.decodeCall(bytes))).toBe("TEXT_NOT_UNICODE");
    expect(codeOf(() => codec.decodeReply("greet", bytes.subarray(4)))).toBe("TEXT_NOT_UNICODE");
    expect(codeOf(() => codec.encodeCall("greet", ["\ud800"]))).toBe("INPUTS_INVALID");
  });

  // shows: S-18
  it("behavior: text keeps what viem's decoder loses: a byte order mark, zero characters", () => {
    const codec = agentCodec([GREET]);
    for (const text of ["\ufeffa", "\0a\0", "\ufffd"]) {
      expect(codec.decodeCall(codec.encodeCall("greet", [text])).args).toEqual([text]);
    }
  });

  // shows: S-24
  it("error: a reply with a selector, cut short, or too long", () => {
    const codec = agentCodec([GREET]);
    const reply = codec.encodeReply("greet", ["Hello, Alice!"]);
    for (const wrong of [
      codec.encodeCall("greet", ["Hello, Alice!"]),
      reply.slice(0, -1),
      reply.slice(0, -32),
      new Uint8Array([...reply, ...new Uint8Array(32)]),
      new Uint8Array(0),
    ]) {
      expect(codeOf(() => codec.decodeReply("greet", wrong))).toBe("OUTPUT_INVALID");
    }
  });

  // shows: S-19, D-71
  it.each<[string, unknown]>([
    ["address", "0x742d35Cc6634C0532925a3b844Bc9e7595f0bEb"],
    ["address", `0x${"11".repeat(19)}`],
    ["address", `0x${"11".repeat(21)}`],
    ["address", RECIPIENT.replace("d", "D")],
    ["address", 7],
    ["uint8", 256],
    ["uint8", -1],
    ["int8", 128],
    ["uint256", 1.5],
    ["uint256", 2 ** 60],
    ["uint256", "0x10"],
    ["uint256", ""],
    ["uint256", `${2n ** 256n}`],
    ["bool", 1],
    ["bool", "true"],
    ["string", 7],
    ["bytes", "0x123"],
    ["bytes", "abc"],
    ["bytes4", "0x010203"],
    ["bytes4", new Uint8Array(5)],
    ["function", new Uint8Array(20)],
    ["uint256[2]", [1]],
    ["uint256[]", { 0: 1 }],
    ["string[]", "a"],
  ])("error: %s from %j", (type, value) => {
    expect(codeOf(() => agentCodec([function1(type)]).encodeCall("f", [value]))).toBe("INPUTS_INVALID");
  });

  it("error: tuples with a part too few, too many, or of another name; a call with too few arguments", () => {
    const codec = agentCodec([CREATE_ORDER, REQUEST]);
    const order = { item: "W", quantity: 1, recipient: RECIPIENT };
    const { item: _, ...less } = order;
    for (const value of [less, { ...order, more: 1 }, { ...less, article: "W" }, [1, 2], null, "W"]) {
      expect(codeOf(() => codec.encodeCall("createOrder", [value]))).toBe("INPUTS_INVALID");
    }
    expect(codeOf(() => codec.encodeCall("request", ["a", []]))).toBe("INPUTS_INVALID");
    expect(codec.encodeCall("createOrder", [["W", 1, RECIPIENT]])).toEqual(
      codec.encodeCall("createOrder", [order]),
    );
  });

  it("args: types that the ABI names and viem does not: function, fixed", () => {
    for (const [type, value, word] of [
      ["function", `0x${"12".repeat(24)}`, "12".repeat(24) + "00".repeat(8)],
      ["fixed128x18", -1n, "ff".repeat(32)],
      ["ufixed8x1", 25n, `${"00".repeat(31)}19`],
    ] as const) {
      const codec = agentCodec([function1(type)]);
      const body = codec.encodeCall("f", [value]);
      expect(toHex(body)).toBe(concatHex([slice(keccak256(toBytes(`f(${type})`)), 0, 4), `0x${word}`]));
      expect(codec.decodeCall(body).args).toEqual([value]);
    }
  });

  it("behavior: unnamed components make an array, named ones an object, whatever the name", () => {
    const of = (...names: string[]) =>
      agentCodec([
        function1(
          "tuple",
          names.map((name) => ({ name, type: "bool" })),
        ),
      ]);
    const there = (codec: ReturnType<typeof of>) =>
      codec.decodeCall(codec.encodeCall("f", [[true, false]])).args[0];
    expect(there(of("a", "__proto__"))).toEqual(JSON.parse('{"a":true,"__proto__":false}'));
    expect(there(of("a", ""))).toEqual([true, false]);
  });
});

/** A type of the grammar with a value of it. */
interface Typed {
  readonly type: string;
  readonly components?: AbiParameter[];
  readonly value: unknown;
}
const integers = (isSigned: boolean) =>
  fc.integer({ min: 1, max: 32 }).chain((n) => {
    const [min, max] = isSigned
      ? [-(2n ** BigInt(8 * n - 1)), 2n ** BigInt(8 * n - 1) - 1n]
      : [0n, 2n ** BigInt(8 * n) - 1n];
    return fc
      .bigInt({ min, max })
      .map((value): Typed => ({ type: `${isSigned ? "" : "u"}int${8 * n}`, value }));
  });
const hexOf = (length: { min: number; max: number }) =>
  fc.uint8Array({ minLength: length.min, maxLength: length.max }).map((bytes) => toHex(bytes));
const scalar: fc.Arbitrary<Typed> = fc.oneof(
  integers(true),
  integers(false),
  fc.string({ unit: "grapheme" }).map((value) => ({ type: "string", value })),
  fc.boolean().map((value) => ({ type: "bool", value })),
  hexOf({ min: 20, max: 20 }).map((value) => ({ type: "address", value })),
  hexOf({ min: 0, max: 70 }).map((value) => ({ type: "bytes", value })),
  fc
    .integer({ min: 1, max: 32 })
    .chain((n) => hexOf({ min: n, max: n }).map((value) => ({ type: `bytes${n}`, value }))),
);
const { any: typed } = fc.letrec<{ any: Typed }>((tie) => ({
  any: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    scalar,
    fc.array(tie("any"), { minLength: 1, maxLength: 3 }).map(
      (parts): Typed => ({
        type: "tuple",
        components: parts.map(({ value: _, ...part }, i) => ({ name: `p${i}`, ...part })),
        value: Object.fromEntries(parts.map(({ value }, i) => [`p${i}`, value])),
      }),
    ),
    fc.tuple(tie("any"), fc.integer({ min: 0, max: 3 }), fc.boolean()).map(
      ([part, count, isFixed]): Typed => ({
        ...part,
        type: `${part.type}[${isFixed && count > 0 ? count : ""}]`,
        value: Array(count).fill(part.value),
      }),
    ),
  ),
}));

describe("agentCodec, any types", () => {
  // shows: S-16, S-17, S-21, S-22
  it("behavior: a round trip, and the bytes of viem's own encoder", () => {
    fc.assert(
      fc.property(typed, ({ value, ...type }) => {
        const f = function1(type.type, type.components);
        const codec = agentCodec([f]);
        const body = codec.encodeCall("f", [value]);
        const abi = [f] as unknown as Abi;
        expect(toHex(body)).toBe(encodeFunctionData({ abi, functionName: "f", args: [value] }));
        expect(toHex(codec.encodeReply("f", [value]))).toBe(
          encodeFunctionResult({ abi, functionName: "f", result: value }),
        );
        const [back] = codec.decodeCall(body).args;
        expect(toHex(codec.encodeCall("f", [back]))).toBe(toHex(body));
        expect(JSON.stringify(plain(back)).toLowerCase()).toBe(JSON.stringify(plain(value)).toLowerCase());
      }),
      { numRuns: 500 },
    );
  });

  it("behavior: changed bytes are refused by name, or are the encoding of other values", () => {
    const change = fc.record({
      at: fc.nat(),
      byte: fc.integer({ min: 0, max: 255 }),
      cut: fc.integer({ min: 0, max: 64 }),
    });
    fc.assert(
      fc.property(typed, change, ({ value, ...type }, { at, byte, cut }) => {
        const codec = agentCodec([function1(type.type, type.components)]);
        const whole = codec.encodeCall("f", [value]);
        const body = whole.slice(0, at % 3 === 0 ? Math.max(4, whole.length - cut) : whole.length);
        if (body.length > 4) body[4 + (at % (body.length - 4))] = byte;
        try {
          expect(toHex(codec.encodeCall("f", codec.decodeCall(body).args))).toBe(toHex(body));
        } catch (error) {
          if (!isBaseError(error)) throw error;
          expect(["CALLDATA_NOT_CANONICAL", "TEXT_NOT_UNICODE"]).toContain(error.code);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it("error: lengths and offsets that ask for more memory than there is", () => {
    const word = (value: bigint) => value.toString(16).padStart(64, "0");
    for (const type of [
      "uint256[]",
      "string",
      "string[][]",
      "uint256[999999999]",
      "bool[9999][9999][9999]",
      "bytes[]",
    ]) {
      const codec = agentCodec([function1(type)]);
      for (const words of [
        [32n, 2n ** 255n],
        [32n, 2n ** 32n - 1n],
        [0n, 0n],
        [32n, 1_000_000n, ...Array<bigint>(64).fill(0n)],
      ]) {
        const body = fromHex(`${codec.methods[0]!.selector}${words.map(word).join("")}`);
        expect(codeOf(() => codec.decodeCall(body))).toBe("CALLDATA_NOT_CANONICAL");
      }
    }
  });
});
