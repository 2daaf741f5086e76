/** Sizes of symbolic dims: what a user gives, else 1. */
import { fail } from "./fail.ts";
import { safeNumber } from "./graph.ts";
import type { Message } from "./proto/schema.ts";

export class Symbols {
  readonly #given: ReadonlyMap<string, number>;
  readonly #unused: Set<string>;
  readonly #known = new Set<string>();
  readonly #defaulted = new Set<string>();

  /** @param given by the dim's name, or by its place `INPUT:AXIS` */
  constructor(given: ReadonlyMap<string, number>) {
    this.#given = given;
    this.#unused = new Set(given.keys());
  }

  /** @throws ONNX_INVALID where the file gives a dim another size than the user */
  sizeOf(input: string, axis: number, dim: Message<"Dimension">): number {
    const place = `${input}:${axis}`;
    const size = safeNumber(BigInt(dim.dimValue ?? 0));
    // Paddle and older exporters write −1 for a dim of any size.
    if (size > 0) {
      const asked = this.#given.get(place) ?? size;
      if (asked !== size) throw unknown(`Dim ${place} is ${size} in the file, not ${asked}.`);
      this.#unused.delete(place);
      return size;
    }
    const name = dim.dimParam ?? "";
    const symbol = name === "" ? place : name;
    this.#known.add(symbol);
    for (const key of [name, place]) {
      const given = this.#given.get(key);
      if (given === undefined) continue;
      this.#unused.delete(name);
      this.#unused.delete(place);
      return given;
    }
    this.#defaulted.add(symbol);
    return 1;
  }

  /** Those that nobody gave a size.
   *  @throws ONNX_INVALID for a name that no input has */
  defaulted(): string[] {
    const [first] = this.#unused;
    if (first !== undefined) {
      const known = [...this.#known].join(", ");
      throw unknown(`No input has a symbolic dim ${first}; the file has ${known === "" ? "none" : known}.`);
    }
    return [...this.#defaulted];
  }
}

const unknown = (sentence: string) =>
  fail("ONNX_INVALID", sentence, "Name one of the file's symbolic dims with --dim NAME=N, or none.", {});
