/** Pow with a constant exponent: products and roots that are correctly rounded one by one, a table of a byte for any other. */

import type { Operand } from "../../program/form.ts";
import { numbers, type OnnxNode } from "../graph.ts";
import { refuse } from "../refusal.ts";
import { elementwise } from "./elementwise.ts";
import { folded, knownTensor } from "./fold.ts";
import { safely } from "./held.ts";
import type { Lowering } from "./lowering.ts";
import { mapThrough, mapWide } from "./maps.ts";
import { isWide } from "./quantization.ts";
import { typeOf, type Value } from "./values.ts";

/** Exponents that float32 has steps for; those of 2 and 3 are onnxruntime's own. */
const STEPS = "0.5, 1, 2, 3, −0.5, −1 and −2";
const MOST_POWER = 30;

export function pow(ctx: Lowering, node: OnnxNode): Value {
  const [value, exponent] = [ctx.input(node, 0), ctx.input(node, 1)];
  const type = typeOf(value);
  const isReal = type === "float32";
  const known = folded(ctx, [value, exponent], type, (x = 0, y = 0) =>
    isReal ? Math.fround(x ** y) : Math.trunc(x ** y),
  );
  if (known !== undefined) return known;
  const tensor = knownTensor(exponent);
  if (tensor === undefined)
    return refuse("its exponent (input 1) is computed", "Make the exponent constant.");
  const [power = 1, ...others] = numbers(tensor);
  if (others.some((other) => other !== power)) refuse("its exponents differ", "Use one exponent for all.");
  if (!isReal) return wholePower(ctx, value, power);
  const f = (x: number): number => x ** power;
  const mapped = mapThrough(ctx, value, f) ?? mapWide(ctx, value, f);
  if (mapped?.map.every(Number.isFinite)) return mapped;
  return elementwise(ctx, [value], type, ([x = 0]) => realPower(ctx, x, power));
}

function realPower(ctx: Lowering, x: Operand, power: number): Operand {
  const { builder } = ctx;
  const one = builder.f32(1);
  const square = (): Operand => safely(ctx, "mul", x, x);
  switch (power) {
    case 0.5:
      return builder.float("sqrt", "f32", x);
    case 1:
      return x;
    case 2:
      return square();
    case 3:
      return safely(ctx, "mul", square(), x);
    case -0.5:
      return builder.float("div", "f32", one, builder.float("sqrt", "f32", x));
    case -1:
      return builder.float("div", "f32", one, x);
    case -2:
      return builder.float("div", "f32", one, square());
  }
  return refuse(
    `it raises float32 to ${power}`,
    `Use one of ${STEPS}, or put QuantizeLinear and DequantizeLinear before it: of a byte it becomes a table.`,
  );
}

/** A product of as many factors as the exponent says. */
function wholePower(ctx: Lowering, value: Value, power: number): Value {
  const type = typeOf(value);
  if (type === "bool" || type === "uint8" || type === "int8" || isWide(type)) {
    refuse(`it computes in ${type}, which wraps`, "Cast to int32 first.");
  }
  if (!Number.isInteger(power) || power < 1 || power > MOST_POWER) {
    refuse(`it raises ${type} to ${power}`, `Use whole exponents of 1 to ${MOST_POWER}, or Cast to float32.`);
  }
  let product = value;
  for (let i = 1; i < power; i++) {
    product = elementwise(ctx, [product, value], type, ([a = 0, b = 0]) =>
      ctx.builder.arith("mul", "s32", a, b),
    );
  }
  return product;
}
