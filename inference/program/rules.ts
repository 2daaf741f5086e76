import { INTEGERS, MAX_WHOLE_HEIGHT, type StepCheck } from "./check.ts";
import {
  ARITH_VARIANTS,
  elementBytes,
  elementCount,
  FLOAT_VARIANTS,
  INPUT_CODECS,
  lastDim,
  NONE,
  type Opcode,
  REDUCE_VARIANTS,
  rowCount,
} from "./form.ts";
import { tensorShape } from "./shape.ts";

const BYTES = ["u8", "s8"] as const;

/** Structure rules of each opcode beyond those that hold for every record. Source: docs/EXACT.md, section 3. */
export const RULES: Readonly<Record<Opcode, (check: StepCheck) => void>> = {
  codec,
  move,
  lookup,
  dot,
  requant,
  rescale,
  table,
  arith,
  float,
  reduce,
  select,
};

function codec(check: StepCheck): void {
  const { step, program } = check;
  const { inputCodec, inputSize } = program;
  check.none("a", "b", "c");
  const code = INPUT_CODECS.indexOf(inputCodec) + 1;
  check.must(step.variant === code, "variant", step.variant, `${code} (${inputCodec}, as in the header)`);
  const { height } = tensorShape(step.type, step.dims);
  check.must(height <= MAX_WHOLE_HEIGHT, "leaves", `2^${height}`, `<= 2^${MAX_WHOLE_HEIGHT}`);
  const dims = `[${step.dims.join(", ")}]`;
  const count = elementCount(step.dims);
  const end = step.k + count * (inputCodec === "raw" ? elementBytes(step.type) : 1);
  switch (inputCodec) {
    case "text": {
      const [tokens, width] = step.dims;
      check.type("s32");
      const fits = step.dims.length === 2 && (tokens as number) <= 64 && (width as number) <= 16;
      check.must(fits, "dims", dims, "[tokens <= 64, width <= 16]");
      check.must(step.k >= 2 && step.k <= 2 ** 24, "k (table rows)", step.k, "2..16777216");
      break;
    }
    case "prices":
      check.type("s32");
      check.must(
        step.dims.length === 2 && step.dims[0] === 3 && step.dims[1] === inputSize - 1,
        "dims",
        dims,
        `[3, ${inputSize - 1}]`,
      );
      check.noAttribute();
      break;
    case "int16s":
      check.type("s32");
      check.must(end <= inputSize, "last number (k + elements)", end, `<= input size ${inputSize}`);
      break;
    case "raw":
      check.must(end <= inputSize, "last byte (k + bytes)", end, `<= input size ${inputSize}`);
      break;
  }
}

function move(check: StepCheck): void {
  const { step } = check;
  check.variant(1);
  const source = check.plain("a", step.type);
  if (step.b === NONE) {
    if (elementBytes(step.type) === 1) check.must(step.k <= 255, "k (pad)", step.k, "0..255");
  } else {
    check.sameDims("b", check.plain("b", step.type));
    check.noAttribute();
  }
  check.none("c");
  const rank = step.dims.length;
  step.coordinates.forEach(({ view, a, b, p, q }, j) => {
    check.must(view >= 1, `view of coordinate ${j}`, view, ">= 1");
    const axis = (name: string, value: number, factor: number): void =>
      check.must(
        value < rank && (factor !== 0 || value === 0),
        `${name} of coordinate ${j}`,
        value,
        factor === 0 ? "0, its factor is 0" : `0..${rank - 1}`,
      );
    axis("p", p, a);
    axis("q", q, b);
  });
  if (source !== undefined) {
    const product = step.coordinates.reduce((all, coordinate) => all * coordinate.view, 1);
    const count = elementCount(source.dims);
    check.must(product === count, "product of the view's dims", product, `${count}, the source's elements`);
  }
}

function lookup(check: StepCheck): void {
  const { step } = check;
  if (!check.variant(2)) return;
  const sum = step.variant === 0;
  const ids = check.plain("a", "s32");
  if (ids !== undefined) {
    const most = sum ? 16 : 1;
    check.must(lastDim(ids.dims) <= most, "last dim of operand a", lastDim(ids.dims), `1..${most}`);
    check.rows("a", ids, rowCount(step.dims));
  }
  const table = check.weights("b", sum ? "lookup" : "plain");
  if (table !== undefined) {
    check.must(table.dims.length === 2, "rank of operand b", table.dims.length, "2");
    check.must(
      lastDim(step.dims) === lastDim(table.dims),
      "last dim",
      lastDim(step.dims),
      `${lastDim(table.dims)}`,
    );
    if (!sum) check.type(table.type);
  }
  if (sum) check.type("s32");
  check.none("c");
  check.noAttribute();
}

