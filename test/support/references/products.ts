import {
  build,
  caseOf,
  f32,
  node,
  positions,
  type Reference,
  read,
  readWide,
  shape,
  shuffled,
} from "./plain.ts";
import { productCase } from "./product-case.ts";
import { biasOf, type Operand, operand } from "./quantized.ts";

const ADDENDS = ["none", "int32 bias", "computed bytes", "float32"] as const;

const gemm: Reference = (rng) => {
  const [m, k, n] = [rng.int(1, 6), rng.int(1, 12), rng.int(1, 7)];
  const [transA, transB] = [rng.int(0, 1), rng.int(0, 1)];
  const kind = rng.pick(ADDENDS);
  const isScaled = kind === "float32" || rng.chance(0.4);
  const [alpha, beta] = isScaled
    ? [f32(rng.pick([0.5, 0.7, 2, -1.5])), f32(rng.pick([0.25, 1.5, -1]))]
    : [1, 1];
  const x = operand(rng, "x", transA === 1 ? [k, m] : [m, k]);
  const columns = rng.chance(0.5) ? { axis: transB === 1 ? 0 : 1 } : {};
  const w = operand(rng, "w", transB === 1 ? [n, k] : [k, n], { ...columns, size: 0.01 });
  const wide = rng.pick([[m, n], [1, n], [n], [m, 1], [1, 1], [1], []]);
  const c =
    kind === "computed bytes"
      ? operand(rng, "c", wide, { size: 0.05 })
      : kind === "int32 bias"
        ? biasOf(rng, n, x, w)
        : undefined;
  const h = { type: "float32" as const, ...build(wide, () => rng.int(-40, 40) / 8) };
  const addend = kind === "float32" ? h : c?.real;
  const real = build([m, n], ([i = 0, j = 0]) => {
    let sum = 0;
    for (let p = 0; p < k; p++)
      sum += read(x.real, transA === 1 ? [p, i] : [i, p]) * read(w.real, transB === 1 ? [j, p] : [p, j]);
    return alpha * sum + (addend === undefined ? 0 : beta * readWide(addend, [i, j]));
  });
  const third = { none: [], "int32 bias": ["br"], "computed bytes": ["cr"], float32: ["h"] }[kind];
  const attributes = {
    transA,
    transB,
    ...(isScaled ? { alpha: { f: alpha }, beta: { f: beta } } : {}),
  };
  const made = node("Gemm", ["xr", "wr", ...third], attributes, "p");
  const inputs = kind === "computed bytes" ? { x, c: c as Operand } : { x };
  const weights = kind === "int32 bias" ? { w, b: c as Operand } : { w };
  return productCase(rng, real, made, inputs, weights, kind === "float32" ? { h } : {});
};

/** Letters of the axes that both operands and the result have, that one operand and the result have, that are summed. */
const einsum: Reference = (rng) => {
  const letters = shuffled(rng, [..."abcdefgh"]);
  const take = (n: number): string[] => letters.splice(0, n);
  const batch = take(rng.pick([0, 0, 1, 2]));
  const [rows, columns] = [take(rng.int(batch.length === 0 ? 1 : 0, 2)), take(rng.int(0, 2))];
  const inner = take(rng.int(1, 2));
  const sizes = new Map([...batch, ...rows, ...columns, ...inner].map((l) => [l, rng.int(1, 4)]));
  const dimsOf = (term: readonly string[]): number[] => term.map((l) => sizes.get(l) as number);
  const a = shuffled(rng, [...batch, ...rows, ...inner]);
  const b = shuffled(rng, [...batch, ...inner, ...columns]);
  const given = shuffled(rng, [...batch, ...rows, ...columns]);
  const x = operand(rng, "x", dimsOf(a));
  const w = operand(rng, "w", dimsOf(b), { size: 0.01 });
  const real = build(dimsOf(given), (at) => {
    const value = new Map(given.map((l, i) => [l, at[i] as number]));
    let sum = 0;
    for (const p of positions(dimsOf(inner))) {
      for (const [i, l] of inner.entries()) value.set(l, p[i] as number);
      const place = (term: readonly string[]): number[] => term.map((l) => value.get(l) as number);
      sum += read(x.real, place(a)) * read(w.real, place(b));
    }
    return sum;
  });
  const space = rng.chance(0.5) ? " " : "";
  const equation = `${a.join("")},${space}${b.join("")}${space}->${given.join("")}`;
  const made = node("Einsum", ["xr", "wr"], { equation }, "p");
  const isComputed = rng.chance(0.4);
  return productCase(rng, real, made, isComputed ? { x, w } : { x }, isComputed ? {} : { w });
};

const einsumTransposition: Reference = (rng) => {
  const type = rng.pick(["uint8", "int32", "float32"] as const);
  const dims = shape(rng, rng.int(1, 5));
  const letters = dims.map((_, i) => "abcde"[i] as string);
  const given = shuffled(rng, letters);
  const x = { type, ...build(dims, () => rng.int(0, 100)) };
  const order = given.map((l) => letters.indexOf(l));
  const expected = build(
    order.map((i) => dims[i] as number),
    (at) =>
      read(
        x,
        letters.map((_, axis) => at[order.indexOf(axis)] as number),
      ),
  );
  return caseOf({
    inputs: { x },
    nodes: [node("Einsum", ["x"], { equation: `${letters.join("")}->${given.join("")}` })],
    outputs: { y: type },
    expected: { y: expected },
  });
};

export const PRODUCTS: Readonly<Record<string, Reference>> = {
  Gemm: gemm,
  Einsum: einsum,
  "Einsum of one operand": einsumTransposition,
};
