/** How often a derived language model's first choice is the float model's, on texts of ids (models/smollm2/texts.json). */
import { encodeOutput } from "../../../inference/codecs/output.ts";
import { lastStep } from "../../../inference/program/shape.ts";
import { ID_OFFSET, NO_ID, promptNumbers } from "../../../inference/text/ids.ts";
import { rounded } from "./numbers.ts";
import { type Evaluation, type EvaluationContext, numbersOf } from "./types.ts";

interface Text {
  readonly ids: readonly number[];
  /** the float model's first choice behind each id but the last */
  readonly float: readonly number[];
}

const SAME = "same first choice";

/** Parts of a text are the answers that are claimed behind what stands in front of them: a pass gives the choice at each of
 *  their places. */
export function evaluateLanguage({ evaluation, prepared, file }: EvaluationContext): Evaluation {
  const { texts } = JSON.parse(file("texts.json")) as { readonly texts: readonly Text[] };
  const { program } = prepared;
  const { type, dims } = lastStep(program);
  const [answer] = dims as [number];
  const choicesBehind = (prompt: readonly number[], claimed: readonly number[]): ArrayLike<number> => {
    const data = new Int32Array(answer).fill(NO_ID);
    data.set(claimed.map((id) => id - ID_OFFSET));
    const input = { codec: "int16s", int16s: promptNumbers(prompt, program.inputSize) } as const;
    return prepared.pass(input, encodeOutput(program, { type, dims, data })).data;
  };
  let [places, same] = [0, 0];
  for (const { ids, float } of texts) {
    for (let begin = 1; begin < ids.length && begin <= program.inputSize; begin += answer) {
      const claimed = ids.slice(begin, begin + answer);
      const choices = choicesBehind(ids.slice(0, begin), claimed);
      places += claimed.length;
      same += claimed.filter((_, i) => (choices[i] as number) + ID_OFFSET === float[begin - 1 + i]).length;
    }
  }
  const all = texts.reduce((sum, { float }) => sum + float.length, 0);
  return {
    count: places,
    metrics: { [SAME]: rounded((100 * same) / places, 2) },
    stated: places === all ? numbersOf(evaluation.metrics, SAME) : {},
    notes: [
      ...(places === all ? [] : [`${places} of ${all} places of the texts fit the model's prompts.`]),
      "models/smollm2/evaluate.py compares the scores themselves.",
    ],
  };
}