function dot(check: StepCheck): void {
  const { step } = check;
  if (check.variant(3)) {
    if (step.variant === 0) check.type("s32");
    else check.type(...BYTES);
  }
  const input = check.plain("a", ...BYTES);
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
      check.must(lastDim(input.dims) === k, "last dim of operand a", lastDim(input.dims), `K = ${k}`);
    }
  }
  check.rows("a", input, rowCount(step.dims) * groups);
}

function channels(check: StepCheck): void {
  const { step } = check;
  check.sameDims("a", check.plain("a", "s32"));
  const parameters = check.weights("b", "channel");
  if (parameters !== undefined) {
    const n = parameters.dims[0] as number;
    check.must(n === 1 || n === lastDim(step.dims), "channels of operand b", n, `1 or ${lastDim(step.dims)}`);
  }
  check.none("c");
  check.noAttribute();
}

function requant(check: StepCheck): void {
  check.must(check.step.variant === 1 || check.step.variant === 2, "variant", check.step.variant, "1 or 2");
  check.type(...BYTES);
  channels(check);
}

function rescale(check: StepCheck): void {
  check.variant(1);
  check.type("s32");
  channels(check);
}

function table(check: StepCheck): void {
  const { step } = check;
  check.variant(1);
  check.type("u8", "s8", "bool");
  check.sameDims("a", check.plain("a", "u8", "s8", "bool"));
  const map = check.weights("b", "plain");
  if (map !== undefined) {
    check.must(map.type === "u8", "type of operand b", map.type, "u8");
    check.must(
      map.dims.length === 1 && map.dims[0] === 256,
      "dims of operand b",
      `[${map.dims.join(", ")}]`,
      "[256]",
    );
  }
  check.must(step.c === NONE, "operand c", step.c.toString(16), "ffff (none)");
  check.noAttribute();
}

function arith(check: StepCheck): void {
  const { step } = check;
  if (!check.variant(ARITH_VARIANTS.length)) return;
  const name = ARITH_VARIANTS[step.variant];
  check.broadcasts("a", check.plain("a", ...INTEGERS));
  if (name === "cast") {
    check.none("b");
    check.type(...INTEGERS);
  } else {
    check.broadcasts("b", check.plain("b", ...INTEGERS));
    if (name === "lt" || name === "le" || name === "eq") check.type("bool");
    else check.type("u8", "s8", "s32");
  }
  check.none("c");
  check.noAttribute();
}

function float(check: StepCheck): void {
  const { step } = check;
  if (!check.variant(FLOAT_VARIANTS.length)) return;
  const name = FLOAT_VARIANTS[step.variant] as (typeof FLOAT_VARIANTS)[number];
  const integerInput = name === "tofloat" || name === "dequant";
  check.broadcasts("a", check.plain("a", ...(integerInput ? INTEGERS : (["f32"] as const))));
  if (name === "sqrt" || name === "round" || name === "tofloat" || name === "toint") {
    check.none("b", "c");
  } else {
    check.broadcasts("b", check.plain("b", "f32"));
    if (name === "dequant" || name === "quant") check.broadcasts("c", check.plain("c", "s32"));
    else check.none("c");
  }
  if (name === "lt" || name === "le" || name === "eq") check.type("bool");
  else if (name === "toint") check.type(...INTEGERS);
  else if (name === "quant") check.type(...BYTES);
  else check.type("f32");
  check.noAttribute();
}

function reduce(check: StepCheck): void {
  const { step } = check;
  const input = check.plain("a", ...INTEGERS);
  if (check.variant(REDUCE_VARIANTS.length)) {
    if (step.variant === 0) check.type("s32");
    else if (input !== undefined) check.type(input.type);
  }
  if (input !== undefined) {
    const bytes = lastDim(input.dims) * elementBytes(input.type);
    check.must(bytes <= 1024, "bytes of a row of operand a", bytes, "<= 1024");
    check.rows("a", input, elementCount(step.dims));
  }
  check.none("b", "c");
  check.noAttribute();
}

function select(check: StepCheck): void {
  const { step } = check;
  check.variant(1);
  check.broadcasts("a", check.plain("a", "bool"));
  check.broadcasts("b", check.plain("b", step.type));
  check.broadcasts("c", check.plain("c", step.type));
  check.noAttribute();
}
