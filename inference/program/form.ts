/** The program: ordered steps over typed tensors of static shape. Source: docs/EXACT.md, sections 1 to 3. */

import {
  INPUT_CODEC_CODES,
  isJudgedOnly,
  type LAYOUT_CODES,
  NONE,
  namesOf,
  OPCODE_CODES,
  OPCODE_TABLE,
  type Opcode,
  OUTPUT_CODEC_CODES,
  sinceVersion,
  TYPE_CODES,
  variantName,
  WEIGHT,
} from "./codes.ts";

export type { Opcode };
export { NONE, WEIGHT };

export type TensorType = keyof typeof TYPE_CODES;
export const TENSOR_TYPES = namesOf(TYPE_CODES);

/** How the rows of a weight tensor are laid out in words. */
export type WeightLayout = keyof typeof LAYOUT_CODES;

export const OPCODES: readonly Opcode[] = namesOf(OPCODE_CODES);

export type InputCodec = keyof typeof INPUT_CODEC_CODES;
export const INPUT_CODECS = namesOf(INPUT_CODEC_CODES);
export type OutputCodec = keyof typeof OUTPUT_CODEC_CODES;
export const OUTPUT_CODECS = namesOf(OUTPUT_CODEC_CODES);

// Names by number: these opcodes' variants are counted from 0.
export const LOOKUP_VARIANTS = namesOf(OPCODE_TABLE.lookup.variants);
/** Also those of requant, which has no "s32". */
export const DOT_VARIANTS = namesOf(OPCODE_TABLE.dot.variants);
export const ARITH_VARIANTS = namesOf(OPCODE_TABLE.arith.variants);
export const FLOAT_VARIANTS = namesOf(OPCODE_TABLE.float.variants);
export const REDUCE_VARIANTS = namesOf(OPCODE_TABLE.reduce.variants);

/** A step's operand as the record holds it: an earlier step, WEIGHT + index of a weight tensor, or NONE. */
export type Operand = number;
export const isWeight = (operand: Operand): boolean => operand >= WEIGHT && operand !== NONE;
export const isStep = (operand: Operand): boolean => operand < WEIGHT;
/** Index of the weight tensor that a weight operand names. */
export const weightIndex = (operand: Operand): number => operand - WEIGHT;

/** An operand of a step by its place: a, b or c. */
export type Slot = 0 | 1 | 2;

export interface WeightDescriptor {
  readonly layout: WeightLayout;
  readonly type: TensorType;
  /** dot: [N, K]; lookup: [V, D]; channel: [N]; plain: the tensor's dims. */
  readonly dims: readonly number[];
}

/** Source coordinate of a MOVE: `a * i[p] + b * i[q] + c` inside 0..view-1. */
export interface Coordinate {
  readonly view: number;
  readonly a: number;
  readonly p: number;
  readonly b: number;
  readonly q: number;
  readonly c: number;
}

export interface Step {
  readonly opcode: Opcode;
  /** Number of the opcode's variant (codec: code of the input codec, or claimed), 0 where it has one form. */
  readonly variant: number;
  readonly type: TensorType;
  readonly dims: readonly number[];
  readonly a: Operand;
  readonly b: Operand;
  readonly c: Operand;
  /** u32 attribute: codec offset or table rows, MOVE's pad element, DOT's groups, a norm's addend, a ratio's multiplier,
   *  a rotation's shift; else 0. */
  readonly k: number;
  /** Exactly four for MOVE, none for the others. */
  readonly coordinates: readonly Coordinate[];
}

export interface Program {
  readonly inputCodec: InputCodec;
  readonly outputCodec: OutputCodec;
  /** text: bytes; prices: prices a list; int16s: elements; raw: bytes. */
  readonly inputSize: number;
  readonly weights: readonly WeightDescriptor[];
  readonly steps: readonly Step[];
}

/** A step's or a weight tensor, as a step names it. */
export const operandTensor = ({ steps, weights }: Program, operand: Operand): Step | WeightDescriptor =>
  (isWeight(operand) ? weights[weightIndex(operand)] : steps[operand]) as Step | WeightDescriptor;

/** Its dims. */
export const operandDims = (program: Program, operand: Operand): readonly number[] =>
  operandTensor(program, operand).dims;

/** LOOKUP of a table's element for each element of operand a. */
export const isEach = ({ opcode, variant }: Pick<Step, "opcode" | "variant">): boolean =>
  opcode === "lookup" && LOOKUP_VARIANTS[variant] === "each";

