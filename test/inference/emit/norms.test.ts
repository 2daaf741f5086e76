/** The emitted file's REDUCE norm beside the executor where sums are next to squares that no double holds. */
import { expect, it } from "vitest";
import { ProgramBuilder } from "../../../inference/onnx/builder.ts";
import { canonicalExecutor } from "../../support/differential.ts";
import { openEmitted } from "../../support/onnxruntime.ts";
import { createRng } from "../../support/rng.ts";

/** The least n whose square no double holds. */
const FIRST = 94_906_267;
const LAST = 2 ** 31 - 1;

/** Numbers of one row, and what is added to the sum of their squares. */
interface Case {
  readonly row: readonly number[];
  readonly k: number;
}

function casesNextTo(n: number): readonly Case[] {
  const square = [0, 1].map((k) => ({ row: [0, n, 0], k }));
  // 2n − 1 more than (n − 1)².
  const [below, far] = [
    { row: [1 - n, 0, 0], k: 2 * n - 2 },
    { row: [0, 2 - n, 0], k: 2 ** 32 - 1 },
  ];
  return [...square, below, far];
}

it("behavior: norms of n² − 1, n², n² + 1 and others", async () => {
  const rng = createRng(3);
  const sizes = [FIRST, LAST, ...Array.from({ length: 30 }, () => rng.int(FIRST, LAST))];
  for (const { row, k } of sizes.flatMap(casesNextTo)) {
    const builder = new ProgramBuilder("raw", 12);
    builder.norm(builder.codec("s32", [1, 3], 0), k, [1]);
    const norms = builder.model("raw");
    const input = { type: "s32", dims: [1, 3], data: Int32Array.from(row) } as const;
    const byRuntime = await openEmitted(norms, {});
    const [found] = await byRuntime.run([input]);
    await byRuntime.close();
    expect(found, `${row} + ${k}`).toEqual(canonicalExecutor(norms, [[input]])[0]?.at(-1));
  }
});
