/** Random small classifiers as programs of integers, against a float reference that is written apart from them. */
import { describe, expect, it } from "vitest";
import { type BaseError, isBaseError } from "../../../base/errors.ts";
import { deriveBert, SCORE_BITS } from "../../../inference/derive/bert/derive.ts";
import { readGguf } from "../../../inference/derive/gguf.ts";
import { prepare } from "../../../inference/executor/prepare.ts";
import { proveProfile } from "../../../inference/profile/prove.ts";
import type { Tensor } from "../../../inference/program/form.ts";
import { validateProgram } from "../../../inference/program/validate.ts";
import { pieceNumbers } from "../../../inference/text/piece-text.ts";
import { bertReference, measuredBertScales } from "../../support/bert-reference.ts";
import type { RandomTensor } from "../../support/gguf-file.ts";
import { createRng, type Rng } from "../../support/rng.ts";
import { scaled } from "../../support/scale.ts";
import { type SmallBert, type SmallBertOptions, smallBert } from "../../support/small-bert.ts";

const MODELS = scaled(5, 150);
const TEXTS = 6;
const SELECTOR = Uint8Array.of(1, 2, 3, 4);

const textOf = (rng: Rng, { vocabulary }: SmallBert, length: number): number[] =>
  Array.from({ length }, () => rng.int(0, vocabulary - 1));

function made(rng: Rng, options: SmallBertOptions = {}, length?: number) {
  const model = smallBert(rng, options);
  const text = length ?? rng.int(3, model.context);
  const texts = Array.from({ length: 40 }, () => textOf(rng, model, rng.int(1, text)));
  const derived = deriveBert(readGguf(model.bytes), measuredBertScales(model, texts), { text });
  return { model, text, derived, prepared: prepare(derived.model, SELECTOR) };
}

type Made = ReturnType<typeof made>;

/** @param behind what stands behind the text */
function scoresOf(
  { prepared, text }: Made,
  ids: readonly number[],
  behind: readonly number[] = [],
): number[] {
  const numbers = pieceNumbers(ids, text);
  for (const [i, id] of behind.entries()) numbers[ids.length + i] = id - 32_768;
  const { data } = prepared.run({ codec: "int16s", int16s: numbers }).at(-1) as Tensor;
  return Array.from(data, (score) => score / 2 ** SCORE_BITS);
}

/** Of a score, in units of the right ones' size. */
const errorsOf = (all: Made, ids: readonly number[]): number[] => {
  const right = bertReference(all.model, ids);
  const found = scoresOf(all, ids);
  const size = Math.max(0.5, Math.hypot(...right) / Math.sqrt(right.length));
  return Array.from(right, (score, i) => Math.abs(score - (found[i] as number)) / size);
};

const median = (numbers: readonly number[]): number =>
  [...numbers].sort((a, b) => a - b)[numbers.length >> 1] as number;

describe("deriveBert", () => {
  it("behavior: random models are proven, and their scores are near the float reference's", () => {
    const models: number[][] = [];
    for (let seed = 0; seed < MODELS; seed++) {
      const rng = createRng(seed);
      const all = made(rng);
      const { program } = all.derived.model;
      expect(validateProgram(program)).toEqual([]);
      expect(program).toMatchObject({ inputCodec: "int16s", outputCodec: "words", inputSize: all.text });
      expect(all.derived.nodes.length).toBe(program.steps.length);
      expect(() => proveProfile(all.derived.model, all.derived.nodes)).not.toThrow();
      const texts = Array.from({ length: TEXTS }, () => textOf(rng, all.model, rng.int(1, all.text)));
      models.push(texts.flatMap((ids) => errorsOf(all, ids)));
    }
    const errors = models.flat();
    const worst = Math.max(...models.map(median));
    process.stdout.write(
      `${errors.length} scores of ${MODELS} models: errors ${median(errors).toFixed(4)} in the median, ` +
        `${worst.toFixed(3)} in that of the worst model, ${Math.max(...errors).toFixed(3)} at most\n`,
    );
    expect(median(errors)).toBeLessThan(0.04);
    expect(worst).toBeLessThan(0.15);
    expect(Math.max(...errors)).toBeLessThan(0.6);
  });

  it("behavior: rows that are reduced and multiplied in parts", () => {
    const rng = createRng(500);
    const all = made(rng, { heads: 9, headWidth: 32, hidden: 1_024, layers: 2, context: 16 }, 9);
    const errors = Array.from({ length: TEXTS }, () => errorsOf(all, textOf(rng, all.model, rng.int(1, 9))));
    expect(median(errors.flat())).toBeLessThan(0.08);
  });

  it("behavior: nothing behind a text is read", () => {
    for (let seed = 600; seed < 600 + MODELS / 4; seed++) {
      const rng = createRng(seed);
      const all = made(rng, {}, 12);
      for (let i = 0; i < TEXTS; i++) {
        const ids = textOf(rng, all.model, rng.int(1, 11));
        const behind = Array.from({ length: 12 - ids.length }, () => rng.int(all.model.vocabulary, 65_535));
        expect(scoresOf(all, ids, behind)).toEqual(scoresOf(all, ids));
      }
    }
  });

  it("behavior: a model for longer texts gives short ones nearly the same scores", () => {
    const rng = createRng(700);
    const model = smallBert(rng, { context: 24 });
    const scales = measuredBertScales(
      model,
      Array.from({ length: 40 }, () => textOf(rng, model, 8)),
    );
    const [short, long] = [8, 24].map((text) => {
      const derived = deriveBert(readGguf(model.bytes), scales, { text });
      return { model, text, derived, prepared: prepare(derived.model, SELECTOR) };
    }) as [Made, Made];
    for (let i = 0; i < TEXTS; i++) {
      const ids = textOf(rng, model, rng.int(1, 8));
      // Their scores' steps are not the same, as sums of more places are scaled by what more places could add up to.
      const [a, b] = [scoresOf(short, ids), scoresOf(long, ids)];
      expect(Math.max(...a.map((score, n) => Math.abs(score - (b[n] as number))))).toBeLessThan(0.1);
    }
  });

  it("behavior: a text of nothing has scores, too", () => {
    expect(scoresOf(made(createRng(800)), []).every(Number.isFinite)).toBe(true);
  });
});

