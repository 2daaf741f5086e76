import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { describe, expect, it } from "vitest";
import { BaseError } from "../../../../base/errors.ts";
import { decode } from "../../../../inference/onnx/proto/decode.ts";
import { encode } from "../../../../inference/onnx/proto/encode.ts";
import { readOnnx } from "../../../../inference/onnx/read.ts";
import { projectRoot } from "../../../../tools/foundry.ts";
import { brokenBytes } from "../../../support/broken-onnx.ts";
import { cpuMs } from "../../../support/cpu-time.ts";
import { createRng } from "../../../support/rng.ts";
import { scaled } from "../../../support/scale.ts";

const MODELS = join(projectRoot, "models");
const files = readdirSync(MODELS)
  .filter((name) => existsSync(join(MODELS, name, "model.onnx")))
  .map((name) => [name, new Uint8Array(readFileSync(join(MODELS, name, "model.onnx")))] as const);
/** Broken files of each shipped one. */
const EACH = scaled(60, 1000, 10_000);
const CODES = ["ONNX_INVALID", "ONNX_MALFORMED", "ONNX_TOO_LARGE", "ONNX_UNSUPPORTED"];
/** Of one file of half a megabyte. */
const MOST_MS = 2000;

/** "read", where what was read is also what is read of it once it is written, else the refusal's code. */
function outcomeOf(file: Uint8Array, place: string): string {
  const start = cpuMs();
  try {
    const graph = readOnnx(file);
    const again = readOnnx(encode("Model", decode("Model", file)));
    expect(isDeepStrictEqual(again, graph), place).toBe(true);
    return "read";
  } catch (error) {
    if (!(error instanceof BaseError)) throw new Error(`${place}: ${String(error)}`, { cause: error });
    expect(CODES, place).toContain(error.code);
    return error.code;
  } finally {
    expect(cpuMs() - start, place).toBeLessThan(MOST_MS);
  }
}

describe("readOnnx", () => {
  it.each(files)(
    "behavior: the file of %s is the same graph when it is written and read again",
    (name, file) => {
      expect(outcomeOf(file, name)).toBe("read");
    },
  );

  it("behavior: a shipped file that is cut, flipped or spliced is read whole or refused by a code", () => {
    const counts: Record<string, number> = {};
    files.forEach(([name, file], at) => {
      const rng = createRng(at);
      const [, other] = files[(at + 1) % files.length] as (typeof files)[number];
      for (let i = 0; i < EACH; i++) {
        const outcome = outcomeOf(brokenBytes(rng, file, other), `${name} ${i}`);
        counts[outcome] = (counts[outcome] ?? 0) + 1;
      }
    });
    process.stdout.write(`${JSON.stringify(counts)}\n`);
    for (const outcome of ["read", "ONNX_INVALID", "ONNX_MALFORMED"])
      expect(counts[outcome] ?? 0).toBeGreaterThan(0);
  });

  it("error: a shipped file that ends early, at every length", () => {
    const [, file] = files.find(([name]) => name === "credit") as (typeof files)[number];
    for (let length = 0; length < file.length; length++) {
      expect(outcomeOf(file.subarray(0, length), `${length} bytes`)).toMatch(
        /^ONNX_(MALFORMED|INVALID|UNSUPPORTED)$/,
      );
    }
  });
});
