/** Scales that do not fit a model: one error each, that names the entry. */
import { expect, it } from "vitest";
import { isBaseError } from "../../../base/errors.ts";
import { readGguf } from "../../../inference/derive/gguf.ts";
import { readScales } from "../../../inference/derive/llama/scales.ts";
import { llamaShape } from "../../../inference/derive/llama/shape.ts";
import { textsOf } from "../../support/derived-llama.ts";
import { type Measured, measuredScales } from "../../support/llama-reference.ts";
import { createRng } from "../../support/rng.ts";
import { smallLlama } from "../../support/small-llama.ts";

/** One layer with a shared head of 16 channels. */
const SMALL = smallLlama(createRng(1), { heads: 2, sharedHeads: 1, layers: 1 });
const SCALES = measuredScales(SMALL, textsOf(createRng(2), SMALL, 5));
const SHAPE = llamaShape(readGguf(SMALL.bytes));

/** @returns code and what is wrong */
function refusal(scales: unknown): string {
  try {
    readScales(scales, SHAPE);
  } catch (error) {
    if (isBaseError(error)) return `${error.code}: ${error.shortMessage}`;
    throw error;
  }
  return "read";
}

it("default: whole numbers of 2^-8; what else is in the file does not count", () => {
  const numbers = Object.fromEntries(
    Object.entries(SCALES.layers[0] ?? {}).map(([name, x]) => [
      name,
      typeof x === "number" ? x / 256 : x.map((each) => each / 256),
    ]),
  );
  expect(readScales({ ...SCALES, source: {}, logits: 1.5 }, SHAPE)).toEqual({
    layers: [numbers],
    final: SCALES.final / 256,
  });
});

const [layer] = SCALES.layers as [Measured["layers"][number]];
const inLayer = (change: Readonly<Record<string, unknown>>) => ({
  ...SCALES,
  layers: [{ ...layer, ...change }],
});

it("behavior: what attention and the gated part add to the residual may be unknown", () => {
  const { out: _out, down: _down, ...others } = layer;
  const [read] = readScales({ ...SCALES, layers: [others] }, SHAPE).layers;
  expect(read).toMatchObject({ q: layer.q / 256 });
  expect([read?.out, read?.down]).toEqual([undefined, undefined]);
});

const whole = "must be a whole number from 1 to 2147483647.";

it.each<[string, unknown, string]>([
  ["nothing", undefined, "$ must be an object."],
  ["a list", [], "$ must be an object."],
  ["another unit", { ...SCALES, unit: "2^-7" }, '$.unit is "2^-7", must be 2^-8.'],
  ["no unit", { ...SCALES, unit: undefined }, "$.unit is undefined, must be 2^-8."],
  ["no layers", { ...SCALES, layers: undefined }, "$.layers must be a list of 1."],
  ["a layer too many", { ...SCALES, layers: [layer, layer] }, "$.layers must be a list of 1."],
  ["a layer that is null", { ...SCALES, layers: [null] }, "$.layers[0] must be an object."],
  ["a channel too few", inLayer({ v: layer.v.slice(1) }), "$.layers[0].v must be a list of 16."],
  ["one scale for all channels", inLayer({ v: 300 }), "$.layers[0].v must be a list of 16."],
  ["a fraction", inLayer({ gate: 300.5 }), `$.layers[0].gate is 300.5, ${whole}`],
  ["a fraction for a channel", inLayer({ v: layer.v.with(3, 1.5) }), `$.layers[0].v[3] is 1.5, ${whole}`],
  ["0", inLayer({ q: 0 }), `$.layers[0].q is 0, ${whole}`],
  ["below 0", inLayer({ k: -3 }), `$.layers[0].k is -3, ${whole}`],
  ["2^31", inLayer({ up: 2 ** 31 }), `$.layers[0].up is 2147483648, ${whole}`],
  ["a text", inLayer({ mixed: "300" }), `$.layers[0].mixed is "300", ${whole}`],
  ["not a number", inLayer({ hidden: Number.NaN }), `$.layers[0].hidden is null, ${whole}`],
  ["0 for an optional one", inLayer({ down: 0 }), `$.layers[0].down is 0, ${whole}`],
  ["an absent one", inLayer({ mlp: undefined }), `$.layers[0].mlp is undefined, ${whole}`],
  ["no last one", { ...SCALES, final: undefined }, `$.final is undefined, ${whole}`],
])("error: %s", (_, scales, expected) => {
  expect(refusal(scales)).toBe(`SCALES_INVALID: The scales do not fit the model: ${expected}`);
});
