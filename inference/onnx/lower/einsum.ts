/** Einsum of the common forms: one operand transposed, or two multiplied as matrices. */

import { count, type OnnxNode } from "../graph.ts";
import { refuse } from "../refusal.ts";
import { type Lowering, stringAttribute } from "./lowering.ts";
import { inputsOf } from "./operands.ts";
import { matMul } from "./qdq.ts";
import { reshapeValue, transposeValue } from "./shape.ts";
import { dimsOf, type Value } from "./values.ts";

const COMMON = "Write it as Transpose, Reshape and MatMul.";

export function einsum(ctx: Lowering, node: OnnxNode): Value {
  const values = inputsOf(ctx, node, 1, 2);
  const equation = stringAttribute(node, "equation", "").replaceAll(" ", "");
  const [left = "", given] = equation.split("->");
  const terms = left.split(",");
  if (
    given === undefined ||
    !/^[a-zA-Z,]*$/.test(left) ||
    !/^[a-zA-Z]*$/.test(given) ||
    terms.length !== values.length
  )
    return refuse(`its equation is ${equation}`, COMMON);
  const sizes = new Map<string, number>();
  terms.forEach((term, i) => {
    const dims = dimsOf(values[i] as Value);
    if (new Set(term).size !== term.length || term.length !== dims.length)
      refuse(
        `its term ${term} is of [${dims}]`,
        `Use each letter of a term once, one for each axis. ${COMMON}`,
      );
    for (const [axis, letter] of [...term].entries()) {
      const dim = dims[axis] as number;
      if ((sizes.get(letter) ?? dim) !== dim)
        refuse(`its letter ${letter} is ${sizes.get(letter)} and ${dim}`, "Correct the shapes.");
      sizes.set(letter, dim);
    }
  });
  const [a = "", b] = terms;
  const [first, second] = values as [Value, Value | undefined];
  if (b === undefined || second === undefined) {
    if ([...a].sort().join("") !== [...given].sort().join(""))
      refuse(`its equation ${equation} sums one operand`, "Use ReduceSum.");
    return transposeValue(
      ctx,
      first,
      [...given].map((letter) => a.indexOf(letter)),
    );
  }
  return product(ctx, node, { a, b, given, sizes }, first, second);
}

interface Terms {
  readonly a: string;
  readonly b: string;
  readonly given: string;
  readonly sizes: ReadonlyMap<string, number>;
}

function product(ctx: Lowering, node: OnnxNode, { a, b, given, sizes }: Terms, x: Value, y: Value): Value {
  const only = (term: string, test: (letter: string) => boolean): string[] => [...term].filter(test);
  const batch = only(given, (l) => a.includes(l) && b.includes(l));
  const inner = only(a, (l) => b.includes(l) && !given.includes(l));
  const rows = only(a, (l) => !b.includes(l));
  const columns = only(b, (l) => !a.includes(l));
  if ([...rows, ...columns, ...given].some((l) => !given.includes(l) || !sizes.has(l)) || inner.length === 0)
    refuse(`its equation ${a},${b}->${given} is no product of matrices`, COMMON);
  const size = (letters: readonly string[]): number => count(letters.map((l) => sizes.get(l) as number));
  const lead = batch.length === 0 ? [] : [size(batch)];
  const matrix = (value: Value, term: string, outer: readonly string[], last: readonly string[]): Value => {
    const perm = [...batch, ...outer, ...last].map((letter) => term.indexOf(letter));
    const turned = perm.every((axis, i) => axis === i) ? value : transposeValue(ctx, value, perm);
    const dims = [...lead, size(outer), size(last)];
    return dims.join() === dimsOf(turned).join() ? turned : reshapeValue(ctx, turned, dims);
  };
  const names = [`${node.name} rows`, `${node.name} columns`] as const;
  ctx.set(names[0], matrix(x, a, rows, inner));
  ctx.set(names[1], matrix(y, b, inner, columns));
  const made = matMul(ctx, { ...node, inputs: names });
  const letters = [...batch, ...rows, ...columns];
  const dims = letters.map((l) => sizes.get(l) as number);
  const perm = [...given].map((letter) => letters.indexOf(letter));
  const isPlain = perm.every((axis, i) => axis === i);
  if (isPlain && dims.join() === dimsOf(made).join()) return made;
  if (made.kind === "tensor") {
    const shaped = reshapeValue(ctx, made, dims);
    return isPlain ? shaped : transposeValue(ctx, shaped, perm);
  }
  if (made.kind !== "scaled") return refuse("its product is no scaled product", COMMON);
  // The axes of the integers are renamed; the scale must be one, as it follows no axis then.
  if (made.scale.length > 1) refuse("its weights have a scale for each column", "Use one weight scale.");
  const integers = ctx.integersOf(made);
  const shaped = reshapeValue(ctx, integers, dims);
  return { ...made, source: ctx.tensor(isPlain ? shaped : transposeValue(ctx, shaped, perm)), axis: 0 };
}
