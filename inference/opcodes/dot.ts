import { BYTE_TYPES, type StepCheck } from "../program/check.ts";
import type { Variant } from "../program/codes.ts";
import {
  DOT_VARIANTS,
  elementCount,
  isActivationDot,
  isPlanesDot,
  lastDim,
  rowCount,
  type Step,
  type TensorData,
} from "../program/form.ts";
import { unpackDot } from "../program/weights.ts";
import { activationPart, activationReads, activationRules, prepareActivations } from "./dot-activations.ts";
import type { OpcodeForm, PreparedOperand } from "./opcode.ts";
import { fastestProducts, MOST_TOGETHER, type ProductsOf } from "./products.ts";
import { Requantizer } from "./requantizer.ts";
import { rowsOf } from "./row-parts.ts";
import { simdProducts } from "./simd-products.ts";

/** DOT: activation row times weight row, plus bias, in groups; s32, or requantized. With activations in place of
 *  weights it is dot-activations.ts. Source: docs/EXACT.md, section 3. */
export const dotForm = (productsOf: ProductsOf): OpcodeForm => ({
  rules: (check) => (isActivationDot(check.step) ? activationRules(check) : rules(check)),
  rowPart(step, dims, operand) {
    if (isActivationDot(step)) return activationPart(step, dims, operand);
    return operand === 0 ? rowsOf(dims, step.k) : "whole";
  },
  prepare(step, operands) {
    if (isActivationDot(step)) return prepareActivations(step, operands, productsOf);
    const { dims, words } = operands[1] as PreparedOperand;
    const [n, k] = dims as [number, number];
    const weights = unpackDot(words as Uint8Array, n, k);
    const rowBytes = 32 * (Math.ceil(k / 32) + 1);
    const channels = new Requantizer(words as Uint8Array, n, rowBytes - 32, rowBytes);
    const rows = elementCount(step.dims) / n;
    const groups = step.k;
    const perGroup = n / groups;
    const finish = finisher(step, channels);
    const isPlanes = isPlanesDot(step);
    const length = isPlanes ? 2 * k : k;
    const together = Math.min(MOST_TOGETHER, rows);
    const activations = isPlanes ? "numbers" : "bytes";
    const products = productsOf({ bytes: weights, groups, rows: perGroup, k, activations, together });
    const { sums, width } = products;
    const { bias, weightOffset } = channels;
    return (out, a) => {
      for (let row = 0; row < rows; row += together) {
        const count = Math.min(together, rows - row);
        for (let group = 0; group < groups; group++) {
          const at = { first: (row * groups + group) * length, stride: groups * length };
          products.compute({ bytes: a as Uint8Array, ...at, count }, group);
          const channel = group * perGroup;
          for (let i = 0; i < count; i++) {
            const from = i * width;
            const total = sums[from + perGroup] as number;
            for (let n = 0; n < perGroup; n++) {
              const offset = Math.imul(weightOffset[channel + n] as number, total);
              sums[from + n] = (sums[from + n] as number) - offset + (bias[channel + n] as number);
            }
            finish(out, ((row + i) * groups + group) * perGroup, sums, from, channel, perGroup);
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
    return [
      { operand: step.a, row: Math.floor(element / n) * step.k + group },
      { operand: step.b, row: channel },
    ];
  },
});

/** Writes accumulators from `from` on, of `count` channels from `first` on, into the output at `to`. */
type Finish = (
  out: TensorData,
  to: number,
  accs: Int32Array,
  from: number,
  first: number,
  count: number,
) => void;

function finisher({ variant }: Step, channels: Requantizer): Finish {
  switch (DOT_VARIANTS[variant] as Exclude<Variant<"dot">, "activations">) {
    case "s32":
    case "planes":
      return (out, to, accs, from, _first, count) => {
        for (let i = 0; i < count; i++) out[to + i] = accs[from + i] as number;
      };
    case "integer":
      return (out, to, accs, from, first, count) => {
        for (let i = 0; i < count; i++) out[to + i] = channels.integer(accs[from + i] as number, first + i);
      };
    case "binary32":
      return (out, to, accs, from, first, count) => {
        for (let i = 0; i < count; i++) out[to + i] = channels.binary32(accs[from + i] as number, first + i);
      };
  }
}

export const dot = dotForm(fastestProducts(simdProducts));

function rules(check: StepCheck): void {
  const { step } = check;
  if (check.variant()) {
    if (DOT_VARIANTS[step.variant] === "s32" || isPlanesDot(step)) check.type("s32");
    else check.type(...BYTE_TYPES);
  }
  const input = isPlanesDot(step) ? check.plain("a", "u8") : check.plain("a", ...BYTE_TYPES);
  const weights = check.weights("b", "dot");
  const groups = step.k;
  const outputs = lastDim(step.dims);
  check.none("c");
  check.must(
    groups >= 1 && outputs % groups === 0,
    "k (groups)",
    groups,
    `>= 1 and a divisor of N = ${outputs}`,
  );
  if (weights !== undefined) {
    check.must(outputs === weights.dims[0], "last dim", outputs, `N = ${weights.dims[0]}`);
    if (input !== undefined) {
      const k = lastDim(weights.dims);
      const [length, wanted] = isPlanesDot(step) ? [2 * k, `2K = ${2 * k}`] : [k, `K = ${k}`];
      check.must(lastDim(input.dims) === length, "last dim of operand a", lastDim(input.dims), wanted);
    }
  }
  check.rows("a", input, rowCount(step.dims) * groups);
}
