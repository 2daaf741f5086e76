/** Small programs, each for one gadget and one way through it, whose profile import proves. */

import type { Value } from "../../conformance/generate/program-builder.ts";
import type { InputCodec, Model, Opcode, OutputCodec } from "../../inference/program/form.ts";
import { CircuitSteps } from "./circuit-steps.ts";
import { createRng } from "./rng.ts";

export interface CircuitProgram {
  readonly name: string;
  /** The gadget under test. */
  readonly opcode: Opcode;
  readonly model: Model;
}

const programs: CircuitProgram[] = [];

interface Options {
  readonly codec?: InputCodec;
  /** Elements of int16s, prices a list. */
  readonly size?: number;
  readonly output?: OutputCodec;
}

function program(
  opcode: Opcode,
  name: string,
  build: (b: CircuitSteps) => Value,
  options: Options = {},
): void {
  const { codec = "raw", size = 0, output = "raw" } = options;
  const b = new CircuitSteps(createRng(programs.length + 1), {
    inputCodec: codec,
    inputSize: size,
    hostile: false,
    floatSane: true,
  });
  build(b);
  programs.push({
    name: `${opcode}: ${name}`,
    opcode,
    model: {
      program: {
        inputCodec: codec,
        outputCodec: output,
        inputSize: codec === "raw" ? b.used : size,
        weights: b.weights,
        steps: b.steps,
      },
      weights: b.weightBytes,
    },
  });
}

const int16s = (size: number): Options => ({ codec: "int16s", size });

for (const type of ["u8", "s8", "bool"] as const) {
  program("codec", `raw ${type}, more than one signal`, (b) => b.input(type, [32]));
}
program("codec", "raw s32 across two signals", (b) => b.input("s32", [8]));
program("codec", "int16s across two signals", (b) => b.input("s32", [17]), int16s(17));
program("codec", "int16s out, saturated", (b) => b.arith("mul", b.input("s32", [2]), b.s32([1], 3)), {
  ...int16s(2),
  output: "int16s",
});
program("codec", "prices", (b) => b.step({ opcode: "codec", variant: 2, type: "s32", dims: [3, 2] }), {
  codec: "prices",
  size: 3,
});
program(
  "codec",
  "text ids of 9 bits",
  (b) => b.step({ opcode: "codec", variant: 1, type: "s32", dims: [3, 2], k: 300 }),
  {
    codec: "text",
    size: 40,
  },
);
program("codec", "two tensors", (b) => b.arith("add", b.input("u8", [2]), b.input("s8", [2]), "s32"));

program("move", "pad", (b) => b.slice(b.input("s8", [3]), -1, 5));
program("move", "second operand", (b) => b.slice(b.input("u8", [2]), -1, 4, b.input("u8", [4])));
program("move", "transpose", (b) => b.transpose(b.input("s8", [2, 3])));

