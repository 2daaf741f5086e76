/** Real numbers of a model's inputs and outputs, and the fixed-point numbers of calldata and return data. */
import { BaseError } from "../../../base/errors.ts";
import type { FixedPointEntry } from "../../../inference/manifest/proof-model.ts";

const LANE_LIMIT = 32_768;

/** Rounds real inputs to fixed point, half away from zero as ezkl does.
 *  @param values numbers by input name, nested or flat, row-major
 *  @throws BaseError INPUTS_INVALID */
export function toFixedPoint(
  entries: readonly FixedPointEntry[],
  values: Readonly<Record<string, unknown>>,
): number[] {
  const names = entries.map(({ name }) => name);
  const unknown = Object.keys(values).find((name) => !names.includes(name));
  if (unknown !== undefined) throw invalid(names, `${unknown} is unknown`);
  return entries.flatMap((entry) => {
    const { name, dims, scaleBits } = entry;
    const held = [values[name]].flat(9);
    const size = dims.reduce((product, dim) => product * dim, 1);
    if (held.length !== size) throw invalid(names, `${name} has ${held.length} elements, must have ${size}`);
    return held.map((value, i) => {
      if (typeof value !== "number") throw invalid(names, `element ${i} of ${name} is no number`);
      const number = Math.sign(value) * Math.floor(Math.abs(value) * 2 ** scaleBits + 0.5);
      if (number >= -LANE_LIMIT && number < LANE_LIMIT) return number;
      const limit = LANE_LIMIT / 2 ** scaleBits;
      throw invalid(
        names,
        `element ${i} of ${name} is ${value}, must be at least -${limit} and below ${limit}`,
      );
    });
  });
}

/** Real numbers by output name, row-major. */
export function fromFixedPoint(
  entries: readonly FixedPointEntry[],
  numbers: readonly bigint[],
): Record<string, number[]> {
  return Object.fromEntries(
    entries.map(({ name, dims, offset, scaleBits }) => {
      const size = dims.reduce((product, dim) => product * dim, 1);
      return [name, numbers.slice(offset, offset + size).map((n) => Number(n) / 2 ** scaleBits)];
    }),
  );
}

const invalid = (names: readonly string[], why: string): BaseError =>
  new BaseError({
    code: "INPUTS_INVALID",
    shortMessage: `The inputs do not fit the model: ${why}.`,
    nextStep: `Give a JSON object with numbers for ${names.join(", ")}.`,
  });
