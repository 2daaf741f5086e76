import { elementCount } from "../../../../inference/program/form.ts";
import { bitsOf } from "../bits.ts";
import { bitLength, type Int, shifted } from "../integer.ts";
import { bestLow, lookUp, monomialsOf, tableForm } from "../lookup-table.ts";
import type { Gadget } from "./gadget.ts";

/** TABLE: a look-up by the bits of the stored byte, over the bytes that it can be. */
export const table: Gadget = (ctx) => {
  const { circuit, step } = ctx;
  const source = ctx.operand("a");
  const entries = ctx.weight("b").bytes;
  if (step.type === "bool" && entries.some((byte) => byte > 1)) {
    ctx.refuse("maps to a bool byte above 1", "Import the model again.");
  }
  const offset = step.type === "s8" ? 128 : 0;
  const from = source.type === "s8" ? 128n : 0n;
  const forms = new Map<string, ReturnType<typeof tableForm>>();
  return Array.from({ length: elementCount(step.dims) }, (_, i): Int => {
    circuit.element(i);
    const x = shifted(source.elements[i] as Int, from);
    const [first, last] = [Number(x.low), Number(x.high)];
    const bits = bitLength(x.high - x.low);
    const low = bestLow(bits, 1);
    // Numbers above the byte's bounds are no index; what stands there decides nothing.
    const value = (index: number): number => (entries[Math.min(first + index, last)] as number) - offset;
    const key = `${first},${last}`;
    const values = Array.from({ length: 2 ** bits }, (_, index) => BigInt(value(index)));
    const form = forms.get(key) ?? tableForm(values, bits, low);
    forms.set(key, form);
    const index = bitsOf(circuit, shifted(x, -x.low), bits, "the index").map((b) => b.linear);
    const monomials = monomialsOf(circuit, index.slice(0, low));
    const [least, most] = ctx.bounds(i);
    return { linear: lookUp(circuit, form, monomials, index.slice(low)), low: least, high: most };
  });
};
