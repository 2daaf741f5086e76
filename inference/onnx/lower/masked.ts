/** The mask of an attention, in integers: what it leaves nothing of is known to be 0 behind Softmax, whatever it was. */
import { count, numbers, type OnnxTensor } from "../graph.ts";
import { makeTensor } from "./constants.ts";
import { elementwise } from "./elementwise.ts";
import type { Lowering } from "./lowering.ts";
import { isDequantized, type MaskedValue, type TensorValue, type Value } from "./values.ts";

/** Whatever is so much less than another number of its row has no share in a Softmax: e^-32 is below 2^-46. */
const NOTHING = 32;

/** `value + mask`, or the one of the two that a condition picks, where each number of the mask is 0 or leaves nothing.
 *  @param mask broadcasts to the value @param sum what another reader than Softmax reads
 *  @returns undefined for anything else */
export function masked(
  ctx: Lowering,
  value: Value,
  mask: OnnxTensor,
  sum: () => TensorValue,
): MaskedValue | undefined {
  if (ctx.options.arithmetic !== "integers" || !isDequantized(value)) return undefined;
  if (!broadcastsTo(mask.dims, value.source.dims)) return undefined;
  const { low, high } = ctx.rangeOf(value.source);
  const spread = (value.scale[0] as number) * (high - low);
  const list = numbers(mask);
  if (!list.every((x) => x === 0 || x + spread <= -NOTHING)) return undefined;
  const kept = makeTensor(
    "bool",
    mask.dims,
    list.map((x) => Number(x === 0)),
  );
  return { kind: "masked", source: value, kept, sum: once(ctx, sum) };
}

/** Its steps carry the name of the node that adds, whoever reads them first. */
function once(ctx: Lowering, sum: () => TensorValue): () => TensorValue {
  const { builder } = ctx;
  const { node } = builder;
  let made: TensorValue | undefined;
  return () => {
    if (made !== undefined) return made;
    const reader = builder.node;
    builder.node = node;
    try {
      made = sum();
    } finally {
      builder.node = reader;
    }
    return made;
  };
}

function broadcastsTo(dims: readonly number[], whole: readonly number[]): boolean {
  const last = whole.slice(whole.length - dims.length);
  return dims.length <= whole.length && dims.every((dim, axis) => dim === 1 || dim === last[axis]);
}

/** True where a row along these axes is masked as a whole: then its numbers count after all. */
export function hasEmptyRow({ source, kept }: MaskedValue, reduced: readonly number[]): boolean {
  const { dims } = source.source;
  const own = [...new Array<number>(dims.length - kept.dims.length).fill(1), ...kept.dims];
  const at = own.map((dim, axis) => (reduced.includes(axis) ? 1 : dim));
  const rows = new Array<boolean>(count(at)).fill(false);
  for (const [i, x] of numbers(kept).entries()) {
    let [rest, row, size] = [i, 0, 1];
    for (let axis = own.length - 1; axis >= 0; axis--) {
      const place = rest % (own[axis] as number);
      rest = Math.floor(rest / (own[axis] as number));
      row += (at[axis] === 1 ? 0 : place) * size;
      size *= at[axis] as number;
    }
    if (x !== 0) rows[row] = true;
  }
  return rows.includes(false);
}

/** The integers that are kept, and another one in the place of the others. */
export function kept(ctx: Lowering, mask: OnnxTensor, tensor: TensorValue, other: number): TensorValue {
  const condition = { kind: "constant", tensor: mask } as const;
  const instead = { kind: "constant", tensor: makeTensor(tensor.onnx, [], [other]) } as const;
  return elementwise(ctx, [condition, tensor, instead], tensor.onnx, ([c = 0, a = 0, b = 0]) =>
    ctx.builder.select(c, a, b),
  );
}
