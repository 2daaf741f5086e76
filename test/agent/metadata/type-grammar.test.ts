/** Types made by the grammar of the Ethereum ABI, and near misses of it. */
import fc from "fast-check";
import { encodeAbiParameters } from "viem";
import { describe, expect, it } from "vitest";
import { isTuple, typeFault } from "../../../inference/manifest/abi.ts";
import { METADATA_LIMITS } from "../../../inference/manifest/metadata-rules.ts";

const bits = fc.integer({ min: 1, max: 32 }).map((n) => 8 * n);
const base = fc.oneof(
  fc.constantFrom("string", "bytes", "bool", "address", "function", "tuple"),
  fc.tuple(fc.constantFrom("int", "uint"), bits).map(([name, n]) => `${name}${n}`),
  fc.integer({ min: 1, max: 32 }).map((n) => `bytes${n}`),
  fc
    .tuple(fc.constantFrom("fixed", "ufixed"), bits, fc.integer({ min: 1, max: 80 }))
    .map(([name, m, n]) => `${name}${m}x${n}`),
);
const suffix = fc.oneof(
  fc.constant("[]"),
  fc.integer({ min: 1, max: 999_999_999 }).map((n) => `[${n}]`),
);
const suffixes = fc
  .array(suffix, { maxLength: METADATA_LIMITS.arrayDimensions })
  .map((parts) => parts.join(""));
const valid = fc.tuple(base, suffixes).map((parts) => parts.join(""));

/** Each makes a type that no grammar allows out of any that it does. */
const BROKEN: readonly ((type: string) => string)[] = [
  (t) => `${t} `,
  (t) => ` ${t}`,
  (t) => `${t}[0]`,
  (t) => `${t}[01]`,
  (t) => `${t}[-1]`,
  (t) => `${t}[a]`,
  (t) => `${t}[1.5]`,
  (t) => `${t}[ 1]`,
  (t) => `${t}[`,
  (t) => `${t}]`,
  (t) => `${t}[[]]`,
  (t) => `[]${t}`,
  (t) => t.toUpperCase(),
  (t) => t.slice(2),
  (t) => `${t}\n`,
  (t) => `${t},bool`,
  (t) => `(${t})`,
  (t) => `x${t}`,
];
const WRONG_BASES = fc.oneof(
  fc.constantFrom(
    "int",
    "uint",
    "fixed",
    "ufixed",
    "byte",
    "float",
    "enum",
    "mapping",
    "address payable",
    "",
  ),
  fc
    .integer({ min: 1, max: 999 })
    .filter((n) => n % 8 !== 0 || n > 256)
    .map((n) => `uint${n}`),
  fc.integer({ min: 33, max: 999 }).map((n) => `bytes${n}`),
  fc.integer({ min: 81, max: 99 }).map((n) => `fixed128x${n}`),
  fc.constantFrom(
    "uint08",
    "int0",
    "bytes0",
    "bytes01",
    "fixed128",
    "fixed128x0",
    "fixed128x",
    "bytes32x1",
    "tuple1",
  ),
);

describe("typeFault", () => {
  // shows: S-17, S-45, D-68
  it("default: every type of the grammar passes", () => {
    fc.assert(
      fc.property(valid, (type) => typeFault(type) === undefined),
      { numRuns: 2_000 },
    );
  });

  // shows: S-17, S-43, S-45
  it("error: near misses", () => {
    fc.assert(
      fc.property(valid, fc.constantFrom(...BROKEN), (type, breakIt) => {
        expect(typeFault(breakIt(type))).toBeDefined();
      }),
      { numRuns: 2_000 },
    );
    fc.assert(
      fc.property(WRONG_BASES, suffixes, (wrong, rest) => {
        expect(typeFault(wrong + rest)?.rule).toBe("type");
      }),
    );
  });

  it("behavior: any text is answered, and what passes is what viem encodes, but for what only the ABI names", () => {
    const text = fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom(..."uintbytes[]0123456789()x ") }));
    fc.assert(
      fc.property(text, (type) => {
        const isOurs = typeFault(type) === undefined;
        if (!isOurs || isTuple(type) || /fixed|function/.test(type)) return;
        const isArray = type.endsWith("]");
        const known = () => encodeAbiParameters([{ type }], [isArray ? [] : undefined] as never);
        expect(known).not.toThrow(/not a valid encoding type/);
      }),
      { numRuns: 2_000 },
    );
  });
});
