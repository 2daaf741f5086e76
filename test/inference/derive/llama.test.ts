/** Random small models of the Llama family as programs of integers, against a float reference that is written apart
 *  from them. */
import { describe, expect, it } from "vitest";
import { encodeOutput } from "../../../inference/codecs/output.ts";
import { findByPasses, findByRows, onePass } from "../../../inference/executor/find-output.ts";
import type { RowPlan } from "../../../inference/executor/rows/plan.ts";
import { proveProfile } from "../../../inference/profile/prove.ts";
import { isPlanesDot, readsClaimed, type Tensor } from "../../../inference/program/form.ts";
import { validateProgram } from "../../../inference/program/validate.ts";
import {
  answerOf,
  derivedLlama,
  idsOf,
  NO_ID,
  promptInput,
  scoresOf,
  textOf,
} from "../../support/derived-llama.ts";
import type { RandomTensor } from "../../support/gguf-file.ts";
import { type Compared, compared, expectNear, made } from "../../support/llama-choices.ts";
import { createRng } from "../../support/rng.ts";
import { scaled } from "../../support/scale.ts";
import { type SmallOptions, smallLlama } from "../../support/small-llama.ts";

const MODELS = scaled(8, 150);
const PROMPTS = 4;

describe("deriveLlama", () => {
  it("behavior: random models are proven, rows find what passes find, and choices are the float reference's", () => {
    const models: Compared[][] = [];
    for (let seed = 0; seed < MODELS; seed++) {
      const rng = createRng(seed);
      const all = made(rng);
      const { model, run, prompt, answer } = all;
      const { derived, prepared } = run;
      const { program } = derived.model;
      expect(validateProgram(program)).toEqual([]);
      expect(readsClaimed(program)).toBe(true);
      expect(program).toMatchObject({ inputCodec: "int16s", outputCodec: "int16s", inputSize: prompt });
      expect(derived.nodes.length).toBe(program.steps.length);
      expect(() => proveProfile(derived.model, derived.nodes)).not.toThrow();
      const plan = prepared.rowPlan() as RowPlan;
      expect(plan.rows).toBe(answer);
      const places: Compared[] = [];
      models.push(places);
      for (let i = 0; i < PROMPTS; i++) {
        const text = textOf(rng, model, prompt);
        const input = promptInput(run, text);
        const output = findByPasses(prepared, input);
        expect(findByRows(prepared, plan, input), `seed ${seed}`).toEqual(output);
        expect(onePass(prepared, input, output)).toEqual(output);
        places.push(...compared(all, text));
      }
    }
    expectNear(models);
  });

  it.each([
    ["as long as a product of bytes never has them", 1_024, 1],
    ["that are cut, as they are longer than a product's", 2_048, 2],
  ])("behavior: rows of weights %s", (_name, hidden, parts) => {
    const rng = createRng(100);
    const all = made(rng, { hidden, layers: 1, end: 255 });
    const { steps } = all.run.prepared.program;
    expect(steps.some((step) => isPlanesDot(step) && step.k === 2)).toBe(parts === 2);
    const texts = Array.from({ length: 2 * PROMPTS }, () => textOf(rng, all.model, all.prompt));
    expectNear([texts.flatMap((text) => [...compared(all, text)])]);
  });

  it("behavior: more places than 1,024 bytes hold scores of", () => {
    const rng = createRng(103);
    const all = made(rng, { layers: 1, end: 255 }, 290, 4);
    const texts = Array.from({ length: PROMPTS }, () => textOf(rng, all.model, all.prompt));
    const { prepared } = all.run;
    for (const text of texts) {
      const input = promptInput(all.run, text);
      const found = findByRows(prepared, prepared.rowPlan() as RowPlan, input);
      expect(onePass(prepared, input, found)).toEqual(found);
    }
    expectNear([texts.flatMap((text) => [...compared(all, text)])]);
  });

  it("behavior: rows of the embedding in parts, as they are more than a tensor holds", () => {
    const rng = createRng(102);
    const large = { vocabulary: 65_280, heads: 18, sharedHeads: 6, hidden: 64, layers: 1, end: 65_278 };
    const all = made(rng, { ...large, ownOutput: false }, 5, 2, 2);
    // 32,768 rows are in the first part.
    const places = [
      [0, 65_279, 32_767, 32_768, 40_000],
      [50_000, 60_000, 1, 2, 3],
    ].flatMap((text) => [...compared(all, text)]);
    expect(places.filter(({ same }) => same).length).toBeGreaterThan(2);
    const errors = places.map(({ error }) => error);
    expect(Math.max(...errors)).toBeLessThan(0.3);
  });

  it("behavior: each place of an answer depends on those before it alone", () => {
    const rng = createRng(101);
    const { model, run, prompt, answer } = made(rng, {}, 3, 6);
    const { program } = run.prepared;
    const input = promptInput(run, textOf(rng, model, prompt));
    const claimed = (ids: readonly number[]): Uint8Array => {
      const data = Int32Array.from(ids, (id) => id - 32_768);
      return encodeOutput(program, { type: "s32", dims: [answer, 1], data } as Tensor);
    };
    let changed = 0;
    for (let i = 0; i < 20; i++) {
      const ids = textOf(rng, model, answer);
      const from = rng.int(0, answer - 1);
      const other = ids.map((id, at) => (at < from ? id : rng.int(0, model.vocabulary - 1)));
      const [a, b] = [ids, other].map((each) => idsOf(run, onePass(run.prepared, input, claimed(each)))) as [
        number[],
        number[],
      ];
      expect(b.slice(0, from + 1)).toEqual(a.slice(0, from + 1));
      changed += Number(b.join() !== a.join());
    }
    expect(changed).toBeGreaterThan(5);
  });

  it("behavior: what stands in front of a short prompt changes nothing, and the answer mostly is that of a model of its length", () => {
    let [answers, same] = [0, 0];
    for (let seed = 200; seed < 200 + MODELS / 2; seed++) {
      const rng = createRng(seed);
      const { model, scales, run, prompt, answer } = made(rng, {}, 6, 5);
      const length = rng.int(1, prompt - 1);
      const exact = derivedLlama(model, scales, { prompt: length, answer });
      for (let i = 0; i < PROMPTS; i++) {
        const text = textOf(rng, model, length);
        const found = answerOf(run, text);
        const front = Array.from({ length: prompt - length }, () => rng.int(model.vocabulary, NO_ID));
        expect(answerOf(run, [...front, ...text])).toEqual(found);
        answers += 1;
        same += Number(found.join() === answerOf(exact, text).join());
      }
    }
    process.stdout.write(`${same} of ${answers} answers are those of models of their length\n`);
    expect(same).toBeGreaterThan(0.6 * answers);
  });

  it("behavior: of ids that score the same the first is chosen", () => {
    const rng = createRng(400);
    // Each second row of the last product is the one before.
    const changed: SmallOptions["changed"] = ({ tensors }) => {
      const { bytes, values } = tensors.get("output.weight") as RandomTensor;
      for (const rows of [bytes, values]) {
        const length = rows.length / 256;
        for (let row = 0; row < 256; row += 2)
          rows.copyWithin((row + 1) * length, row * length, (row + 1) * length);
      }
    };
    const { model, run, prompt } = made(rng, { vocabulary: 256, ownOutput: true, end: 255, changed }, 2, 8);
    for (let i = 0; i < PROMPTS; i++)
      expect(answerOf(run, textOf(rng, model, prompt)).filter((id) => id % 2 === 1)).toEqual([]);
  });

  it("behavior: an answer consists of the ids that it is held to, of which the best is chosen", () => {
    for (let seed = 500; seed < 500 + MODELS / 2; seed++) {
      const rng = createRng(seed);
      const { model, scales, run, prompt, answer } = made(rng, { vocabulary: 2_048, end: 255 }, 3, 6);
      const count = rng.pick([1, 2, 5, 31, 257, 1_024]);
      const drawn = new Set<number>();
      while (drawn.size < count) drawn.add(rng.int(0, model.vocabulary - 1));
      const only = [...drawn].sort((a, b) => a - b);
      const held = derivedLlama(model, scales, { prompt, answer }, only);
      expect(() => proveProfile(held.derived.model, held.derived.nodes)).not.toThrow();
      for (let i = 0; i < PROMPTS; i++) {
        const input = promptInput(held, textOf(rng, model, prompt));
        const output = findByRows(held.prepared, held.prepared.rowPlan() as RowPlan, input);
        expect(onePass(held.prepared, input, output)).toEqual(output);
        const ids = idsOf(held, output);
        const ends = ids.indexOf(255) + 1;
        const found = ends === 0 ? ids : ids.slice(0, ends);
        expect(ids.slice(found.length)).toEqual(new Array<number>(answer - found.length).fill(NO_ID));
        const scores = scoresOf(run, model, scales, input, output);
        for (const [place, id] of found.entries()) {
          const of = (other: number) => scores[place]?.[other] as number;
          const unit = Math.hypot(...(scores[place] as number[])) / Math.sqrt(model.vocabulary);
          expect(drawn.has(id)).toBe(true);
          // Both programs round scores, in other units.
          expect(of(id)).toBeGreaterThan(Math.max(...only.map(of)) - unit / 200);
        }
      }
    }
  });

  it("behavior: behind the id that ends an answer there is nothing", () => {
    let ended = 0;
    for (let seed = 300; seed < 304; seed++) {
      const { model, scales, run, prompt, answer } = made(createRng(seed), { end: 255 }, 3, 7);
      const text = textOf(createRng(seed), model, prompt);
      const open = answerOf(run, text);
      expect(open.every((id) => id < model.vocabulary)).toBe(true);
      const end = open[2] as number;
      const other = smallLlama(createRng(seed), { end });
      const ending = derivedLlama(other, scales, { prompt, answer });
      const length = open.indexOf(end) + 1;
      const rest = new Array<number>(answer - length).fill(NO_ID);
      expect(answerOf(ending, text)).toEqual([...open.slice(0, length), ...rest]);
      // A prompt that ends an answer, and one that is nothing, have none.
      const nothing = new Array<number>(answer).fill(NO_ID);
      expect(answerOf(ending, [...text.slice(1), end])).toEqual(nothing);
      expect(answerOf(ending, [])).toEqual(nothing);
      ended += 1;
    }
    expect(ended).toBeGreaterThan(2);
  });
});
