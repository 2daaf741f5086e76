/** Corner cases and the layout of the vectors, as docs/EXACT.md says them. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import {
  type AbiParameter,
  decodeAbiParameters,
  encodeAbiParameters,
  type Hex,
  parseAbiParameters,
} from "viem";
import { describe, expect, it } from "vitest";
import { rawInput, rawProgram, step, weight } from "../../conformance/generate/small-programs.ts";
import { executeTensors } from "../../inference/executor/execute.ts";
import { prepare } from "../../inference/executor/prepare.ts";
import { OPCODES, type Step, type Tensor, type WeightDescriptor } from "../../inference/program/form.ts";
import { describeProblem, validateProgram } from "../../inference/program/validate.ts";
import { packLookup } from "../../inference/program/weights.ts";
import { node, run, t } from "../support/onnx-nodes.ts";

const root = join(import.meta.dirname, "../..");
const text = readFileSync(join(root, "docs/EXACT.md"), "utf8");

/** Stored elements of the last step. @param inputs of the CODEC steps */
function last(
  steps: readonly Step[],
  inputs: readonly Tensor[],
  weights: readonly (readonly [WeightDescriptor, Uint8Array])[] = [],
): number[] {
  const program = rawProgram(
    64,
    steps,
    weights.map(([descriptor]) => descriptor),
  );
  expect(validateProgram(program).map(describeProblem)).toEqual([]);
  const prepared = prepare({ program, weights: weights.map(([, bytes]) => bytes) }, new Uint8Array(4));
  return Array.from(executeTensors(prepared, inputs).at(-1)?.data ?? []);
}

describe("LOOKUP sum", () => {
  const sums = (rows: number, ids: readonly number[]): number[] => {
    // Row 0 holds 100, row r holds r.
    const values = Int8Array.from({ length: rows }, (_, r) => (r === 0 ? 100 : r));
    const steps = [
      rawInput("s32", [1, ids.length]),
      step({ opcode: "lookup", dims: [1, 1], a: 0, b: weight(0) }),
    ];
    const tensor: Tensor = { type: "s32", dims: [1, ids.length], data: Int32Array.from(ids) };
    return last(
      steps,
      [tensor],
      [[{ layout: "lookup", type: "s8", dims: [rows, 1] }, packLookup(values, 1)]],
    );
  };
  it("behavior: ids are clamped first, then those that are 0 are skipped", () => {
    expect(sums(10, [1, 2, 3])).toEqual([6]);
    expect(sums(10, [10, 2 ** 31 - 1])).toEqual([18]);
    expect(sums(10, [0, -1, -(2 ** 31), 5])).toEqual([5]);
    expect(sums(1, [0, 1, 7, -3])).toEqual([0]);
  });
});

describe("REDUCE min and max", () => {
  it("behavior: of bool bytes the byte is kept", () => {
    const plain = [{ layout: "plain", type: "bool", dims: [1, 3] }, Uint8Array.of(0x80, 7, 9)] as const;
    const reduced = (variant: number): number[] =>
      last([step({ opcode: "reduce", variant, type: "bool", dims: [1], a: weight(0) })], [], [plain]);
    expect([reduced(1), reduced(2)]).toEqual([[7], [0x80]]);
  });
});

describe("CODEC steps", () => {
  it("behavior: any number, at any index, of bytes that others read or that none reads", () => {
    const constant = [
      { layout: "plain", type: "s32", dims: [2] },
      new Uint8Array([0, 0, 0, 5, 0, 0, 0, 6]),
    ] as const;
    const sum = (a: number, b: number) => step({ opcode: "arith", dims: [2], a, b });
    expect(last([sum(weight(0), weight(0))], [], [constant])).toEqual([10, 12]);
    const steps = [sum(weight(0), weight(0)), rawInput("u8", [2], 9), rawInput("u8", [2], 9), sum(1, 2)];
    const bytes: Tensor = { type: "u8", dims: [2], data: Uint8Array.of(3, 4) };
    expect(last(steps, [bytes, bytes], [constant])).toEqual([6, 8]);
  });
});

