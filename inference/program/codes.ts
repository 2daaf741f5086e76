/** Every number of a program's bytes that has a name, once: `npm run gen` writes them out for Solidity
 *  (verifier-contracts/generated/Codes.sol). They are committed by every model's id: a number is never given to another
 *  name. Source: docs/EXACT.md, sections 1 to 3. */

export const TYPE_CODES = { u8: 0, s8: 1, s32: 2, f32: 3, bool: 4 } as const;

export const LAYOUT_CODES = { plain: 1, dot: 2, lookup: 3, channel: 4 } as const;

/** None of them is a number of CODEC's variants below. */
export const INPUT_CODEC_CODES = { text: 1, prices: 2, int16s: 3, raw: 4 } as const;
export const OUTPUT_CODEC_CODES = { words: 1, int16s: 2, raw: 3 } as const;

/** An operand of a record: below WEIGHT a step, NONE if it is absent, else WEIGHT + index of a weight tensor. */
export const WEIGHT = 0x8000;
export const NONE = 0xffff;

interface OpcodeRow {
  /** The opcode's number in a record. */
  readonly code: number;
  /** Names of the variants and their numbers in a record; none: the opcode has one form, variant 0. */
  readonly variants: Readonly<Record<string, number>>;
  /** What the attribute k means; without it k is 0. */
  readonly attribute?: string;
  /** What it means for one of the variants, where that is something else. */
  readonly attributeOf?: Readonly<Record<string, string>>;
  /** Of variants that version 1 of the judge does not have: the first version that has them. */
  readonly since?: Readonly<Record<string, number>>;
  /** Variants that are judged, and that no interpreter runs. */
  readonly judgedOnly?: readonly string[];
}

/** The opcodes. What each has a file for is listed in tools/gen-opcodes.ts, which writes the lists of these files: a
 *  new row, then `npm run gen`, and both compilers name the files that are missing. */
export const OPCODE_TABLE = {
  /** Its variant is the code of the header's input codec, or a variant's own. */
  codec: {
    code: 1,
    variants: { claimed: 5 },
    attribute: "k",
    since: { claimed: 2 },
    judgedOnly: ["claimed"],
  },
  move: { code: 2, variants: {}, attribute: "pad" },
  lookup: {
    code: 3,
    variants: { sum: 0, pick: 1, each: 2, below: 3 },
    since: { each: 2, below: 2 },
    judgedOnly: ["each", "below"],
  },
  dot: {
    code: 4,
    variants: { s32: 0, integer: 1, binary32: 2, activations: 3, planes: 4, rescaled: 5 },
    attribute: "groups",
    attributeOf: { activations: "rows a matrix" },
    since: { activations: 2, planes: 2, rescaled: 2 },
    judgedOnly: ["activations", "planes", "rescaled"],
  },
  requant: { code: 5, variants: { integer: 1, binary32: 2 } },
  rescale: {
    code: 6,
    variants: { channel: 0, ratio: 1, planes: 2 },
    attributeOf: { ratio: "multiplier" },
    since: { ratio: 2, planes: 2 },
    judgedOnly: ["ratio", "planes"],
  },
  table: { code: 7, variants: {} },
  arith: {
    code: 8,
    variants: { add: 0, sub: 1, mul: 2, min: 3, max: 4, div: 5, lt: 6, le: 7, eq: 8, cast: 9, rotate: 10 },
    attributeOf: { rotate: "shift" },
    since: { rotate: 2 },
    judgedOnly: ["rotate"],
  },
  float: {
    code: 9,
    variants: {
      ...{ add: 0, sub: 1, mul: 2, div: 3, sqrt: 4, round: 5, min: 6, max: 7 },
      ...{ lt: 8, le: 9, eq: 10, tofloat: 11, toint: 12, dequant: 13, quant: 14 },
    },
  },
  reduce: {
    code: 10,
    variants: { sum: 0, min: 1, max: 2, norm: 3 },
    attributeOf: { norm: "addend" },
    since: { norm: 2 },
    judgedOnly: ["norm"],
  },
  select: { code: 11, variants: {} },
} as const satisfies Readonly<Record<string, OpcodeRow>>;

type Table = typeof OPCODE_TABLE;
export type Opcode = keyof Table;
/** Name of a variant of an opcode. */
export type Variant<O extends Opcode> = keyof Table[O]["variants"] & string;

/** Number of each opcode. */
export const OPCODE_CODES = Object.fromEntries(
  Object.entries(OPCODE_TABLE).map(([name, { code }]) => [name, code]),
) as Readonly<Record<Opcode, number>>;

/** The names of a table of codes, in the order of their codes. */
export const namesOf = <T extends string>(codes: Readonly<Record<T, number>>): readonly T[] =>
  (Object.keys(codes) as T[]).sort((x, y) => codes[x] - codes[y]);

/** The name that has a code, if one has. */
export const nameOf = <T extends string>(codes: Readonly<Record<T, number>>, code: number): T | undefined =>
  (Object.keys(codes) as T[]).find((name) => codes[name] === code);

/** Number of an opcode's variant. */
export function variantCode<O extends Opcode>(opcode: O, name: Variant<O>): number {
  const variants: Readonly<Record<string, number>> = OPCODE_TABLE[opcode].variants;
  return variants[name] as number;
}

/** Name of a step's variant; undefined where its opcode has one form, or no such variant. */
export const variantName = (opcode: Opcode, variant: number): string | undefined =>
  nameOf(OPCODE_TABLE[opcode].variants as Readonly<Record<string, number>>, variant);

/** What the attribute k of an opcode's variant means. */
export function attributeName(opcode: Opcode, variant: number): string {
  const { attribute, attributeOf }: OpcodeRow = OPCODE_TABLE[opcode];
  return attributeOf?.[variantName(opcode, variant) ?? ""] ?? attribute ?? "k";
}

/** The first version of the judge that has an opcode's variant. */
export function sinceVersion(opcode: Opcode, variant: number): number {
  const { since }: OpcodeRow = OPCODE_TABLE[opcode];
  return since?.[variantName(opcode, variant) ?? ""] ?? 1;
}

/** Whether no interpreter runs a variant: programs that have it have no lane EXECUTION. */
export function isJudgedOnly(opcode: Opcode, variant: number): boolean {
  const { judgedOnly }: OpcodeRow = OPCODE_TABLE[opcode];
  return judgedOnly?.includes(variantName(opcode, variant) ?? "") === true;
}

/** All variants that a record of the opcode may hold. Of CODEC, beside the header's input codec. */
export function variantsOf(opcode: Opcode): readonly number[] {
  const { variants } = OPCODE_TABLE[opcode];
  const codes: readonly number[] = Object.values(variants);
  return codes.length === 0 ? [0] : codes;
}