const WIDE = [
  [100, -90, 77],
  [-128, 127, -1],
];
program("dot", "s32", (b) => b.dot(b.input("u8", [1, 3]), WIDE, { bias: -500 }, "s32"));
program("dot", "s32 of s8", (b) => b.dot(b.input("s8", [1, 3]), WIDE, { bias: 500 }, "s32"));
program("dot", "u8 with both clamps, chain", (b) =>
  b.dot(b.input("u8", [1, 3]), WIDE, { addend: 32n, shift: 6 }, "u8"),
);
program("dot", "u8 with both clamps, zero test", (b) =>
  b.dot(b.input("u8", [1, 3]), WIDE, { shift: 0 }, "u8"),
);
program("dot", "u8 without clamps", (b) =>
  b.dot(b.input("u8", [1, 3]), WIDE, { addend: 2048n, shift: 12, zeroPoint: 128 }, "u8"),
);
program("dot", "lower clamp alone", (b) => b.dot(b.input("u8", [1, 3]), WIDE, { shift: 8 }, "u8"));
program("dot", "upper clamp alone", (b) => b.dot(b.input("u8", [1, 3]), [[1, 2, 3]], { shift: 1 }, "u8"));
program("dot", "upper clamp at 200", (b) =>
  b.dot(b.input("u8", [1, 3]), WIDE, { shift: 6, lower: 7, upper: 200 }, "u8"),
);
program("dot", "s8 out, relu", (b) =>
  b.dot(b.input("s8", [1, 3]), WIDE, { shift: 7, zeroPoint: 128, lower: 128 }, "s8"),
);
program("dot", "multiplier", (b) =>
  b.dot(
    b.input("u8", [1, 2]),
    [[50, -30]],
    { multiplier: 12_345, addend: 1n << 19n, shift: 20, zeroPoint: 3 },
    "u8",
  ),
);
program("dot", "groups", (b) =>
  b.dot(
    b.input("u8", [2, 2]),
    [
      [3, -4],
      [-5, 6],
    ],
    { shift: 3 },
    "u8",
    2,
  ),
);
program("dot", "more than 64 terms", (b) => {
  const rows = [Array.from({ length: 12 }, (_, i) => 37 * (i % 5) - 60)];
  return b.dot(b.input("u8", [1, 12]), rows, { shift: 9 }, "u8");
});
program(
  "requant",
  "u8 a channel",
  (b) =>
    b.channels(
      "requant",
      "u8",
      b.input("s32", [2]),
      { shift: 3, bias: 40 },
      { multiplier: 3, shift: 9, zeroPoint: 100 },
    ),
  int16s(2),
);
program(
  "requant",
  "s8",
  (b) => b.channels("requant", "s8", b.input("s32", [2]), { shift: 6, zeroPoint: 128 }),
  int16s(2),
);
program(
  "requant",
  "constant",
  (b) =>
    b.channels("requant", "u8", b.arith("add", b.input("s32", [2]), b.s32([1], 40_000)), {
      shift: 1,
      lower: 9,
      upper: 80,
    }),
  int16s(2),
);
program(
  "rescale",
  "a channel",
  (b) =>
    b.channels(
      "rescale",
      "s32",
      b.input("s32", [2]),
      { multiplier: 7, addend: 3n, shift: 4 },
      { multiplier: 5 },
    ),
  int16s(2),
);

program("table", "u8, nowhere leading 0", (b) =>
  b.table("u8", b.input("u8", [1]), (byte) => (byte * 89 + ((byte * byte) % 251)) % 256),
);
program("table", "s8, leading coefficient 0", (b) =>
  b.table("s8", b.input("s8", [1]), (byte) => Math.max(byte, 128)),
);
program("table", "bool in", (b) => b.table("u8", b.input("bool", [2]), (byte) => 200 - 7 * byte));
program("table", "bool out", (b) => b.table("bool", b.input("u8", [1]), (byte) => (byte % 3 === 0 ? 1 : 0)));
program("table", "few bytes", (b) =>
  b.table(
    "u8",
    b.dot(b.input("u8", [1, 2]), [[1, 1]], { shift: 6, zeroPoint: 10 }, "u8"),
    (byte) => (byte * byte) % 256,
  ),
);

for (const name of ["add", "sub", "mul", "min", "max", "lt", "le", "eq"] as const) {
  const type = ["lt", "le", "eq"].includes(name) ? "bool" : "s32";
  const small = name === "mul" ? "s8" : "s32";
  program(
    "arith",
    `${name} of two`,
    (b) => {
      const [a, c] = [b.input(small, [2]), b.input(small, [2])];
      return b.arith(name, a, c, type);
    },
    small === "s8" ? {} : int16s(4),
  );
  program(
    "arith",
    `${name} with constants`,
    (b) => b.arith(name, b.input("s32", [2]), b.s32([2], 77, -3), type),
    int16s(2),
  );
}
program(
  "arith",
  "absolute value",
  (b) => {
    const a = b.input("s32", [2]);
    return b.arith("max", a, b.arith("sub", b.s32([1], 0), a, "s32", [2]));
  },
  int16s(2),
);
program("arith", "eq of bools", (b) => b.arith("eq", b.input("bool", [2]), b.input("bool", [2]), "bool"));
program("arith", "min of bytes, broadcast", (b) =>
  b.arith("min", b.input("u8", [2, 2]), b.input("u8", [2]), "u8"),
);
program(
  "arith",
  "cast",
  (b) =>
    b.arith(
      "cast",
      b.arith("min", b.arith("max", b.input("s32", [2]), b.s32([1], 0)), b.s32([1], 255)),
      undefined,
      "u8",
    ),
  int16s(2),
);
program("arith", "div of two", (b) => {
  const d = b.arith("max", b.input("s8", [1]), b.s32([1], 1));
  return b.arith("div", b.arith("mul", b.input("s8", [1]), b.s32([1], 37)), d);
});
program("arith", "div of what is not below 0", (b) =>
  b.arith("div", b.input("u8", [1]), b.arith("add", b.input("u8", [1]), b.s32([1], 1)), "s32", [1]),
);
for (const divisor of [1, 5, 8, 40_000]) {
  program(
    "arith",
    `div by ${divisor}`,
    (b) => b.arith("div", b.input("s32", [2]), b.s32([1], divisor)),
    int16s(2),
  );
}
program("arith", "div of u8 by 6", (b) => b.arith("div", b.input("u8", [2]), b.s32([1], 6), "u8"));

