/** Every ONNX operator that import reads, with what docs/EXACT.md says about it (`npm run gen` writes the table). */

import { averagePool, globalAveragePool, qLinearAverage } from "./average.ts";
import { batchNormalization } from "./batch-norm.ts";
import { cast, castLike } from "./cast.ts";
import { clip, relu } from "./clamp.ts";
import { conv, convInteger, qLinearConv } from "./conv.ts";
import { convTranspose } from "./conv-transpose.ts";
import { dynamicQuantizeLinear } from "./dynamic.ts";
import { einsum } from "./einsum.ts";
import { arithmetic, mean } from "./elementwise.ts";
import { product } from "./integer-product.ts";
import { sum } from "./integer-sum.ts";
import { compare, isSpecial, logic, where } from "./logic.ts";
import { hardmax, oneHot, trilu } from "./masks.ts";
import { matMulInteger, qGemm, qLinearMatMul } from "./matmul.ts";
import { ML_ROWS } from "./ml-rows.ts";
import { mod } from "./modulo.ts";
import {
  instanceNormalization,
  layerNormalization,
  logSoftmax,
  qLinearSoftmax,
  rmsNormalization,
  softmax,
} from "./normalize.ts";
import { type OperatorRow, same } from "./operator-row.ts";
import { globalMaxPool, maxPool } from "./pool.ts";
import { POSITION_ROWS } from "./position-rows.ts";
import { pow } from "./power.ts";
import { gemm, matMul } from "./qdq.ts";
import { qLinearBinary, qLinearConcat, qLinearFunction } from "./qlinear.ts";
import { dequantizeLinear, quantizeLinear } from "./quantize.ts";
import { cumSum, topK } from "./ranks.ts";
import { pRelu } from "./real-steps.ts";
import { argExtreme, reduce } from "./reduce.ts";
import { reduceProd } from "./reduce-prod.ts";
import { byteFunction, unary } from "./unary.ts";

