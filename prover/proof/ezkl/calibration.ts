/** Data from which ezkl chooses scales, and the scales that it may choose from. */
import { BaseError } from "../../../base/errors.ts";
import { count, type OnnxValueInfo } from "../../../inference/onnx/graph.ts";
import { BINDING_ELEMENTS } from "./instances.ts";
import type { CalibrationTarget } from "./worker.ts";

/** Values of each input, flat and row-major. */
export type Sample = ReadonlyMap<string, readonly number[]>;

/** Fraction bits that are tried where nothing else is asked for: ezkl's own ranges. */
const DEFAULT_SCALES: Readonly<Record<CalibrationTarget, readonly number[]>> = {
  resources: [8, 9, 10],
  accuracy: [11, 12, 13],
};
const LANE_MAX = 32_767;
const RANDOM_SAMPLES = 8;

/** @param value parsed JSON: an array of samples, each an object with numbers, nested or flat, by input name
 *  @throws BaseError CALIBRATION_INVALID */
export function readSamples(value: unknown, inputs: readonly OnnxValueInfo[]): Sample[] {
  if (!Array.isArray(value) || value.length === 0) throw invalid("it is not an array of samples");
  return value.map((entry, i) => {
    if (typeof entry !== "object" || entry === null) throw invalid(`sample ${i} is no object`);
    const held = entry as Record<string, unknown>;
    const unknown = Object.keys(held).find((name) => !inputs.some((input) => input.name === name));
    if (unknown !== undefined) throw invalid(`sample ${i} names ${unknown}, which is no input`);
    return new Map(
      inputs.map(({ name, dims }) => {
        const numbers = [held[name]].flat(9);
        const size = count(dims);
        if (numbers.length !== size || !numbers.every((n) => typeof n === "number" && Number.isFinite(n))) {
          throw invalid(`${name} of sample ${i} must hold ${size} finite numbers`);
        }
        return [name, numbers as number[]];
      }),
    );
  });
}

/** Uniform numbers, the same ones every time. */
export function randomSamples(
  inputs: readonly OnnxValueInfo[],
  [low, high]: readonly [number, number],
): Sample[] {
  let state = 1;
  // Numerical Recipes' linear congruential generator; its upper bits are even enough here.
  const next = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return low + (state / 2 ** 32) * (high - low);
  };
  return Array.from(
    { length: RANDOM_SAMPLES },
    () => new Map(inputs.map(({ name, dims }) => [name, Array.from({ length: count(dims) }, next)])),
  );
}

/** Scales at which every value of the samples fits 16 bits.
 *  @throws BaseError EZKL_SCALES_INVALID */
export function candidateScales(
  samples: readonly Sample[],
  target: CalibrationTarget,
  asked: readonly number[] | undefined,
  range?: readonly [number, number],
): number[] {
  const largest = samples
    .flatMap((sample) => [...sample.values()])
    .reduce(
      (most, values) => values.reduce((m, value) => Math.max(m, Math.abs(value)), most),
      Math.max(...(range ?? [0, 0]).map(Math.abs), 2 ** -16),
    );
  const most = Math.floor(Math.log2(LANE_MAX / largest));
  const wanted = asked ?? DEFAULT_SCALES[target];
  const fitting = wanted.filter((bits) => bits <= most);
  if (fitting.length > 0) return fitting;
  if (asked === undefined && most >= 1) return [most];
  throw new BaseError({
    code: "EZKL_SCALES_INVALID",
    shortMessage: `With ${wanted.join(", ")} fraction bits inputs up to ${largest} leave 16 bits; at most ${most} fit.`,
    nextStep: "Scale the model's inputs down, or name fewer bits with --scales.",
  });
}

/** ezkl's input file with all samples; the last input is the binding, any 16-bit numbers.
 *  @param bits fraction bits at which the binding's numbers are written */
export function calibrationData(
  samples: readonly Sample[],
  inputs: readonly OnnxValueInfo[],
  bits: number,
): string {
  const tensors = inputs.map(({ name }) => samples.flatMap((sample) => sample.get(name) ?? []));
  const extremes = samples.flatMap(() =>
    Array.from({ length: BINDING_ELEMENTS }, (_, i) => (i % 2 === 0 ? -LANE_MAX - 1 : LANE_MAX) / 2 ** bits),
  );
  return JSON.stringify({ input_data: [...tensors, extremes] });
}

const invalid = (why: string): BaseError =>
  new BaseError({
    code: "CALIBRATION_INVALID",
    shortMessage: `The calibration data cannot be used: ${why}.`,
    nextStep: 'Give a JSON array of samples like {"input name": [numbers]}.',
  });
