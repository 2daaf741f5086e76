/** Table rows held whole in one field element each. Rows are added while they are packed; only sums that something
 *  else than an addition reads are split into their lanes. */
import { type Assign, evaluate, type Linear, LinearSum, ONE } from "./linear.ts";

/** What splitting needs of a circuit. */
interface PackingCircuit {
  readonly counting: boolean;
  booleans(count: number, assign: Assign, property: string): number[];
  enforceZero(x: Linear, property: string): void;
  skip(constraints: number, coefficients: number): void;
}

/** Bits of a packed row that surely stay below the field's order. */
const PACKED_BITS = 253;

/** Lane of every row of one layout: a row's value in it lies from low to high. */
export interface Lane {
  readonly low: bigint;
  readonly high: bigint;
  /** First bit of the lane in the packed row. */
  readonly at: bigint;
}

/** Rows that may be added to each other, `room` of them at most. */
interface Layout {
  readonly lanes: readonly Lane[];
  /** Field value of row r: Σ (value − low) · 2^at. */
  readonly rows: Linear[];
  /** Lanes of sums of rows, by the rows' numbers. */
  readonly sums: Map<string, readonly Linear[]>;
}

interface RowLane {
  readonly layout: number;
  readonly row: number;
  readonly lane: number;
}

const bitLength = (x: bigint): number => (x === 0n ? 0 : x.toString(2).length);

/** Lanes one beside the other, each wide enough for the sum of `room` rows.
 *  @returns one list a packed element, in the order of the lanes */
export function layoutOf(
  bounds: readonly { readonly low: bigint; readonly high: bigint }[],
  room: number,
): Lane[][] {
  const layouts: Lane[][] = [];
  let at = PACKED_BITS + 1;
  for (const { low, high } of bounds) {
    const width = bitLength((high - low) * BigInt(room));
    if (at + width > PACKED_BITS) {
      layouts.push([]);
      at = 0;
    }
    (layouts[layouts.length - 1] as Lane[]).push({ low, high, at: BigInt(at) });
    at += width;
  }
  return layouts;
}

/** The packed rows of one circuit. A lane of a row that is not split is a wire below 0. */
export class PackedRows {
  readonly #circuit: PackingCircuit;
  readonly #layouts: Layout[] = [];
  /** What the wire −1 − i means. */
  readonly #lanes: RowLane[] = [];

  constructor(circuit: PackingCircuit) {
    this.#circuit = circuit;
  }

  /** @returns number of the layout */
  layout(lanes: readonly Lane[]): number {
    return this.#layouts.push({ lanes, rows: [], sums: new Map() }) - 1;
  }

  /** @param row Σ (value − low) · 2^at, determined by earlier wires @returns its lanes, not split */
  add(layout: number, row: Linear): Linear[] {
    const { lanes, rows } = this.#layouts[layout] as Layout;
    const number = rows.push(row) - 1;
    return lanes.map((_, lane) => new Map([[-this.#lanes.push({ layout, row: number, lane }), 1n]]));
  }

  /** The same linear combination over wires that exist. Lanes of one column that have the same coefficient are
   *  added as whole rows, which are split together. */
  split(terms: Linear): Linear {
    const sum = new LinearSum();
    const groups = new Map<string, { layout: number; lane: number; factor: bigint; rows: number[] }>();
    for (const [wire, factor] of terms) {
      if (wire >= ONE) {
        sum.addTerm(wire, factor);
        continue;
      }
      const { layout, row, lane } = this.#lanes[-1 - wire] as RowLane;
      const key = `${layout},${lane},${factor}`;
      const group = groups.get(key);
      if (group === undefined) groups.set(key, { layout, lane, factor, rows: [row] });
      else group.rows.push(row);
    }
    for (const { layout, lane, factor, rows } of groups.values()) {
      sum.add(this.#sumOf(layout, rows)[lane] as Linear, factor);
    }
    return sum.done();
  }

  #sumOf(layout: number, rows: number[]): readonly Linear[] {
    const { sums } = this.#layouts[layout] as Layout;
    const key = rows.sort((a, b) => a - b).join();
    const known = sums.get(key);
    if (known !== undefined) return known;
    const lanes = this.#split(this.#layouts[layout] as Layout, rows);
    sums.set(key, lanes);
    return lanes;
  }

  #split({ lanes, rows }: Layout, added: readonly number[]): Linear[] {
    const count = BigInt(added.length);
    const packed = new LinearSum();
    for (const row of added) packed.add(rows[row] as Linear);
    const total = packed.done();
    const equation = new LinearSum().add(total);
    const what = `a sum of ${added.length} packed row(s)`;
    const split = lanes.map(({ low, high, at }, lane) => {
      const width = bitLength((high - low) * count);
      const bits = this.#circuit.booleans(
        width,
        (values, first) => {
          const value = evaluate(total, values) >> at;
          for (let i = 0; i < width; i++) values[first + i] = (value >> BigInt(i)) & 1n;
        },
        `lane ${lane} of ${what}`,
      );
      const sum = new LinearSum().addTerm(ONE, low * count);
      bits.forEach((bit, i) => {
        sum.addTerm(bit, 1n << BigInt(i));
        equation.addTerm(bit, -1n << (at + BigInt(i)));
      });
      return sum.done();
    });
    this.#circuit.enforceZero(equation.done(), `the lanes are those of ${what}`);
    return split;
  }
}