export const OPERATOR_ROWS: readonly OperatorRow[] = [
  {
    operators: {
      QLinearMatMul: qLinearMatMul,
      QLinearConv: qLinearConv,
      "com.microsoft.QGemm": qGemm,
    },
    reads: "uint8 and int8 in every combination; weight scales and zero points one, or one a channel",
    limits:
      "weights constant; one activation zero point; convolutions over one or two spatial axes. QLinearMatMul of two computed operands: one scale and zero point each (as pairs M·N·K < 2^24)",
    opcodes: ["move", "dot", "arith", "reduce", "requant"],
    exactness: "exact",
  },
  {
    operators: { MatMulInteger: matMulInteger, ConvInteger: convInteger },
    reads: "uint8 and int8 in every combination; an Add of a constant along the columns joins the product",
    limits:
      "weights constant; one activation zero point, constant or computed (`Σa·w − zero·Σw`; outside of a convolution's input windows hold it). MatMulInteger of two computed operands: one zero point each (as pairs M·N·K < 2^24)",
    opcodes: ["move", "dot", "arith", "reduce"],
    exactness: "exact",
  },
  {
    operators: { MatMul: matMul, Gemm: gemm, Conv: conv, ConvTranspose: convTranspose, Einsum: einsum },
    reads:
      "operands dequantized bytes, the activation also 16 bits; result quantized to either (QDQ): DequantizeLinear → product → [Add bias] → [Relu, Clip] → QuantizeLinear is the QOperator form. Of other float32 (not ConvTranspose): products with broadcasting in FLOAT, summed by halves (below)",
    limits:
      "weights constant, of 8 bits, float32 where they stayed so; bias constant int32 with scale = activation scale × weight scale (within 2^-22). A Gemm with alpha or beta, or with a computed C, adds C in FLOAT. Einsum: a transposition, or a product of matrices with batches. MatMul of two computed operands, each of 8 or 16 bits: one scale each where they are integers. Without DOT M·N·K < 2^24",
    opcodes: ["move", "dot", "arith", "reduce", "requant", "rescale", "float"],
    exactness: "one unit",
  },
  {
    operators: { DynamicQuantizeLinear: dynamicQuantizeLinear },
    reads:
      "float32: the largest of x and of −x by halves, scale, zero point and bytes in FLOAT, operation by operation",
    limits: "a tensor whose range is below 2^-60 counts as 0, with scale 1",
    opcodes: ["move", "float", "select", "arith"],
    alwaysFloat: true,
    exactness: "exact",
  },
  {
    operators: {
      QuantizeLinear: quantizeLinear,
      DequantizeLinear: dequantizeLinear,
      "com.microsoft.QuantizeLinear": quantizeLinear,
      "com.microsoft.DequantizeLinear": dequantizeLinear,
    },
    reads:
      "uint8, int8, uint16, int16 (from operator set 21, com.microsoft's before), DequantizeLinear also int32 without zero point; scales one a tensor or an axis. QuantizeLinear of products, sums and averages: REQUANT (8 bits), RESCALE (16 bits). Of what DequantizeLinear made of int32, to 8 bits by a scale that is a power of two: REQUANT, as its division is exact; any other float32 (after Cast, too): FLOAT",
    limits: "constant scales of 2^-100 to 2^60; no blocks; 16 bits inside the graph only, not as its input",
    opcodes: ["float", "requant", "rescale", "arith", "table", "lookup", "move"],
    exactness: "exact",
  },
  {
    operators: { ...same(relu, "Relu"), ...same(clip, "Clip") },
    reads:
      "uint8, int8, int32, float32, dequantized bytes (a table), products (clamps of the requantization)",
    limits: "constant bounds",
    opcodes: ["arith", "float", "table", "lookup", "move"],
    exactness: "exact",
  },
  {
    operators: { ...same(sum, "Add", "Sub"), Mul: product, ...same(arithmetic, "Div", "Sum", "Min", "Max") },
    reads:
      "int32, int64, float32, all with broadcasting; Min and Max also of uint8, int8. Functions of one byte and constants stay one table. Add, Sub and Mul of dequantized integers of 8 or 16 bits also in integers alone where an import asks for it (below)",
    limits:
      "results proven inside s32; float32 operands are held (below) where a result could be infinite or subnormal; divisor proven ≥ 1, or without 0 in float32",
    opcodes: ["arith", "float", "table", "lookup", "move", "rescale"],
    exactness: "exact",
  },
  {
    operators: same(unary, "Abs", "Ceil", "Floor", "Neg", "Reciprocal", "Round", "Sign", "Sqrt"),
    reads: "float32; Abs, Neg and Sign also of uint8, int8 (which wrap) and int32",
    limits: "Sqrt of what is proven ≥ 0, Reciprocal of what is proven not 0",
    opcodes: ["arith", "float", "select", "table", "lookup", "move"],
    exactness: "exact",
  },
  {
    operators: {
      ...same(
        byteFunction,
        "Acos",
        "Acosh",
        "Asin",
        "Asinh",
        "Atan",
        "Atanh",
        "Celu",
        "Cos",
        "Cosh",
        "Elu",
        "Erf",
        "Exp",
        "Gelu",
        "HardSigmoid",
        "HardSwish",
        "LeakyRelu",
        "Log",
        "Mish",
        "Selu",
        "Shrink",
        "Sigmoid",
        "Sin",
        "Sinh",
        "Softplus",
        "Softsign",
        "Tan",
        "Tanh",
        "ThresholdedRelu",
        "com.microsoft.FastGelu",
        "com.microsoft.Gelu",
        "com.microsoft.QuickGelu",
      ),
      ...same(qLinearFunction, "com.microsoft.QLinearLeakyRelu", "com.microsoft.QLinearSigmoid"),
    },
    reads:
      "a dequantized byte tensor with one scale; what follows up to QuantizeLinear joins the table. Of 16 bits: LOOKUP pick from 65,536 rows. HardSigmoid, HardSwish, LeakyRelu, Softsign and ThresholdedRelu of any float32: FLOAT, operation by operation. Erf, Exp, Gelu, Sigmoid, Tanh, FastGelu and QuickGelu of any float32: cubics from a table (below)",
    limits:
      "finite for each of the 256 bytes, or 65,536 integers; Exp of float32 from −86 to 88, beyond as there",
    opcodes: ["table", "arith", "lookup", "move", "float", "select"],
    exactness: "one unit",
  },
  {
    operators: same(compare, "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"),
    reads: "uint8, int8, int32, int64, bool, float32, with broadcasting",
    limits: "",
    opcodes: ["arith", "float", "move", "lookup"],
    exactness: "exact",
  },
  {
    operators: {
      ...same(logic, "And", "Not", "Or", "Xor"),
      Where: where,
      ...same(isSpecial, "IsInf", "IsNaN"),
    },
    reads:
      "bool; Where of any type; with broadcasting. IsNaN and IsInf of float32, which import proves to be neither",
    limits: "infinite constants of Where are the largest finite number",
    opcodes: ["arith", "select", "float", "move", "lookup"],
    exactness: "exact",
  },
  {
    operators: { Pow: pow },
    reads:
      "float32 to 0.5, 1, 2, 3, −0.5, −1, −2, by correctly rounded operations; dequantized bytes and 16 bits to any exponent (a table); int32, int64 to whole exponents of 1 to 30",
    limits: "one constant exponent; results proven inside s32, or finite and not subnormal",
    opcodes: ["float", "arith", "table", "lookup", "move"],
    exactness: "one unit",
  },
  {
    operators: { BatchNormalization: batchNormalization },
    reads:
      "float32 and dequantized bytes: `x·f32(g) + f32(B − mean·g)`, `g = scale / sqrt(var + epsilon)` in binary64",
    limits: "scale, B, mean and var constant; no training mode",
    opcodes: ["float", "move"],
    alwaysFloat: true,
    exactness: "one unit",
  },
  {
    operators: { Mean: mean },
    reads: "float32 with broadcasting: the sum from left to right, divided by the number of operands",
    limits: "",
    opcodes: ["float", "table", "lookup", "arith", "move"],
    exactness: "one unit",
  },
  {
    operators: { PRelu: pRelu },
    reads: "float32; dequantized bytes with one slope (a table)",
    limits: "",
    opcodes: ["float", "select", "table", "arith", "lookup", "move"],
    exactness: "exact",
  },
  {
    operators: { Mod: mod },
    reads: "integers of 8 to 64 bits with broadcasting; fmod 0 and 1",
    limits: "divisor constant, or proven ≥ 1; the dividend less a multiple of it proven inside s32",
    opcodes: ["arith", "select", "move"],
    exactness: "exact",
  },
  {
    operators: { CumSum: cumSum },
    reads: "int32, int64; exclusive, reverse: what is 1, 2, 4, … positions before is added in turn",
    limits: "axis constant; sums proven inside s32",
    opcodes: ["move", "arith"],
    exactness: "exact",
  },
  {
    operators: { TopK: topK },
    reads: "every type, largest and smallest; the lower index first among equals",
    limits: "k constant, at most 16; the result is sorted",
    opcodes: ["move", "reduce", "arith", "select", "float"],
    exactness: "exact",
  },
  {
    operators: { Trilu: trilu, OneHot: oneHot, Hardmax: hardmax },
    reads: "Trilu: every type; OneHot: integer ids; Hardmax: every type, the first of equal maxima",
    limits: "diagonal, depth and values constant",
    opcodes: ["move", "reduce", "arith", "select", "float"],
    exactness: "exact",
  },
  {
    operators: { Cast: cast, CastLike: castLike },
    reads: "uint8, int8, int32, int64, float32, bool; int64 is held as s32",
    limits: "proven in range; to bool from any number",
    opcodes: ["arith", "float", "move", "lookup"],
    exactness: "exact",
  },
  {
    operators: same(qLinearBinary, "com.microsoft.QLinearAdd", "com.microsoft.QLinearMul"),
    reads: "uint8, int8, with broadcasting",
    limits: "one scale a tensor",
    opcodes: ["float", "move"],
    exactness: "one unit",
  },
  {
    operators: { "com.microsoft.QLinearConcat": qLinearConcat },
    reads: "uint8, int8; a table for each part with another scale",
    limits: "",
    opcodes: ["table", "move"],
    exactness: "exact",
  },
  {
    operators: { MaxPool: maxPool, GlobalMaxPool: globalMaxPool },
    reads:
      "uint8, int8, uint16, int16, all of them dequantized, float32 (halves of a row by FLOAT max); pads (the least number), strides, dilations, ceil_mode",
    limits: "one or two spatial axes; storage_order 0; only the first output",
    opcodes: ["move", "reduce", "arith", "float"],
    exactness: "exact",
  },
  {
    operators: {
      AveragePool: averagePool,
      GlobalAveragePool: globalAveragePool,
      ...same(qLinearAverage, "com.microsoft.QLinearAveragePool", "com.microsoft.QLinearGlobalAveragePool"),
    },
    reads:
      "dequantized bytes and 16-bit integers (uint8, int8 for the QLinear forms): integer sums, then REQUANT or RESCALE; count_include_pad 0 with pads divides each position by its own count in FLOAT. Other float32: sums by halves",
    limits: "one or two spatial axes; ceil_mode 0",
    opcodes: ["move", "reduce", "arith", "requant", "rescale", "float"],
    exactness: "one unit",
  },
  {
    operators: same(reduce, "ReduceMax", "ReduceMin"),
    reads:
      "int32, int64, uint8, int8, bool, dequantized bytes, float32 (halves of a row by FLOAT), over any axes",
    limits: "rows above 1,024 bytes are reduced in parts",
    opcodes: ["move", "reduce", "arith", "lookup", "float"],
    exactness: "exact",
  },
  {
    operators: { ReduceProd: reduceProd },
    reads: "int32, int64, over any axes: halves of a row are multiplied; constants are computed at import",
    limits: "products proven inside s32",
    opcodes: ["move", "arith"],
    exactness: "exact",
  },
  {
    operators: same(reduce, "ReduceMean", "ReduceSum", "ReduceSumSquare"),
    reads:
      "dequantized bytes and 16-bit integers, over any axes: integer sums, then REQUANT or RESCALE. Other float32: sums by halves. ReduceSum and ReduceSumSquare also int32 and int64, exactly",
    limits: "integer sums proven inside s32; rows above 1,024 bytes are reduced in parts",
    opcodes: ["move", "reduce", "arith", "requant", "rescale", "lookup", "float"],
    exactness: "one unit",
  },
  {
    operators: { LogSoftmax: logSoftmax, Softmax: softmax, "com.microsoft.QLinearSoftmax": qLinearSoftmax },
    reads:
      "dequantized bytes: exponentials by LOOKUP, their sum of integers, the quotient in FLOAT. Other float32, and LogSoftmax: exponentials by LOOKUP and FLOAT, their sum by halves. Before operator set 13 axes from `axis` on are one. Dequantized integers of 8 or 16 bits, but for LogSoftmax, also in integers alone where an import asks for it (below): the bond lane only",
    limits: "at most 8,191 dequantized bytes a row, 1,024 elements in integers",
    opcodes: ["move", "reduce", "arith", "lookup", "float", "rescale"],
    alwaysFloat: true,
    exactness: "one unit",
  },
  {
    operators: {
      LayerNormalization: layerNormalization,
      InstanceNormalization: instanceNormalization,
      RMSNormalization: rmsNormalization,
    },
    reads:
      "dequantized bytes: integer sums, the rest in FLOAT. Other float32: sums by halves. LayerNormalization and RMSNormalization also written out (ReduceMean, Sub, Pow, ReduceMean, Add, Sqrt, Div). Both of dequantized integers of 8 or 16 bits also in integers alone where an import asks for it (below): the bond lane only",
    limits:
      "gain and shift constant; at most 32,767 dequantized bytes a row, 2,048 elements in integers; only the first output",
    opcodes: ["move", "reduce", "arith", "float", "rescale"],
    alwaysFloat: true,
    exactness: "one unit",
  },
  {
    operators: same(argExtreme, "ArgMax", "ArgMin"),
    reads: "every type; both values of select_last_index",
    limits: "",
    opcodes: ["move", "reduce", "arith", "select", "float"],
    exactness: "exact",
  },
  ...ML_ROWS,
  ...POSITION_ROWS,
];
