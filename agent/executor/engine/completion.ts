/** Reads what a model wrote: only that, never the prompt or anything inserted into it. */
import { BaseError } from "../../../base/errors.ts";
import { quote } from "../tool.ts";

/** What a completion asks for, not yet checked against any tool. */
export type Completion =
  | { readonly kind: "answer"; readonly thought: string; readonly answer: string }
  | {
      readonly kind: "action";
      readonly thought: string;
      readonly toolName: string;
      /** JSON, not parsed */
      readonly actionInput: string;
    };

/** Longest completion that is read, characters. */
const MAX_COMPLETION = 65_536;

/** Where the completion ends for us: what follows is a result or a question that the model made up. */
const END = /^[ \t]*(?:Observation|Question):/m;
const LABEL = /^[ \t]*(Thought|Action|Action Input|Final Answer):/;

interface Section {
  readonly label: string;
  readonly text: string;
}

/** Splits a completion that continues `Thought:`. It holds a final answer, or one action with its input; both, two of
 *  one, or none is an error.
 *  @throws BaseError COMPLETION_MALFORMED */
export function readCompletion(completion: string): Completion {
  if (completion.length > MAX_COMPLETION) {
    throw malformed(`${completion.length} characters, at most ${MAX_COMPLETION} are read`, completion);
  }
  const end = completion.search(END);
  const sections = sectionsOf(end === -1 ? completion : completion.slice(0, end));
  const [action, ...actions] = sections.filter(({ label }) => label === "Action");
  const [input, ...inputs] = sections.filter(({ label }) => label === "Action Input");
  const [answer, ...answers] = sections.filter(({ label }) => label === "Final Answer");
  if (actions.length + inputs.length + answers.length > 0) throw malformed("it repeats a label", completion);
  if (answer !== undefined) {
    if (action !== undefined || input !== undefined)
      throw malformed("it holds an action and a final answer", completion);
    if (sections.at(-1) !== answer) throw malformed("text follows the final answer", completion);
    if (answer.text === "") throw malformed("its final answer is empty", completion);
    return { kind: "answer", thought: thoughtOf(sections), answer: answer.text };
  }
  if (action === undefined || input === undefined)
    throw malformed("it holds neither a final answer nor an action with its input", completion);
  if (sections.at(-1) !== input || sections.at(-2) !== action)
    throw malformed("its action is not followed by the action's input alone", completion);
  return {
    kind: "action",
    thought: thoughtOf(sections),
    toolName: action.text,
    actionInput: input.text,
  };
}

function sectionsOf(text: string): Section[] {
  const sections: { label: string; lines: string[] }[] = [{ label: "Thought", lines: [] }];
  for (const line of text.split(/\r\n|\n/)) {
    const found = LABEL.exec(line);
    if (found === null) sections.at(-1)?.lines.push(line);
    else sections.push({ label: found[1] as string, lines: [line.slice(found[0].length)] });
  }
  return sections.map(({ label, lines }) => ({ label, text: lines.join("\n").trim() }));
}

function thoughtOf(sections: readonly Section[]): string {
  const thoughts = sections.filter(({ label, text }) => label === "Thought" && text !== "");
  return thoughts.map(({ text }) => text).join("\n");
}

const malformed = (why: string, completion: string): BaseError =>
  new BaseError({
    code: "COMPLETION_MALFORMED",
    shortMessage: `The model's completion cannot be read: ${why}.`,
    nextStep: "Let the model try again, or use one that keeps to the format.",
    details: { completion: quote(completion) },
  });
