import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  INPUT_CODEC_CODES,
  LAYOUT_CODES,
  OPCODE_TABLE,
  type Opcode,
  OUTPUT_CODEC_CODES,
  TYPE_CODES,
} from "../../inference/program/codes.ts";
import { OPCODES } from "../../inference/program/form.ts";
import { projectRoot } from "../../tools/foundry.ts";
import { renderOpcodes } from "../../tools/gen-opcodes.ts";

const rendered = renderOpcodes();
const text = (path: string): string => rendered.get(path) as string;
const pascal = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);
const isFile = (path: string): boolean => existsSync(join(projectRoot, path));

describe("OPCODE_TABLE", () => {
  const codes = (table: Readonly<Record<string, { code: number }>>): number[] =>
    Object.values(table).map(({ code }) => code);

  it("behavior: opcodes are numbered from 1 without a gap, so that a number below or above is unknown", () => {
    expect(codes(OPCODE_TABLE)).toEqual(OPCODES.map((_, i) => i + 1));
  });

  it.each(OPCODES)("behavior: %s has variants without a gap, and without two of one number", (opcode) => {
    const numbers: number[] = Object.values(OPCODE_TABLE[opcode].variants);
    const first = numbers[0] ?? 0;
    expect(numbers).toEqual(numbers.map((_, i) => first + i));
  });

  it("behavior: what models have committed to", () => {
    expect([TYPE_CODES, LAYOUT_CODES, INPUT_CODEC_CODES, OUTPUT_CODEC_CODES]).toEqual([
      { u8: 0, s8: 1, s32: 2, f32: 3, bool: 4 },
      { plain: 1, dot: 2, lookup: 3, channel: 4 },
      { text: 1, prices: 2, int16s: 3, raw: 4 },
      { words: 1, int16s: 2, raw: 3 },
    ]);
    // docs/EXACT.md, section 3: the headings `### 6 RESCALE`.
    const exact = readFileSync(join(projectRoot, "docs/EXACT.md"), "utf8");
    const headings = [...exact.matchAll(/^### (\d+) ([A-Z]+)/gm)].map(([, code, name]) => [
      (name as string).toLowerCase(),
      Number(code),
    ]);
    const table = OPCODES.map((opcode) => [opcode, OPCODE_TABLE[opcode].code]);
    expect(headings).toEqual(table);
  });
});

describe("renderOpcodes", () => {
  it.each([...rendered.keys()])("behavior: %s is what the repository holds", (path) => {
    expect(readFileSync(join(projectRoot, path), "utf8")).toBe(text(path));
  });

  it.each(["Elements", "Rules", "Kernels"])(
    "behavior: %s sends each opcode to its own library",
    (library) => {
      const source = text(`verifier-contracts/generated/${library}.sol`);
      const calls = [...source.matchAll(/if \(opcode == OP_([A-Z0-9]+)\) return (\w+)\.(\w+)\(/g)];
      const suffix = library === "Kernels" ? "Rows" : "";
      const name = { Elements: "judge", Rules: "rules", Kernels: "run" }[library];
      expect(calls.map(([, opcode, target, called]) => [opcode, target, called])).toEqual(
        OPCODES.map((opcode) => [opcode.toUpperCase(), `${pascal(opcode)}${suffix}`, name]),
      );
    },
  );

  it.each(OPCODES)("behavior: %s has a file of its name in each place", (opcode: Opcode) => {
    const places = [
      `inference/opcodes/${opcode}.ts`,
      `inference/profile/${opcode}.ts`,
      ...(opcode === "codec" ? [] : [`prover/proof/groth16/gadgets/${opcode}.ts`]),
      `verifier-contracts/opcodes/${pascal(opcode)}.sol`,
      `verifier-contracts/opcodes/rows/${pascal(opcode)}Rows.sol`,
      `test/vectors/${opcode}.json`,
    ];
    expect(places.filter((path) => !isFile(path))).toEqual([]);
  });

  it("behavior: no other contract numbers an opcode, a type, a layout, a codec or a variant", () => {
    const constant = /constant (?:OP|TYPE|LAYOUT|INPUT|OUTPUT)_[A-Z0-9]+ =/;
    const files = readdirSync(join(projectRoot, "verifier-contracts"), {
      recursive: true,
      encoding: "utf8",
    }).filter((file) => file.endsWith(".sol"));
    const numbered = files.filter((file) =>
      constant.test(readFileSync(join(projectRoot, "verifier-contracts", file), "utf8")),
    );
    expect(numbered).toEqual(["generated/Codes.sol"]);
  });
});
