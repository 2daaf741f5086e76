/** Faults that could stand in the lowering of functions of one number. */
import type { Mutant } from "../../../../tools/mutant.ts";
import { inFile } from "./in-file.ts";

const real = inFile("real-steps.ts");
const functions = inFile("functions.ts");

export const FUNCTION_FAULTS: readonly Mutant[] = [
  ...real("PRelu", [
    "the slope above 0",
    'builder.float("lt", "bool", x, constant(ctx, 0))',
    'builder.float("lt", "bool", constant(ctx, 0), x)',
  ]),
  ...real("PRelu of bytes", ["the slope above 0", "(x < 0 ? x * s : x)", "(x > 0 ? x * s : x)"]),
  ...real("HardSigmoid of float32", ["beta's default", 'floatAttribute(node, "beta", 0.5)', "0.5"]),
  ...real("HardSwish of float32", ["a fifth", "1 / 6, 0.5", "1 / 5, 0.5"]),
  ...real("LeakyRelu of float32", ["alpha's default", 'floatAttribute(node, "alpha", 0.01)', "0.01"]),
  ...real("Softsign of float32", [
    "x for its size",
    'const either = builder.float("max", "f32", x, builder.float("mul", "f32", x, constant(ctx, -1)));',
    'const either = builder.float("max", "f32", x, constant(ctx, 0));',
  ]),
  ...real("ThresholdedRelu of float32", ["the threshold's default", 'floatAttribute(node, "alpha", 1)', "1"]),
  ...functions("Celu of bytes", ["alpha outside of the exponent", "Math.expm1(x / alpha)", "Math.expm1(x)"]),
  ...functions("Elu of bytes", [
    "alpha left out",
    "(x >= 0 ? x : alpha * Math.expm1(x))",
    "(x >= 0 ? x : Math.expm1(x))",
  ]),
  ...functions("Exp of bytes", ["less 1", "Exp: () => Math.exp,", "Exp: () => Math.expm1,"]),
  ...functions("Tanh of bytes", ["without its bound", "Tanh: () => Math.tanh,", "Tanh: () => Math.sinh,"]),
  ...functions("com.microsoft Gelu of bytes", [
    "the sign of x",
    "erfc(-x * Math.SQRT1_2)",
    "erfc(x * Math.SQRT1_2)",
  ]),
  ...functions("com.microsoft FastGelu of bytes", [
    "the quick form",
    "return geluTanh;",
    "return (x) => x * sigmoid(1.702 * x);",
  ]),
  ...functions("Gelu of bytes", [
    "the tanh form",
    'if (form === "none") return gelu;',
    'if (form === "none") return (x) => x * sigmoid(1.702 * x);',
  ]),
  ...functions("Gelu tanh of bytes", ["the exact form's quick cousin", "0.044715 * x ** 3", "0.04 * x ** 3"]),
  ...functions("HardSigmoid of bytes", ["alpha's default", '[floatAttribute(node, "alpha", 0.2)', "[0.2"]),
  ...functions("HardSwish of bytes", ["a fifth", "clamp01(x / 6 + 0.5)", "clamp01(x / 5 + 0.5)"]),
  ...functions("LeakyRelu of bytes", [
    "the slope above 0",
    "x >= 0 ? x : x * alpha;",
    "x <= 0 ? x : x * alpha;",
  ]),
  ...functions("Log of bytes", ["base 2", "Log: () => Math.log,", "Log: () => Math.log2,"]),
  ...functions("Mish of bytes", ["without tanh", "x * Math.tanh(softplus(x))", "x * softplus(x)"]),
  ...functions("Selu of bytes", [
    "gamma below 0 alone",
    "gamma * (x > 0 ? x : alpha * Math.expm1(x))",
    "x > 0 ? x : gamma * alpha * Math.expm1(x)",
  ]),
  ...functions("Shrink of bytes", [
    "the bias with the wrong sign",
    "x < -lambd ? x + bias : x > lambd ? x - bias : 0",
    "x < -lambd ? x - bias : x > lambd ? x + bias : 0",
  ]),
  ...functions("Sigmoid of bytes", [
    "the sign of x",
    "1 / (1 + Math.exp(-x));\nconst softplus",
    "1 / (1 + Math.exp(x));\nconst softplus",
  ]),
  ...functions("Softplus of bytes", [
    "without the size",
    "Math.max(x, 0) + Math.log1p",
    "Math.max(x, 0) - Math.log1p",
  ]),
  ...functions("Softsign of bytes", ["x for its size", "x / (1 + Math.abs(x))", "x / (1 + Math.max(x, 0))"]),
  ...functions("ThresholdedRelu of bytes", [
    "0 for the threshold",
    "(x > alpha ? x : 0)",
    "(x > 0 * alpha ? x : 0)",
  ]),
  ...functions("com.microsoft QuickGelu of bytes", [
    "alpha of 1",
    'floatAttribute(node, "alpha", 1.702)',
    "1",
  ]),
  ...functions("Erf of bytes", [
    "a series without its fraction",
    "sum += term / (2 * n + 1);",
    "sum += term / (2 * n + 2);",
  ]),
];
