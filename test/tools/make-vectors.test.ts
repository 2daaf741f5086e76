import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { projectRoot } from "../../tools/foundry.ts";
import { formatCodecVectors, makeCodecVectors } from "../../tools/make-codec-vectors.ts";
import { COMMITTED, formatFloatVectors, makeFloatVectors } from "../../tools/make-float-vectors.ts";

const readVectors = (name: string): string => readFileSync(join(projectRoot, "test/vectors", name), "utf8");

describe("makeFloatVectors", () => {
  test("behavior: the committed file is what the script writes", () => {
    const { count, seed } = COMMITTED;
    // Not toBe: a difference would print the whole file.
    expect(formatFloatVectors(makeFloatVectors(count, seed)) === readVectors("binary32.json")).toBe(true);
  });
});

describe("makeCodecVectors", () => {
  test("behavior: the committed file is what inference/codecs computes today", () => {
    expect(formatCodecVectors(makeCodecVectors()) === readVectors("codecs.json")).toBe(true);
  });
});
