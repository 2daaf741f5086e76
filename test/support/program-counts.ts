/** What a fuzzer of programs has tried, so that nobody takes it for more. */
import {
  type Coordinate,
  elementBytes,
  isWeight,
  NONE,
  type Program,
  type Step,
} from "../../inference/program/form.ts";
import { weightBytes } from "../../inference/program/shape.ts";
import { CHUNK_BYTES } from "../../protocol/chain/execution/publication.ts";
import { keyOf } from "./differential.ts";
import type { Played } from "./program-chain.ts";

/** Numbers by name, in groups. */
export class ProgramCounts {
  readonly #groups = new Map<string, Map<string, number>>();

  add(group: string, name: string, count = 1): void {
    const counts = this.#groups.get(group) ?? new Map<string, number>();
    this.#groups.set(group, counts);
    counts.set(name, (counts.get(name) ?? 0) + count);
  }

  of(group: string, name: string): number {
    return this.#groups.get(group)?.get(name) ?? 0;
  }

  names(group: string): string[] {
    return [...(this.#groups.get(group)?.keys() ?? [])].sort();
  }

  /** A program as it stands. */
  program({ inputCodec, outputCodec, weights, steps }: Program): void {
    this.add("programs", "all");
    this.add("input codec", inputCodec);
    this.add("output codec", outputCodec);
    this.add("steps", bucket(steps.length, [1, 2, 10, 30, 100]));
    for (const step of steps) {
      this.add("step", keyOf(step));
      this.add("rank", `${step.dims.length}`);
      if (step.opcode === "move") this.#move(step);
    }
    let offset = 0;
    for (const weight of weights) {
      const end = offset + weightBytes(weight);
      const isOver = Math.floor(offset / CHUNK_BYTES) !== Math.floor((end - 1) / CHUNK_BYTES);
      this.add("weights", `${weight.layout}${isOver ? " over a chunk's end" : ""}`);
      offset = end;
    }
  }

  #move({ type, b, coordinates }: Step): void {
    const bytes = `${elementBytes(type)} byte${type === "s32" || type === "f32" ? "s" : ""}`;
    for (const coordinate of coordinates) {
      if (coordinate.view > 1) this.add("stride", `${strideOf(coordinate)}, ${bytes}`);
    }
    this.add("fill", b === NONE ? "pad" : isWeight(b) ? "weights" : "another step");
  }

  /** What a chain did with it. */
  played({ outcomes, unplanned, parts }: Played): void {
    for (const { engine } of outcomes) this.add("outputs compared", engine);
    if (unplanned[0] === undefined) this.add("programs", "with a plan");
    if (parts > 0) this.add("programs", "compiled");
    if (parts > 0 && unplanned[1] === undefined) this.add("programs", "compiled, with a plan");
    this.add("programs", "compiled parts", parts);
  }

  /** A line a group. */
  table(): string {
    return [...this.#groups]
      .map(([group, counts]) => {
        const numbers = [...counts].sort(([a], [b]) => (a < b ? -1 : 1));
        return `${group}: ${numbers.map(([name, count]) => `${name} ${count}`).join(", ")}`;
      })
      .join("\n");
  }
}

/** `10..29`. @param starts of the buckets */
function bucket(count: number, starts: readonly number[]): string {
  const at = starts.findLastIndex((start) => start <= count);
  const next = starts[at + 1];
  const start = starts[at] as number;
  return next === undefined
    ? `${start} and more`
    : next === start + 1
      ? `${start}`
      : `${start} to ${next - 1}`;
}

function strideOf({ a, b }: Coordinate): string {
  if (a !== 0 && b !== 0) return "two axes";
  const factor = a + b;
  if (factor === 0) return "0";
  const sign = factor < 0 ? "-" : "+";
  return `${sign}${Math.abs(factor) === 1 ? "1" : "n"}`;
}
