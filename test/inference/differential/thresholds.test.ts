import { describe, expect, it } from "vitest";
import { findIntegerForm } from "../../../inference/onnx/requantize/integer-form.ts";
import { type Rule, thresholds } from "../../../inference/onnx/requantize/rule.ts";
import {
  DOT_VARIANTS,
  type Model,
  NONE,
  type Step,
  type Tensor,
  WEIGHT,
} from "../../../inference/program/form.ts";
import { bitsOfFloat } from "../../../inference/program/tensor.ts";
import { type ChannelParameters, packChannel, packDot } from "../../../inference/program/weights.ts";
import { canonicalExecutor, compareCase, type DifferentialCase, Tally } from "../../support/differential.ts";
import { createRng, type Rng } from "../../support/rng.ts";

const CHANNELS = 100;
/** Three weights of a DOT row: together they reach every sum from 0 to LARGEST. */
const WEIGHTS = [1, 255, 255];
const LARGEST = 255 * (1 + 255 + 255);
const LOW = -(LARGEST + 1) / 2;
const HIGH = LOW + LARGEST;

interface Channel {
  readonly rule: Rule;
  readonly parameters: ChannelParameters;
  /** Each threshold, the accumulator before it and the one after it; 3 · 255 of them, some twice. */
  readonly points: readonly number[];
}

function channel(rng: Rng, form: "integer" | "binary32"): Channel {
  for (;;) {
    const exact = rng.int(20, 150) / LARGEST;
    // Half of the binary32 rules have ties at their thresholds.
    const isPower = form === "binary32" && rng.chance(0.5);
    const scale = isPower
      ? 2 ** Math.round(Math.log2(exact))
      : Math.fround(exact * (1 + rng.int(0, 999) / 1000));
    const zeroPoint = rng.int(0, 255);
    const rule = { scale, zeroPoint, lower: rng.pick([0, 0, 10]), upper: rng.pick([255, 255, 250]) };
    const found = findIntegerForm(rule, LOW, HIGH);
    if (form === "integer" && found === undefined) continue;
    const inside = thresholds(rule, LOW, HIGH).filter(({ acc }) => acc > LOW && acc < HIGH);
    const points = inside.flatMap(({ acc }) => [acc - 1, acc, acc + 1]);
    if (points.length === 0) continue;
    const parameters = {
      bias: LOW,
      multiplier: found?.m ?? 0,
      addend: found?.b ?? 0n,
      shift: found?.s ?? 0,
      scaleBits: bitsOfFloat(scale),
      zeroPoint,
      lower: rule.lower,
      upper: rule.upper,
      weightOffset: 0,
    };
    return { rule, parameters, points };
  }
}

const ROWS = 3 * 255;
const point = ({ points }: Channel, row: number): number => points[row % points.length] as number;

function program(
  step: Pick<Step, "opcode" | "variant">,
  input: Tensor,
  channels: readonly Channel[],
): DifferentialCase {
  const parameters = channels.map((c) => c.parameters);
  const n = channels.length;
  const isDot = step.opcode === "dot";
  const empty = { a: NONE, b: NONE, c: NONE, k: 0, coordinates: [] };
  const model: Model = {
    program: {
      inputCodec: "raw",
      outputCodec: "raw",
      inputSize: input.data.byteLength,
      weights: [
        isDot ? { layout: "dot", type: "u8", dims: [n, 3] } : { layout: "channel", type: "u8", dims: [n] },
      ],
      steps: [
        { ...empty, opcode: "codec", variant: 4, type: input.type, dims: input.dims },
        { ...empty, ...step, type: "u8", dims: [ROWS, n], a: 0, b: WEIGHT, k: isDot ? n : 0 },
      ],
    },
    weights: [
      isDot
        ? packDot(
            Uint8Array.from({ length: 3 * n }, (_, i) => WEIGHTS[i % 3] as number),
            3,
            parameters,
          )
        : packChannel(parameters),
    ],
  };
  return { name: `${step.opcode} ${DOT_VARIANTS[step.variant]}`, model, runs: [[input]] };
}

/** Activations whose sum with WEIGHTS is `sum`. */
function activations(sum: number): [number, number, number] {
  const hundreds = Math.min(Math.floor(sum / 255), 510);
  const first = Math.min(hundreds, 255);
  return [sum - 255 * hundreds, first, hundreds - first];
}

/** One group a channel, so that each has activations of its own. */
function dotCase(variant: number, channels: readonly Channel[]): DifferentialCase {
  const data = new Uint8Array(ROWS * channels.length * 3);
  for (let row = 0; row < ROWS; row++) {
    for (const [n, c] of channels.entries()) {
      data.set(activations(point(c, row) - LOW), 3 * (row * channels.length + n));
    }
  }
  return program(
    { opcode: "dot", variant },
    { type: "u8", dims: [ROWS * channels.length, 3], data },
    channels,
  );
}

function requantCase(variant: number, channels: readonly Channel[]): DifferentialCase {
  const data = new Int32Array(ROWS * channels.length);
  for (let i = 0; i < data.length; i++) {
    const n = i % channels.length;
    data[i] = point(channels[n] as Channel, Math.floor(i / channels.length)) - LOW;
  }
  return program(
    { opcode: "requant", variant },
    { type: "s32", dims: [ROWS, channels.length], data },
    channels,
  );
}

describe("every threshold of a requantization, and the accumulators beside it", () => {
  it.each([
    ["integer", "dot", dotCase],
    ["integer", "requant", requantCase],
    ["binary32", "dot", dotCase],
    ["binary32", "requant", requantCase],
  ] as const)("behavior: %s form of %s", async (form, opcode, build) => {
    const rng = createRng(DOT_VARIANTS.indexOf(form) + 7);
    const tally = new Tally();
    let count = 0;
    for (let first = 0; first < CHANNELS; first += 5) {
      const channels = Array.from({ length: 5 }, () => channel(rng, form));
      const test = build(DOT_VARIANTS.indexOf(form), channels);
      await compareCase(canonicalExecutor, test, tally);
      const bytes = canonicalExecutor(test.model, test.runs)[0]?.[1]?.data as Uint8Array;
      channels.forEach(({ points, rule }, n) => {
        // The bytes do change there: at each threshold by one, or where a clamp ends.
        for (let row = 0; row + 1 < points.length; row += 3) {
          const [before, at] = [bytes[row * 5 + n] as number, bytes[(row + 1) * 5 + n] as number];
          expect(at - before, `${rule.scale}`).toBeGreaterThanOrEqual(1);
        }
        count += points.length / 3;
      });
    }
    process.stdout.write(`${opcode} ${form}: ${count} thresholds of ${CHANNELS} channels\n`);
    expect(tally.samples).toEqual([]);
    expect(tally.total.different).toBe(0);
    expect(count).toBeGreaterThan(10 * CHANNELS);
  });
});
