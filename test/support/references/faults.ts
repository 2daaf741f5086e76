/** Faults that could stand in the importer's lowering, each with the reference that must find it. */
import type { Mutant } from "../../../tools/mutant.ts";

type Edit = readonly [name: string, from: string, to: string];

const inFile =
  (file: string) =>
  (caughtBy: string, ...edits: readonly Edit[]): Mutant[] =>
    edits.map(([name, from, to]) => ({
      name: `${caughtBy}: ${name}`,
      caughtBy,
      edits: [{ file: `inference/onnx/lower/${file}`, from, to }],
    }));

const pad = inFile("pad.ts");
const shape = inFile("shape.ts");
const space = inFile("space.ts");
const resize = inFile("resize.ts");
const masks = inFile("masks.ts");
const picks = inFile("picks.ts");
const gather = inFile("gather.ts");
const ranks = inFile("ranks.ts");
const modulo = inFile("modulo.ts");
const elements = inFile("elementwise.ts");
const normalize = inFile("normalize.ts");
const transposed = inFile("conv-transpose.ts");
const einsum = inFile("einsum.ts");
const qdq = inFile("qdq.ts");
const windows = inFile("windows.ts");
const rows = inFile("window-rows.ts");
const conv = inFile("conv.ts");
const dynamic = inFile("dynamic.ts");
const activations = inFile("activations.ts");
const real = inFile("real-steps.ts");
const functions = inFile("functions.ts");

const PLACING_FAULTS: readonly Mutant[] = [
  ...pad(
    "Pad",
    [
      "the pads of both ends exchanged",
      "[pads[i], pads[i + axes.length]];\n    const dim",
      "[pads[i + axes.length], pads[i]];\n    const dim",
    ],
    [
      "axes in the order of the file",
      "const list = axesInput === undefined ? dims.map((_, i) => i) : numbers(axesInput);",
      "const list = axesInput === undefined ? dims.map((_, i) => i) : numbers(axesInput).map((_, i) => i);",
    ],
    [
      "edge reads one too far",
      "Math.min(Math.max(at, 0), size - 1),",
      "Math.min(Math.max(at, 1), size - 1) % size,",
    ],
    [
      "reflect repeats the edge",
      "const period = Math.max(2 * (size - 1), 1);",
      "const period = Math.max(2 * size - 1, 1);",
    ],
    [
      "wrap from the wrong end",
      "wrap: (at, size) => ((at % size) + size) % size,",
      "wrap: (at, size) => (size - (at % size)) % size,",
    ],
    [
      "a cut axis is padded from before the cut",
      "cut + position(at - Math.max(before, 0), left)",
      "position(at - before, size)",
    ],
    ["an int8 pad value without its offset", "stored: value + 128, value }", "stored: value & 255, value }"],
    [
      "a float32 pad value as an integer",
      "return { stored: view.getUint32(0), value };",
      "return { stored: value >>> 0, value };",
    ],
  ),
  ...pad(
    "Pad of dequantized bytes",
    [
      "0 padded as the byte 0",
      "const zero = value.zero[0] as number;",
      "const zero = 0 * (value.zero[0] as number);",
    ],
    ["another pad value taken for 0", "value.scale.length === 1 && fill === 0)", "value.scale.length === 1)"],
  ),
  ...shape(
    "Slice",
    ["an end before the first element", "clamp(ends[i], -1, dim - 1)", "clamp(ends[i], 0, dim - 1)"],
    ["ends rounded down", "Math.ceil((end - start) / step)", "Math.max(1, Math.floor((end - start) / step))"],
  ),
  ...space(
    "DepthToSpace",
    ["CRD read as DCR", '"DCR") === "CRD"', '"DCR") !== "DCR" && false'],
    ["rows and columns of a block exchanged", "[0, 3, 4, 1, 5, 2],", "[0, 3, 4, 2, 5, 1],"],
  ),
  ...space("SpaceToDepth", ["blocks behind their channels", "[0, 3, 5, 1, 2, 4]", "[0, 1, 3, 5, 2, 4]"]),
  ...resize(
    "Resize",
    [
      "half_pixel without its half",
      "half_pixel: (at, scale) => f(f(f(at + 0.5) / scale) - 0.5),",
      "half_pixel: (at, scale) => f(at / scale),",
    ],
    ["the symmetric offset with the wrong sign", "return f(offset + f(", "return f(-offset + f("],
    [
      "one pixel of pytorch_half_pixel",
      "pytorch_half_pixel: (at, scale, size) => (size > 1 ?",
      "pytorch_half_pixel: (at, scale, size) => (size > 0 ?",
    ],
    ["corners by the number of elements", "f(f(at * f(from - 1)) / f(size - 1))", "f(f(at * from) / size)"],
    [
      "round_prefer_floor takes the upper of two",
      "round_prefer_floor: (x) => Math.ceil(x - 0.5),",
      "round_prefer_floor: (x) => Math.floor(x + 0.5),",
    ],
    [
      "round_prefer_ceil takes the lower of two",
      "round_prefer_ceil: (x) => Math.floor(x + 0.5),",
      "round_prefer_ceil: (x) => Math.ceil(x - 0.5),",
    ],
    [
      "sizes rounded up",
      "sizes?.[i] ?? Math.floor(f(from * (scales?.[i] ?? 1)))",
      "sizes?.[i] ?? Math.ceil(f(from * (scales?.[i] ?? 1)))",
    ],
    [
      "the listed axes taken for the first ones",
      "const axes = given.map((axis) => normalAxis(axis, dims.length));",
      "const axes = given.map((_, i) => normalAxis(i, dims.length));",
    ],
    [
      "positions beyond the end",
      "clamp(nearest(x), 0, from - 1)",
      "Math.max(nearest(x), 0) % from",
    ],
  ),
  ...resize("Upsample", [
    "coordinates of a newer Resize",
    'isOld ? "asymmetric" : "half_pixel"',
    '"half_pixel"',
  ]),
  ...masks(
    "Trilu",
    ["the diagonal left out", "distance >= k : distance <= k", "distance > k : distance <= k"],
    [
      "upper and lower exchanged",
      'intAttribute(node, "upper", 1) !== 0',
      'intAttribute(node, "upper", 1) === 0',
    ],
    [
      "rows counted by their length",
      "(i % columns) - Math.floor(i / columns)",
      "(i % columns) - Math.floor(i / rows)",
    ],
  ),
];

