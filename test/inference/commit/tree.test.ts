import fc from "fast-check";
import { encodeAbiParameters, parseAbiParameters, keccak256 as viemKeccak } from "viem";
import { describe, expect, test } from "vitest";
import { concatBytes, equalBytes, toHex } from "../../../base/bytes.ts";
import { seededProgram } from "../../../conformance/generate/random-program.ts";
import { rawInput, rawProgram } from "../../../conformance/generate/small-programs.ts";
import {
  commitModel,
  commitTrace,
  commitWeights,
  modelId,
  programHash,
} from "../../../inference/commit/commitments.ts";
import { keccak256 } from "../../../inference/commit/keccak.ts";
import { foldPath, RootTree, TensorTree } from "../../../inference/commit/tree.ts";
import { encodeProgram } from "../../../inference/program/encode.ts";
import { storedBytes } from "../../../inference/program/tensor.ts";
import { createRng } from "../../support/rng.ts";

/** Root of a full tree, every padding leaf written out. */
function fullRoot(nodes: readonly Uint8Array[]): Uint8Array {
  if (nodes.length === 1) return nodes[0] as Uint8Array;
  const half = nodes.length / 2;
  return keccak256(concatBytes(fullRoot(nodes.slice(0, half)), fullRoot(nodes.slice(half))));
}

const powerOfTwo = (n: number): number => 2 ** Math.ceil(Math.log2(n));

/** The words of a tensor under docs/PROTOCOL.md, section 1, padding written out. */
function paddedWords(bytes: Uint8Array, rows: number, rowBytes: number): Uint8Array[] {
  const width = powerOfTwo(Math.ceil(rowBytes / 32));
  return Array.from({ length: powerOfTwo(rows) * width }, (_, leaf) => {
    const [row, word] = [Math.floor(leaf / width), leaf % width];
    const content = new Uint8Array(32);
    if (row < rows)
      content.set(bytes.subarray(row * rowBytes, (row + 1) * rowBytes).subarray(32 * word, 32 * word + 32));
    return content;
  });
}

const shapes = fc.record({
  rows: fc.integer({ min: 1, max: 9 }),
  rowBytes: fc.integer({ min: 1, max: 170 }),
  seed: fc.nat(),
});

describe("TensorTree", () => {
  test("behavior: the root is that of the full tree, and every path folds to it", () => {
    fc.assert(
      fc.property(shapes, ({ rows, rowBytes, seed }) => {
        const bytes = createRng(seed).bytes(rows * rowBytes);
        if (seed % 3 === 0) bytes.fill(0, 0, Math.floor(bytes.length / 2));
        const tree = new TensorTree(bytes, rows, rowBytes);
        const words = paddedWords(bytes, rows, rowBytes);
        expect(toHex(tree.root)).toBe(toHex(fullRoot(words.map(keccak256))));
        words.forEach((word, leaf) => {
          expect(equalBytes(tree.leafWord(leaf), word)).toBe(true);
          expect(toHex(foldPath(keccak256(word), leaf, tree.siblings(0, leaf)))).toBe(toHex(tree.root));
        });
        for (let level = 0; level <= tree.shape.height; level++) {
          const span = 2 ** level;
          for (let i = 0; i < words.length / span; i++) {
            const expected = fullRoot(words.slice(i * span, (i + 1) * span).map(keccak256));
            expect(toHex(tree.node(level, i))).toBe(toHex(expected));
          }
        }
      }),
      { numRuns: 25 },
    );
  });

  test.each([
    [2_500, 500],
    [70_001, 4],
    [9_001, 40],
    [3, 131_204],
  ])("behavior: %i rows of %i bytes, more than are hashed at a time", (rows, rowBytes) => {
    const bytes = createRng(1).bytes(rows * rowBytes);
    const words = paddedWords(bytes, rows, rowBytes);
    expect(toHex(new TensorTree(bytes, rows, rowBytes).root)).toBe(toHex(fullRoot(words.map(keccak256))));
  });

  test("behavior: numbers of 32 bits have the tree of their stored bytes, here and from its levels", () => {
    for (let seed = 0; seed < 60; seed++) {
      const rng = createRng(seed);
      const [rows, length] = [rng.int(1, 20), rng.int(1, 40)];
      const data = Int32Array.from({ length: rows * length }, () =>
        rng.chance(0.5) ? 0 : rng.int(-9, 2 ** 31 - 1),
      );
      const expected = new TensorTree(storedBytes(data), rows, 4 * length);
      const made = new TensorTree(data, rows, 4 * length);
      for (const tree of [made, new TensorTree(data, rows, 4 * length, structuredClone(made.levels))])
        for (let level = 0; level <= expected.shape.height; level++)
          for (let i = 0; i < 2 ** (expected.shape.height - level); i++)
            expect(toHex(tree.node(level, i))).toBe(toHex(expected.node(level, i)));
    }
  });
});