describe("errors", () => {
  const derive = (model: SmallBert, scales: unknown, text = 4) =>
    deriveBert(readGguf(model.bytes), scales, { text });
  const right = smallBert(createRng(900), { layers: 1 });
  const scales = measuredBertScales(right, [[0, 1, 2]]);

  it.each<[string, SmallBertOptions["changed"], string]>([
    [
      "another architecture",
      ({ metadata }) => void Object.assign(metadata, { "general.architecture": ["string", "gpt"] }),
      "GGUF_INVALID",
    ],
    ["no bias", ({ tensors }) => void tensors.delete("blk.0.ffn_up.bias"), "blk.0.ffn_up.bias"],
    [
      "a tensor that nothing is made of",
      ({ tensors }) =>
        void tensors.set("token_types.weight", tensors.get("position_embd.weight") as RandomTensor),
      "token_types.weight",
    ],
    [
      "a bias that is too short",
      ({ tensors }) =>
        void tensors.set("cls.output.bias", tensors.get("token_embd_norm.bias") as RandomTensor),
      "cls.output.bias",
    ],
    [
      "heads that do not divide",
      ({ metadata }) => void Object.assign(metadata, { "bert.attention.head_count": ["u32", 7] }),
      "7 heads",
    ],
    [
      "no epsilon",
      ({ metadata }) => void delete metadata["bert.attention.layer_norm_epsilon"],
      "layer_norm_epsilon",
    ],
  ])("error: %s", (_, changed, named) => {
    const model = smallBert(createRng(900), { layers: 1, ...(changed === undefined ? {} : { changed }) });
    const found = thrownBy(() => derive(model, scales));
    expect(found.code).toBe("GGUF_INVALID");
    expect(`${found.code} ${found.shortMessage}`).toContain(named);
  });

  it("error: texts that the model has no places for", () => {
    expect(thrownBy(() => derive(right, scales, right.context + 1)).code).toBe("LENGTHS_INVALID");
    expect(thrownBy(() => derive(right, scales, 0)).code).toBe("LENGTHS_INVALID");
  });

  it("error: scales by which no score is far below another", () => {
    const layers = scales.layers.map((layer) => ({ ...layer, q: 1, k: 1 }));
    const found = thrownBy(() => derive(right, { ...scales, layers }));
    expect(found.code).toBe("DERIVATION_REFUSED");
    expect(found.shortMessage).toContain("none is far below another");
  });

  it("error: a bias that is too large beside its weights", () => {
    const model = smallBert(createRng(900), {
      layers: 1,
      changed: ({ tensors }) => {
        const { dims } = tensors.get("cls.output.bias") as RandomTensor;
        const values = new Float64Array(dims[0] as number).fill(2 ** 40);
        const bytes = new Uint8Array(Float32Array.from(values).buffer);
        tensors.set("cls.output.bias", { dims, format: "F32", bytes, values });
      },
    });
    const found = thrownBy(() => derive(model, scales));
    expect(found.code).toBe("DERIVATION_REFUSED");
    expect(found.shortMessage).toContain("a bias is 1099511627776 beside weights in steps of");
  });

  it("error: scales of another model", () => {
    const [layer] = scales.layers as [(typeof scales.layers)[number]];
    expect(thrownBy(() => derive(right, { ...scales, layers: [] })).shortMessage).toContain("$.layers");
    expect(
      thrownBy(() => derive(right, { ...scales, layers: [{ ...layer, v: [1] }] })).shortMessage,
    ).toContain("$.layers[0].v");
    expect(
      thrownBy(() => derive(right, { ...scales, layers: [{ ...layer, up: 0 }] })).shortMessage,
    ).toContain("$.layers[0].up");
  });
});

function thrownBy(action: () => unknown): BaseError {
  try {
    action();
  } catch (error) {
    if (isBaseError(error)) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}