const PICKING_FAULTS: readonly Mutant[] = [
  ...picks(
    "GatherElements",
    [
      "ids from the end one too far",
      "builder.select(isNegative, builder.s32(size), builder.s32(0))",
      "builder.select(isNegative, builder.s32(size - 1), builder.s32(0))",
    ],
    ["ids in the order of their storage", "ctx.inLayout(plainIds, order)", "ctx.plain(plainIds)"],
    [
      "the axis of the data as it is stored",
      "ctx.reshape(ctx.inLayout(tensor, order), [count(lead), 1, size])",
      "ctx.reshape(ctx.plain(tensor), [count(lead), 1, size])",
    ],
    [
      "0 where nothing is picked",
      'if (tensor.type === "s32") return builder.s32(-(2 ** 31));',
      'if (tensor.type === "s32") return builder.s32(0);',
    ],
  ),
  ...picks(
    "Gather of computed data from either end",
    ["ids from the end unseen", "if (low >= 0) return ids;", "if (low >= -(2 ** 31)) return ids;"],
    ["the ids' axes in front", "a < axis ? a : a + ids.length - 1", "a + ids.length - 1"],
    [
      "positions from 1",
      "Int32Array.from({ length: size }, (_, i) => i);\n  const isPicked",
      "Int32Array.from({ length: size }, (_, i) => i + 1);\n  const isPicked",
    ],
  ),
  ...gather("Gather", [
    "a table of another axis as it lies",
    "const table = axis === 0 ? tensor : movedConstant(tensor, order);",
    "const table = axis === 0 ? tensor : { ...tensor, dims: order.map((a) => tensor.dims[a] as number) };",
  ]),
  ...gather("Gather by int64 ids", [
    "the picked axis in front",
    "...gathered(tensor.dims, ids.dims, axis) };",
    "dims };",
  ]),
  ...masks(
    "OneHot",
    ["on and off exchanged", "const [off, on] = [0, 1].map(", "const [on, off] = [0, 1].map("],
    ["ids below 0 unseen", "isUnsigned ? positive : choose(equal(-depth), on, positive)", "positive"],
    [
      "the axis one further",
      "[...dims.slice(0, axis), 1, ...dims.slice(axis)]",
      "[...dims.slice(0, axis + 1), 1, ...dims.slice(axis + 1)]",
    ],
    [
      "positions in the type of the ids",
      'makeTensor(\n        "int32",\n        along,',
      "makeTensor(\n        type,\n        along,",
    ],
  ),
];