describe("RESCALE", () => {
  const problems = (dims: readonly number[], channels: number): string[] => {
    const steps = [rawInput("s32", [2, 3]), step({ opcode: "rescale", dims, a: 0, b: weight(0) })];
    const program = rawProgram(64, steps, [{ layout: "channel", type: "u8", dims: [channels] }]);
    return validateProgram(program).map(({ field }) => field);
  };
  it("behavior: a's dims, and one channel or one for each index of the last axis", () => {
    expect([problems([2, 3], 1), problems([2, 3], 3)]).toEqual([[], []]);
    expect(problems([2, 3], 2)).toEqual(["channels of operand b"]);
    expect(problems([3, 2], 1)).toEqual(["dims of operand a"]);
    expect(problems([6], 1)).toEqual(["dims of operand a"]);
  });
});

describe("QuantizeLinear of int32", () => {
  const x = t("int32", [3], [-7, 5, 1000]);
  const opcodes = (to: "uint8" | "uint16", scale: number, dequantize: boolean): string[] => {
    const nodes = [
      node("Clip", ["x", "lo", "hi"], {}, "c"),
      dequantize ? node("DequantizeLinear", ["c", "one"], {}, "r") : node("Cast", ["c"], { to: 1 }, "r"),
      node("QuantizeLinear", ["r", "s", "z"], {}, "q"),
      node("Cast", ["q"], { to: 6 }),
    ];
    const constants = {
      lo: t("int32", [], [-1000]),
      hi: t("int32", [], [1000]),
      one: t("float32", [], [1]),
      s: t("float32", [], [scale]),
      z: t(to, [], [3]),
    };
    const { imported, outputs } = run(x, nodes, "int32", constants);
    const top = to === "uint8" ? 255 : 65_535;
    expect(outputs.y).toEqual(x.data.map((v) => Math.min(Math.max(Math.round(v / scale) + 3, 0), top)));
    return imported.model.program.steps
      .map(({ opcode }) => opcode)
      .filter((o) => o === "requant" || o === "float");
  };
  it("behavior: REQUANT after DequantizeLinear, to 8 bits, by a power of two; else FLOAT", () => {
    expect(opcodes("uint8", 8, true)).toEqual(["requant"]);
    expect(opcodes("uint8", 8, false)).toEqual(["float", "float"]);
    expect(opcodes("uint8", 7, true)).toEqual(["float", "float"]);
    expect(opcodes("uint16", 8, true)).not.toContain("requant");
  });
});

/** `| files | struct | … |` of section 9: files and the structs of their blobs. */
function layouts(): [string, readonly AbiParameter[]][] {
  const table = text.slice(text.indexOf("\n## 9. Vectors"));
  const opening = /^ {4}(struct Opening .*)$/m.exec(table)?.[1] as string;
  const rows = [...table.matchAll(/^\| ([`<>\w.,\- ]+json`?[^|]*) \| (`[^|]+`) \|/gm)];
  return rows.flatMap(([, files = "", cell = ""]) => {
    const structs = cell.split("`, `").map((struct) => `struct ${struct.replaceAll("`", "")}`);
    const [first = ""] = /\w+(?= \{)/.exec(cell) ?? [];
    const abi = parseAbiParameters([`${first} vector`, ...structs, opening]) as readonly AbiParameter[];
    const names = files.includes("<opcode>")
      ? OPCODES.filter((o) => o !== "codec").map((o) => `${o}.json`)
      : [files];
    return names.map((name): [string, readonly AbiParameter[]] => [name, abi]);
  });
}

describe("section 9, vectors", () => {
  it("default: names files that are there", () => {
    expect(layouts().map(([name]) => name)).toHaveLength(OPCODES.length - 1 + 8);
    for (const name of ["codecs.json", "binary32.json"]) expect(text).toContain(`**${name}**`);
  });

  it.each(layouts())("behavior: the struct of %s is the layout of every vector", (name, abi) => {
    const path = join(root, "test/vectors", name);
    expect(existsSync(path)).toBe(true);
    const { source, vectors } = JSON.parse(readFileSync(path, "utf8")) as { source: string; vectors: Hex[] };
    expect(source).toContain(".ts");
    expect(vectors.length).toBeGreaterThan(0);
    for (const blob of vectors) expect(encodeAbiParameters(abi, decodeAbiParameters(abi, blob))).toBe(blob);
  });
});
