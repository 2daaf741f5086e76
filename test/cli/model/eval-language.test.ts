import { describe, expect, test } from "vitest";
import { evaluateLanguage } from "../../../cli/model/eval/language.ts";
import { answerOf, type RunnableLlama, textOf } from "../../support/derived-llama.ts";
import { made } from "../../support/llama-choices.ts";
import { createRng } from "../../support/rng.ts";

const TEXTS = 3;
const SAME = "same first choice";
/** No id of a vocabulary. */
const OTHER = 40_000;

/** An end token ends an answer: none of the texts, or of the choices, is one. */
const small = (prompt: number, answer: number) => made(createRng(5), { layers: 1, end: 255 }, prompt, answer);

/** Choices behind each id but the last, each by an answer to all ids up to it. */
const choicesOf = (run: RunnableLlama, ids: readonly number[]): number[] =>
  ids.slice(0, -1).map((_, i) => answerOf(run, ids.slice(0, i + 1))[0] as number);

function evaluated(run: RunnableLlama, texts: readonly object[]) {
  return evaluateLanguage({
    ...{ name: "smollm2", directory: "", prepared: run.prepared },
    evaluation: { metrics: { [SAME]: 75 } },
    file: () => JSON.stringify({ texts }),
  });
}

describe("evaluateLanguage", () => {
  test("default: the share of places whose choice is the float model's, whatever the model's lengths", () => {
    for (const [prompt, answer] of [
      [12, 2],
      [12, 3],
      [12, 12],
    ] as const) {
      const { run, model } = small(prompt, answer);
      const rng = createRng(answer);
      const texts = Array.from({ length: TEXTS }, () => {
        const ids = textOf(rng, model, 13);
        return { ids, float: choicesOf(run, ids) };
      });
      const found = evaluated(run, texts);
      expect(found).toMatchObject({ count: TEXTS * 12, stated: { [SAME]: 75 } });
      // Where it begins in a longer prompt, a text's numbers are rounded otherwise, which few choices hang on.
      expect(found.metrics[SAME]).toBeGreaterThan(95);
      // Of each text one place in four.
      const changed = texts.map(({ ids, float }, t) => ({
        ids,
        float: float.map((id, i) => (i % 4 === t ? OTHER : id)),
      }));
      const less = evaluated(run, changed).metrics[SAME] as number;
      expect(less).toBeGreaterThan(70);
      expect(less).toBeLessThanOrEqual(75);
    }
  });

  test("edge: places behind the longest prompt are not counted, and nothing is stated of the others", () => {
    const { run, model } = small(4, 3);
    const ids = textOf(createRng(1), model, 13);
    const float = new Array<number>(12).fill(OTHER);
    const found = evaluated(run, [{ ids, float }]);
    expect(found).toMatchObject({ count: 6, metrics: { [SAME]: 0 }, stated: {} });
    expect(found.notes?.[0]).toBe("6 of 12 places of the texts fit the model's prompts.");
  });
});
