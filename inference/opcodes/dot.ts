import { viewOf } from "../../base/bytes.ts";
import { BYTE_TYPES, MAX_DOT_LENGTH, type StepCheck } from "../program/check.ts";
import {
  DOT_VARIANTS,
  elementCount,
  isActivationDot,
  isPlanesDot,
  isSumsDot,
  lastDim,
  NONE,
  rowCount,
  type Step,
  type TensorData,
} from "../program/form.ts";
import { parametersAt } from "../program/weights.ts";
import { readWord } from "./broadcast.ts";
import type { Span } from "./channel-forms.ts";
import { copyElements } from "./copy.ts";
import { activationReads, activationRules, prepareActivations } from "./dot-activations.ts";
import type { OpcodeForm, PreparedOperand, Read } from "./opcode.ts";
import { fastestProducts, MOST_TOGETHER, type ProductsOf } from "./products.ts";
import { Requantizer } from "./requantizer.ts";
import { simdProducts } from "./simd-products.ts";

/** DOT: activation row times weight row, plus bias, in groups; s32, or requantized; rescaled also added to others. With activations in place of
 *  weights it is dot-activations.ts. Source: docs/EXACT.md, section 3. */
export const dotForm = (productsOf: ProductsOf, ofActivations = productsOf): OpcodeForm => ({
  rules: (check) => (isActivationDot(check.step) ? activationRules(check) : rules(check)),
  prepare(step, operands) {
    if (isActivationDot(step)) return prepareActivations(step, operands, ofActivations);
    const { dims, words } = operands[1] as PreparedOperand;
    const [n, k] = dims as [number, number];
    const store = requantization(step, operands[1] as PreparedOperand);
    const { starts, offsets } = correctionsOf(operands[1] as PreparedOperand, store === undefined);
    const rows = elementCount(step.dims) / n;
    const groups = step.k;
    const perGroup = n / groups;
    const isPlanes = isPlanesDot(step);
    const length = isPlanes ? 2 * k : k;
    const together = Math.min(MOST_TOGETHER, rows);
    const activations = isPlanes ? "numbers" : "bytes";
    const weights = {
      bytes: words as Uint8Array,
      starts,
      offsets,
      groups,
      rows: perGroup,
      k,
      layout: "words",
      zero: 0,
    } as const;
    const products = productsOf({ ...weights, activations, together });
    const { sums, width } = products;
    return (out, a, _b, c, from = 0, to = out.length) => {
      for (let row = from / n; row < to / n; row += together) {
        const count = Math.min(together, to / n - row);
        for (let group = 0; group < groups; group++) {
          const at = { first: (row * groups + group) * length, stride: groups * length };
          products.compute({ bytes: a as Uint8Array, ...at, count }, group);
          const channel = group * perGroup;
          for (let i = 0; i < count; i++) {
            const place = ((row + i) * groups + group) * perGroup;
            const span = { data: sums, from: i * width, count: perGroup, channel };
            if (store === undefined) copyElements(out, place, sums, span.from, perGroup);
            else store(out, place, span);
            if (c !== undefined) addInto(out as Int32Array, c as Int32Array, place, perGroup);
          }
        }
      }
    };
  },
  reads(step, element, source) {
    if (isActivationDot(step)) return activationReads(step, element);
    const n = lastDim(step.dims);
    const weights = source.weights(step.b).dims[0] as number;
    const channel = element % n;
    const group = Math.floor((channel * step.k) / weights);
    const read: Read[] = [
      { operand: step.a, row: Math.floor(element / n) * step.k + group },
      { operand: step.b, row: channel },
    ];
    return step.c === NONE ? read : [...read, readWord(step.c, "s32", step.dims, element)];
  },
});

/** Adds `count` numbers from one on, wrapped. */
function addInto(out: Int32Array, added: Int32Array, from: number, count: number): void {
  for (let i = from; i < from + count; i++) out[i] = ((out[i] as number) + (added[i] as number)) | 0;
}

/** Bytes from one parameter word of DOT weights to the next, and of the first. */
function wordsOf({ dims }: PreparedOperand): { readonly stride: number; readonly first: number } {
  const first = 32 * Math.ceil((dims[1] as number) / 32);
  return { first, stride: first + 32 };
}

/** Of each channel what its sums start from, and what is subtracted from each of its weights.
 *  @param isBiased false where requantization adds the bias */
function correctionsOf(weights: PreparedOperand, isBiased: boolean) {
  const n = weights.dims[0] as number;
  const [starts, offsets] = [new Int32Array(n), new Int32Array(n)];
  const { first, stride } = wordsOf(weights);
  const view = viewOf(weights.words as Uint8Array);
  for (let i = 0; i < n; i++) {
    const { bias, weightOffset } = parametersAt(view, first + i * stride);
    if (isBiased) starts[i] = bias;
    offsets[i] = weightOffset;
  }
  return { starts, offsets };
}

type Store = (out: TensorData, to: number, sums: Span) => void;

/** Undefined where sums are the output. */
function requantization(step: Step, weights: PreparedOperand): Store | undefined {
  if (isSumsDot(step)) return undefined;
  const { first, stride } = wordsOf(weights);
  const channels = new Requantizer(weights.words as Uint8Array, weights.dims[0] as number, first, stride);
  if (step.type === "s32") return (out, to, sums) => channels.limited(out as Int32Array, to, sums);
  const form = DOT_VARIANTS[step.variant] === "binary32" ? "binary32" : "integer";
  return (out, to, sums) => channels.requantize(form, out, to, sums);
}

export const dot = dotForm(fastestProducts(simdProducts));

/** Numbers that are clamped to so many bits may be added to others. */
const canAdd = (step: Step): boolean => isPlanesDot(step) && !isSumsDot(step) && step.type === "s32";

function rules(check: StepCheck): void {
  const { step } = check;
  if (check.variant()) {
    if (isSumsDot(step)) check.type("s32");
    else if (isPlanesDot(step)) check.type("s32", ...BYTE_TYPES);
    else check.type(...BYTE_TYPES);
  }
  const input = isPlanesDot(step) ? check.plain("a", "u8") : check.plain("a", ...BYTE_TYPES);
  const weights = check.weights("b", "dot");
  const groups = step.k;
  const outputs = lastDim(step.dims);
  if (canAdd(step) && step.c !== NONE) check.sameDims("c", check.plain("c", "s32"));
  else check.none("c");
  check.must(
    groups >= 1 && outputs % groups === 0,
    "k (groups)",
    groups,
    `>= 1 and a divisor of N = ${outputs}`,
  );
  if (weights !== undefined) {
    check.must(outputs === weights.dims[0], "last dim", outputs, `N = ${weights.dims[0]}`);
    if (!isPlanesDot(step))
      check.must(
        lastDim(weights.dims) <= MAX_DOT_LENGTH,
        "K of operand b",
        lastDim(weights.dims),
        `<= ${MAX_DOT_LENGTH}`,
      );
    if (input !== undefined) {
      const k = lastDim(weights.dims);
      const [length, wanted] = isPlanesDot(step) ? [2 * k, `2K = ${2 * k}`] : [k, `K = ${k}`];
      check.must(lastDim(input.dims) === length, "last dim of operand a", lastDim(input.dims), wanted);
    }
  }
  check.rows("a", input, rowCount(step.dims) * groups);
}