const ids = (b: CircuitSteps, dims: readonly number[], k: number): Value =>
  b.step({ opcode: "codec", variant: 1, type: "s32", dims, k }, { low: 0, high: k - 1, quantum: 0 });
const text: Options = { codec: "text", size: 24 };
program("lookup", "sum of two", (b) => b.lookup(ids(b, [1, 2], 11), 11, 2), text);
program("lookup", "rows that are not added", (b) => b.lookup(ids(b, [2, 1], 16), 16, 2, -3, 9), text);
program(
  "lookup",
  "sum over words before a layer",
  (b) => {
    const total = b.reduce("sum", b.transpose(b.lookup(ids(b, [3, 1], 20), 20, 2)));
    return b.channels("requant", "u8", total, { shift: 1, zeroPoint: 20 });
  },
  text,
);
program("lookup", "ids beyond the table", (b) => b.lookup(b.input("s32", [1, 1]), 5, 2), int16s(1));
program("lookup", "more than one packed element", (b) => b.lookup(ids(b, [1, 1], 4), 4, 29), text);
program("lookup", "equal columns and a zero column", (b) => b.lookup(ids(b, [1, 2], 6), 6, 2, 5, 5), text);
program("lookup", "pick s32", (b) => b.pick(ids(b, [2, 1], 5), "s32", 5, 2), text);
program(
  "lookup",
  "pick numbers that are not below 0, out across two signals",
  (b) => b.pick(ids(b, [1, 1], 4), "s32", 4, 8, { low: 0, high: 2 ** 31 - 1, quantum: 0 }),
  text,
);
program("lookup", "pick u8", (b) => b.pick(ids(b, [2, 1], 9), "u8", 9, 3), text);
program(
  "lookup",
  "pick s8 before a dot",
  (b) => b.dot(b.pick(ids(b, [1, 1], 9), "s8", 9, 3), WIDE, {}, "s32"),
  text,
);

for (const name of ["sum", "min", "max"] as const) {
  program("reduce", `${name} of s32`, (b) => b.reduce(name, b.input("s32", [2, 3])), int16s(6));
  program("reduce", `${name} of s8`, (b) => b.reduce(name, b.input("s8", [2, 3])));
}
program("select", "numbers", (b) => {
  const a = b.input("bool", [2]);
  return b.step({
    opcode: "select",
    variant: 0,
    type: "s8",
    dims: [2],
    a,
    b: b.input("s8", [2]),
    c: b.input("s8", [1]),
  });
});
program("select", "index of the largest", (b) => {
  const scores = b.input("s8", [1, 3]);
  const best = b.arith("eq", scores, b.reduce("max", scores), "bool");
  const index = b.s32([1, 3], 0, 1, 2);
  const step = { opcode: "select", variant: 0, type: "s32", dims: [1, 3] } as const;
  return b.reduce("min", b.step({ ...step, a: best, b: index, c: b.s32([1], 3) }));
});

export const CIRCUIT_PROGRAMS: readonly CircuitProgram[] = programs;
