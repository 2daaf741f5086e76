/** Random programs over lines of bytes that read the claimed output: moves along the line, functions of each byte, masks,
 *  attentions, most of them over earlier rows. Some are causal, some not. */
import { claimedOutput, shifted } from "../../conformance/generate/running-model.ts";
import { step, weight } from "../../conformance/generate/small-programs.ts";
import { variantCode } from "../../inference/program/codes.ts";
import type { Model, Step } from "../../inference/program/form.ts";
import { storedBytes } from "../../inference/program/tensor.ts";
import { modelOf, plain, transposed } from "./claimed-models.ts";
import type { Rng } from "./rng.ts";

type Weight = ReturnType<typeof plain>;
const MOST_BYTE = 255;

class Line {
  readonly dims: readonly [number, number];
  readonly steps: Step[];
  readonly weights: Weight[] = [];
  /** steps of u8 [rows, 1] */
  readonly lines = [0, 1];
  readonly #rng: Rng;

  constructor(rng: Rng, rows: number) {
    this.#rng = rng;
    this.dims = [rows, 1];
    this.steps = [
      step({ opcode: "codec", variant: 4, type: "u8", dims: this.dims }),
      claimedOutput("u8", this.dims),
    ];
  }

  #add(fields: Step): number {
    return this.steps.push(fields) - 1;
  }

  #weight(made: Weight): number {
    return weight(this.weights.push(made) - 1);
  }

  #pick(): number {
    // Sooner what came last, so that the output hangs on many steps.
    return this.#rng.chance(0.6) ? (this.lines.at(-1) as number) : this.#rng.pick(this.lines);
  }

  /** One more line of bytes. */
  grow(): void {
    const kinds = [
      this.#shift,
      this.#shift,
      this.#table,
      this.#both,
      this.#choice,
      this.#most,
      this.#attention,
      this.#nearest,
    ];
    this.lines.push(this.#rng.pick([...kinds, this.#joined]).call(this));
  }

  #shift(): number {
    return this.#add(shifted(this.#pick(), "u8", this.dims, this.#rng.pick([-2, -1, -1, -1, 0, 1])));
  }

  #table(): number {
    const map = this.#weight(plain([256], this.#rng.bytes(256)));
    return this.#add(step({ opcode: "table", type: "u8", dims: this.dims, a: this.#pick(), b: map }));
  }

  #arith(
    name: "max" | "min" | "add" | "le",
    type: Step["type"],
    a: number,
    b: number,
    dims: readonly number[] = this.dims,
  ): number {
    return this.#add(step({ opcode: "arith", variant: variantCode("arith", name), type, dims, a, b }));
  }

  #both(): number {
    const [a, b] = [this.#pick(), this.#rng.pick(this.lines)];
    if (this.#rng.chance(0.5)) return this.#arith(this.#rng.pick(["max", "min"]), "u8", a, b);
    return this.#capped(this.#arith("add", "s32", a, b));
  }

  #capped(a: number): number {
    return this.#arith(
      "min",
      "u8",
      a,
      this.#weight(plain([1], storedBytes(Int32Array.of(MOST_BYTE)), "s32")),
    );
  }

  #choice(): number {
    const [a, b] = [this.#pick(), this.#rng.pick(this.lines)];
    const condition = this.#arith("le", "bool", a, this.#rng.pick(this.lines));
    return this.#add(step({ opcode: "select", type: "u8", dims: this.dims, a: condition, b: a, c: b }));
  }

  /** Earlier rows, in which one element may be wrong. */
  #mask(): number {
    const [rows] = this.dims;
    const strict = this.#rng.chance(0.7) ? 0 : 1;
    const mask = Uint8Array.from({ length: rows * rows }, (_, i) =>
      Number(i % rows < Math.floor(i / rows) + strict),
    );
    if (this.#rng.chance(0.2)) {
      const at = this.#rng.int(0, rows * rows - 1);
      mask[at] = 1 - (mask[at] as number);
    }
    return this.#weight(plain([rows, rows], mask, "bool"));
  }

  /** Each row's part of a line, by such a mask. */
  #masked(source: number, other: number): number {
    const [rows] = this.dims;
    const [a, c] = [this.#mask(), this.#weight(plain([1], Uint8Array.of(other)))];
    const turned = this.#add(transposed(source, "u8", this.dims));
    return this.#add(step({ opcode: "select", type: "u8", dims: [rows, rows], a, b: turned, c }));
  }

  #most(): number {
    const a = this.#masked(this.#pick(), this.#rng.int(0, MOST_BYTE));
    return this.#add(
      step({ opcode: "reduce", variant: variantCode("reduce", "max"), type: "u8", dims: this.dims, a }),
    );
  }

  /** For each row the sum of entries by how far a line's bytes are below the largest one, beside another line. */
  #nearest(): number {
    const [rows] = this.dims;
    const turned = this.#add(transposed(this.#pick(), "u8", this.dims));
    const a = this.#arith("add", "s32", turned, this.#rng.pick(this.lines), [rows, rows]);
    const entries = this.#rng.bytes(this.#rng.pick([100, 600])).map((entry) => entry % 40);
    const b = this.#weight(plain([entries.length, 1], entries));
    const fields = { variant: variantCode("lookup", "below"), type: "u8", dims: [rows, rows], a, b } as const;
    const found = this.#add(step({ opcode: "lookup", ...fields, c: this.#mask() }));
    const sum = { variant: variantCode("reduce", "sum"), type: "s32", dims: this.dims, a: found } as const;
    return this.#capped(this.#add(step({ opcode: "reduce", ...sum })));
  }

  #attention(): number {
    const a = this.#masked(this.#pick(), this.#rng.chance(0.8) ? 0 : 1);
    const b = this.#add(transposed(this.#pick(), "u8", this.dims));
    const [rows] = this.dims;
    const fields = { variant: variantCode("dot", "activations"), dims: this.dims, a, b, k: rows };
    return this.#capped(this.#add(step({ opcode: "dot", ...fields })));
  }

  /** The input's rows in front of a line, and of both a part as long as the line. */
  #joined(): number {
    const [rows] = this.dims;
    const long = [2 * rows, 1] as const;
    const at = (view: number, a = 0, p = 0, c = 0) => ({ view, a, p, b: 0, q: 0, c });
    const move = (a: number, dims: readonly number[], view: number, c: number, b = 0xffff): number =>
      this.#add(
        step({
          ...{ opcode: "move", type: "u8", dims, a, b },
          coordinates: [at(1), at(1), at(view, 1, 0, c), at(1, 1, 1)],
        }),
      );
    const front = move(0, long, rows, 0);
    const both = move(this.#pick(), long, rows, -rows, front);
    return move(both, this.dims, 2 * rows, this.#rng.int(rows - 3, rows + (this.#rng.chance(0.8) ? -1 : 1)));
  }
}

/** @param rows of the output */
export function rowProgram(rng: Rng, rows: number): Model {
  const line = new Line(rng, rows);
  for (let i = rng.int(2, 7); i > 0; i--) line.grow();
  return modelOf({ inputSize: rows, steps: line.steps }, line.weights);
}
