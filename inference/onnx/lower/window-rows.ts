/** The windows of a convolution as rows of a product. */

import { MAX_RANK } from "../../program/encode.ts";
import type { Operand } from "../../program/form.ts";
import { coordinates, type SourceAxis } from "../axes.ts";
import { count } from "../graph.ts";
import type { Lowering } from "./lowering.ts";
import type { TensorValue } from "./values.ts";
import type { WindowAxis } from "./windows.ts";

/** What a window holds outside of the input: a constant zero point as it is stored, or a computed one. */
type Outside = { readonly pad: number } | { readonly shift: Operand };

/** Rows [batch, outputs…, groups] of kernel positions × channels of the group, with the zero point outside. */
export function windowRows(
  ctx: Lowering,
  activation: TensorValue,
  axes: readonly WindowAxis[],
  groups: number,
  outside: Outside,
): Operand {
  const [batch = 1, channels = 1] = activation.dims;
  const length = (count(axes.map((a) => a.kernel)) * channels) / groups;
  const flat = (operand: Operand): TensorValue => ({
    kind: "tensor",
    operand,
    type: activation.type,
    onnx: activation.onnx,
    dims: ctx.builder.shape(operand).dims,
  });
  const rank = 2 + 2 * axes.length + (groups > 1 ? 1 : 0);
  if (batch === 1 || rank <= MAX_RANK) {
    return ctx.withLast(flat(windowsOf(ctx, activation, axes, groups, outside, rank <= MAX_RANK)), length);
  }
  // One MOVE has no axis left for the batch: image by image, each put into its rows.
  let all: Operand | undefined;
  for (let image = 0; image < batch; image++) {
    const one = windowsOf(ctx, activation, axes, groups, outside, false, image);
    const size = count(ctx.builder.shape(one).dims);
    const into = [
      { dim: 1, terms: [{ axis: 0, factor: 1 }], offset: -image, checked: true },
      { dim: size, terms: [{ axis: 1, factor: 1 }], offset: 0, checked: false },
    ];
    const dims = [batch, size];
    all = ctx.builder.move(one, dims, coordinates(into, dims), all === undefined ? {} : { other: all });
  }
  return ctx.withLast(flat(all as Operand), length);
}

/** @param isWhole true where the batch is the first axis; else the windows are those of one image */
function windowsOf(
  ctx: Lowering,
  activation: TensorValue,
  axes: readonly WindowAxis[],
  groups: number,
  outside: Outside,
  isWhole: boolean,
  image = 0,
): Operand {
  const { builder } = ctx;
  const [batch = 1, channels = 1] = activation.dims;
  const perGroup = channels / groups;
  const grouped = groups > 1;
  const lead = isWhole ? [batch] : [];
  // Output axes: [batch], outputs…, [groups], kernel…, channels of a group.
  const dims = [
    ...lead,
    ...axes.map((a) => a.output),
    ...(grouped ? [groups] : []),
    ...axes.map((a) => a.kernel),
    perGroup,
  ];
  const first = lead.length;
  const kernelAt = dims.length - 1 - axes.length;
  const bySource: SourceAxis[] = [
    { dim: batch, terms: isWhole ? [{ axis: 0, factor: 1 }] : [], offset: image, checked: false },
    {
      dim: channels,
      terms: [
        ...(grouped ? [{ axis: kernelAt - 1, factor: perGroup }] : []),
        { axis: dims.length - 1, factor: 1 },
      ],
      offset: 0,
      checked: false,
    },
    ...axes.map((a, i) => ({
      dim: a.size,
      terms: [
        { axis: first + i, factor: a.stride },
        { axis: kernelAt + i, factor: a.dilation },
      ],
      offset: -a.before,
      checked: a.leaves,
    })),
  ];
  const order = activation.layout ?? activation.dims.map((_, axis) => axis);
  const stored = order.map((axis) => bySource[axis] as SourceAxis);
  // A computed zero point is repeated for each position, as the second operand of the move.
  const leaves = axes.some((axis) => axis.leaves);
  const filled = (): { other?: Operand } =>
    "shift" in outside && leaves ? { other: repeated(ctx, outside.shift, dims) } : {};
  const fill = "pad" in outside ? outside : filled();
  return builder.move(activation.operand, dims, coordinates(stored, dims), fill);
}

/** One element at every position. */
function repeated(ctx: Lowering, element: Operand, dims: readonly number[]): Operand {
  const nowhere = [{ dim: 1, terms: [], offset: 0, checked: false }];
  return ctx.builder.move(element, dims, coordinates(nowhere, dims));
}
