import {
  elementCount,
  isBelow,
  isEach,
  LOOKUP_VARIANTS,
  lastDim,
} from "../../../../inference/program/form.ts";
import { unpackLookup } from "../../../../inference/program/weights.ts";
import { bitsOf, maximum, minimum } from "../bits.ts";
import type { Circuit } from "../circuit.ts";
import { bitLength, constant, extremes, type Int, isConstant, sum } from "../integer.ts";
import type { Linear } from "../linear.ts";
import {
  bestLow,
  coefficientsOf,
  lookUp,
  monomialProducts,
  monomialsOf,
  productsOf,
  type TableForm,
  tableForm,
} from "../lookup-table.ts";
import { type Lane, layoutOf } from "../packed.ts";
import type { Gadget, GadgetContext } from "./gadget.ts";

/** Tables above this take longer to compile than anybody waits. */
const MAX_ROWS = 2 ** 18;

/** Rows of a table, packed into as few field elements as hold them. */
interface PackedTable {
  readonly rows: readonly (readonly bigint[])[];
  /** One a packed element. */
  readonly parts: readonly {
    readonly layout: number;
    readonly lanes: readonly Lane[];
    readonly form: TableForm;
  }[];
  readonly bits: number;
  readonly low: number;
}

/** LOOKUP: a row is looked up whole, as one packed field element. Sums of rows stay packed and cost nothing; what
 *  reads them splits them into their lanes (packed.ts). */
export const lookup: Gadget = (ctx) => {
  const { circuit, step } = ctx;
  if (isEach(step))
    ctx.refuse("looks up an element for each id, which has no circuit", "Leave out the lane PROOF.");
  if (isBelow(step))
    ctx.refuse(
      "looks up elements by how far numbers are below their row's largest, which has no circuit",
      "Leave out the lane PROOF.",
    );
  const isSum = LOOKUP_VARIANTS[step.variant] === "sum";
  const { elements } = ctx.operand("a");
  const table = packTable(ctx, tableRows(ctx, isSum), elements.length);
  const width = isSum ? lastDim(ctx.operand("a").dims) : 1;
  const cache = new Map<Int, readonly Int[]>();
  const result: Int[] = [];
  for (let row = 0; row < elementCount(step.dims) / lastDim(step.dims); row++) {
    circuit.element(row * lastDim(step.dims));
    const found = elements.slice(row * width, (row + 1) * width).map((id) => {
      const known = cache.get(id) ?? rowOf(ctx, table, id);
      cache.set(id, known);
      return known;
    });
    for (let d = 0; d < lastDim(step.dims); d++) {
      result.push(sum(found.map((values) => [values[d] as Int, 1n] as const)));
    }
  }
  return result;
};

/** Numbers of the table by row; row 0 of a sum counts as zeros. */
function tableRows(ctx: GadgetContext, isSum: boolean): bigint[][] {
  const { descriptor, bytes } = ctx.weight("b");
  if ((descriptor.dims[0] as number) > MAX_ROWS) {
    ctx.refuse(`looks up in more than ${MAX_ROWS} rows`, "Use another lane, or a smaller table.");
  }
  const [v, d] = descriptor.dims as [number, number];
  const numbers: readonly bigint[] = isSum
    ? Array.from(unpackLookup(bytes, v, d), BigInt)
    : ctx.operand("b").elements.map((x) => x.low);
  return Array.from({ length: v }, (_, row) =>
    isSum && row === 0 ? new Array<bigint>(d).fill(0n) : numbers.slice(row * d, (row + 1) * d),
  );
}

/** @param room most rows that are ever added */
function packTable({ circuit }: GadgetContext, rows: readonly bigint[][], room: number): PackedTable {
  const bounds = (rows[0] as bigint[]).map((_, d) => {
    const [low, high] = extremes(...(rows.map((row) => row[d] as bigint) as [bigint, ...bigint[]]));
    return { low, high };
  });
  const layouts = layoutOf(bounds, room);
  const bits = bitLength(BigInt(rows.length - 1));
  const low = bestLow(bits, layouts.length);
  let column = 0;
  const parts = layouts.map((lanes) => {
    const first = column;
    column += lanes.length;
    // Ids are clamped to the last row before; what stands above it decides nothing.
    const values = Array.from({ length: 2 ** bits }, (_, id) =>
      pack(rows[Math.min(id, rows.length - 1)] as bigint[], first, lanes),
    );
    return { layout: circuit.packed.layout(lanes), lanes, form: tableForm(values, bits, low) };
  });
  return { rows, parts, bits, low };
}

function pack(row: readonly bigint[], first: number, lanes: readonly Lane[]): bigint {
  return lanes.reduce((sum, { low, at }, lane) => sum + (((row[first + lane] as bigint) - low) << at), 0n);
}

/** One row's elements, still packed. */
function rowOf({ circuit }: GadgetContext, table: PackedTable, id: Int): readonly Int[] {
  const { rows, parts, bits, low } = table;
  const last = BigInt(rows.length - 1);
  const raised = maximum(circuit, id, constant(0), "the lowest id");
  const clamped = minimum(circuit, raised, constant(last), "the highest id");
  if (isConstant(clamped)) return (rows[Number(clamped.low)] as bigint[]).map(constant);
  const index = bitsOf(circuit, clamped, bits, "the id").map((b) => b.linear);
  const monomials = circuit.counting ? [] : monomialsOf(circuit, index.slice(0, low));
  if (circuit.counting) circuit.skip(monomialProducts(low), 2 * monomialProducts(low));
  return parts.flatMap(({ layout, lanes, form }) => {
    const row = circuit.counting
      ? countLookUp(circuit, form)
      : lookUp(circuit, form, monomials, index.slice(low));
    return circuit.packed.add(layout, row).map((linear, lane): Int => {
      const { low: least, high: most } = lanes[lane] as Lane;
      return least === most ? constant(least) : { linear, low: least, high: most };
    });
  });
}

function countLookUp(circuit: Circuit, form: TableForm): Linear {
  circuit.skip(productsOf(form), coefficientsOf(form));
  return circuit.unknown();
}
