/** Intervals of RESCALE planes whose numbers are multiplied or divided first. */
import { expect, test } from "vitest";
import { prepare } from "../../../inference/executor/prepare.ts";
import { ProgramBuilder } from "../../../inference/onnx/builder.ts";
import { createRng } from "../../support/rng.ts";

const NOTHING = { scaleBits: 0, zeroPoint: 0, lower: 0, upper: 0, weightOffset: 0 };
const CHANNEL = { ...NOTHING, bias: 0, multiplier: 1, addend: 32_768n, shift: 0 };

test("behavior: intervals of numbers that are known, by factors or divisors that are, hold nothing else", () => {
  const rng = createRng(31);
  for (let round = 0; round < 300; round++) {
    const [rows, parts, size] = [rng.int(1, 4), rng.int(1, 4), rng.int(1, 4)];
    const length = parts * size;
    const isProduct = rng.chance(0.3);
    const builder = new ProgramBuilder("raw", 1, "raw");
    const numbers = (count: number, low: number, high: number) =>
      builder.plain(
        "s32",
        [count],
        Int32Array.from({ length: count }, () => rng.int(low, high)),
      );
    const by = isProduct ? numbers(rows * length, -100, 100) : numbers(rows * parts, 1, 100);
    builder.planes(
      numbers(rows * length, -300, 300),
      [CHANNEL],
      [...Array(rng.int(0, 4)).fill(1), rows, length],
      {
        by,
        ...(isProduct ? {} : { multiplier: rng.pick([1, 100]) }),
      },
    );
    const model = builder.model("raw");
    const [found] = prepare(model, new Uint8Array(4)).runTensors([]);
    const { low, high } = builder.range(0);
    const bytes = Array.from(found?.data ?? []);
    expect([...low], `${round}`).toEqual(bytes);
    expect([...high], `${round}`).toEqual(bytes);
  }
});