/** LOOKUP of a table's element by how far each element of operand a is below the largest of its row. */
export const isBelow = ({ opcode, variant }: Pick<Step, "opcode" | "variant">): boolean =>
  opcode === "lookup" && LOOKUP_VARIANTS[variant] === "below";

/** DOT whose second operand is a tensor of activations and no weights. */
export const isActivationDot = ({ opcode, variant }: Pick<Step, "opcode" | "variant">): boolean =>
  opcode === "dot" && DOT_VARIANTS[variant] === "activations";

/** DOT of numbers of 16 bits, whose rows are planes of bytes. */
export const isPlanesDot = ({ opcode, variant }: Pick<Step, "opcode" | "variant">): boolean =>
  opcode === "dot" && ["planes", "rescaled"].includes(DOT_VARIANTS[variant] as string);

/** DOT whose output is its sums. */
export const isSumsDot = ({ opcode, variant }: Pick<Step, "opcode" | "variant">): boolean =>
  opcode === "dot" && ["s32", "planes"].includes(DOT_VARIANTS[variant] as string);

/** RESCALE to numbers of 16 bits, as planes of bytes. */
export const isPlanes = (step: Pick<Step, "opcode" | "variant">): boolean =>
  variantName(step.opcode, step.variant) === "planes" && !isPlanesDot(step);

/** CODEC whose tensor is the output that a claim states. */
export const isClaimed = ({ opcode, variant }: Pick<Step, "opcode" | "variant">): boolean =>
  opcode === "codec" && variantName(opcode, variant) === "claimed";

/** Whether the output of a run is one that the program finds right, and not what one pass computes. */
export const readsClaimed = ({ steps }: Pick<Program, "steps">): boolean => steps.some(isClaimed);

/** REDUCE whose result is the length of a row: the root of its sum of squares. */
export const isNorm = ({ opcode, variant }: Pick<Step, "opcode" | "variant">): boolean =>
  opcode === "reduce" && REDUCE_VARIANTS[variant] === "norm";

/** The step that divides each row of a tensor by an element of another. */
export const isRatio = ({ opcode, variant }: Pick<Step, "opcode" | "variant">): boolean =>
  variantName(opcode, variant) === "ratio";

/** ARITH whose elements are of pairs of neighbours, multiplied as complex numbers. */
export const isRotate = ({ opcode, variant }: Pick<Step, "opcode" | "variant">): boolean =>
  opcode === "arith" && ARITH_VARIANTS[variant] === "rotate";

/** The first step that no interpreter runs. */
export function findJudgedOnly(
  program: Program,
): { readonly index: number; readonly name: string } | undefined {
  const index = program.steps.findIndex(({ opcode, variant }) => isJudgedOnly(opcode, variant));
  const step = program.steps[index];
  return step && { index, name: `${step.opcode.toUpperCase()} ${variantName(step.opcode, step.variant)}` };
}

/** Why no interpreter runs a program; undefined where one does. */
export function whyNotExecuted(program: Program): string | undefined {
  const found = findJudgedOnly(program);
  return found && `step ${found.index} is ${found.name}, which no interpreter runs`;
}

/** The newest version of the judge that this code knows. */
export const JUDGE_VERSION = 2;

/** The version of the judge that a program needs, which its models' ids commit to: what a program uses that version 1
 *  does not have makes it 2. Source: docs/PROTOCOL.md, section 1. */
export const judgeVersionOf = ({ steps }: Program): number =>
  steps.reduce((version, { opcode, variant }) => Math.max(version, sinceVersion(opcode, variant)), 1);

/** A program with its weights. `weights[i]` holds: plain: the stored bytes of the elements, packed;
 *  dot, lookup, channel: the real words of all rows (docs/EXACT.md, section 2), packed. */
export interface Model {
  readonly program: Program;
  readonly weights: readonly Uint8Array[];
}

/** A tensor in memory. u8, bool: the byte; s8: the stored byte (value + 128); s32; f32 (bits are what counts). */
export type TensorData = Uint8Array | Int32Array | Float32Array;
export interface Tensor {
  readonly type: TensorType;
  readonly dims: readonly number[];
  /** Uint8Array for u8, s8 and bool, Int32Array for s32, Float32Array for f32. */
  readonly data: TensorData;
}

export const elementBytes = (type: TensorType): 1 | 4 => (type === "s32" || type === "f32" ? 4 : 1);
export const elementCount = (dims: readonly number[]): number =>
  dims.reduce((product, dim) => product * dim, 1);
/** Number of rows: product of all dims but the last. */
export const rowCount = (dims: readonly number[]): number => elementCount(dims.slice(0, -1));
export const lastDim = (dims: readonly number[]): number => dims[dims.length - 1] as number;