describe("RootTree", () => {
  test("behavior: roots are padded with 32 zero bytes", () => {
    for (const count of [1, 2, 3, 5, 8, 13]) {
      const roots = Array.from({ length: count }, (_, i) => keccak256(Uint8Array.of(i)));
      const padded = Array.from({ length: powerOfTwo(count) }, (_, i) => roots[i] ?? new Uint8Array(32));
      const tree = new RootTree(roots);
      expect(toHex(tree.root)).toBe(toHex(fullRoot(padded)));
      roots.forEach((root, i) => {
        expect(toHex(foldPath(root, i, tree.siblings(0, i)))).toBe(toHex(tree.root));
      });
    }
  });

  test("args: no roots", () => {
    expect(toHex(new RootTree([]).root)).toBe(`0x${"00".repeat(32)}`);
  });
});

describe("commitTrace", () => {
  test("behavior: leaves are stored bytes, s32 and f32 big-endian", () => {
    const program = rawProgram(8, [rawInput("s32", [2])]);
    const tensor = { type: "s32", dims: [2], data: Int32Array.of(-2, 3) } as const;
    const word = new Uint8Array(32);
    word.set([0xff, 0xff, 0xff, 0xfe, 0, 0, 0, 3]);
    expect(toHex(storedBytes(tensor.data))).toBe("0xfffffffe00000003");
    expect(toHex(commitTrace(program, [tensor]).root)).toBe(toHex(keccak256(word)));
  });

  test("error: a trace of another shape", () => {
    const program = rawProgram(8, [rawInput("s32", [2])]);
    expect(() => commitTrace(program, [])).toThrow(/tensor of step 0/);
    expect(() => commitTrace(program, [{ type: "s32", dims: [1], data: new Int32Array(1) }])).toThrow(
      /tensor of step 0/,
    );
  });
});

describe("commitModel", () => {
  test("default", () => {
    const { model } = seededProgram(4, { opcode: "dot", steps: 2 });
    const { root } = commitWeights(model);
    const commitment = commitModel(model);
    expect(toHex(commitment.weightsRoot)).toBe(toHex(root));
    expect(toHex(commitment.programHash)).toBe(viemKeccak(encodeProgram(model.program)));
    expect(programHash(model.program)).toEqual(commitment.programHash);
  });

  test("behavior: one bit of any weight changes the root", () => {
    const { model } = seededProgram(4, { opcode: "dot", steps: 2 });
    const root = toHex(commitModel(model).weightsRoot);
    model.weights.forEach((weights, i) => {
      const changed = weights.slice();
      changed[changed.length - 1] = (changed.at(-1) as number) ^ 1;
      const other = { ...model, weights: model.weights.map((w, j) => (j === i ? changed : w)) };
      expect(toHex(commitModel(other).weightsRoot)).not.toBe(root);
    });
  });
});

describe("modelId", () => {
  test("default: as a contract's abi.encode", () => {
    const identity = {
      programHash: keccak256(Uint8Array.of(1)),
      weightsRoot: keccak256(Uint8Array.of(2)),
      selector: Uint8Array.of(0xa1, 0xb2, 0xc3, 0xd4),
      maxCalldata: 123_456,
      outputLength: 7890,
      lanes: 6,
      judgeVersion: 2,
      vkHash: keccak256(Uint8Array.of(3)),
    };
    const types = parseAbiParameters("bytes32, bytes32, bytes4, uint32, uint32, uint8, bytes32, uint16");
    const encoded = encodeAbiParameters(types, [
      toHex(identity.programHash),
      toHex(identity.weightsRoot),
      toHex(identity.selector),
      identity.maxCalldata,
      identity.outputLength,
      identity.lanes,
      toHex(identity.vkHash),
      identity.judgeVersion,
    ]);
    expect(toHex(modelId(identity))).toBe(viemKeccak(encoded));
  });
});