const ORDERING_FAULTS: readonly Mutant[] = [
  ...ranks(
    "CumSum",
    [
      "exclusive unseen",
      'intAttribute(node, "exclusive", 0) !== 0',
      'intAttribute(node, "exclusive", 0) > 1',
    ],
    ["one addend too few", "distance < length; distance *= 2", "2 * distance < length; distance *= 2"],
    [
      "positions after instead of before",
      "offset: i === 1 ? -distance : 0",
      "offset: i === 1 ? distance : 0",
    ],
  ),
  ...ranks(
    "TopK",
    [
      "the last of equal elements",
      'reduceRows(ctx, "min", ids, [rows, 1])',
      'reduceRows(ctx, "max", builder.select(candidates, positions, builder.s32(-1)), [rows, 1])',
    ],
    [
      "taken elements found again",
      'builder.select(open, isTop, builder.plain("bool", [1], Uint8Array.of(0)))',
      "isTop",
    ],
    [
      "smallest read as largest",
      'intAttribute(node, "largest", 1) !== 0',
      'intAttribute(node, "largest", 1) >= 0',
    ],
    ["taken bytes as 0 where the smallest are wanted", 'isLeast ? 0 : type === "bool" ? 1 : 255', "0"],
    [
      "the axis before the last",
      "const order = [...Array.from({ length: rank }, (_, i) => i).filter((i) => i !== axis), axis];\n  const rows",
      "const order = Array.from({ length: rank }, (_, i) => i);\n  const rows",
    ],
  ),
  ...modulo(
    "Mod",
    [
      "the sign of the dividend",
      'const isTruncated = intAttribute(node, "fmod", 0) !== 0;',
      'const isTruncated = intAttribute(node, "fmod", 0) >= 0;',
    ],
    [
      "the sign of the divisor with fmod",
      'const isTruncated = intAttribute(node, "fmod", 0) !== 0;',
      'const isTruncated = intAttribute(node, "fmod", 0) > 1;',
    ],
    [
      "a divisor below 0 as its size",
      "const turned = !isTruncated && isNegative;",
      "const turned = false && isNegative;",
    ],
    [
      "a size in the type of its divisor",
      'folded(ctx, [b], "int32", (y = 1) => Math.abs(y))',
      "folded(ctx, [b], type, (y = 1) => Math.abs(y))",
    ],
    ["int8 as uint8", 'LIMITS[type === "int8" ? "s8" : "u8"]', 'LIMITS["u8"]'],
  ),
  ...masks(
    "Hardmax",
    [
      "the last of equal maxima",
      'new Map([["axis", { kind: "int", value: at }]])',
      'new Map([["axis", { kind: "int", value: at }], ["select_last_index", { kind: "int", value: 1 }]] as const)',
    ],
    [
      "old rows along one axis",
      'const isOld = ctx.graph.opset < 13;\n  const axis = normalAxis(intAttribute(node, "axis", isOld ? 1 : -1), dims.length);\n  if (knownTensor',
      'const isOld = ctx.graph.opset < 7;\n  const axis = normalAxis(intAttribute(node, "axis", isOld ? 1 : -1), dims.length);\n  if (knownTensor',
    ],
  ),
  ...elements("Mean", [
    "divided by one operand too few",
    "makeTensor(type, [], [node.inputs.length])",
    "makeTensor(type, [], [Math.max(node.inputs.length - 1, 1)])",
  ]),
];

