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
import type { Span } from "./channel-forms.ts";
import { activationReads, activationRules, prepareActivations } from "./dot-activations.ts";
import type { OpcodeForm, PreparedOperand } from "./opcode.ts";
import { fastestProducts, MOST_TOGETHER, type ProductsOf } from "./products.ts";
import { Requantizer } from "./requantizer.ts";
import { simdProducts } from "./simd-products.ts";

/** DOT: activation row times weight row, plus bias, in groups; s32, or requantized. With activations in place of
 *  weights it is dot-activations.ts. Source: docs/EXACT.md, section 3. */
export const dotForm = (productsOf: ProductsOf): OpcodeForm => ({
  rules: (check) => (isActivationDot(check.step) ? activationRules(check) : rules(check)),
  prepare(step, operands) {
    if (isActivationDot(step)) return prepareActivations(step, operands, productsOf);
    const { dims, words } = operands[1] as PreparedOperand;
    const [n, k] = dims as [number, number];
    const rowBytes = 32 * (Math.ceil(k / 32) + 1);
    const channels = new Requantizer(words as Uint8Array, n, rowBytes - 32, rowBytes);
    const rows = elementCount(step.dims) / n;
    const groups = step.k;
    const perGroup = n / groups;
    const store = storing(step, channels);
    const isPlanes = isPlanesDot(step);
    const length = isPlanes ? 2 * k : k;
    const together = Math.min(MOST_TOGETHER, rows);
    const activations = isPlanes ? "numbers" : "bytes";
    const weights = { bytes: words as Uint8Array, groups, rows: perGroup, k, layout: "words" } as const;
    const products = productsOf({ ...weights, activations, together });
    const { sums, width } = products;
    return (out, a, _b, _c, from = 0, to = out.length) => {
      for (let row = from / n; row < to / n; row += together) {
        const count = Math.min(together, to / n - row);
        for (let group = 0; group < groups; group++) {
          const at = { first: (row * groups + group) * length, stride: groups * length };
          products.compute({ bytes: a as Uint8Array, ...at, count }, group);
          const channel = group * perGroup;
          for (let i = 0; i < count; i++) {
            const span = { data: sums, from: i * width, count: perGroup, channel };
            store(out, ((row + i) * groups + group) * perGroup, span, sums[i * width + perGroup] as number);
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

/** Writes what sums of products become into the output, from `to` on. @param total of the activations */
type Store = (out: TensorData, to: number, sums: Span, total: number) => void;

function storing({ variant }: Step, channels: Requantizer): Store {
  switch (DOT_VARIANTS[variant] as Exclude<Variant<"dot">, "activations">) {
    case "s32":
    case "planes":
      return (out, to, sums, total) => {
        const { data, from, count, channel } = sums;
        const { bias, weightOffset } = channels;
        const target = out as Int32Array;
        for (let i = 0, n = channel; i < count; i++, n++) {
          const offset = Math.imul(weightOffset[n] as number, total);
          target[to + i] = (data[from + i] as number) - offset + (bias[n] as number);
        }
      };
    case "integer":
      return (out, to, sums, total) => {
        subtractOffsets(sums, total, channels.weightOffset);
        channels.requantize("integer", out, to, sums);
      };
    case "binary32":
      return (out, to, sums, total) => {
        subtractOffsets(sums, total, channels.weightOffset);
        channels.requantize("binary32", out, to, sums);
      };
  }
}

/** In place. */
function subtractOffsets({ data, from, count, channel }: Span, total: number, offsets: Uint16Array): void {
  for (let i = 0; i < count; i++) {
    const offset = Math.imul(offsets[channel + i] as number, total);
    data[from + i] = (data[from + i] as number) - offset;
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
