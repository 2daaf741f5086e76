/** Shares of right choices of the language model that chooses an agent's next step, on its test prompts. */
import { encodeInput } from "../../../inference/codecs/input.ts";
import { decodeOutput } from "../../../inference/codecs/output.ts";
import { execute } from "../../../inference/executor/execute.ts";
import { ID_OFFSET, promptNumbers } from "../../../inference/text/ids.ts";
import { rounded } from "./numbers.ts";
import { type Evaluation, type EvaluationContext, numbersOf } from "./types.ts";

/** A rule and a headline; choices after each of three results and without one, a letter each. */
interface TestPrompt {
  readonly rule: string;
  readonly question: string;
  readonly kind: string;
  readonly right: string;
  readonly float: string;
}

/** Control tokens (models/choice/export.py). */
const [RULE, QUESTION, RESULT, CHOICE] = [257, 258, 259, 260] as const;
const MOODS = ["bullish", "bearish", "neutral"] as const;
/** What a contract keeps of a result, bytes. */
const RESULT_BYTES = 32;

export function evaluateChoice({ evaluation, prepared, file }: EvaluationContext): Evaluation {
  const prompts = JSON.parse(file("test-prompts.json")) as readonly TestPrompt[];
  const bytes = (text: string): number[] => [...new TextEncoder().encode(text)];
  const choose = ({ rule, question }: TestPrompt, mood: string | undefined): string => {
    const observed = bytes(`The sentiment is ${mood} (scores: `).slice(0, RESULT_BYTES);
    const result = mood === undefined ? [] : [RESULT, ...observed];
    const ids = [RULE, ...bytes(rule), QUESTION, ...bytes(question), ...result, CHOICE];
    const int16s = promptNumbers(ids, prepared.program.inputSize);
    const calldata = encodeInput(prepared.program, prepared.selector, { codec: "int16s", int16s });
    const [number = 0] = decodeOutput(prepared.program, execute(prepared, calldata)).data;
    return String.fromCharCode(number + ID_OFFSET);
  };
  const rows = prompts.flatMap((prompt) =>
    [...MOODS, undefined].map((mood, i) => {
      const choice = choose(prompt, mood);
      const [isRight, isFloat] = [choice === prompt.right[i], choice === prompt.float[i]];
      return { ...prompt, mood, asks: prompt.right[MOODS.length] === "T", isRight, isFloat };
    }),
  );
  type Row = (typeof rows)[number];
  const share = (keep: (row: Row) => boolean, hit = (row: Row): boolean => row.isRight): number => {
    const kept = rows.filter(keep);
    return rounded((100 * kept.filter(hit).length) / kept.length, 2);
  };
  const metrics = {
    ...Object.fromEntries(MOODS.map((mood) => [mood, share((row) => row.asks && row.mood === mood)])),
    "no result": share((row) => row.asks && row.mood === undefined),
    "mood-free rule": share((row) => !row.asks),
    "hostile headline": share(({ kind }) => kind === "hostile"),
    all: share(() => true),
    "as the float model": share(
      () => true,
      ({ isFloat }) => isFloat,
    ),
  };
  return { count: rows.length, metrics, stated: numbersOf(evaluation.metrics, ...Object.keys(metrics)) };
}