const PRODUCT_FAULTS: readonly Mutant[] = [
  ...windows(
    "Conv in groups",
    ["SAME_UPPER and SAME_LOWER exchanged", 'auto === "SAME_UPPER" ? [less', 'auto === "SAME_LOWER" ? [less'],
    [
      "the pads of both ends exchanged",
      "let [before = 0, after = 0] = [pads[i], pads[i + rank]];",
      "let [after = 0, before = 0] = [pads[i], pads[i + rank]];",
    ],
    ["a reach without its dilation", "const reach = (k - 1) * dilation + 1;", "const reach = k;"],
  ),
  ...rows(
    "Conv in groups",
    [
      "a group reads the first one's channels",
      "{ axis: kernelAt - 1, factor: perGroup }",
      "{ axis: kernelAt - 1, factor: 0 }",
    ],
    ["each image is the first one", "offset: image, checked: false }", "offset: 0 * image, checked: false }"],
    [
      "images written over each other",
      "offset: -image, checked: true }",
      "offset: 0 * image, checked: true }",
    ],
  ),
  ...conv(
    "Conv in groups",
    ["int8 padded with the byte 0", "{ pad: zero } : { shift }", "{ pad: zeroPoint & 255 } : { shift }"],
    [
      "kernel positions and channels exchanged",
      "(i) => (o * perGroup + (i % perGroup)) * taps + Math.floor(i / perGroup),",
      "(i) => o * perGroup * taps + i,",
    ],
  ),
  ...transposed(
    "ConvTranspose",
    ["a kernel that is not turned", "const tap = taps - 1 - (i % taps);", "const tap = i % taps;"],
    [
      "no zero points between",
      "if (strides.every((s) => s === 1)) return tensor;",
      "if (strides.every((s) => s >= 1)) return tensor;",
    ],
    ["the byte 0 between", "{ stored: storedZero(tensor, zero), value: zero }", "{ stored: 0, value: zero }"],
    [
      "output_padding in front",
      "before.push(reach - start);\n    after.push(reach - end + more);",
      "before.push(reach - start + more);\n    after.push(reach - end);",
    ],
    ["weights of another group", "Math.floor(out / perGroup) * inner + ci", "ci"],
    ["SAME_UPPER and SAME_LOWER exchanged", 'auto === "SAME_UPPER" ? [less', 'auto === "SAME_LOWER" ? [less'],
    ["dilation unseen", "const reach = (k - 1) * dilation;", "const reach = k - 1;"],
  ),
  ...qdq(
    "Gemm",
    ["alpha left out", "factor: factor * alpha * unit,", "factor: factor * unit,"],
    ["beta left out", "beta === 1\n      ? bias", "beta !== 0\n      ? bias"],
    [
      "transA unseen",
      'transposed(operands.activation, intAttribute(node, "transA", 0))',
      "transposed(operands.activation, 0)",
    ],
    [
      "a computed addend left out",
      'return chain(ctx, [{ ...scaled, fused: false }, addend], "add");',
      'return addend === bias && !isKnown(bias) ? { ...scaled, fused: true } : chain(ctx, [{ ...scaled, fused: false }, addend], "add");',
    ],
  ),
  ...einsum(
    "Einsum",
    [
      "the second operand as it lies",
      "ctx.set(names[1], matrix(y, b, inner, columns));",
      "ctx.set(names[1], matrix(y, b, columns, inner));",
    ],
    [
      "the letters of the result in the order of the product",
      "const perm = [...given].map((letter) => letters.indexOf(letter));",
      "const perm = [...given].map((_, i) => i);",
    ],
  ),
  ...einsum("Einsum of one operand", [
    "the permutation's inverse",
    "[...given].map((letter) => a.indexOf(letter)),",
    "[...a].map((letter) => given.indexOf(letter)),",
  ]),
];

