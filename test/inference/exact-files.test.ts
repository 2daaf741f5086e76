/** What docs/EXACT.md, section 8, says of a model's files, written again from the text. */
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type AbiParameter, encodeAbiParameters, type Hex, keccak256, parseAbiParameters } from "viem";
import { describe, expect, it } from "vitest";
import { fromHex, toHex } from "../../base/bytes.ts";
import { rawInput, rawProgram } from "../../conformance/generate/small-programs.ts";
import { decodeProgram } from "../../inference/program/encode.ts";
import type { Program } from "../../inference/program/form.ts";
import { selfTestCalldata } from "../../inference/self-test.ts";

const root = join(import.meta.dirname, "../..");
const text = readFileSync(join(root, "docs/EXACT.md"), "utf8");
const section = (title: string): string => text.slice(text.indexOf(`\n## ${title}`)).split(/\n## /)[1] ?? "";

interface Section {
  readonly files: Readonly<Record<string, { readonly sha256: string; readonly bytes: number }>>;
  readonly selector: Hex;
  readonly selfTest: readonly { readonly seed: number; readonly outputHash: string }[];
}
const MODELS = readdirSync(join(root, "models")).filter((n) =>
  existsSync(join(root, "models", n, "program.bin")),
);
const read = (name: string, file: string): Buffer => readFileSync(join(root, "models", name, file));
const assayOf = (name: string): Section => JSON.parse(read(name, "manifest.json").toString()).assay;

/** Bytes of a row of a weight tensor, by layout. */
function rowBytes(layout: string, type: string, last: number): number {
  if (layout === "plain") return last * (type === "s32" || type === "f32" ? 4 : 1);
  if (layout === "dot") return 32 * (Math.ceil(last / 32) + 1);
  return layout === "lookup" ? 32 * Math.ceil(last / 32) : 32;
}

describe("section 8, files of a model", () => {
  it.each(MODELS)("default: %s holds what the text says", (name) => {
    const assay = assayOf(name);
    const program = decodeProgram(new Uint8Array(read(name, "program.bin")));
    const lengths = program.weights.map(({ layout, type, dims }) => {
      const rows = layout === "channel" ? (dims[0] as number) : dims.slice(0, -1).reduce((a, b) => a * b, 1);
      return rows * rowBytes(layout, type, dims.at(-1) as number);
    });
    expect(read(name, "weights.bin")).toHaveLength(lengths.reduce((a, b) => a + b, 0));
    for (const [file, { sha256, bytes }] of Object.entries(assay.files)) {
      const content = read(name, file);
      expect([bytes, sha256]).toEqual([content.length, createHash("sha256").update(content).digest("hex")]);
    }
    const fields = Object.keys(assay).filter((key) => !section("8.").includes(`\`${key}\``));
    expect(fields).toEqual([]);
  });

  it.each(MODELS)("behavior: the self-test inputs of %s follow from the text", (name) => {
    const assay = assayOf(name);
    const program = decodeProgram(new Uint8Array(read(name, "program.bin")));
    for (const { seed } of assay.selfTest) {
      const calldata = `${assay.selector}${argumentsOf(program, seed).slice(2)}`;
      expect(toHex(selfTestCalldata(program, fromHex(assay.selector), seed))).toBe(calldata);
    }
  });

  it("behavior: the self-test inputs of codec raw follow from the text", () => {
    const program = rawProgram(29, [rawInput("s32", [3], 1), rawInput("f32", [4], 13)]);
    for (let seed = 0; seed < 8; seed++) {
      const calldata = toHex(selfTestCalldata(program, new Uint8Array(4), seed));
      expect(calldata).toBe(`0x00000000${argumentsOf(program, seed).slice(2)}`);
    }
  });
});

/** ABI arguments of a self-test, as section 8 makes them. */
function argumentsOf(program: Program, seed: number): Hex {
  const drawn: number[] = [];
  let counter = 0;
  const byte = (): number => {
    if (drawn.length === 0) {
      const key = encodeCounter(seed) + encodeCounter(counter++);
      drawn.push(...Buffer.from(keccak256(`0x${key}`).slice(2), "hex"));
    }
    return drawn.shift() as number;
  };
  const bytes = (n: number): Buffer => Buffer.from(Array.from({ length: n }, byte));
  const below = (n: number): number => bytes(3).readUIntBE(0, 3) % n;
  const wide = seed % 2 === 1;
  const size = program.inputSize;
  const encode = (types: string, values: readonly unknown[]): Hex =>
    encodeAbiParameters(parseAbiParameters(types) as readonly AbiParameter[], values as never);
  switch (program.inputCodec) {
    case "int16s": {
      const numbers = Buffer.alloc(32 * Math.ceil(size / 16));
      for (let i = 0; i < size; i++)
        numbers.writeInt16BE(wide ? below(65_536) - 32_768 : below(512) - 256, 2 * i);
      const words = Array.from({ length: numbers.length / 32 }, (_, w) =>
        BigInt(`0x${numbers.subarray(32 * w, 32 * w + 32).toString("hex")}`),
      );
      return encode("uint256[]", [words]);
    }
    case "prices": {
      let close = 1_000_000;
      const closes = Array.from({ length: size }, () => {
        close = wide ? below(2 ** 24) : Math.max(1, close + below(20_001) - 10_000);
        return close;
      });
      const highs = closes.map((c) => c + below(5000));
      const lows = closes.map((c) => c - Math.min(below(5000), c));
      return encode(
        "uint256[], uint256[], uint256[]",
        [closes, highs, lows].map((list) => list.map(BigInt)),
      );
    }
    case "text": {
      if (wide) return encode("bytes", [hex(bytes(below(size + 1)))]);
      const words = /of the words `([^`]+)`/.exec(section("8."))?.[1]?.split(" ") ?? [];
      const picked = Array.from({ length: 2 + below(12) }, () => words[below(18)]);
      return encode("bytes", [hex(Buffer.from(picked.join(" ").slice(0, size)))]);
    }
    case "raw": {
      const content = bytes(size);
      for (const { type, dims, k } of program.steps) {
        for (let i = 0; i < (dims[0] as number); i++) {
          if (type === "f32") content.writeFloatLE((below(4096) - 2048) / 4, k + 4 * i);
          else if (!wide) content.writeInt32LE(below(2048) - 1024, k + 4 * i);
        }
      }
      return encode("bytes", [hex(content)]);
    }
  }
}
const hex = (content: Buffer): Hex => `0x${content.toString("hex")}`;
const encodeCounter = (n: number): string => n.toString(16).padStart(8, "0");