const NORMALIZING_FAULTS: readonly Mutant[] = [
  ...normalize(
    "QLinearSoftmax",
    ["the axis of a newer operator set", "const isOld = opset < 13;", "const isOld = opset < 7;"],
    [
      "the graph's operator set for the node's",
      'intAttribute(node, "opset", ctx.graph.opset)',
      "ctx.graph.opset",
    ],
    [
      "the byte less the maximum",
      'builder.arith("sub", "s32", top, stored)',
      'builder.arith("sub", "s32", stored, top)',
    ],
  ),
  ...normalize(
    "InstanceNormalization",
    [
      "gains along the images",
      "scaledAndShifted(ctx, node, apart, [channels, 1])",
      "scaledAndShifted(ctx, node, ctx.reshape(apart, [channels, batch, n]), [channels, 1])",
    ],
    [
      "epsilon's default",
      'const rows = normalizedRows(ctx, value, n, floatAttribute(node, "epsilon", Math.fround(1e-5)));\n  const apart',
      "const rows = normalizedRows(ctx, value, n, Math.fround(1e-5));\n  const apart",
    ],
    [
      "no shift",
      'return shift === undefined ? scaled : ctx.builder.float("add", "f32", scaled, shift);',
      "return shift === undefined || shift !== undefined ? scaled : scaled;",
    ],
    [
      "the deviation of a sample",
      'builder.float("mul", "f32", positive, builder.f32((unit * unit) / n))',
      'builder.float("mul", "f32", positive, builder.f32((unit * unit) / Math.max(n - 1, 1)))',
    ],
  ),
  ...normalize(
    "RMSNormalization",
    [
      "bytes without their zero point",
      'builder.arith("sub", "s32", stored, builder.s32(zero[0] as number))',
      'builder.arith("sub", "s32", stored, builder.s32(0 * (zero[0] as number)))',
    ],
    [
      "the sum of squares for their mean",
      "real(ctx, positive, (unit * unit) / n)",
      "real(ctx, positive, unit * unit)",
    ],
    [
      "the last axis alone",
      'const n = count(dims.slice(normalAxis(intAttribute(node, "axis", -1), dims.length)));\n  checkLength(n);',
      "const n = count(dims.slice(-1));\n  checkLength(n);",
    ],
  ),
];

const DYNAMIC_FAULTS: readonly Mutant[] = [
  ...dynamic(
    "DynamicQuantizeLinear",
    [
      "a range without 0",
      'builder.float("min", "f32", reduceRows(ctx, "min", all, [1]), zero)',
      'reduceRows(ctx, "min", all, [1])',
    ],
    ["divided by 256", "builder.f32(255));", "builder.f32(256));"],
    [
      "the scale of a flat tensor",
      "builder.select(isFlat, builder.f32(1), quotient)",
      "builder.select(isFlat, builder.f32(2), quotient)",
    ],
    ["the zero point from the maximum", 'builder.float("sub", "f32", zero, least)', "most"],
  ),
  ...dynamic(
    "MatMulInteger with a computed zero point",
    [
      "weights with their offset in the sum",
      "weights.reduce((sum, w) => sum + w - offset, 0)",
      "weights.reduce((sum, w) => sum + w, 0)",
    ],
    [
      "the zero point added",
      'builder.arith("sub", "s32", result.operand, excess)',
      'builder.arith("add", "s32", result.operand, excess)',
    ],
  ),
  ...rows("ConvInteger with a computed zero point", [
    "windows hold the byte 0 outside",
    '"shift" in outside && leaves ?',
    '"shift" in outside && !leaves ?',
  ]),
  ...activations(
    "MatMulInteger of two computed operands",
    [
      "a computed zero point left out",
      'if (shift !== undefined) return ctx.builder.arith("sub", "s32", operand, shift);',
      "if (shift !== undefined) return operand;",
    ],
    ["the second operand as it lies", "[rank - 1, rank - 2]", "[rank - 2, rank - 1]"],
  ),
];

const FUNCTION_FAULTS: readonly Mutant[] = [
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

export const OPERATOR_FAULTS: readonly Mutant[] = [
  ...PLACING_FAULTS,
  ...PICKING_FAULTS,
  ...ORDERING_FAULTS,
  ...PRODUCT_FAULTS,
  ...NORMALIZING_FAULTS,
  ...DYNAMIC_FAULTS,
  ...FUNCTION_FAULTS,
];
